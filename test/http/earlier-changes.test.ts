import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { git } from '../e2e/projects.js'
import { Committer, commitAll, committingContract, inNewest, put } from './committing.js'
import { type Running, start } from './harness.js'

describe.each(['block', 'off'])('changes from before the task, with reconcile: %s', (reconcile) => {
  let run: Running
  let tree = ''
  let tasks = 0
  const read = (path: string): string => readFileSync(join(tree, path), 'utf8')
  const status = (): readonly string[] =>
    git(tree, 'status', '--porcelain', '--untracked-files=all').split('\n').filter(Boolean)

  beforeAll(async () => {
    run = await start({ contract: committingContract(`enforcement: {reconcile: ${reconcile}}\n`) })
  })
  afterAll(() => run.stop())

  async function begin(): Promise<Committer> {
    tasks += 1
    tree = join(run.workspace, `tree${tasks}`)
    put(tree, { 'src/a.js': 'a\n', 'src/b.js': 'b\n', 'src/c.js': 'c\n', 'src/d.js': 'd\n', 'README.md': 'read\n' })
    git(tree, 'init', '--quiet')
    commitAll(tree)
    // What the developer is in the middle of.
    put(tree, {
      'src/a.js': 'a by hand\n',
      'src/b.js': 'b by hand\n',
      'notes/todo.md': 'later\n',
      'draft.js': 'draft\n',
    })
    rmSync(join(tree, 'src/c.js'))
    git(tree, 'add', 'src/b.js')
    return Committer.claim(run, `t${tasks}`, tree)
  }

  it('[REQ-COMMIT-8] a commit holds what the task changed, and leaves what was changed before as it was', async () => {
    const agent = await begin()
    const before = status()
    await agent.write('src/d.js', 'd by the task\n')
    await agent.write('src/e.js', 'new\n')
    expect(await agent.blockers()).toEqual([expect.stringContaining('Commit'), expect.stringContaining('Clean')])
    expect(await agent.does('git_status')).toMatchObject({ changed: ['src/d.js'], untracked: ['src/e.js'] })
    expect(await agent.does('git_commit', { message: 'Change d, add e' })).not.toHaveProperty('warnings')
    expect(inNewest(tree)).toEqual(['src/d.js', 'src/e.js'])
    // Staged stays staged, untracked stays untracked.
    expect(status()).toEqual(before)
    expect(read('src/a.js')).toBe('a by hand\n')
    expect(await agent.does('git_status')).toMatchObject({ clean: true })
    expect(await agent.leave()).toMatchObject({ allowed: true })
  })

  it('[REQ-COMMIT-8] what the task changed as well is committed, with a warning that names it', async () => {
    const agent = await begin()
    await agent.write('src/a.js', 'a by both\n')
    expect(await agent.does('git_commit', { message: 'Change a' })).toMatchObject({
      warnings: [
        'src/a.js had uncommitted changes when work on the task began; this commit holds them too. Say so in your summary.',
      ],
    })
    expect(inNewest(tree)).toEqual(['src/a.js'])
    expect(await agent.leave()).toMatchObject({ allowed: true })
  })

  it('[REQ-COMMIT-8] what only the developer changed is not committed when it is named, and is said so', async () => {
    const agent = await begin()
    expect((await agent.use('git_commit', { message: 'All' })).body).toMatchObject({
      detail: 'There is nothing to commit: the task changed nothing. 5 files that were changed before are left alone.',
    })
    const named = await agent.use('git_commit', { message: 'b', paths: ['src/b.js'] })
    expect(named.body.detail).toContain('src/b.js')
    expect(named.body.detail).toContain('was changed before work on the task began')
    expect(git(tree, 'rev-list', '--count', 'HEAD').trim()).toBe('1')
  })

  it('[REQ-COMMIT-8] a file that the task changed, committed and put back has to be committed again', async () => {
    const agent = await begin()
    await agent.write('src/a.js', 'broken\n')
    await agent.does('git_commit', { message: 'Break a' })
    await agent.write('src/a.js', 'a by hand\n')
    expect(await agent.blockers()).toEqual([expect.stringContaining('Commit'), expect.stringContaining('Clean')])
    await agent.does('git_commit', { message: 'Mend a' })
    expect(git(tree, 'show', 'HEAD:src/a.js')).toBe('a by hand\n')
  })

  it('[REQ-COMMIT-8] a file that the task hides by an edited .gitignore is still missed', async () => {
    const agent = await begin()
    await agent.write('src/new.js', 'new\n')
    await agent.write('.gitignore', 'src/new.js\ndraft.js\n')
    await agent.does('git_commit', { message: 'Hide', paths: ['.gitignore'] })
    // Where trees are not compared, git reads the .gitignore files as they are.
    expect(await agent.blockers()).toEqual(reconcile === 'off' ? [] : ['Commit: not committed: src/new.js'])
  })
})
