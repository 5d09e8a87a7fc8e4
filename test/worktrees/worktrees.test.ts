import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { git } from '../e2e/projects.js'
import { drop, type Stage, stage } from './stage.js'

const MS = 300_000

describe('work trees of tasks', () => {
  let at: Stage

  beforeEach(async () => {
    at = await stage({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
  }, MS)
  afterEach(() => at.remove(), MS)

  it(
    '[REQ-TREES-1] only the top folder of a repository with a commit gives a work tree',
    async () => {
      const empty = join(at.repository, '..', 'empty')
      mkdirSync(empty)
      mkdirSync(join(at.repository, 'sub'))
      for (const [workspace, why] of [
        [empty, /top folder/],
        [join(at.repository, 'sub'), /top folder/],
      ] as const) {
        const refused = await at.add('x', { workspace })
        expect(refused, JSON.stringify(refused.body)).toMatchObject({ status: 400 })
        expect(refused.body.detail).toMatch(why)
      }
      git(empty, 'init', '--quiet')
      expect((await at.add('x', { workspace: empty })).body.detail).toMatch(/no commit yet/)
      expect(readdirSync(join(at.run.stateDir, '..')).filter((name) => name.startsWith('worktrees'))).toEqual([])
    },
    MS,
  )

  it(
    '[REQ-TREES-1] a task works in its own tree on its own branch, and the repository does not change',
    async () => {
      drop(at.repository, 'open.txt', 'not committed')
      const added = await at.add('one')
      expect(added, JSON.stringify(added.body)).toMatchObject({
        status: 201,
        body: { worktree: { branch: 'phaselock/one', into: 'main', status: 'open', repository: at.repository } },
      })
      expect(added.body.uncommitted).toEqual({ paths: ['open.txt'], count: 1 })
      const worker = await at.work('one', { 'a.txt': 'changed\n' })
      expect(worker.tree).not.toContain(at.repository)
      expect(git(worker.tree, 'log', '-1', '--format=%s').trim()).toBe('Work of one')
      expect(git(worker.tree, 'symbolic-ref', '--short', 'HEAD').trim()).toBe('phaselock/one')
      expect(readFileSync(join(at.repository, 'a.txt'), 'utf8')).toBe('a\n')
      expect(git(at.repository, 'for-each-ref').trim().split('\n')).toHaveLength(1)
      expect((await at.add('one')).status).toBe(409)
    },
    MS,
  )

  it(
    '[REQ-TREES-2] nothing of the repository but the history of its branch is in the tree',
    async () => {
      const hook = join(at.repository, '.git/hooks/pre-commit')
      mkdirSync(join(at.repository, '.git/hooks'), { recursive: true })
      writeFileSync(hook, `#!/bin/sh\ntouch ${join(at.repository, '..', 'ran')}\nexit 1\n`)
      chmodSync(hook, 0o755)
      git(at.repository, 'config', 'secret.token', 'hush')
      git(at.repository, 'checkout', '--quiet', '-b', 'other')
      drop(at.repository, 'hidden.txt', 'of another branch')
      git(at.repository, 'add', '.')
      git(
        at.repository,
        '-c',
        'core.hooksPath=/dev/null',
        '-c',
        'user.name=t',
        '-c',
        'user.email=t@t',
        'commit',
        '-qm',
        'x',
      )
      const blob = git(at.repository, 'rev-parse', 'HEAD:hidden.txt').trim()
      git(at.repository, 'checkout', '--quiet', 'main')
      await at.add('one')
      const worker = await at.work('one', { 'a.txt': 'changed\n' })
      const seen = await worker.use('bash', {
        command: `cat .git/config; ls -A .git/hooks .git/objects/info; git for-each-ref --format='%(refname)'; git cat-file -t ${blob}; ls ${at.repository}`,
      })
      const { stdout, stderr } = seen.body.result as { stdout: string; stderr: string }
      expect(stdout).not.toContain('hush')
      expect(stdout).not.toContain('pre-commit')
      expect(stdout).not.toContain('alternates')
      expect(stdout).not.toContain('blob')
      expect(stdout).not.toContain('b.txt')
      expect(stdout).toContain('refs/heads/phaselock/one')
      expect(stdout).not.toContain('refs/heads/main')
      expect(stderr).toMatch(/could not get object info|Not a valid object name|bad file/)
      expect(existsSync(join(at.repository, '..', 'ran'))).toBe(false)
    },
    MS,
  )

  it(
    '[REQ-TREES-2] bash cannot write the git directory of the tree',
    async () => {
      await at.add('one')
      const worker = await at.work('one', { 'a.txt': 'changed\n' })
      const wrote = await worker.use('bash', {
        command: 'git config core.hooksPath /tmp; echo x > .git/hooks; git update-ref refs/heads/main HEAD; true',
      })
      expect(git(worker.tree, 'for-each-ref', '--format=%(refname)').trim()).toBe('refs/heads/phaselock/one')
      expect(readFileSync(join(worker.tree, '.git/config'), 'utf8')).not.toContain('hooksPath')
      expect(JSON.stringify(wrote.body)).toMatch(/Read-only|denied|not permitted|git directory/)
    },
    MS,
  )
})

describe('what is taken along', () => {
  let at: Stage

  beforeEach(async () => {
    at = await stage({ '.gitignore': 'node_modules/\n', 'a.txt': 'a\n' })
    mkdirSync(join(at.repository, 'node_modules/dep'), { recursive: true })
    drop(at.repository, 'node_modules/dep/index.js', 'installed\n')
    symlinkSync('dep', join(at.repository, 'node_modules/link'))
  }, MS)
  afterEach(() => at.remove(), MS)

  it.each([
    '../state',
    '/etc',
    'a.txt',
    '.git/config',
    'node_modules/../a.txt',
    'missing',
    '.',
    'node_modules/link/index.js',
  ])(
    '[REQ-TREES-10] %s is not taken along, and then there is no task',
    async (path) => {
      const refused = await at.add('one', { take: [path] })
      expect(refused, JSON.stringify(refused.body)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      expect((await at.run.call('GET', '/tasks/one', at.run.operator)).status).toBe(404)
    },
    MS,
  )

  it(
    '[REQ-TREES-10] installed packages are, and are no change of the task',
    async () => {
      const added = await at.add('one', { take: ['node_modules'] })
      expect(readFileSync(join(String(added.body.workspace), 'node_modules/link/index.js'), 'utf8')).toBe('installed\n')
      await at.finish(await at.work('one', { 'a.txt': 'one\n' }))
      expect((await at.operate('one', 'merge')).status).toBe(200)
      expect(git(at.repository, 'ls-files').trim().split('\n')).toEqual(['.gitignore', 'a.txt'])
      expect((await at.run.call('POST', '/tasks', at.run.operator, { title: 'x', take: ['a'] })).status).toBe(400)
    },
    MS,
  )
})

describe('what is ignored by no .gitignore', () => {
  it(
    '[REQ-TREES-10] is ignored in the tree of the task too, and merged without being committed',
    async () => {
      const at = await stage({ 'a.txt': 'a\n' })
      try {
        mkdirSync(join(at.repository, 'env'))
        drop(at.repository, 'env/settings.txt', 'mine\n')
        appendFileSync(join(at.repository, '.git/info/exclude'), 'env/\n')
        await at.add('one', { take: ['env'] })
        const worker = await at.work('one', { 'a.txt': 'one\n' })
        expect(git(worker.tree, 'status', '--porcelain')).toBe('')
        await at.finish(worker)
        const merged = await at.operate('one', 'merge')
        expect(merged.status, JSON.stringify(merged.body)).toBe(200)
        expect(git(at.repository, 'ls-files').trim()).toBe('a.txt')
      } finally {
        await at.remove()
      }
    },
    MS,
  )
})

describe('merging', () => {
  let at: Stage

  beforeEach(async () => {
    at = await stage({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
  }, MS)
  afterEach(() => at.remove(), MS)

  it(
    '[REQ-TREES-3] what is not completed is not merged, handed over or discarded',
    async () => {
      await at.add('one')
      await at.run.addTask({ id: 'plain' })
      for (const action of ['merge', 'handover', 'discard']) {
        expect((await at.operate('one', action)).body.detail).toMatch(/is queued/)
        expect((await at.operate('plain', action)).body.detail).toMatch(/no work tree of its own/)
        expect((await at.operate('nobody', action)).status).toBe(404)
      }
      const worker = await at.work('one', { 'a.txt': 'changed\n' })
      expect((await at.operate('one', 'merge', { force: true })).body.detail).toMatch(/agent-one works on/)
      expect((await at.run.call('POST', '/tasks/one/merge', worker.token, { reason: 'me' })).status).toBe(403)
      expect(at.committed('a.txt')).toBe('a\n')
    },
    MS,
  )

  it(
    '[REQ-TREES-4] uncommitted changes are reported, and merged only on request',
    async () => {
      await at.add('one')
      const worker = await at.work('one', { 'a.txt': 'changed\n', 'new/c.txt': 'c\n' }, false)
      await at.finish(worker)
      const refused = await at.operate('one', 'merge')
      expect(refused).toMatchObject({
        status: 409,
        body: { uncommitted: ['a.txt', 'new/c.txt'], uncommitted_count: 2 },
      })
      expect(at.committed('a.txt')).toBe('a\n')
      const merged = await at.operate('one', 'merge', { commit: true })
      expect(merged, JSON.stringify(merged.body)).toMatchObject({
        status: 200,
        body: { worktree: { status: 'merged' } },
      })
      expect([at.committed('a.txt'), at.committed('new/c.txt')]).toEqual(['changed\n', 'c\n'])
      expect(readFileSync(join(at.repository, 'new/c.txt'), 'utf8')).toBe('c\n')
    },
    MS,
  )

  it(
    '[REQ-CLIFILES-3] a file that an agent CLI wrote for itself holds no merge up, and is in none',
    async () => {
      const settings = '.claude/settings.local.json'
      await at.add('one')
      const worker = await at.work('one', { 'a.txt': 'changed\n' }, false)
      mkdirSync(join(worker.tree, '.claude'))
      drop(worker.tree, settings, '{"permissions": {"allow": ["Bash"]}}')
      await at.finish(worker)
      expect(await at.operate('one', 'merge')).toMatchObject({ status: 409, body: { uncommitted: ['a.txt'] } })
      expect(await at.operate('one', 'merge', { commit: true })).toMatchObject({ status: 200 })
      expect(at.committed('a.txt')).toBe('changed\n')
      expect(git(at.repository, 'ls-tree', '-r', '--name-only', 'HEAD')).not.toContain('.claude')
    },
    MS,
  )

  it(
    '[REQ-TREES-5] a merge goes forward or makes a merge commit, runs no hook, and removes the tree',
    async () => {
      for (const name of [
        'post-merge',
        'reference-transaction',
        'pre-merge-commit',
        'post-checkout',
        'post-index-change',
      ]) {
        mkdirSync(join(at.repository, '.git/hooks'), { recursive: true })
        writeFileSync(join(at.repository, '.git/hooks', name), `#!/bin/sh\ntouch ${join(at.repository, '..', 'ran')}\n`)
        chmodSync(join(at.repository, '.git/hooks', name), 0o755)
      }
      await at.add('one')
      await at.add('two')
      const [one, two] = [await at.work('one', { 'a.txt': 'one\n' }), await at.work('two', { 'b.txt': 'two\n' })]
      await at.finish(one)
      await at.finish(two)
      const first = await at.operate('one', 'merge')
      expect(first, JSON.stringify(first.body)).toMatchObject({
        status: 200,
        body: { merge: { into: 'main', fast_forward: true, already: false }, worktree: { status: 'merged' } },
      })
      expect((await at.operate('two', 'merge')).body.merge).toMatchObject({ fast_forward: false })
      expect(existsSync(join(at.repository, '..', 'ran'))).toBe(false)
      expect([at.committed('a.txt'), at.committed('b.txt')]).toEqual(['one\n', 'two\n'])
      expect(git(at.repository, 'status', '--porcelain')).toBe('')
      expect(git(at.repository, 'log', '--format=%s').trim().split('\n').sort()).toEqual([
        'Merge task two: Do two',
        'Start',
        'Work of one',
        'Work of two',
      ])
      expect([existsSync(one.tree), existsSync(two.tree)]).toEqual([false, false])
      expect(git(at.repository, 'for-each-ref', '--format=%(refname)').trim()).toBe('refs/heads/main')
      expect((await at.operate('two', 'merge')).body.detail).toMatch(/was merged already/)
      expect((await at.operate('two', 'rewind', { to_phase: 'WORK' })).body.detail).toMatch(/was merged already/)
    },
    MS,
  )

  it(
    '[REQ-TREES-6] conflicts are listed and nothing changes; the branch can be handed over',
    async () => {
      await at.add('one')
      await at.add('two')
      const [one, two] = [await at.work('one', { 'a.txt': 'one\n' }), await at.work('two', { 'a.txt': 'two\n' })]
      await at.finish(one)
      await at.finish(two)
      await at.operate('one', 'merge')
      const head = git(at.repository, 'rev-parse', 'HEAD')
      const refused = await at.operate('two', 'merge')
      expect(refused).toMatchObject({ status: 409, body: { conflicts: ['a.txt'], conflict_count: 1 } })
      expect(git(at.repository, 'rev-parse', 'HEAD')).toBe(head)
      expect(git(at.repository, 'status', '--porcelain')).toBe('')
      expect(existsSync(two.tree)).toBe(true)
      const handed = await at.operate('two', 'handover')
      expect(handed).toMatchObject({
        status: 200,
        body: { worktree: { status: 'handed_over', branch: 'phaselock/two' } },
      })
      expect(git(at.repository, 'show', 'phaselock/two:a.txt')).toBe('two\n')
      expect(existsSync(two.tree)).toBe(false)
    },
    MS,
  )

  it(
    '[REQ-TREES-6] changes of the operator that are in the way stay, and the merge is refused',
    async () => {
      await at.add('one')
      const one = await at.work('one', { 'a.txt': 'one\n', 'new.txt': 'n\n' })
      await at.finish(one)
      drop(at.repository, 'b.txt', 'mine, and elsewhere\n')
      drop(at.repository, 'a.txt', 'mine\n')
      const refused = await at.operate('one', 'merge')
      expect(refused.status).toBe(409)
      expect(refused.body.detail).toMatch(/a\.txt/)
      git(at.repository, 'checkout', '--', 'a.txt')
      drop(at.repository, 'new.txt', 'mine too\n')
      expect((await at.operate('one', 'merge')).body.detail).toMatch(/new\.txt/)
      expect(existsSync(join(at.repository, '.git/index.lock'))).toBe(false)
      expect(at.committed('a.txt')).toBe('a\n')
      git(at.repository, 'clean', '-fq', 'new.txt')
      expect((await at.operate('one', 'merge')).status).toBe(200)
      expect(readFileSync(join(at.repository, 'b.txt'), 'utf8')).toBe('mine, and elsewhere\n')
      expect(git(at.repository, 'status', '--porcelain')).toBe(' M b.txt\n')
    },
    MS,
  )

  it(
    '[REQ-TREES-6] a git that is at work in the repository is not disturbed',
    async () => {
      await at.add('one')
      await at.finish(await at.work('one', { 'a.txt': 'one\n' }))
      writeFileSync(join(at.repository, '.git/index.lock'), '')
      const refused = await at.operate('one', 'merge')
      expect(refused.body.detail).toMatch(/Another git process is running/)
      expect(readFileSync(join(at.repository, '.git/index.lock'), 'utf8')).toBe('')
      expect(at.committed('a.txt')).toBe('a\n')
    },
    MS,
  )

  it(
    '[REQ-TREES-7] the work of a cancelled task is discarded only when an operator says so',
    async () => {
      await at.add('one')
      const one = await at.work('one', { 'a.txt': 'one\n' })
      await at.operate('one', 'cancel')
      expect(existsSync(one.tree)).toBe(true)
      expect((await at.operate('one', 'discard')).body.worktree).toMatchObject({ status: 'discarded' })
      expect(existsSync(one.tree)).toBe(false)
      expect(at.committed('a.txt')).toBe('a\n')
    },
    MS,
  )
})
