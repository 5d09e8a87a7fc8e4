import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { git } from '../e2e/projects.js'
import { Committer, commitAll, committingContract, put } from './committing.js'
import { type Running, start } from './harness.js'

const CONTRACT = 'agent_workflow.yaml'

describe('git_diff', () => {
  let run: Running
  let agent: Committer
  const diff = async (args: object = {}): Promise<string> => String((await agent.does('git_diff', args)).diff)

  beforeAll(async () => {
    run = await start({ contract: committingContract() })
    git(run.workspace, 'init', '--quiet')
    put(run.workspace, { 'a.txt': 'a\n', '.gitignore': 'secret/\n' })
    commitAll(run.workspace)
    put(run.workspace, {
      [CONTRACT]: committingContract(),
      'secret/key.txt': 'ignored words\n',
      'before.txt': 'words from before the task\n',
    })
    symlinkSync('secret/key.txt', join(run.workspace, 'before-link'))
    agent = await Committer.claim(run, 't')
  })
  afterAll(() => run.stop())

  it('[REQ-READS-4] shows nothing that git_status does not list: contract, ignored files, files from before the task', async () => {
    await agent.does('bash', { command: 'mkdir -p node_modules/p && echo package words > node_modules/p/a.js' })
    expect(await agent.does('git_status')).toMatchObject({ untracked: [] })
    expect(await diff()).toBe('')
    expect(await diff({ paths: ['secret', CONTRACT, 'before.txt', 'before-link'] })).toBe('')
  })

  it('[REQ-READS-4] does not follow a link, and a name cannot pass for another file', async () => {
    await agent.does('bash', { command: "ln -s secret/key.txt link; touch $'odd\\n+++ b/a.txt'; touch -- -x" })
    const shown = await diff()
    expect(shown).not.toContain('ignored words')
    expect(shown).toContain('new file mode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+secret/key.txt\n')
    expect(shown).not.toMatch(/^\+\+\+ b\/a\.txt/m)
    expect(shown).toContain('diff --git a/-x b/-x\nnew file mode 100644\n')
    await agent.does('bash', { command: 'rm -- link odd* -x' })
  })

  it('[REQ-READS-4] shows new files as git does, leaves the index as it was, and takes paths', async () => {
    await agent.write('a.txt', 'b\n')
    await agent.write('tests/new test.js', 'one\ntwo\n')
    writeFileSync(join(run.workspace, '.git/info/attributes'), '*.js -diff\n')
    const before = [git(run.workspace, 'status', '--porcelain'), readFileSync(join(run.workspace, '.git/index'), 'hex')]
    const shown = await diff()
    expect(shown).toContain('+b\n')
    const added =
      'diff --git a/tests/new test.js b/tests/new test.js\nnew file mode 100644\n--- /dev/null\n+++ b/tests/new test.js\n@@ -0,0 +1,2 @@\n+one\n+two\n'
    expect(shown.endsWith(added)).toBe(true)
    for (const path of ['tests', './tests/', 'tests/new test.js']) expect(await diff({ paths: [path] })).toBe(added)
    expect(await diff({ paths: ['a.txt'] })).not.toContain('new file')
    expect(await diff({ staged: true })).toBe('')
    expect([
      git(run.workspace, 'status', '--porcelain'),
      readFileSync(join(run.workspace, '.git/index'), 'hex'),
    ]).toEqual(before)
  })
})
