import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { holdIndex } from '../../src/app/worktrees/main-tree.js'
import { MergePlans } from '../../src/app/worktrees/merge-plan.js'
import { makePlace, serve } from '../e2e/process.js'
import { git, makeRepository } from '../e2e/projects.js'
import type { Running } from '../http/harness.js'
import { CONTRACT, drop, type Stage, stage } from './stage.js'

const FILES = 300
const ROUNDS = 40
const MS = 300_000 + ROUNDS * 15_000

describe('a server that is killed in the middle of a merge', () => {
  it(
    '[REQ-TREES-9] has merged nothing or goes on at its next start, at whatever moment',
    async () => {
      const place = await makePlace()
      const files = Object.fromEntries(
        Array.from({ length: FILES }, (_, index) => [`d/${index}.txt`, `old ${index}\n`]),
      )
      makeRepository(place.workspace, files)
      git(place.workspace, 'branch', '-M', 'main')
      const contract = join(place.dir, 'small.yaml')
      writeFileSync(contract, CONTRACT)
      // The server that goes on after a kill is the next one to be killed.
      let server = await serve(place, contract)
      for (let round = 0; round < ROUNDS; round += 1) {
        const id = `t${round}`
        const operate = (path: string, body: object) =>
          server.call('POST', path, server.operator, { reason: 'because', ...body })
        const added = await server.call('POST', '/tasks', server.operator, { title: id, id, worktree: true })
        const tree = String(added.body.workspace)
        for (let index = 0; index < FILES; index += 1) drop(tree, `d/${index}.txt`, `${id} ${index}\n`)
        drop(tree, `new-${id}.txt`, id)
        await operate(`/tasks/${id}/cancel`, {})
        const before = git(place.workspace, 'rev-parse', 'main')
        const asked = operate(`/tasks/${id}/merge`, { force: true, commit: true }).catch(() => null)
        await new Promise((resolve) => setTimeout(resolve, 30 + ((round * 137) % 900)))
        await server.kill()
        await asked
        server = await serve(place, contract)
        const state = (await server.call('GET', `/tasks/${id}`, server.operator)).body.worktree as { status: string }
        const isMerged = git(place.workspace, 'rev-parse', 'main') !== before
        expect(state.status, `round ${round}`).toBe(isMerged ? 'merged' : 'open')
        expect(existsSync(tree), `round ${round}`).toBe(!isMerged)
        expect(git(place.workspace, 'status', '--porcelain'), `round ${round}`).toBe('')
        expect(existsSync(join(place.workspace, '.git/index.lock'))).toBe(false)
        if (!isMerged) {
          const again = await operate(`/tasks/${id}/merge`, { force: true, commit: true })
          expect(again, JSON.stringify(again.body)).toMatchObject({ status: 200 })
        }
        expect(git(place.workspace, 'show', 'HEAD:d/7.txt')).toBe(`${id} 7\n`)
        expect(
          git(place.workspace, 'log', '--format=%s')
            .split('\n')
            .filter((one) => one === id),
        ).toHaveLength(1)
        expect(git(place.workspace, 'status', '--porcelain')).toBe('')
      }
      await server.stop()
      place.remove()
    },
    MS,
  )
})

