import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { git } from '../e2e/projects.js'
import { Committer, commitAll, committingContract, inNewest, put, TOOLS } from './committing.js'
import { type Running, start } from './harness.js'

describe('a repository with submodules', () => {
  let run: Running
  let tree: string
  let dir: string
  const submodule = (...words: string[]) => git(tree, '-c', 'protocol.file.allow=always', 'submodule', ...words)
  const recorded = () => git(tree, 'ls-tree', 'HEAD', 'lib')
  const begin = async (contract = committingContract()) => {
    run = await start({ dir, contract })
    return Committer.claim(run, 't')
  }

  beforeEach(() => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-submodules-')))
    tree = join(dir, 'tree')
    const other = join(dir, 'lib')
    mkdirSync(other)
    put(other, { 'f.txt': 'one\n' })
    git(other, 'init', '--quiet')
    commitAll(other)
    put(tree, { 'a.txt': 'a\n' })
    git(tree, 'init', '--quiet')
    submodule('add', '--quiet', other, 'lib')
    commitAll(tree)
  })
  afterEach(() => run?.stop())

  const states: readonly (readonly [state: string, prepare: () => void])[] = [
    ['is as it was recorded', () => undefined],
    ['has a changed file', () => put(tree, { 'lib/f.txt': 'two\n', 'lib/g.txt': 'new\n' })],
    [
      'has a newer commit',
      () => {
        put(tree, { 'lib/f.txt': 'two\n' })
        commitAll(join(tree, 'lib'))
      },
    ],
    ['is not checked out', () => void submodule('deinit', '--quiet', '--force', 'lib')],
  ]
  it.each(states)('[REQ-COMMIT-6] is committed to and left alone where the submodule %s', async (_, prepare) => {
    prepare()
    const before = [recorded(), git(tree, 'status', '--porcelain')]
    const agent = await begin()
    expect(await agent.does('git_status')).toMatchObject({ clean: true })
    await agent.write('b.txt')
    expect((await agent.blockers())[0]).toBe('Commit: not committed: b.txt')
    await agent.does('git_commit', { message: 'work' })
    expect(inNewest(tree)).toEqual(['b.txt'])
    expect(await agent.leave()).toMatchObject({ allowed: true, status: 'completed' })
    expect([recorded(), git(tree, 'status', '--porcelain')]).toEqual(before)
  })

  it('[REQ-COMMIT-6] an agent is told at once that it cannot change the submodule', async () => {
    const agent = await begin()
    for (const [tool, args] of [
      ['write_files', { path: 'lib/f.txt', content: 'mine\n' }],
      ['edit_files', { path: 'lib/f.txt', edits: [{ old: 'one', new: 'mine' }] }],
      ['bash', { command: 'echo mine > lib/f.txt' }],
      ['bash', { command: 'mkdir lib/deep; echo mine > lib/deep/g.txt' }],
      ['bash', { command: 'rm -r lib' }],
    ] as const)
      expect((await agent.use(tool, args)).body).toMatchObject({
        code: 'constraint_violation',
        detail: expect.stringContaining('belongs to the submodule lib, which git_commit does not commit'),
      })
    expect(readFileSync(join(tree, 'lib/f.txt'), 'utf8')).toBe('one\n')
    expect(await agent.does('read_files', { path: 'lib/f.txt' })).toMatchObject({ content: 'one\n' })
  })

  it('[REQ-COMMIT-6] files where a submodule is not checked out are refused, and close the gate without .gitmodules', async () => {
    submodule('deinit', '--quiet', '--force', 'lib')
    // Agents can write .gitmodules only where a phase names it.
    const agent = await begin(committingContract().replace('"**",', '"**", ".gitmodules",'))
    expect(await agent.use('write_files', { path: 'lib/x.txt', content: 'x' })).toMatchObject({ status: 403 })
    await agent.does('bash', { command: 'rm .gitmodules' })
    await agent.write('lib/x.txt')
    await agent.does('git_commit', { message: 'work' })
    expect(await agent.blockers()).toEqual(['Commit: not committed: lib/x.txt'])
    await agent.does('bash', { command: 'rm lib/x.txt' })
    expect(await agent.leave()).toMatchObject({ allowed: true })
  })

  it('[REQ-COMMIT-6] another repository in the tree is neither committed nor in the way', async () => {
    rmSync(join(tree, 'lib'), { recursive: true })
    submodule('update', '--quiet', '--init')
    mkdirSync(join(tree, 'clone'))
    put(join(tree, 'clone'), { 'a.txt': 'a\n' })
    git(join(tree, 'clone'), 'init', '--quiet')
    commitAll(join(tree, 'clone'))
    const agent = await begin()
    expect(await agent.use('write_files', { path: 'clone/a.txt', content: 'x' })).toMatchObject({ status: 403 })
    await agent.write('b.txt')
    await agent.does('git_commit', { message: 'work' })
    expect(inNewest(tree)).toEqual(['b.txt'])
    expect(await agent.leave()).toMatchObject({ allowed: true })
  })

  it('[REQ-COMMIT-6] under a contract that demands no commit a submodule is written like any other folder', async () => {
    const agent = await begin(
      `name: free\nversion: "1"\nphases:\n  - {id: WORK, allowed_tools: ${TOOLS}}\n  - {id: DONE, allowed_tools: []}\n`,
    )
    await agent.write('lib/f.txt', 'mine\n')
    expect(await agent.leave()).toMatchObject({ allowed: true })
  })

  it.each([
    [
      'a linked worktree',
      () => {
        git(tree, 'worktree', 'add', '--quiet', '../linked')
        return join(dir, 'linked')
      },
    ],
    [
      'a submodule',
      () => {
        git(dir, '-c', 'protocol.file.allow=always', 'clone', '--quiet', '--recurse-submodules', tree, 'outer')
        return join(dir, 'outer/lib')
      },
    ],
  ] as const)('[REQ-COMMIT-7] a task in %s is refused at claim, and others are not', async (_, make) => {
    const workspace = make()
    run = await start({ dir, contract: committingContract() })
    await run.addTask({ id: 'first', workspace })
    const token = await run.addAgent('a')
    const asked = { agent_id: 'a', task_id: 'first' }
    expect(await run.call('POST', '/tasks/claim', token, asked)).toMatchObject({
      status: 409,
      body: {
        code: 'conflict',
        detail: expect.stringContaining('is a linked git worktree or a submodule'),
        remedy: expect.stringContaining('`phaselock task add TITLE --worktree`'),
      },
    })
    await run.addTask({ id: 'second' })
    expect(await run.call('POST', '/tasks/claim', token, { agent_id: 'a' })).toMatchObject({
      status: 200,
      body: { task: { id: 'second' } },
    })
  })
})
