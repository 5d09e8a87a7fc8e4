import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, type TestContext, test } from 'vitest'
import { Disk, EVERYTHING } from './disk/disk.js'
import { Faults, FILES, HITS } from './disk/faults.js'
import { acknowledgedIn, crashPoints, examine, type Found } from './disk/images.js'
import { BUILT_STORE, changedStore, randomFrom, scratch, seedOf } from './disk/place.js'
import { buildRecorder, readRecording, type Step, underRecorder } from './disk/recording.js'

const APPENDER = fileURLToPath(new URL('disk/appender.mjs', import.meta.url))
const IMAGES = Number(process.env.PHASELOCK_TORTURE_IMAGES ?? 12)
// For the special cases beside the main one.
const FEWER = Math.ceil(IMAGES / 2)
const TEST_MS_MAX = 300_000 + IMAGES * 5_000
const APPENDS = 6 * 25 * 2

let recorder: ReturnType<typeof buildRecorder>
beforeAll(() => {
  recorder = buildRecorder()
})

function libraryOf(context: TestContext): string {
  return 'library' in recorder ? recorder.library : context.skip(recorder.reason)
}

/** Runs the appender under the recorder. */
async function record(
  library: string,
  options: { readonly dir: string; readonly store: string; readonly work?: object; readonly faults?: string },
) {
  const state = join(options.dir, 'state')
  const log = join(options.dir, 'log')
  const { faults } = options
  const given = underRecorder({ library, dir: state, log, ...(faults === undefined ? {} : { faults }) })
  const child = spawn(process.execPath, [APPENDER, options.store, state, log, JSON.stringify(options.work ?? {})], {
    env: { PATH: process.env.PATH, ...given },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const status = await new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)))
  return { state, log, status, output }
}

function bad(found: readonly Found[]): readonly Found[] {
  return found.filter((one) => one.lost > 0 || one.refused !== null || one.problems.length > 0)
}

async function atRandom(steps: readonly Step[], dir: string, count = IMAGES) {
  const seed = seedOf()
  const random = randomFrom(seed)
  const points = crashPoints(steps, count, random)
  const found = await examine(steps, { points, dir, random })
  return { seed, found, bad: bad(found) }
}

test('[REQ-TORTURE-4] the recorder sees everything: its log rebuilds the directory byte for byte', async (context) => {
  const { state, log, status, output } = await record(libraryOf(context), { dir: scratch(), store: BUILT_STORE })
  expect(status, output).toBe(0)
  const steps = readRecording(log)
  const disk = new Disk()
  for (const step of steps) disk.apply(step)
  const image = `${state}-rebuilt`
  disk.write(image, EVERYTHING)
  const names = (dir: string) =>
    readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.endsWith('-shm'))
      .toSorted()
  expect(names(image)).toEqual(names(state))
  for (const name of names(state).filter((one) => one !== 'checkpoints'))
    expect(readFileSync(join(image, name)).equals(readFileSync(join(state, name))), name).toBe(true)
  expect(acknowledgedIn(steps)).toHaveLength(APPENDS)
})

test('[REQ-TORTURE-4] a power failure at any moment loses nothing that was acknowledged, and the ledger opens and verifies', {
  timeout: TEST_MS_MAX,
}, async (context) => {
  const dir = scratch()
  const { log, status, output } = await record(libraryOf(context), { dir, store: BUILT_STORE })
  expect(status, output).toBe(0)
  const { seed, found, bad } = await atRandom(readRecording(log), dir)
  const told = found.reduce((sum, one) => sum + one.acknowledged, 0)
  console.log(`power failure: ${found.length} images, ${told} acknowledged events looked for, ${bad.length} bad images`)
  expect(bad, `PHASELOCK_TORTURE_SEED=${seed}`).toEqual([])
  expect(found.length).toBeGreaterThanOrEqual(10)
  expect(found.filter((one) => one.acknowledged > 0).length).toBeGreaterThanOrEqual(8)
})

test('[REQ-TORTURE-4] the same holds while the write-ahead log is copied back and begun again', {
  timeout: TEST_MS_MAX,
}, async (context) => {
  const dir = scratch()
  const store = changedStore(dir, { from: /WAL_PAGES_MAX = (?:8_?000|8e3)/g, to: 'WAL_PAGES_MAX = 40' })
  const { log, status, output } = await record(libraryOf(context), { dir, store })
  expect(status, output).toBe(0)
  const { seed, bad } = await atRandom(readRecording(log), dir, FEWER)
  expect(bad, `PHASELOCK_TORTURE_SEED=${seed}`).toEqual([])
})

