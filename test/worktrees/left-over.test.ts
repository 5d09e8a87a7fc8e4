import { spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { holdIndex } from '../../src/app/worktrees/main-tree.js'
import { makeWorktree } from '../../src/app/worktrees/make-worktree.js'
import { MergePlans } from '../../src/app/worktrees/merge-plan.js'
import { getPlace, getWorktreesDir } from '../../src/app/worktrees/worktree-place.js'
import { git } from '../e2e/projects.js'
import type { Running } from '../http/harness.js'
import { drop, type Stage, stage } from './stage.js'

const MS = 300_000
const HOLDER = new URL('../../dist/app/worktrees/main-tree.js', import.meta.url).href
let at: Stage
let run: Running

beforeEach(async () => {
  at = await stage({ 'a.txt': 'a\n', 'deep/er/f.txt': 'f\n' })
  run = at.run
}, MS)
afterEach(() => at.remove(run), MS)

async function cancelled(): Promise<string> {
  await at.add('one')
  const one = await at.work('one', { 'a.txt': 'new a\n', 'deep/er/f.txt': 'new f\n' }, false)
  await at.operate('one', 'cancel')
  return one.tree
}

/** A process that says when it has begun. */
async function begun(code: string, cwd: string): Promise<() => Promise<unknown>> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const end = () => {
    child.kill('SIGKILL')
    return ended
  }
  onTestFinished(async () => void (await end()))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  return end
}

const writingOn = (cwd: string) =>
  begun(
    `import { mkdirSync, writeFileSync } from 'node:fs'
     for (let n = 0, until = Date.now() + 20000; Date.now() < until; n += 1)
       try {
         if (n === 100) console.log('begun')
         mkdirSync('d' + (n % 50), { recursive: true })
         writeFileSync('d' + (n % 50) + '/f' + n, 'x')
       } catch {}`,
    cwd,
  )

it(
  '[REQ-NEWEST-1] a folder in the place of a lock is in the way of no merge',
  async () => {
    const tree = await cancelled()
    for (const name of ['index', 'HEAD', 'refs/heads/phaselock/one'])
      mkdirSync(join(tree, `.git/${name}.lock/deep`), { recursive: true })
    const merged = await at.operate('one', 'merge', { force: true, commit: true })
    expect(merged, JSON.stringify(merged.body)).toMatchObject({ status: 200 })
    expect(at.committed('a.txt')).toBe('new a\n')
  },
  MS,
)

it.each(['.git/refs/heads/phaselock', '.git/objects', '.git/index', '.git/logs'])(
  '[REQ-NEWEST-2] a merge writes and removes nothing behind a link in the place of %s',
  async (part) => {
    const tree = await cancelled()
    const outside = join(at.repository, '..', 'outside')
    mkdirSync(join(tree, '.git/logs'), { recursive: true })
    renameSync(join(tree, part), outside)
    symlinkSync(outside, join(tree, part))
    const isFolder = part !== '.git/index'
    if (isFolder) drop(outside, 'one.lock', 'mine')
    const held = isFolder ? readdirSync(outside, { recursive: true }).length : readFileSync(outside, 'latin1')
    for (const [action, body] of [
      ['merge', { force: true, commit: true }],
      ['handover', { commit: true }],
    ] as const) {
      const refused = await at.operate('one', action, body)
      expect(refused, JSON.stringify(refused.body)).toMatchObject({
        status: 409,
        body: { detail: expect.stringContaining('or was changed') },
      })
    }
    expect(isFolder ? readdirSync(outside, { recursive: true }).length : readFileSync(outside, 'latin1')).toEqual(held)
    expect(existsSync(`${outside}.lock`)).toBe(false)
    expect(await at.operate('one', 'discard')).toMatchObject({ status: 200 })
    expect(existsSync(outside)).toBe(true)
  },
  MS,
)

it.each([
  ['merge', { force: true, commit: true }, 'refs/phaselock/one'],
  ['handover', { commit: true }, 'refs/heads/phaselock/one'],
] as const)(
  '[REQ-NEWEST-3] a lock in the repository that a git of ours left is not in the way of the next %s',
  async (action, body, ref) => {
    await cancelled()
    const lock = join(at.repository, '.git', `${ref}.lock`)
    mkdirSync(join(lock, '..'), { recursive: true })
    writeFileSync(lock, '')
    const done = await at.operate('one', action, body)
    expect(done, JSON.stringify(done.body)).toMatchObject({ status: 200 })
    expect(existsSync(lock)).toBe(false)
  },
  MS,
)

it(
  '[REQ-NEWEST-4] a work tree that somebody still writes into is ended all the same, and removed at a later start',
  async () => {
    const tree = await cancelled()
    const end = await writingOn(tree)
    const done = await at.operate('one', 'discard')
    expect(done, JSON.stringify(done.body)).toMatchObject({ status: 200, body: { worktree: { status: 'discarded' } } })
    await end()
    run = await run.restart()
    expect(readdirSync(getWorktreesDir(run.stateDir))).toEqual([])
  },
  MS,
)

