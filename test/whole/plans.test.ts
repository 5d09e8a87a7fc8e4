import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Trees } from '../../src/app/trees/trees.js'
import { type ChangePlan, undoPlan } from '../../src/tree/write/change-plan.js'
import { makeTemporaryName } from '../../src/tree/write/temporary-name.js'
import { openTreeWriter } from '../../src/tree/write/tree-writer.js'
import { depth } from '../depth.js'

const PRELOAD = fileURLToPath(new URL('end-at-step.cjs', import.meta.url))
const CHILD = fileURLToPath(new URL('change-child.mjs', import.meta.url))
const STEPS_MAX = 300
const STRIDE = depth(7, 1)

let dir: string
let tree: string
const at = (...parts: readonly string[]): string => join(tree, ...parts)
const plan = (): string => join(dir, 'plan.json')

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'phaselock-plans-'))
  tree = join(dir, 'tree')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

function makeTree(): void {
  rmSync(tree, { recursive: true, force: true })
  for (const folder of ['folder/deep', 'moded']) mkdirSync(at(folder), { recursive: true })
  for (const name of ['gone', 'folder/a', 'folder/deep/b', 'was-file', 'program', 'changed'])
    writeFileSync(at(name), `${name}\n`)
  writeFileSync(at('log'), 'first\n')
  symlinkSync('log', at('old-link'))
  chmodSync(at('program'), 0o644)
}

/** Every path with its mode and content. */
function look(): Record<string, string> {
  const paths = readdirSync(tree, { recursive: true, encoding: 'utf8' }).toSorted()
  return Object.fromEntries(paths.map((path) => [path, describeEntry(at(path))]))
}

function describeEntry(path: string): string {
  const stat = lstatSync(path)
  if (stat.isSymbolicLink()) return `link ${readlinkSync(path)}`
  const mode = (stat.mode & 0o777).toString(8)
  return stat.isDirectory() ? `folder ${mode}` : `${mode} ${readFileSync(path, 'utf8')}`
}

/** Runs the change or its way back in a process that ends right before a step. False: it was done before. */
function endAt(mode: 'change' | 'undo' | 'trees', step: number, file = plan()): boolean {
  const orders = join(dir, 'orders')
  writeFileSync(orders, JSON.stringify({ id: 1, thread: 'main', endAt: step }))
  const done = spawnSync(process.execPath, ['--require', PRELOAD, CHILD, mode, tree, file], {
    env: { ...process.env, PHASELOCK_STEPS: orders },
    encoding: 'utf8',
  })
  if (done.signal === 'SIGKILL') return true
  if (done.status !== 0) throw new Error(done.stderr)
  return false
}

function change(): ChangePlan {
  execFileSync(process.execPath, [CHILD, 'change', tree, plan()])
  return JSON.parse(readFileSync(plan(), 'utf8')) as ChangePlan
}