test(
  '[REQ-TORTURE-4] a power failure while the ledger is being made leaves a directory that can be used',
  async (context) => {
    const dir = scratch()
    const { log, status, output } = await record(libraryOf(context), {
      dir,
      store: BUILT_STORE,
      work: { workers: 1, appends: 1, rounds: 1 },
    })
    expect(status, output).toBe(0)
    const steps = readRecording(log)
    const end = steps.findIndex((step) => step.kind === 'told')
    const random = randomFrom(seedOf())
    const points = crashPoints(steps.slice(0, end + 1), FEWER, random)
    expect(bad(await examine(steps, { points, dir, random }))).toEqual([])
  },
  TEST_MS_MAX,
)

// A process that dies between writing and syncing leaves a commit that only the page cache holds. The next process
// reads it like any other, and must not build on it, or answer with it, before it is durable.
test.for([
  ['killed before its sync', [FILES.database, 0, 0, 0, 0, 1, 0]],
  ['ended after its sync had failed', [FILES.database, 0, constants.errno.EIO, 0, 0, 0, 0]],
] as const)(
  '[REQ-TORTURE-4] what a process left that was %s is durable before the next one answers with it',
  { timeout: TEST_MS_MAX },
  async ([, doom], context) => {
    const library = libraryOf(context)
    const dir = scratch()
    const faults = join(dir, 'faults')
    writeFileSync(faults, Buffer.alloc(16))
    const work = { workers: 1, appends: 3, rounds: 1 }
    await record(library, { dir, faults, store: BUILT_STORE, work: { ...work, doom: [...doom] } })
    expect(readFileSync(faults)[HITS]).toBe(1)
    writeFileSync(faults, Buffer.alloc(16))
    const resend = [{ stream: 'task:doomed', version: 1, key: 'doomed-0' }]
    const { log, status, output } = await record(library, {
      dir,
      faults,
      store: BUILT_STORE,
      work: { ...work, appends: 1, name: 'second', resend },
    })
    expect(status, output).toBe(0)
    const steps = readRecording(log)
    const told = steps.flatMap((step, index) => (step.kind === 'told' ? [index + 1] : []))
    const random = randomFrom(seedOf())
    for (const point of told) expect(bad(await examine(steps, { points: [point], dir, random }))).toEqual([])
    expect(acknowledgedIn(steps).length).toBeGreaterThan(3)
  },
)

// Linux forgets what a failed sync was to save: the disk of the test does so too.
test('[REQ-TORTURE-4] after syncs that failed while the server ran on, a power failure loses nothing that was acknowledged', {
  timeout: TEST_MS_MAX,
}, async (context) => {
  const library = libraryOf(context)
  const dir = scratch()
  const faults = new Faults(join(dir, 'faults'))
  const seed = seedOf()
  const random = randomFrom(seed)
  let isOpen = false
  let isFailing = false
  const flip = setInterval(() => {
    // Not before the ledger is open: a start on a failing disk is refused, and rightly so.
    isOpen ||= existsSync(join(dir, 'log')) && readFileSync(join(dir, 'log')).includes('"opened"')
    if (!isOpen) return
    if (!isFailing) faults.set({ files: random() < 0.7 ? FILES.database : FILES.head, sync: 'EIO' })
    else if (faults.wasMet) faults.clear()
    else return
    isFailing = !isFailing
  }, 5)
  const work = { rounds: 1, appends: 50, stubborn: true }
  const { log, status, output } = await record(library, { dir, faults: faults.file, store: BUILT_STORE, work })
  clearInterval(flip)
  expect(status, output).toBe(0)
  const steps = readRecording(log)
  expect(steps.some((step) => step.kind === 'sync_failed')).toBe(true)
  expect(acknowledgedIn(steps)).toHaveLength(6 * 50)
  const points = crashPoints(steps, FEWER, random)
  expect(bad(await examine(steps, { points, dir, random })), `PHASELOCK_TORTURE_SEED=${seed}`).toEqual([])
})

test.for(['OFF', 'NORMAL'])(
  '[REQ-TORTURE-5] the same agent CLI shows losses with synchronous=%s',
  { timeout: TEST_MS_MAX },
  async (level, context) => {
    const dir = scratch()
    const store = changedStore(dir, { from: /synchronous = FULL/g, to: `synchronous = ${level}` })
    const { log, status, output } = await record(libraryOf(context), { dir, store })
    expect(status, output).toBe(0)
    const { found } = await atRandom(readRecording(log), dir)
    const lost = found.reduce((sum, one) => sum + one.lost, 0)
    const told = found.reduce((sum, one) => sum + one.acknowledged, 0)
    console.log(`synchronous=${level}: ${lost} of ${told} acknowledged events lost in ${found.length} images`)
    expect(lost).toBeGreaterThan(0)
    expect(found.filter((one) => one.lost > 0).length).toBeGreaterThan(IMAGES / 4)
  },
)
