import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ANALYSED, startPhased, type Worker } from './phasing.js'

describe('completing a phase', () => {
  let one: Worker
  beforeEach(async () => {
    one = await startPhased()
  })
  afterEach(() => one.run.stop())

  const phaseOf = async () => (await one.run.call('GET', '/tasks/t', one.run.operator)).body.phase

  it.each([
    ['null', null],
    ['a list', []],
    ['a text', 'evidence'],
    ['a number', 1],
  ])('[REQ-PHASE-1] evidence that is %s is refused as a request of the wrong shape', async (_name, evidence) => {
    const answer = await one.complete('ANALYSE', evidence)
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect((await one.run.call('POST', '/phases/ANALYSE/complete', one.token, {})).status).toBe(400)
    expect(await phaseOf()).toBe('ANALYSE')
  })

  it('[REQ-PHASE-1] evidence over ten mebibytes is refused', async () => {
    const answer = await one.complete('ANALYSE', { ast_command_output: 'x'.repeat(10 * 1024 * 1024) })
    expect(answer).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
  })

  it('[REQ-PHASE-2] empty evidence names every missing field at once, with the format and the content of the phase', async () => {
    const answer = await one.complete('ANALYSE', {})
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      checkpoint_passed: false,
      error: 'incomplete_checkpoint',
      missing_evidence: [
        'ast_command_output (required: output of the command)',
        'branch_count (required: number of branches found)',
        'function_count (required: number of functions found)',
        'functions_list (required: names of the functions)',
        'method_count (required: number of methods found)',
      ],
      current_phase: 'ANALYSE',
      current_phase_content: { content: 'Analyse A task', sources: [], total_tokens: 3 },
      required_format: { function_count: { type: 'integer', min: 1, required: true, grade: 'reported' } },
      examples: {},
      message: 'Complete checkpoint requirements to proceed',
    })
    expect(await phaseOf()).toBe('ANALYSE')
  })

  it('[REQ-PHASE-2] wrong types, broken rules and unknown fields are told together in their forms', async () => {
    const answer = await one.complete('ANALYSE', {
      ...ANALYSED,
      function_count: true,
      method_count: '15',
      branch_count: null,
      functions_list: [],
      surprise: 1,
    })
    expect(answer.body.missing_evidence).toEqual([
      'branch_count (required: number of branches found)',
      'function_count (wrong type: expected integer, got boolean)',
      'functions_list (validation failed: names of the functions)',
      'method_count (wrong type: expected integer, got string)',
      expect.stringMatching(
        /^surprise \(validation error: unknown field; the phase asks for ast_command_output, .*\)$/,
      ),
    ])
  })

  it('[REQ-PHASE-2] four of five fields missing are four problems', async () => {
    const answer = await one.complete('ANALYSE', { function_count: 21 })
    expect(answer.body.missing_evidence).toHaveLength(4)
  })

  it('[REQ-PHASE-3] a refused attempt is in the ledger with what was sent, and is not an artifact', async () => {
    await one.complete('ANALYSE', { function_count: 0 })
    const events = await one.events()
    const refused = events.filter((event) => event.type === 'checkpoint_refused')
    expect(refused).toHaveLength(1)
    expect(refused[0]?.data).toMatchObject({ code: 'incomplete_checkpoint', evidence: { function_count: 0 } })
    expect(events.some((event) => event.type === 'gate_blocked')).toBe(false)
    const shown = await one.get('ANALYSE')
    expect(shown.body.artifacts_from_previous).toEqual({})
  })

  it('[REQ-PHASE-4] evidence that holds opens the next phase with its content, what was handed on and a new token', async () => {
    const answer = await one.complete('ANALYSE', { ...ANALYSED, function_count: 21.0 })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      checkpoint_passed: true,
      phase_completed: 'ANALYSE',
      next_phase: 'PLAN',
      next_phase_content: { content: 'Plan PHASE-TWO-MARKER', sources: [] },
      artifacts_available: { ANALYSE: ANALYSED },
      phase_token: expect.any(String),
      expires_at: expect.any(String),
      allowed_tools: ['write_files'],
    })
    expect(await one.get('PLAN')).toMatchObject({
      status: 200,
      body: { phase_number: 'PLAN', artifacts_from_previous: { ANALYSE: ANALYSED } },
    })
  })

  it('[REQ-PHASE-5] a gate that still blocks keeps the evidence, says so and leaves the phase', async () => {
    await one.complete('ANALYSE', ANALYSED)
    const answer = await one.complete('PLAN', { reviewed: true })
    expect(answer.body).toMatchObject({
      checkpoint_passed: true,
      blockers: [{ code: 'approval_pending' }],
      current_phase: 'PLAN',
      pending_approval: { id: expect.any(String) },
    })
    expect(answer.body.missing_evidence).toBeUndefined()
    expect(await phaseOf()).toBe('PLAN')
    const pending = answer.body.pending_approval as { id: string; digest: string }
    const decision = { decision: 'approve', digest: pending.digest }
    await one.run.call('POST', `/approvals/${pending.id}/decision`, one.run.operator, decision)
    // What was accepted need not be sent again.
    const moved = await one.run.call('POST', '/tasks/transition', one.token, { task_id: 't', target_phase: 'WRITE' })
    expect(moved.body).toMatchObject({ allowed: true, phase: 'WRITE' })
  })

  it('[REQ-PHASE-5] a required boolean that is false does not pass, whatever the gates say', async () => {
    await one.complete('ANALYSE', ANALYSED)
    const answer = await one.complete('PLAN', { reviewed: false })
    expect(answer.body).toMatchObject({
      checkpoint_passed: false,
      missing_evidence: ['reviewed (validation failed: somebody read it)'],
    })
    expect((await one.events()).some((event) => event.type === 'approval_requested')).toBe(false)
  })

  it('[REQ-PHASE-6] the last phase completes the workflow', async () => {
    await one.complete('ANALYSE', ANALYSED)
    const waiting = (await one.complete('PLAN', { reviewed: true })).body.pending_approval as Record<string, string>
    const decision = { decision: 'approve', digest: waiting.digest }
    await one.run.call('POST', `/approvals/${waiting.id}/decision`, one.run.operator, decision)
    expect((await one.complete('PLAN', { reviewed: true })).body).toMatchObject({ next_phase: 'WRITE' })
    expect((await one.complete('WRITE', { tests: 0 })).body).toMatchObject({ checkpoint_passed: false })
    const last = await one.complete('WRITE', { tests: 3 })
    expect(last.body).toMatchObject({
      checkpoint_passed: true,
      phase_completed: 'WRITE',
      workflow_complete: true,
      message: expect.any(String),
      phase_token: null,
    })
    expect((await one.run.call('GET', '/tasks/t', one.run.operator)).body.status).toBe('completed')
  })

  it('[REQ-PHASE-7] the same completion sent twice under one key is made once', async () => {
    const first = await one.complete('ANALYSE', ANALYSED, { 'idempotency-key': 'k' })
    const again = await one.run.call(
      'POST',
      '/phases/ANALYSE/complete',
      one.agent,
      { evidence: ANALYSED },
      {
        'idempotency-key': 'k',
      },
    )
    expect(again.body).toMatchObject({ checkpoint_passed: true, next_phase: 'PLAN', phase_token: expect.any(String) })
    expect(first.body.next_phase_content).toEqual(again.body.next_phase_content)
    expect((await one.events()).filter((event) => event.type === 'gate_passed')).toHaveLength(1)
  })

  it('[REQ-PHASE-8] what was handed in survives a restart', async () => {
    await one.complete('ANALYSE', ANALYSED)
    const run = await one.run.restart()
    const shown = await run.call('GET', '/phases/PLAN', one.token)
    expect(shown.body.artifacts_from_previous).toEqual({ ANALYSE: ANALYSED })
    Object.assign(one, { run })
  })
})