describe('a change of a tree that is interrupted', () => {
  it('[REQ-WHOLE-4] is taken back from before any of its steps', { timeout: 600_000 }, async () => {
    let steps = 0
    for (let step = 1; step < STEPS_MAX; step += STRIDE) {
      makeTree()
      const before = look()
      rmSync(plan(), { force: true })
      const hasEnded = endAt('change', step)
      // Before the first plan nothing has been written.
      const conflicts = existsSync(plan()) ? await undoPlan(tree, JSON.parse(readFileSync(plan(), 'utf8'))) : []
      expect(conflicts, `step ${step}`).toEqual([])
      expect(look(), `step ${step}`).toEqual(before)
      if (!hasEnded) break
      steps += 1
    }
    expect(steps).toBeGreaterThan(3)
  })

  it('[REQ-WHOLE-4] is taken back when the way back is interrupted before any of its steps', {
    timeout: 600_000,
  }, async () => {
    for (let step = 1; step < STEPS_MAX; step += STRIDE) {
      makeTree()
      const before = look()
      const planned = change()
      expect(look()).not.toEqual(before)
      const hasEnded = endAt('undo', step)
      expect(await undoPlan(tree, planned), `step ${step}`).toEqual([])
      expect(look(), `step ${step}`).toEqual(before)
      if (!hasEnded) break
    }
  })

  it('[REQ-WHOLE-4] leaves alone what somebody else changed since, names it, and keeps what was there before', async () => {
    makeTree()
    const before = look()
    const planned = change()
    writeFileSync(at('changed'), 'mine\n')
    writeFileSync(at('gone'), 'mine\n')
    writeFileSync(at('created'), 'mine\n')
    writeFileSync(at('new/deep/mine'), 'mine\n')
    expect([...(await undoPlan(tree, planned))].sort()).toEqual(['changed', 'created', 'gone'])
    const after = look()
    const kept = Object.keys(after).filter((path) => path.includes('.before-'))
    expect(kept.map((path) => after[path]).sort()).toEqual(['644 changed\n', '644 gone\n'])
    for (const path of [...kept, 'new', 'new/deep']) delete after[path]
    expect(after).toEqual({
      ...before,
      ...{ changed: '644 mine\n', gone: '644 mine\n', created: '644 mine\n', 'new/deep/mine': '644 mine\n' },
    })
  })

  it('[REQ-WHOLE-4] goes on past what others put in its way: long names, folders under its names, hard links', async () => {
    mkdirSync(tree)
    const long = 'n'.repeat(250)
    for (const name of [long, 'replaced', 'program']) writeFileSync(at(name), `${name}\n`)
    const steps = [
      { type: 'delete', path: long },
      { type: 'write', path: 'replaced', content: Buffer.from('new\n') },
      { type: 'set_mode', path: 'program', mode: 0o755 },
    ] as const
    let planned: ChangePlan | null = null
    const onPlanned = (newest: ChangePlan): void => {
      planned = newest
    }
    expect(await openTreeWriter(tree).begin(steps, { secret: 'secret', onPlanned })).toMatchObject({ ok: true })
    writeFileSync(at(long), 'mine\n')
    mkdirSync(at(makeTemporaryName('secret', 1, 'new')))
    const outside = join(dir, 'outside')
    writeFileSync(outside, 'outside\n', { mode: 0o600 })
    rmSync(at('program'))
    linkSync(outside, at('program'))
    expect([...(await undoPlan(tree, planned as unknown as ChangePlan))].sort()).toEqual([long, 'program', 'replaced'])
    expect(lstatSync(outside).mode & 0o777).toBe(0o600)
    const kept = readdirSync(tree).filter((name) => name.includes('.before-'))
    expect(kept.map((name) => readFileSync(at(name), 'utf8'))).toEqual([`${long}\n`])
    expect(readFileSync(at(long), 'utf8')).toBe('mine\n')
  })
})

describe('temporary entries of a change that has not ended', () => {
  it('[REQ-WHOLE-6] are no change of the tree, and stay until it has ended, however old they are', async () => {
    mkdirSync(tree)
    writeFileSync(at('big'), 'x'.repeat(2_000_000))
    const later = () => Date.now() + 3_600_000
    const trees = new Trees(join(dir, 'state'), later)
    await trees.begin(tree)
    const onPlanned = (planned: ChangePlan): void =>
      trees.beginChange(
        { id: 'i', tree, taskId: 't', version: 1, lines: [], before: [], plan: planned, follow: {} },
        true,
      )
    const pending = await openTreeWriter(tree).begin([{ type: 'delete', path: 'big' }], { secret: 's', onPlanned })
    expect(pending.ok).toBe(true)
    expect((await trees.compare(tree)).differences).toEqual([{ path: 'big', kind: 'deleted' }])
    expect(readdirSync(tree)).toEqual([makeTemporaryName('s', 0, 'old')])
    const open = trees.findOpenChange(tree)
    expect(open?.plan === null || open === null ? [] : await undoPlan(tree, open.plan)).toEqual([])
    expect(readFileSync(at('big'), 'utf8').length).toBe(2_000_000)
    await trees.close()
  })
})

describe('what is expected of a tree', () => {
  const change = (path: string, sha256: string) =>
    ({ path, kind: 'created', type: 'file', bytes: 1, sha256, problem: null }) as const
  const [EXPLAINED, LATER] = ['e'.repeat(64), 'f'.repeat(64)]
  const index = (entries: Record<string, string>) => ({ entries, packages: {}, rules: [] })

  it('[REQ-WHOLE-5] loses nothing that was explained when a new snapshot is interrupted', { timeout: 300_000 }, () => {
    const seen = new Set<string>()
    for (let step = 1; step < STEPS_MAX; step += 1) {
      const state = join(dir, `trees-${step}`)
      const trees = new Trees(state)
      trees.settle(tree, index({ a: 'file 0', b: 'file 0' }))
      trees.explain(tree, [change('b', EXPLAINED), change('c', EXPLAINED)])
      const hasEnded = endAt('trees', step, state)
      const entries = { ...new Trees(state).findExpectedEntries(tree) }
      expect(entries, `step ${step}`).toMatchObject({ b: `file ${EXPLAINED}`, c: `file ${EXPLAINED}` })
      seen.add(entries.a ?? '')
      // The next change is found, too.
      const again = new Trees(state)
      again.explain(tree, [change('d', LATER)])
      expect(new Trees(state).findExpectedHash(tree, 'd'), `step ${step}`).toBe(LATER)
      if (!hasEnded) break
    }
    expect([...seen].sort()).toEqual(['file 0', 'file 1'])
  })
})
