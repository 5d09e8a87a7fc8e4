import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  CONTRACT,
  countEvents,
  findUnexplained,
  makeRepository,
  OPERATIONS,
  type Operation,
  type Stage,
  startWork,
} from '../whole/operations.js'
import { type Call, EndingServer } from '../whole/walk.js'
import { Disk, NOTHING_ELSE, randomLuck } from './disk/disk.js'
import { randomFrom, scratch, seedOf } from './disk/place.js'
import { buildRecorder, readRecording, type Step, tell, underRecorder } from './disk/recording.js'

const IMAGES = Number(process.env.PHASELOCK_TORTURE_IMAGES ?? 10)
const TEST_MS_MAX = 300_000 + IMAGES * 20_000
const NOTHING = 'Nothing in the work tree changed without an allowed call.'
const ROUNDS = 3

// What the recorder sees: not what people change by hand, and not the files of git.
const RECORDED = OPERATIONS.filter(
  ({ event, name }) => event.tool !== undefined && event.tool !== 'git_commit' && !name.includes('ignored'),
)

interface Made {
  readonly operation: Operation
  readonly round: number
  readonly call: Call
  readonly was: string
  readonly recorded: number
}

/** What a folder holds; the modes of files are not recorded. */
function look(stage: Stage, { operation, round }: Pick<Made, 'operation' | 'round'>): string {
  return stripModes(operation.look(stage, round))
}

function stripModes(text: string): string {
  return text.replace(/ [0-7]{3}(?=[ \n]|$)/g, '')
}

const expected = (stage: Stage, { operation, round }: Made): string => stripModes(operation.expected(stage, round))

test(
  '[REQ-WHOLE-10] after a power failure at any moment a call is in tree and ledger, or in neither',
  async (context) => {
    const built = buildRecorder()
    if ('reason' in built) return context.skip(built.reason)
    const log = join(scratch(), 'log')
    const environment: NodeJS.ProcessEnv = {}
    const server = new EndingServer(CONTRACT, { environment })
    context.onTestFinished(() => server.remove())
    Object.assign(environment, underRecorder({ library: built.library, dir: server.dir, log }))
    makeRepository(server)
    const disk = new Disk(server.dir)
    const stage = await startWork(server)
    const calls: Made[] = []
    for (let round = 1; round <= ROUNDS * RECORDED.length; round += 1) {
      const operation = RECORDED[round % RECORDED.length] as Operation
      await operation.prepare(stage, round)
      const recorded = await countEvents(stage, operation.event)
      const call = { ...operation.call(stage, round), key: `power-${round}` }
      calls.push({ operation, round, call, recorded, was: look(stage, { operation, round }) })
      tell(log, JSON.stringify({ begun: calls.length }))
      expect(await server.call(call)).toMatchObject({ status: 200 })
      tell(log, JSON.stringify({ done: calls.length }))
    }
    await server.kill()
    for (const name of Object.keys(environment)) delete environment[name]

    const steps = readRecording(log)
    const seed = seedOf()
    const random = randomFrom(seed)
    let applied = 0
    for (const [index, point] of choosePoints(steps, random).entries()) {
      for (; applied < point; applied += 1) disk.apply(steps[applied] as Step)
      rmSync(server.dir, { recursive: true })
      mkdirSync(server.dir)
      disk.write(server.dir, index % 2 === 0 ? NOTHING_ELSE : randomLuck(random))
      const { begun, done } = readTold(steps.slice(0, point))
      const where = `PHASELOCK_TORTURE_SEED=${seed}, step ${point} of ${steps.length}, ${done} of ${begun} answered`
      await server.start()
      // The first look at the tree removes what is left of changes that have ended.
      expect(await findUnexplained(stage), where).toBe(NOTHING)
      for (const one of calls.slice(0, done)) expect(look(stage, one), where).toBe(expected(stage, one))
      const last = calls[begun - 1]
      if (begun > done && last !== undefined) await requireWhole(stage, last, where)
      const verified = await server.call({ method: 'GET', path: '/audit/verify', token: server.operator })
      expect(verified.body, where).toMatchObject({ ok: true })
      await server.kill()
    }
  },
  TEST_MS_MAX,
)

/** The call on its way when the power went has happened or not, and happens once when it is sent again. */
async function requireWhole(stage: Stage, one: Made, where: string): Promise<void> {
  const isRecorded = (await countEvents(stage, one.operation.event)) - one.recorded
  expect(isRecorded, where).toBeLessThanOrEqual(1)
  expect(look(stage, one), where).toBe(isRecorded === 1 ? expected(stage, one) : one.was)
  expect(await stage.server.call(one.call), where).toMatchObject({ status: 200 })
  expect(look(stage, one), where).toBe(expected(stage, one))
  expect((await countEvents(stage, one.operation.event)) - one.recorded, where).toBe(1)
  expect(await findUnexplained(stage), where).toBe(NOTHING)
}

/** Most moments are while a call is made, the others right after an answer. */
function choosePoints(steps: readonly Step[], random: () => number): readonly number[] {
  const told = steps.flatMap((step, index) => (step.kind === 'told' ? [index] : []))
  const pick = (): number => Math.floor((random() * told.length) / 2) * 2
  return Array.from({ length: IMAGES }, (_, index) => {
    const [begun = 0, done = 0] = told.slice(pick()).slice(0, 2)
    return index % 5 === 4 ? done + 1 : begun + 1 + Math.floor(random() * (done - begun))
  }).toSorted((a, b) => a - b)
}

function readTold(steps: readonly Step[]): { readonly begun: number; readonly done: number } {
  let [begun, done] = [0, 0]
  for (const step of steps) {
    if (step.kind !== 'told') continue
    const told = JSON.parse(step.text) as { begun?: number; done?: number }
    begun = told.begun ?? begun
    done = told.done ?? done
  }
  return { begun, done }
}
