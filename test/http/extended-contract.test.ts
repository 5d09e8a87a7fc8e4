import { mkdtempSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { git } from '../e2e/projects.js'
import { Committer, commitAll, committingContract, inNewest, put } from './committing.js'
import { ownTree, type Running, start } from './harness.js'

const CONTRACT = 'agent_workflow.yaml'
const SECRET = 'words-of-the-base'
const BASE = committingContract(`description: ${SECRET}\nenforcement: {denial_budget: 100}`)
const OPEN_MS_MAX = 180_000
// The file that the contract names is a link; the other one extends the first.
const FILES = ['flows/link.yaml', 'flows/base.yaml', 'flows/first.yaml']

describe('the files that a contract extends, in the work tree', () => {
  let run: Running
  beforeAll(async () => {
    const dir = mkdtempSync(join(tmpdir(), 'phaselock-bases-'))
    const tree = join(dir, 'tree')
    put(tree, {
      'a.txt': 'a\n',
      [CONTRACT]: 'extends: flows/link.yaml\nname: mine\n',
      'flows/first.yaml': BASE,
      'flows/base.yaml': `extends: first.yaml\nx-more: ${SECRET}\n`,
    })
    symlinkSync('base.yaml', join(tree, 'flows/link.yaml'))
    git(tree, 'init', '--quiet')
    commitAll(tree)
    run = await start({ dir, contractFile: join(tree, CONTRACT) })
  }, OPEN_MS_MAX)
  afterAll(() => run?.stop())

  it.each([
    ["the server's work tree", () => run.workspace],
    ['a copy of it', () => ownTree(run)],
  ])('[REQ-EXTENDS-8] can neither be read nor written by an agent in %s', async (name, makeTree) => {
    const tree = makeTree()
    const id = name.replaceAll(/\W/g, '-')
    const agent = await Committer.claim(run, id, tree)
    const before = FILES.map((path) => readFileSync(join(tree, path), 'utf8'))
    const said: string[] = []
    for (const path of FILES) {
      expect(await agent.use('write_files', { path, content: 'name: x\n' }), path).toMatchObject({ status: 403 })
      const edits = [{ old_text: SECRET, new_text: 'x' }]
      expect((await agent.use('edit_files', { path, edits })).status, path).not.toBe(200)
      said.push(JSON.stringify((await agent.use('read_files', { path })).body))
      said.push(JSON.stringify((await agent.use('bash', { command: `cat ${path}` })).body))
      await agent.use('bash', { command: `echo 'name: x' > ${path}; rm -f ${path}; true` })
      await agent.use('bash', { command: `ln -sf ../a.txt ${path}; true` })
    }
    expect(said.join('\n')).not.toContain(SECRET)
    expect(FILES.map((path) => readFileSync(join(tree, path), 'utf8'))).toEqual(before)

    // Honest work beside them goes on.
    await agent.write(`flows/${id}.txt`)
    await agent.does('git_commit', { message: 'work' })
    expect(inNewest(tree)).toEqual([`flows/${id}.txt`])
    expect(await agent.leave()).toMatchObject({ allowed: true, status: 'completed' })
  })
})
