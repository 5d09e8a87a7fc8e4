import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sweep } from '../../src/app/sweep.js'
import { asked } from './asking.js'
import { type Running, start } from './harness.js'

const CONTRACT = `
name: by-hand
version: "1"
phases:
  - id: A
    allowed_tools: [ask_user_question]
    required_artifacts: [{type: note, description: a note}]
    gates:
      - id: ok
        type: approval
        approvers: [human]
        on_timeout: reject
        timeout_seconds: 60
  - {id: B, allowed_tools: [ask_user_question]}
  - {id: C, allowed_tools: []}
enforcement: {reconcile: off}
`

describe('approvals and questions, as a user looks at them', () => {
  let run: Running
  beforeAll(async () => {
    run = await start({ contract: CONTRACT })
  })
  afterAll(() => run.stop())

  const setUp = async (id: string) => {
    await run.addTask({ id, title: `Task ${id}` })
    const agent = await run.addAgent(`agent-${id}`)
    return run.claim(`agent-${id}`, agent, id)
  }
  const move = (id: string, token: string, note: string) =>
    run.call('POST', '/tasks/transition', token, { task_id: id, target_phase: 'B', artifacts: { note: { note } } })
  const ask = async (id: string, token: string, note = 'one') =>
    (await move(id, token, note)).body.pending_approval as { id: string; digest: string }
  const decide = (approval: { id: string; digest: string }, decision: string) =>
    run.call('POST', `/approvals/${approval.id}/decision`, run.operator, {
      decision,
      digest: approval.digest,
      comment: 'why',
    })
  const nextStep = async (id: string) => (await run.call('GET', `/tasks/${id}`, run.operator)).body.next_step

  it('[REQ-BYHAND-5] an approval keeps the phase and the agent it was asked for by, wherever the task is', async () => {
    const token = await setUp('kept')
    const approval = await ask('kept', token)
    await decide(approval, 'approve')
    expect((await move('kept', token, 'one')).body).toMatchObject({ allowed: true, phase: 'B' })
    await run.call('POST', '/tasks/kept/reassign', run.operator, { reason: 'another one' })
    expect((await run.call('GET', `/approvals/${approval.id}`, run.operator)).body).toMatchObject({
      status: 'used',
      phase: 'A',
      target_phase: 'B',
      agent_id: 'agent-kept',
      warnings: [],
    })
  })

  it('[REQ-BYHAND-6] the next step after an answer is what the answer asks for', async () => {
    const token = await setUp('steps')
    const first = await ask('steps', token)
    expect(await nextStep('steps')).toBe('Wait for the approval, then send the same transition request again.')
    await decide(first, 'reject')
    expect(await nextStep('steps')).toBe(`Approval ${first.id} was rejected: why. Change that, then request B again.`)
    const second = await ask('steps', token, 'two')
    run.now = Date.now() + 61_000
    await sweep(run.app)
    expect(await nextStep('steps')).toContain(`Nobody answered approval ${second.id} in time`)
    const third = await ask('steps', token, 'three')
    await decide(third, 'approve')
    expect(await nextStep('steps')).toBe(`Approval ${third.id} was given: send the same transition request to B again.`)
    expect((await move('steps', token, 'three')).body.allowed).toBe(true)
    expect(await nextStep('steps')).toBe('Finish B, then request C.')
  })

  it('[REQ-BYHAND-7] an agent does not learn which approvals and questions other tasks have', async () => {
    const mine = await setUp('mine')
    const theirs = await setUp('theirs')
    const approval = await ask('theirs', theirs)
    const question = await asked(run, theirs, 'Which port?')
    const look = async (path: string, body?: object) => {
      const { status, body: said } = await run.call(body === undefined ? 'GET' : 'POST', path, mine, body)
      return [status, said.code, said.detail]
    }
    const decision = { decision: 'approve', digest: approval.digest }
    for (const [there, missing, body] of [
      [`/approvals/${approval.id}`, '/approvals/apr-99-theirs'],
      [`/approvals/${approval.id}`, '/approvals/apr-1-nobody'],
      [`/approvals/${approval.id}/decision`, '/approvals/apr-99-theirs/decision', decision],
      [`/questions/${question}`, '/questions/qst-99-theirs'],
      [`/questions/${question}`, '/questions/qst-1-nobody'],
      [`/questions/${question}/answer`, '/questions/qst-99-theirs/answer', { answer: 'x' }],
    ] as const) {
      const said = await look(there, body)
      expect(said.slice(0, 2)).toEqual([403, 'not_permitted'])
      expect(await look(missing, body)).toEqual(said)
    }
    expect((await look('/questions/qst-99-mine'))[0]).toBe(404)
    expect((await look('/approvals/apr-99-mine'))[0]).toBe(404)
  })

  it('[REQ-BYHAND-8] a second answer to a question is refused as a conflict', async () => {
    const token = await setUp('twice')
    const question = await asked(run, token, 'Which port?')
    const answer = () => run.call('POST', `/questions/${question}/answer`, run.operator, { answer: '80' })
    expect((await answer()).status).toBe(200)
    expect((await answer()).body).toMatchObject({
      code: 'conflict',
      detail: `Question ${question} was answered already; an answer is final.`,
    })
  })

  it('[REQ-BYHAND-9] the last try is announced in a separate sentence', async () => {
    const token = await setUp('tries')
    const tries = [1, 2, 3, 4].map(() => ({ tool_name: 'grep', args: { pattern: 'x' } }))
    const texts: unknown[] = []
    for (const one of tries) {
      const { body } = await run.call('POST', '/tools/check', token, { task_id: 'tries', ...one })
      texts.push((body.retry as { text: string }).text)
    }
    expect(texts[1]).toBe('Retry (2/3): Called grep (not allowed in A). Allowed: ask_user_question')
    expect(texts[2]).toMatch(/Allowed: ask_user_question\. That was the last try of this kind: /)
    expect(texts[3]).toMatch(/Allowed: ask_user_question\. The tries for this are used up: /)
  })

  it('[REQ-BYHAND-19] what is too long or empty, and a key that was used, is said in plain words', async () => {
    const token = await setUp('words')
    const approval = await ask('words', token)
    const path = `/approvals/${approval.id}/decision`
    const said = async (body: object, headers = {}) =>
      (await run.call('POST', path, run.operator, body, headers)).body.detail
    const rejected = { decision: 'reject', digest: approval.digest }
    expect(await said({ ...rejected, comment: 'x'.repeat(4001) })).toBe('comment: must have at most 4,000 characters')
    expect(await said({ ...rejected, digest: 'xx' })).toBe(
      'digest: must be: `digest` of the approval, 64 hexadecimal digits.',
    )
    const question = await asked(run, token, 'Which?')
    expect((await run.call('POST', `/questions/${question}/answer`, run.operator, { answer: '' })).body.detail).toBe(
      'answer: must not be empty',
    )
    const calls = Array.from({ length: 33 }, () => ({ tool_name: 'grep', args: {} }))
    expect((await run.call('POST', '/tools/batch', token, { task_id: 'words', calls })).body.detail).toBe(
      'calls: must have at most 32 entries',
    )
    await run.call('POST', path, run.operator, rejected, { 'idempotency-key': 'mine' })
    expect(await said({ ...rejected, comment: 'other' }, { 'idempotency-key': 'mine' })).toBe(
      'This Idempotency-Key was used for another request.',
    )
  })

  it('[REQ-BYHAND-21] waiting for an approval is not counted as a refusal anywhere', async () => {
    const summary = async () => (await run.call('GET', '/metrics/summary', run.operator)).body
    const before = await summary()
    const token = await setUp('patient')
    for (let tries = 0; tries < 5; tries += 1) await ask('patient', token)
    const of = async (path: string) => (await run.call('GET', path, run.operator)).body
    expect(await of('/tasks/patient')).toMatchObject({ refusals: 0 })
    expect(await of('/tasks/patient/metrics')).toMatchObject({ totals: { refusals: { count: 0 } } })
    expect(await of('/runs/patient/report')).toMatchObject({
      refusals: { count: 0 },
      gates: { passed: 0, blocked: 0, pass_rate: null },
    })
    const after = await summary()
    expect([after.gate_pass_rate, after.refusals]).toEqual([before.gate_pass_rate, before.refusals])
    // Another content while people look at the first one is no mere waiting.
    await ask('patient', token, 'another')
    expect(await of('/runs/patient/report')).toMatchObject({ refusals: { count: 1 }, gates: { blocked: 1 } })
  })
})
