import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'
import { ERAS, McpAgent } from './clients.js'

const TOOLS = 'read_files, glob, grep, search_codebase, write_files, edit_files, bash, git_diff, git_status, git_log'
/** Texts of the second phase hold UNSEEN, those of a task that is not handed out yet LATERTASK. */
const FILES = {
  'flow/metadata.yaml': `workflow_type: hidden
version: "1"
agent_startable: true
allowed_tools: [${TOOLS}]
writable: ["**"]
knowledge: {sources: ["**"]}
phases:
  - {phase_number: 1, tasks_in_order: true}
  - {phase_number: 2, tasks_in_order: true, description: UNSEEN purpose}
enforcement: {reconcile: off, denial_budget: 1000, confinement: best_effort}
`,
  'flow/phases/1/phase.md':
    '# Phase 1: First\n\nDo the open thing.\n\n## Checkpoint\n\n- `count` (integer, at least 1): how many\n',
  'flow/phases/1/task-1-open.md': '# Open task\n\nThe open task.\n',
  'flow/phases/1/task-2-later.md': '# LATERTASK title\n\nLATERTASK text\n',
  'flow/phases/2/phase.md':
    '---\nprompt: UNSEEN prompt\n---\n# Phase 2: Second\n\nUNSEEN text\n\n## Checkpoint\n\n- `UNSEEN_field` (integer): UNSEEN description\n\n## Example\n\n```json\n{"UNSEEN_field": 1}\n```\n',
  'flow/phases/2/task-1-x.md': '# UNSEEN task\n\nUNSEEN\n',
  'guide.md': '# Guide\n\nAn open guide.\n',
}

let server: Running
beforeAll(async () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-hidden-')))
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(join(dir, 'tree', dirname(name)), { recursive: true })
    writeFileSync(join(dir, 'tree', name), text)
  }
  server = await start({ dir, contractFile: join(dir, 'tree/flow'), environment: { PHASELOCK_EMBEDDINGS: 'none' } })
  await server.app.library
    .openFor(await server.app.contracts.get(server.app.defaultContract), server.workspace)
    ?.settle()
})
afterAll(() => server.stop())

describe.each(ERAS)('a client of $name in the first phase of a workflow of documents', (era) => {
  it('[REQ-MCP-10] is given no text of a later phase or a later task by any tool, resource, prompt or error', async () => {
    const agent = await McpAgent.connect(server.url, await server.addAgent(`agent-${era.name}`), era)
    const seen: string[] = []
    const look = async (work: () => Promise<unknown>) => {
      try {
        seen.push(JSON.stringify(await work()))
      } catch (error) {
        seen.push(`${String(error)} ${JSON.stringify(error)}`)
      }
    }
    await look(() => agent.call('start_workflow', { target_file: `src/${era.name}.js` }))
    const { tools } = await agent.client.listTools()
    seen.push(JSON.stringify(tools))
    const secret = 'flow/phases/2/phase.md'
    for (const phase of [1, 2, 3, '1', '2', '01', '2 ', 'phase-2', 'Second']) {
      for (const name of ['get_phase_content', 'complete_phase', 'request_transition', 'next', 'search_standards'])
        for (const args of [
          ...[{ phase }, { phase, evidence: {} }, { phase, evidence: { count: 0 } }, { phase, query: 'unseen later' }],
          ...[{ target_phase: String(phase), evidence: {} }, { claims: { [`task-${phase}`]: false } }],
        ])
          await look(() => agent.call(name, args))
      await look(() => agent.client.getPrompt({ name: String(phase) }))
    }
    for (const query of [
      'UNSEEN',
      'unseen purpose field',
      'LATERTASK',
      'later task title',
      'example json',
      'phase_number',
    ])
      for (const filter of [{}, { phase: 2 }, { phase: 1 }, { tags: ['2'] }, { tags: ['phases'] }, { tags: ['flow'] }])
        await look(async () =>
          JSON.stringify(await agent.call('search_standards', { query, n_results: 50, ...filter })),
        )
    for (const [name, args] of [
      ...['read_files', 'glob', 'grep'].map((tool) => [tool, { path: secret, pattern: 'a' }] as const),
      ['read_files', { path: secret }],
      ['read_files', { path: './flow/phases//2/phase.md' }],
      ['read_files', { path: 'flow/phases/1/task-2-later.md' }],
      ['grep', { pattern: 'SEE|ATERT' }],
      ['search_codebase', { query: 'text purpose title' }],
      ['edit_files', { path: secret, edits: [{ old: 'text', new: 'x' }] }],
      [
        'bash',
        { command: 'cat flow/phases/*/* flow/metadata.yaml; grep -r SEE . ; ln flow/phases/2/phase.md x; cat x' },
      ],
      ['complete_phase', { phase: 1, evidence: { count: 1, nothing: 2 } }],
      ['complete_phase', { phase: 1, evidence: { count: 1 } }],
      ['get_workflow_state', {}],
      ['continue', {}],
    ] as const)
      await look(() => agent.call(name, args))
    for (const uri of ['prompt', 'contract', 'status'])
      await look(() => agent.client.readResource({ uri: `phaselock://task/${uri}` }))
    await look(() => agent.client.listPrompts())
    const all = seen.join('\n')
    expect(seen.length).toBeGreaterThan(200)
    for (const open of ['Do the open thing.', 'The open task.', 'how many']) expect(all).toContain(open)
    // A query comes back in no answer; whoever finds these words found the text.
    expect(seen.filter((one) => /UNSEEN (?:text|prompt|purpose|task|description)|UNSEEN_field/.test(one))).toEqual([])
    expect(seen.filter((one) => /LATERTASK (?:title|text)/.test(one))).toEqual([])
    // The next one begins in the same tree.
    const held = await server.app.ledger.store.findHeldBy(`agent-${era.name}`)
    await server.call('POST', `/tasks/${held?.id}/cancel`, server.operator, { reason: 'seen' })
    await agent.close()
  })
})
