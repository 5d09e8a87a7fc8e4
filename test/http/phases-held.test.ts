import { afterEach, describe, expect, it } from 'vitest'
import { startPhased, type Worker } from './phasing.js'

const LIMIT = `
name: held
version: "1"
phases:
  - id: A
    prompt: Do A
    allowed_tools: []
    checkpoint: {evidence: {text: {type: string, min_length: 1, description: a text}}}
    rules: [{type: token_budget, max_tokens: 10}]
  - id: B
    prompt: Do B
    allowed_tools: []
    checkpoint: {evidence: {done: {type: boolean, description: it is done}}}
  - {id: C, allowed_tools: [], required_artifacts: [{type: note, description: a note}]}
transitions:
  - {from: A, to: B}
  - {from: B, to: C, when: ready}
enforcement: {reconcile: off, denial_budget: 50}
`

describe('what holds a completion back', () => {
  let one: Worker
  afterEach(() => one.run.stop())

  it('[REQ-PHASE-24] a violated rule holds it back until it is acknowledged, and the phase stays', async () => {
    one = await startPhased(LIMIT)
    await one.run.call('POST', '/usage', one.token, { input_tokens: 100, output_tokens: 1 })
    const held = await one.complete('A', { text: 'x' })
    expect(held.body).toMatchObject({
      checkpoint_passed: false,
      error: 'rule_interrupt',
      blockers: [{ code: 'rule_interrupt' }],
      current_phase: 'A',
      interrupt: { kind: 'interrupt' },
    })
    expect((await one.events()).some((event) => event.type === 'checkpoint_passed')).toBe(false)
    await one.run.call('POST', '/prompt/continue', one.token, {})
    expect((await one.complete('A', { text: 'x' })).body).toMatchObject({ checkpoint_passed: true, next_phase: 'B' })
  })

  it('[REQ-PHASE-24] a way that needs a claim is not taken for the agent; its evidence is kept for the request', async () => {
    one = await startPhased(LIMIT)
    await one.complete('A', { text: 'x' })
    const answer = await one.complete('B', { done: true })
    expect(answer.body).toMatchObject({
      checkpoint_passed: true,
      current_phase: 'B',
      blockers: [{ code: 'claim_missing', message: 'B can be left for C (with the claim ready): say which' }],
    })
    const body = { task_id: 't', target_phase: 'C' }
    const unclaimed = await one.run.call('POST', '/tasks/transition', one.token, body)
    expect(unclaimed.body).toMatchObject({ allowed: false, blockers: [{ code: 'claim_missing' }] })
    const emptied = await one.run.call('POST', '/tasks/transition', one.token, {
      ...body,
      claims: { ready: true },
      evidence: {},
    })
    expect(emptied.body).toMatchObject({ blockers: [{ code: 'incomplete_checkpoint' }] })
    const moved = await one.run.call('POST', '/tasks/transition', one.token, { ...body, claims: { ready: true } })
    expect(moved.body).toMatchObject({ allowed: true, phase: 'C' })
  })

  it('[REQ-PHASE-24] required artifacts are demanded beside the evidence', async () => {
    one = await startPhased(LIMIT)
    await one.complete('A', { text: 'x' })
    await one.complete('B', { done: true })
    const claims = { ready: true }
    const moved = await one.run.call('POST', '/tasks/transition', one.token, {
      task_id: 't',
      target_phase: 'C',
      claims,
    })
    one.token = String(moved.body.phase_token)
    const answer = await one.complete('C', {})
    expect(answer.body).toMatchObject({
      checkpoint_passed: true,
      blockers: [{ code: 'missing_artifact', artifact: 'note' }],
    })
  })

  it('[REQ-PHASE-25] large evidence is kept whole, and answers show that it is large', async () => {
    one = await startPhased(LIMIT)
    const text = 'x'.repeat(300_000)
    const answer = await one.complete('A', { text })
    expect(answer.body.artifacts_available).toEqual({ A: { text: { omitted: true, bytes: 300_002 } } })
    const passed = (await one.events()).find((event) => event.type === 'checkpoint_passed')
    const kept = await one.run.app.ledger.store.readBlob(String(passed?.data.sha256))
    expect(JSON.parse(kept ?? '{}')).toEqual({ text })
  })

  it('[REQ-PHASE-25] evidence of megabytes is named by its hash, and counts toward the room of the visit', async () => {
    one = await startPhased(LIMIT)
    const text = 'x'.repeat(5_000_000)
    const answer = await one.complete('A', { text })
    expect(answer.body).toMatchObject({
      checkpoint_passed: true,
      artifacts_available: { A: { omitted: true, bytes: 5_000_011, sha256: expect.any(String) } },
    })
    for (let i = 0; i < 13; i += 1) expect((await one.complete('B', { done: text })).status).toBe(200)
    expect(await one.complete('B', { done: text })).toMatchObject({ body: { code: 'payload_too_large' } })
    expect((await one.complete('B', { done: true })).body).toMatchObject({ checkpoint_passed: true })
  })
})