describe('a merge that was cut off', () => {
  let at: Stage
  let run: Running

  beforeEach(async () => {
    at = await stage({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'gone.txt': 'g\n' })
    run = at.run
  }, MS)
  afterEach(() => at.remove(run), MS)

  /** The branch has changed and the tree has not: as if the server had been killed just then. */
  async function cutOff(): Promise<void> {
    await at.add('one')
    const one = await at.work('one', { 'a.txt': 'new a\n', 'c/d.txt': 'new d\n' }, false)
    rmSync(join(one.tree, 'gone.txt'))
    await at.operate('one', 'cancel')
    execFileSync('git', ['-C', one.tree, 'add', '-A'])
    execFileSync('git', ['-C', one.tree, '-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'one'])
    const tip = git(one.tree, 'rev-parse', 'HEAD').trim()
    const before = git(at.repository, 'rev-parse', 'HEAD').trim()
    git(at.repository, 'fetch', '-q', one.tree, 'phaselock/one')
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
    await holdIndex(at.repository, 'one')
    git(at.repository, 'update-ref', 'refs/heads/main', tip, before)
  }

  const text = (path: string) => readFileSync(join(at.repository, path), 'utf8')

  it(
    '[REQ-TREES-9] is finished over files that were written, half written, removed or not touched yet',
    async () => {
      await cutOff()
      drop(at.repository, 'a.txt', 'new')
      rmSync(join(at.repository, 'gone.txt'))
      mkdirSync(join(at.repository, 'c'))
      drop(at.repository, 'c/d.txt', 'new d\n')
      run = await run.restart()
      expect([text('a.txt'), text('c/d.txt'), existsSync(join(at.repository, 'gone.txt'))]).toEqual([
        'new a\n',
        'new d\n',
        false,
      ])
      expect(git(at.repository, 'status', '--porcelain')).toBe('')
      expect(existsSync(join(at.repository, '.git/index.lock'))).toBe(false)
      const shown = await run.call('GET', '/tasks/one', run.operator)
      expect(shown.body.worktree).toMatchObject({ status: 'merged' })
      expect(new MergePlans(run.stateDir).list()).toEqual([])
    },
    MS,
  )

  it(
    '[REQ-TREES-9] never overwrites what somebody changed since, and says which file that is',
    async () => {
      await cutOff()
      drop(at.repository, 'a.txt', 'mine, written since\n')
      run = await run.restart()
      expect(text('a.txt')).toBe('mine, written since\n')
      expect(String(run.faults[0])).toContain('a.txt')
      const again = await run.call('POST', '/tasks/one/merge', run.operator, { reason: 'again', force: true })
      expect(again).toMatchObject({ status: 409, body: { detail: expect.stringContaining('a.txt') } })
      drop(at.repository, 'a.txt', 'a\n')
      expect(await run.call('POST', '/tasks/one/merge', run.operator, { reason: 'again', force: true })).toMatchObject({
        status: 200,
        body: { worktree: { status: 'merged' } },
      })
      expect([text('a.txt'), git(at.repository, 'status', '--porcelain')]).toEqual(['new a\n', ''])
    },
    MS,
  )

  const LOCKS = ['index', 'HEAD', 'refs/heads/phaselock/one']

  it(
    '[REQ-TREES-9] does not block the next one with locks of a git that is gone',
    async () => {
      await at.add('one')
      const one = await at.work('one', { 'a.txt': 'new a\n' }, false)
      await at.operate('one', 'cancel')
      for (const name of LOCKS) drop(one.tree, `.git/${name}.lock`, '')
      const merged = await at.operate('one', 'merge', { force: true, commit: true })
      expect(merged, JSON.stringify(merged.body)).toMatchObject({ status: 200 })
      expect(at.committed('a.txt')).toBe('new a\n')
    },
    MS,
  )

  it(
    '[REQ-TREES-9] is waited for while its git still runs',
    async () => {
      await at.add('one')
      const one = await at.work('one', { 'a.txt': 'new a\n' }, false)
      await at.operate('one', 'cancel')
      const steps = 'echo half > .git/index.lock; echo begun; sleep 1.5; echo late > late.txt; rm .git/index.lock'
      const left = spawn('sh', ['-c', steps], {
        cwd: one.tree,
        env: { PATH: process.env.PATH, GIT_COMMITTER_EMAIL: 'phaselock@localhost' },
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const ended = new Promise((resolve) => left.once('exit', resolve))
      await new Promise((resolve) => left.stdout.once('data', resolve))
      const merged = await at.operate('one', 'merge', { force: true, commit: true })
      expect(merged, JSON.stringify(merged.body)).toMatchObject({ status: 200 })
      expect(await ended).toBe(0)
      expect(at.committed('late.txt')).toBe('late\n')
    },
    MS,
  )
})
