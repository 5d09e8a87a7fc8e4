import { mkdtempSync, readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Files, git } from '../e2e/projects.js'
import { Committer, commitAll, committingContract, inNewest, put } from './committing.js'
import { type Running, start } from './harness.js'

/** What a repository in use holds besides its project. None of it stands in a .gitignore. */
const LEFT: Files = {
  'private.txt': 'excluded in .git/info/exclude\n',
  'deep/notes.swp': 'excluded for every repository of the operator\n',
  '.venv/lib/site.py': 'installed\n',
  'venv/lib/site.py': 'installed\n',
  'tools/env/pyvenv.cfg': 'home = /usr/bin\n',
  'tools/env/lib/site.py': 'installed\n',
  'node_modules/dep/index.js': 'installed\n',
  'packages/one/node_modules/dep/index.js': 'installed\n',
  'src/__pycache__/a.pyc': 'compiled\n',
  '.tox/py/log.txt': 'a run\n',
  'target/debug/out': 'built\n',
}
const PROJECT: Files = { 'src/a.txt': 'a\n', 'packages/one/a.txt': 'a\n', 'tools/a.txt': 'a\n', 'deep/a.txt': 'a\n' }

describe('what git ignores, and what was installed', () => {
  let run: Running
  let tree: string
  beforeEach(async () => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-excludes-')))
    tree = join(dir, 'tree')
    put(join(dir, 'home'), { '.gitconfig': '[core]\n\texcludesFile = ~/ignored\n', ignored: '*.swp\n' })
    put(tree, { ...PROJECT, '.gitignore': '.env\n' })
    git(tree, 'init', '--quiet')
    commitAll(tree)
    put(tree, { ...LEFT, '.env': 'SECRET=1\n', '.git/info/exclude': 'private.txt\n' })
    const environment = { PATH: process.env.PATH, HOME: join(dir, 'home') }
    run = await start({ dir, environment, contract: committingContract() })
  })
  afterEach(() => run.stop())

  it('[REQ-COMMIT-4] is neither shown nor committed and closes no gate', async () => {
    const agent = await Committer.claim(run, 't')
    expect(await agent.does('git_status')).toMatchObject({ clean: true })
    expect(await agent.use('git_commit', { message: 'nothing' })).toMatchObject({
      status: 400,
      body: { detail: 'There is nothing to commit.' },
    })
    await agent.write('src/b.txt')
    expect(await agent.blockers()).toEqual(['Commit: not committed: src/b.txt', 'Clean: not committed: src/b.txt'])
    await agent.does('git_commit', { message: 'work' })
    expect(inNewest(tree)).toEqual(['src/b.txt'])
    expect(await agent.leave()).toMatchObject({ allowed: true, status: 'completed' })
    for (const [path, text] of Object.entries(LEFT)) expect(readFileSync(join(tree, path), 'utf8')).toBe(text)
  })

  it('[REQ-COMMIT-4] counts neither for commands nor for the comparison of the tree', async () => {
    const agent = await Committer.claim(run, 't')
    expect(await agent.does('bash', { command: 'echo x >> private.txt; echo x > deep/more.swp' })).toMatchObject({
      changes: [],
      scratch: 2,
    })
    put(tree, { 'private.txt': 'by the operator\n', 'src/other.swp': 'x\n' })
    expect(await agent.leave()).toMatchObject({ allowed: true, status: 'completed' })
  })

  it('[REQ-COMMIT-5] an agent that edits .gitignore commits nothing that was ignored, and hides nothing', async () => {
    const agent = await Committer.claim(run, 't')
    await agent.write('.gitignore', '!.env\n!private.txt\n!*.swp\n!.venv\nsrc/hidden.txt\nhidden/\n')
    await agent.write('src/hidden.txt')
    await agent.write('hidden/b.txt')
    for (const path of ['.env', 'private.txt', '.venv', 'node_modules/dep/index.js'])
      expect((await agent.use('git_commit', { message: 'x', paths: [path] })).body).toMatchObject({
        detail: expect.stringMatching(/^git_commit: ".+" is not committed by agents/),
      })
    await agent.does('git_commit', { message: 'work' })
    expect(inNewest(tree)).toEqual(['.gitignore'])
    expect(await agent.blockers()).toEqual(['Commit: not committed: hidden/b.txt, src/hidden.txt'])
  })

  it('[REQ-COMMIT-5] what an agent writes beside a pyvenv.cfg of its own, or into a folder of build output, counts', async () => {
    const agent = await Committer.claim(run, 't')
    const paths = ['mine/code.js', 'mine/pyvenv.cfg', 'src/__pycache__/code.js', 'target/code.js']
    for (const path of paths) await agent.write(path)
    expect(await agent.blockers()).toEqual([
      `Commit: not committed: ${paths.join(', ')}`,
      `Clean: not committed: ${paths.join(', ')}`,
    ])
    await agent.does('git_commit', { message: 'work' })
    expect(inNewest(tree)).toEqual(paths)
    expect(await agent.leave()).toMatchObject({ allowed: true, status: 'completed' })
  })

  it('[REQ-COMMIT-4] packages that git tracks are committed like everything else', async () => {
    commitAll(tree, 'node_modules', '.tox')
    const agent = await Committer.claim(run, 't')
    await agent.write('node_modules/dep/index.js', 'patched\n')
    await agent.write('node_modules/more/index.js', 'added\n')
    await agent.write('.tox/py/log.txt', 'changed\n')
    const paths = ['.tox/py/log.txt', 'node_modules/dep/index.js', 'node_modules/more/index.js']
    expect((await agent.blockers())[0]).toBe(`Commit: not committed: ${paths.join(', ')}`)
    await agent.does('git_commit', { message: 'work' })
    expect(inNewest(tree)).toEqual(paths)
    expect(await agent.leave()).toMatchObject({ allowed: true })
  })
})
