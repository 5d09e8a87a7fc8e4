import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startWorkflow } from '../../src/app/tasks/start-workflow.js'
import type { AgentBearer } from '../../src/core/identity/admit.js'
import { type Running, start } from './harness.js'
import { ANALYSED, PHASED } from './phasing.js'

describe('starting a workflow', () => {
  let run: Running
  beforeEach(async () => {
    run = await start({ contract: PHASED })
  })
  afterEach(() => run.stop())

  const bearerOf = async (id: string): Promise<AgentBearer> => {
    await run.addAgent(id)
    const instance = run.app.ledger.registry.agents.get(id)?.instance ?? ''
    return { kind: 'agent', agentId: id, instance }
  }
  const begin = async (bearer: AgentBearer, about: { target?: string; workflowType?: string } = {}) =>
    startWorkflow(run.app, { target: 'src/a.py', ...about, by: { kind: 'agent', bearer } })
  const idOf = (result: Awaited<ReturnType<typeof begin>>) =>
    result.ok ? result.value.session_id : result.problem.extra.session_id
  const tasks = async () => (await run.call('GET', '/tasks', run.operator)).body.tasks as { id: string }[]

  it('[REQ-PHASE-12] an agent may not start a contract that does not say so', async () => {
    await run.call('POST', '/contracts', run.operator, {
      source: 'name: closed\nversion: "1"\nphases: [{id: A}]\n',
    })
    const refused = await begin(await bearerOf('a'), { workflowType: 'closed' })
    expect(refused).toMatchObject({ ok: false, problem: { code: 'not_permitted' } })
    const operator = { kind: 'operator', name: 'admin' } as const
    expect(await startWorkflow(run.app, { workflowType: 'closed', by: operator })).toMatchObject({
      ok: true,
      value: { session_id: expect.any(String), status: 'queued' },
    })
    expect(await tasks()).toHaveLength(1)
  })

  it('[REQ-PHASE-12] an unknown workflow, a target outside the tree and a phase token start nothing', async () => {
    const bearer = await bearerOf('a')
    expect(await begin(bearer, { workflowType: 'nope' })).toMatchObject({ problem: { code: 'not_found' } })
    for (const target of ['/etc/passwd', '../x', 'a/../../x', '', '.', 'a\0b', 'x'.repeat(2000)])
      expect(await begin(bearer, { target })).toMatchObject({ problem: { code: 'invalid_request' } })
    const phase = { ...bearer, kind: 'phase', taskId: 't', phase: 'ANALYSE', epoch: 1, contract: '' } as const
    expect(await begin(phase)).toMatchObject({ problem: { code: 'not_permitted' } })
    expect(await tasks()).toEqual([])
  })

  it('[REQ-PHASE-13] a start gives the session and the content of the first phase, and only of that', async () => {
    const begun = await begin(await bearerOf('a'))
    expect(begun).toMatchObject({
      ok: true,
      value: {
        workflow_type: 'test_generation',
        target_file: 'src/a.py',
        phase_number: 'ANALYSE',
        phase_content: { content: 'Analyse test_generation: src/a.py' },
        artifacts_from_previous: {},
        phase_token: expect.any(String),
      },
    })
    expect(JSON.stringify(begun)).not.toContain('PHASE-TWO-MARKER')
  })

  it('[REQ-PHASE-13] for a target that is worked on there is the same session, where it is', async () => {
    const bearer = await bearerOf('a')
    const first = await begin(bearer)
    const token = first.ok ? String(first.value.phase_token) : ''
    await run.call('POST', '/phases/ANALYSE/complete', token, { evidence: ANALYSED })
    const again = await begin(bearer, { target: './src//a.py' })
    expect(idOf(again)).toBe(idOf(first))
    expect(await begin(bearer, { target: 'src/x/../a.py//' })).toMatchObject({ value: { session_id: idOf(first) } })
    expect(again).toMatchObject({ value: { phase_number: 'PLAN', artifacts_from_previous: { ANALYSE: ANALYSED } } })
    expect(await begin(bearer, { target: 'src/b.py' })).toMatchObject({ problem: { code: 'conflict' } })
    expect(await begin(await bearerOf('b'))).toMatchObject({
      ok: false,
      problem: { code: 'already_claimed', extra: { session_id: idOf(first) } },
    })
    expect(await tasks()).toHaveLength(1)
  })

  it('[REQ-PHASE-13] a target whose session ended gets a new one', async () => {
    const bearer = await bearerOf('a')
    const first = idOf(await begin(bearer))
    await run.call('POST', `/tasks/${String(first)}/cancel`, run.operator, { reason: 'over' })
    const second = idOf(await begin(bearer))
    expect(second).not.toBe(first)
    expect(await tasks()).toHaveLength(2)
  })

  it('[REQ-PHASE-14] sixteen starts for one target at once make one session', async () => {
    const bearers = await Promise.all(Array.from({ length: 16 }, (_, index) => bearerOf(`agent-${index}`)))
    const begun = await Promise.all(bearers.map((bearer) => begin(bearer)))
    expect(new Set(begun.map(idOf)).size).toBe(1)
    expect(begun.filter((one) => one.ok)).toHaveLength(1)
    expect(await tasks()).toHaveLength(1)
  })

  it('[REQ-PHASE-14] sixteen starts of one agent at once make one session that it holds', async () => {
    const bearer = await bearerOf('a')
    const begun = await Promise.all(Array.from({ length: 16 }, () => begin(bearer)))
    expect(begun.every((one) => one.ok)).toBe(true)
    expect(new Set(begun.map(idOf)).size).toBe(1)
    expect(await tasks()).toHaveLength(1)
  })
})
