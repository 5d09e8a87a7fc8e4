import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ERAS, McpAgent } from '../mcp/clients.js'
import { type Running, start } from './harness.js'
import { type Worker, workerOf } from './phasing.js'

const gate = (field: string): string => `## Checkpoint\n\n- \`${field}\` (integer, at least 3): how many\n`
const FILES = {
  'flow/metadata.yaml': 'workflow_type: zero\nversion: "1"\nallowed_tools: []\nknowledge: {sources: ["guides/**"]}\n',
  'flow/phases/0/phase.md': `# Phase 0: Prepare\n\nPrepare.\n\n${gate('zero')}`,
  'flow/phases/1/phase.md': `# Phase 1: Begin\n\nBegin.\n\n${gate('one')}`,
  'guides/zero.md': '---\nphase: 0\n---\n# Guide\n\nadvice for phase zero\n',
  'guides/one.md': '---\nphase: 1\n---\n# Guide\n\nadvice for phase one\n',
  'guides/all.md': '# Guide\n\nadvice for all\n',
}

describe('a workflow whose first phase is 0', () => {
  let run: Running
  let one: Worker
  beforeAll(async () => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-zero-')))
    for (const [name, text] of Object.entries(FILES)) {
      mkdirSync(join(dir, 'tree', dirname(name)), { recursive: true })
      writeFileSync(join(dir, 'tree', name), text)
    }
    const environment = { PHASELOCK_EMBEDDINGS: 'none' }
    run = await start({ dir, contractFile: join(dir, 'tree/flow'), environment })
    await run.addTask({ id: 't' })
    const agent = await run.addAgent('a')
    one = workerOf(run, agent, await run.claim('a', agent, 't'))
    await run.app.library.openFor(await run.app.contracts.get(run.app.defaultContract), run.workspace)?.settle()
  })
  afterAll(() => run.stop())

  const files = async (about: object) => {
    const { body } = await run.call('POST', '/knowledge/search', one.token, { query: 'advice', ...about })
    return (body.results as readonly { file: string; phase: string | null }[])
      .map(({ file, phase }) => `${file} ${String(phase)}`)
      .sort()
  }

  it('[REQ-PHASE-26] is at 0, not at none: it is shown, asked for and refused by that number', async () => {
    expect((await one.get('0')).body).toMatchObject({
      phase_number: 0,
      phase_content: { content: expect.stringContaining('Prepare.') },
    })
    expect(await one.get('1')).toMatchObject({
      status: 409,
      body: { reason: 'Currently on Phase 0', required_action: 'Complete Phase 0 checkpoint first' },
    })
    expect((await one.get('1')).body.progress).toEqual({ completed: [], current: 0, total: 2 })
    expect((await one.complete('0', { zero: 2 })).body).toMatchObject({ checkpoint_passed: false, current_phase: 0 })
    for (const phase of ['00', '-0', '0.0', 'null', 'undefined', '%20'])
      expect((await one.get(phase)).status, phase).toBe(400)
  })

  it('[REQ-PHASE-26] a search for 0 finds what is of phase 0, and one for none everything that is open', async () => {
    expect(await files({ phase: '0' })).toEqual(['guides/zero.md 0'])
    expect(await files({})).toEqual(['guides/all.md null', 'guides/zero.md 0'])
  })

  it('[REQ-PHASE-26] is named by the number 0 over MCP as well', async () => {
    const [era] = ERAS
    if (era === undefined) throw new Error('there is an era')
    const agent = await McpAgent.connect(run.url, one.agent, era)
    expect(await agent.does('get_phase_content', { phase: 0 })).toMatchObject({ phase_number: 0 })
    expect(await agent.does('get_phase_content')).toMatchObject({ phase_number: 0 })
    expect(await agent.does('get_workflow_state')).toMatchObject({
      current_phase: 0,
      completed_phases: [],
      checkpoints: { 0: 'pending' },
    })
    const found = await agent.does('search_standards', { query: 'advice', phase: 0 })
    expect((found.results as readonly { file: string }[]).map(({ file }) => file)).toEqual(['guides/zero.md'])
    const refused = await agent.refused('complete_phase', { phase: 1, evidence: { one: 3 } })
    expect(refused.structured).toMatchObject({ reason: 'Currently on Phase 0' })
    await agent.close()
  })

  it('[REQ-PHASE-26] completing it completes 0, and hands it on under that number', async () => {
    const answer = await one.complete('0', { zero: 3 })
    expect(answer.body).toMatchObject({
      checkpoint_passed: true,
      phase_completed: 0,
      next_phase: 1,
      artifacts_available: { 0: { zero: 3 } },
    })
    expect((await one.get('0')).body).toMatchObject({ phase_number: 0, artifacts_from_previous: {} })
  })
})