describe('what a phase says', () => {
  let one: Worker
  beforeEach(async () => {
    one = await startPhased()
  })
  afterEach(() => one.run.stop())

  it('[REQ-PHASE-9] a phase that is not open answers 409 with where the task is, and nothing of that phase', async () => {
    const answer = await one.get('WRITE')
    expect(answer.status).toBe(409)
    expect(answer.headers.get('content-type')).toContain('application/problem+json')
    expect(answer.body).toMatchObject({
      code: 'phase_sequence_violation',
      error: 'phase_sequence_violation',
      violation_type: 'attempted_skip',
      message: 'Cannot access Phase WRITE',
      reason: 'Currently on Phase ANALYSE',
      required_action: 'Complete Phase ANALYSE checkpoint first',
      current_phase_content: { content: 'Analyse A task' },
      artifacts_available: {},
      progress: { completed: [], current: 'ANALYSE', total: 3 },
    })
    expect(JSON.stringify((await one.get('PLAN')).body)).not.toContain('PHASE-TWO-MARKER')
  })

  it('[REQ-PHASE-9] a phase that the contract does not have is unknown', async () => {
    for (const phase of ['NOPE', '__proto__', '7', 'analyse', 'ANALYSE%20'])
      expect(await one.get(phase)).toMatchObject({ status: 400, body: { code: 'unknown_phase' } })
    expect(await one.complete('NOPE', {})).toMatchObject({ status: 400, body: { code: 'unknown_phase' } })
  })

  it('[REQ-PHASE-9] the phase is shown while it is current, and for review when it is completed', async () => {
    expect((await one.get('ANALYSE')).body).toEqual({
      phase_number: 'ANALYSE',
      phase_content: { content: 'Analyse A task', sources: [], total_tokens: 3 },
      artifacts_from_previous: {},
      checkpoint_criteria: { required_evidence: expect.objectContaining({ function_count: expect.anything() }) },
    })
    await one.complete('ANALYSE', ANALYSED)
    expect((await one.get('ANALYSE')).body).toMatchObject({ phase_number: 'ANALYSE', artifacts_from_previous: {} })
  })

  it('[REQ-PHASE-10] completing another phase than the current one is refused, ahead and behind', async () => {
    const ahead = await one.complete('WRITE', { tests: 1 })
    expect(ahead).toMatchObject({
      status: 409,
      body: {
        error: 'phase_sequence_violation',
        violation_type: 'attempted_skip',
        progress: { completed: [], current: 'ANALYSE', total: 3 },
        current_phase_content: { content: 'Analyse A task' },
      },
    })
    await one.complete('ANALYSE', ANALYSED)
    const behind = await one.complete('ANALYSE', ANALYSED)
    expect(behind).toMatchObject({ status: 409, body: { violation_type: 'already_completed' } })
    expect((await one.events()).filter((event) => event.type === 'transition_refused')).toHaveLength(2)
  })

  it('[REQ-PHASE-11] operators, reviewers and strangers are not answered', async () => {
    expect((await one.run.call('GET', '/phases/ANALYSE', one.run.operator)).status).toBe(403)
    expect((await one.run.call('GET', '/phases/ANALYSE', null)).status).toBe(401)
    const other = await one.run.addAgent('b')
    expect((await one.run.call('GET', '/phases/ANALYSE', other)).status).toBe(409)
    const completed = await one.run.call('POST', '/phases/ANALYSE/complete', other, { evidence: ANALYSED })
    expect(completed.status).toBe(409)
  })
})
