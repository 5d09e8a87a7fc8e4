import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'
import { ANALYSED, PHASED } from '../http/phasing.js'
import { ERAS, McpAgent } from './clients.js'

const KNOWING = `${PHASED}knowledge: {sources: ["docs/**/*.md"]}\n`

let server: Running
let token: string
beforeEach(async () => {
  server = await start({ contract: KNOWING, environment: { PHASELOCK_EMBEDDINGS: 'none' } })
  mkdirSync(join(server.workspace, 'docs'))
  writeFileSync(join(server.workspace, 'docs/style.md'), '# Names\n\nA function is a verb.\n')
  writeFileSync(join(server.workspace, 'docs/later.md'), '---\nphase: PLAN\n---\n# Verbs\n\nUNSEEN verb function.\n')
  token = await server.addAgent('ada')
})
afterEach(async () => {
  expect(server.faults).toEqual([])
  await server.stop()
})

describe.each(ERAS)('a client of $name', (era) => {
  it('[REQ-MCP-15] starts a workflow, reads its phases and completes them, and cannot skip one', async () => {
    const agent = await McpAgent.connect(server.url, token, era)
    expect((await agent.refused('start_workflow', { workflow_type: 'nothing' })).structured.code).toBe('not_found')
    const begun = await agent.does('start_workflow', { workflow_type: 'test_generation', target_file: 'src/a.py' })
    expect(begun).toMatchObject({ session_id: expect.any(String), phase_number: 'ANALYSE' })
    expect(begun).not.toHaveProperty('phase_token')
    const again = await agent.does('start_workflow', { workflow_type: 'test_generation', target_file: 'src/a.py' })
    expect(again.session_id).toBe(begun.session_id)

    const early = await agent.refused('get_phase_content', { phase: 'PLAN' })
    expect(early.structured).toMatchObject({
      code: 'phase_sequence_violation',
      violation_type: 'attempted_skip',
      required_action: 'Complete Phase ANALYSE checkpoint first',
    })
    expect(JSON.stringify(early)).not.toContain('PHASE-TWO-MARKER')
    expect((await agent.refused('get_phase_content', { phase: 9 })).structured.code).toBe('unknown_phase')
    const skipped = await agent.refused('complete_phase', { phase: 'PLAN', evidence: { reviewed: true } })
    expect(skipped.structured.code).toBe('phase_sequence_violation')

    const incomplete = await agent.refused('complete_phase', { phase: 'ANALYSE', evidence: { function_count: 0 } })
    expect(incomplete.structured).toMatchObject({ code: 'incomplete_checkpoint', checkpoint_passed: false })
    expect(incomplete.text).toContain('method_count (required: number of methods found)')
    expect(incomplete.text).toContain('[incomplete_checkpoint]')

    expect((await agent.does('get_phase_content')).phase_content).toMatchObject({ content: expect.any(String) })
    const done = await agent.does('complete_phase', { phase: 'ANALYSE', evidence: ANALYSED })
    expect(done).toMatchObject({ checkpoint_passed: true, phase_completed: 'ANALYSE', next_phase: 'PLAN' })
    expect(done).not.toHaveProperty('phase_token')
    expect(JSON.stringify(done)).toContain('PHASE-TWO-MARKER')
    expect(await agent.does('get_workflow_state')).toMatchObject({
      session_id: begun.session_id,
      current_phase: 'PLAN',
      completed_phases: ['ANALYSE'],
      phase_artifacts: { ANALYSE: { function_count: 21 } },
    })

    const waits = await agent.refused('complete_phase', { phase: 'PLAN', evidence: { reviewed: true } })
    expect(waits.structured).toMatchObject({ checkpoint_passed: true, code: 'approval_pending' })
    await agent.close()
  })

  it('[REQ-MCP-15] searches the standards of its contract, and finds nothing of a later phase', async () => {
    const agent = await McpAgent.connect(server.url, token, era)
    expect((await agent.refused('search_standards', { query: 'verb' })).structured.code).toBe('no_active_task')
    await agent.does('start_workflow', {})
    expect((await agent.refused('search_standards', { query: 'verb', n_results: 0 })).structured.code).toBe(
      'invalid_request',
    )
    for (const more of [{}, { phase: 'PLAN' }, { phase: 'ANALYSE' }, { n_results: 50 }])
      expect(JSON.stringify(await agent.does('search_standards', { query: 'UNSEEN verb', ...more }))).not.toContain(
        'UNSEEN',
      )
    // The first pass over the files may not be over yet.
    await expect
      .poll(async () => (await agent.does('search_standards', { query: 'function verb' })).results)
      .toMatchObject([{ file: 'docs/style.md', section: expect.stringContaining('Names') }])
    await agent.close()
  })
})