it(
  '[REQ-NEWEST-4] a server starts although what it would remove cannot be removed yet, and says so',
  async () => {
    const left = join(getWorktreesDir(run.stateDir), 'two.abcdef.new')
    mkdirSync(join(left, 'tree'), { recursive: true })
    const end = await writingOn(join(left, 'tree'))
    run = await run.restart()
    await end()
    expect(String(run.faults[0])).toContain('two.abcdef.new')
    run = await run.restart()
    expect(existsSync(left)).toBe(false)
  },
  MS,
)

it(
  '[REQ-NEWEST-5] the index that another live server holds is not taken from it, and what a dead one held is',
  async () => {
    const code = `import { holdIndex } from ${JSON.stringify(HOLDER)}
      const held = await holdIndex(process.cwd(), 'other')
      console.log(held === null ? 'none' : 'held')
      setInterval(() => {}, 1000)`
    const end = await begun(code, at.repository)
    const lock = join(at.repository, '.git/index.lock')
    const word = readFileSync(lock, 'utf8')
    expect(await holdIndex(at.repository, 'one')).toBeNull()
    expect(readFileSync(lock, 'utf8')).toBe(word)
    await end()
    const held = await holdIndex(at.repository, 'one')
    expect(held).not.toBeNull()
    held?.release()
    expect(existsSync(lock)).toBe(false)
  },
  MS,
)

it(
  '[REQ-NEWEST-6] a file that somebody put in the place of a folder outlives a merge that was cut off',
  async () => {
    const tree = await cancelled()
    git(tree, '-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qam', 'one')
    const tip = git(tree, 'rev-parse', 'HEAD').trim()
    const before = git(at.repository, 'rev-parse', 'HEAD').trim()
    git(at.repository, 'fetch', '-q', tree, 'phaselock/one')
    const about = {
      name: 'one',
      taskId: 'one',
      repository: at.repository,
      into: 'main',
      tip,
      isShown: true,
      force: true,
    }
    new MergePlans(run.stateDir).put({ ...about, before, after: tip, reason: 'because', actor: 'operator:operator' })
    git(at.repository, 'update-ref', 'refs/heads/main', tip, before)
    rmSync(join(at.repository, 'deep'), { recursive: true })
    drop(at.repository, 'deep', 'mine, written since\n')
    run = await run.restart()
    expect(String(run.faults[0])).toContain('deep/er/f.txt')
    const again = await run.call('POST', '/tasks/one/merge', run.operator, { reason: 'again', force: true })
    expect(again).toMatchObject({ status: 409, body: { detail: expect.stringContaining('deep/er/f.txt') } })
    expect(readFileSync(join(at.repository, 'deep'), 'utf8')).toBe('mine, written since\n')
    rmSync(join(at.repository, 'deep'))
    expect(await run.call('POST', '/tasks/one/merge', run.operator, { reason: 'again', force: true })).toMatchObject({
      status: 200,
      body: { worktree: { status: 'merged' } },
    })
    expect(git(at.repository, 'status', '--porcelain')).toBe('')
  },
  MS,
)

it(
  '[REQ-NEWEST-10] a work tree that was made for a task that was never recorded goes with the next start, and work of unknown tasks stays',
  async () => {
    const take: string[] = []
    for (const taskId of ['two', 'kept'])
      expect(await makeWorktree(run.stateDir, { taskId, repository: at.repository, take, excludes: '' })).toMatchObject(
        { ok: true },
      )
    expect((await at.add('two')).status).toBe(409)
    rmSync(getPlace(run.stateDir, 'kept').unused)
    run = await run.restart()
    const add = (id: string) =>
      run.call('POST', '/tasks', run.operator, { title: id, id, worktree: true, workspace: at.repository })
    expect((await add('two')).status).toBe(201)
    expect((await add('kept')).status).toBe(409)
    run = await run.restart()
    expect(existsSync(getPlace(run.stateDir, 'two').tree)).toBe(true)
    expect(existsSync(getPlace(run.stateDir, 'two').unused)).toBe(false)
  },
  MS,
)

it(
  '[REQ-NEWEST-10] the rest of a removed work tree is deleted after a kill, whatever its task id is',
  async () => {
    await at.add('o..ne')
    await at.operate('o..ne', 'cancel')
    const { folder } = getPlace(run.stateDir, 'o..ne')
    cpSync(folder, join(run.stateDir, '../aside'), { recursive: true })
    expect((await at.operate('o..ne', 'discard')).status).toBe(200)
    renameSync(join(run.stateDir, '../aside'), folder)
    run = await run.restart()
    expect(existsSync(folder)).toBe(false)
  },
  MS,
)
