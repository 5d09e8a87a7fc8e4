import { cpSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

const CONTRACT = `
version: "1.0"
name: reading
knowledge: {sources: ["**"]}
phases:
  - {id: PLAN, prompt: Plan it., allowed_tools: [read_files, write_files], writable: ["**"]}
  - {id: SHIP, description: The codeword is marmalade., prompt: Say marmalade., allowed_tools: []}
transitions:
  - {from: PLAN, to: SHIP}
`
const METADATA = `
workflow_type: reading
version: "1"
knowledge: {sources: ["**"]}
phases:
  - {phase_number: 2, prompt: Say marmalade.}
`
const PHASE = (number: number, text: string): string =>
  `# Phase ${number}: Step ${number}\n\n${text}\n\n## Checkpoint\n\n- \`count\` (integer)\n`

/** A server on a tree with these files, and an agent in the first phase of its task. */
async function inFirstPhase(
  files: Readonly<Record<string, string>>,
  contract: string,
): Promise<{ run: Running; find: (body: object) => Promise<string> }> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-reserved-')))
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, 'tree', file)), { recursive: true })
    writeFileSync(join(dir, 'tree', file), text)
  }
  const environment = { PHASELOCK_EMBEDDINGS: 'none' }
  const run = await start({ dir, contractFile: join(dir, 'tree', contract), environment })
  await run.addTask({ id: 't' })
  const token = await run.claim('a', await run.addAgent('a'), 't')
  await run.app.library.openFor(await run.app.contracts.get(run.app.defaultContract), run.workspace)?.settle()
  const find = async (body: object) => JSON.stringify((await run.call('POST', '/knowledge/search', token, body)).body)
  return { run, find }
}

const QUERIES = ['marmalade', 'Say marmalade', 'codeword', 'prompt description phases', 'workflow_type version']

describe('a search whose sources take in the whole tree', () => {
  it('[REQ-KNOW-20] finds nothing of the contract file, which agents may not read', async () => {
    const { run, find } = await inFirstPhase(
      { 'agent_workflow.yaml': CONTRACT, 'ways/other.yaml': 'note: open\n', 'guide.md': '# Guide\n\nopen\n' },
      'agent_workflow.yaml',
    )
    for (const query of QUERIES) expect(await find({ query, n_results: 50 }), query).not.toMatch(/marmalade|workflow\./)
    expect(await find({ query: 'open' })).toContain('guide.md')
    await run.stop()
  })

  it('[REQ-KNOW-20] finds nothing of a contract file with another name', async () => {
    const { run, find } = await inFirstPhase({ 'ways/our.yaml': CONTRACT, 'guide.md': 'open\n' }, 'ways/our.yaml')
    for (const query of QUERIES) expect(await find({ query, n_results: 50 }), query).not.toMatch(/marmalade|our\.yaml/)
    await run.stop()
  })

  it('[REQ-KNOW-20] finds neither metadata, nor gates, nor tasks, nor documents of later phases', async () => {
    const { run, find } = await inFirstPhase(
      {
        'flow/metadata.yaml': METADATA,
        'flow/phases/1/phase.md': PHASE(1, 'Look around.'),
        'flow/phases/2/phase.md': PHASE(2, 'marmalade'),
        'flow/phases/2/task-1-say.md': '# Say\n\nmarmalade\n',
        'flow/phases/2/gate-definition.yaml': 'count: {type: integer, description: marmalade}\n',
      },
      'flow',
    )
    for (const query of QUERIES) expect(await find({ query, n_results: 50 }), query).not.toMatch(/marmalade|metadata/)
    await run.stop()
  })

  it('[REQ-KNOW-20] finds no task of the current phase before it is handed out', async () => {
    const { run, find } = await inFirstPhase(
      {
        'flow/metadata.yaml': METADATA,
        'flow/phases/1/phase.md': `---\ntasks_in_order: true\n---\n${PHASE(1, 'Look around.')}`,
        'flow/phases/1/task-1-look.md': '# Look\n\nwith open eyes\n',
        'flow/phases/1/task-2-say.md': '# Say\n\nmarmalade\n',
        'flow/phases/2/phase.md': PHASE(2, 'Later.'),
      },
      'flow',
    )
    expect(await find({ query: 'marmalade', n_results: 50 })).not.toMatch(/marmalade/)
    expect(await find({ query: 'Look around' })).toContain('flow/phases/1/phase.md')
    await run.stop()
  })
})

describe('a task in a copy of the work tree', () => {
  it('[REQ-DOC-14] is kept from the workflow in the copy as from the one in the tree', async () => {
    const { run } = await inFirstPhase(
      {
        'flow/metadata.yaml': `${METADATA}allowed_tools: [read_files, grep, write_files, bash]\nwritable: ["**"]\n`,
        'flow/phases/1/phase.md': PHASE(1, 'Look around.'),
        'flow/phases/2/phase.md': PHASE(2, 'marmalade'),
        'guide.md': 'open\n',
      },
      'flow',
    )
    const workspace = `${run.workspace}-copy`
    cpSync(run.workspace, workspace, { recursive: true })
    await run.addTask({ id: 'copied', workspace })
    const token = await run.claim('b', await run.addAgent('b'), 'copied')
    const use = async (tool_name: string, args: object) =>
      run.call('POST', '/tools/execute', token, { task_id: 'copied', tool_name, args })
    expect((await use('read_files', { path: 'flow/phases/2/phase.md' })).status).toBe(400)
    expect((await use('write_files', { path: 'flow/phases/2/phase.md', content: 'x' })).status).toBe(403)
    const seen = JSON.stringify([
      (await use('grep', { pattern: 'marm' })).body,
      (await use('bash', { command: 'cat flow/phases/2/phase.md flow/metadata.yaml; grep -r marm .' })).body,
      (await run.call('POST', '/knowledge/search', token, { query: 'marmalade', n_results: 50 })).body,
    ])
    expect(seen).not.toMatch(/marmalade/)
    expect((await use('read_files', { path: 'guide.md' })).status).toBe(200)
    await run.stop()
  })
})
