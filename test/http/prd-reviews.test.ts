import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from './harness.js'
import { Desk, messagesOf } from './reviewing.js'

const NAMES = ['facts', 'tone', 'sources', 'layout', 'whole']
const LIST = NAMES.join(', ')

// The shape of the review phase of PRD-007: rules and gate ask for the same reviews, the schema for every one of them.
const CONTRACT = `
name: board
version: "1"
phases:
  - {id: WRITE, allowed_tools: []}
  - id: BOARD
    allowed_tools: [read_files]
    forbidden_tools: [write_files, bash]
    required_artifacts:
      - type: review_report
        schema: schemas/review.json
        description: Everybody's review
        validation:
          - {rule: all_reviews_completed, message: All must review}
          - {rule: no_blocking_issues, message: Somebody objects}
    gates:
      - id: board_ok
        type: approval
        approvers: [review_agent, orchestrator, human]
        timeout_seconds: 7200
        blockers:
          - {check: no_blocking_issues, severity: blocking, message: Somebody objects}
          - {check: all_review_models_completed, severity: blocking, required_reviews: [${LIST}], message: All five}
          - {check: review_comments_addressed, severity: warning, message: Comments are open}
  - {id: PRINTED, allowed_tools: []}
transitions:
  - {from: WRITE, to: BOARD}
  - {from: BOARD, to: PRINTED, gate: board_ok, requires_token: true}
schemas:
  review.json:
    type: object
    required: [reviews, consolidated_issues, blocking_issues]
    properties:
      reviews: {type: object, required: [${LIST}]}
      consolidated_issues: {type: array}
      blocking_issues: {type: array}
`

describe('the review phase of PRD-007', () => {
  let run: Running
  let desk: Desk
  const decide = (id: string, digest: string) =>
    run.call('POST', `/approvals/${id}/decision`, run.operator, { decision: 'approve', digest })
  const pending = async () => {
    const { body } = await desk.move('PRINTED')
    return body.pending_approval as { readonly id: string; readonly digest: string }
  }
  beforeAll(async () => {
    run = await start({ contract: CONTRACT })
    desk = await Desk.lay(() => run, 'text')
    await desk.move('BOARD')
  })
  afterAll(() => run.stop())

  it('[REQ-REVIEW-13] is not left with four reviews of five, whatever the agent sends for the fifth', async () => {
    for (const name of NAMES.slice(1))
      expect(await desk.report(await desk.reviewer(name), { status: 'completed' })).toMatchObject({ status: 201 })
    const reviews = Object.fromEntries(NAMES.map((name) => [name, { status: 'completed' }]))
    const lie = { review_report: { reviews, consolidated_issues: [], blocking_issues: [] } }
    const answer = await desk.move('PRINTED', { artifacts: lie })
    expect(answer.body).toMatchObject({ allowed: false })
    expect(messagesOf(answer)).toEqual([
      "review_report/reviews must have required property 'facts'",
      'All must review: no report of facts',
      'All five: no report of facts',
    ])
  })

  it('[REQ-REVIEW-13] is left with five finished reviews and the approval of a human, who sees them', async () => {
    const comments = [{ text: 'A comma', path: 'text.md', line: 3, resolved: true }]
    await desk.report(await desk.reviewer('facts'), { status: 'approved', comments })
    const { id, digest } = await pending()
    expect(await desk.mint('facts')).toMatchObject({ status: 201 })
    const shown = await run.call('GET', `/approvals/${id}`, run.operator)
    expect(shown.body.contents).toMatchObject({
      review_report: {
        reviews: { facts: { status: 'approved', comments }, whole: { status: 'completed' } },
        consolidated_issues: [{ reviewer: 'facts', blocking: false }],
        blocking_issues: [],
      },
    })
    expect(await decide(id, digest)).toMatchObject({ status: 200 })
    expect((await desk.move('PRINTED')).body).toMatchObject({ allowed: true, status: 'completed' })
  })

  it('[REQ-REVIEW-13] a report that changes after the approval was asked for needs another approval', async () => {
    desk = await Desk.lay(() => run, 'other')
    await desk.move('BOARD')
    for (const name of NAMES) await desk.report(await desk.reviewer(name), { status: 'completed' })
    const first = await pending()
    await decide(first.id, first.digest)
    await desk.report(await desk.reviewer('tone'), { status: 'completed', comments: [{ text: 'One more' }] })
    const second = await pending()
    expect(second.id).not.toBe(first.id)
    expect(second.digest).not.toBe(first.digest)
    await decide(second.id, second.digest)
    expect((await desk.move('PRINTED')).body).toMatchObject({ allowed: true })
  })
})

// The artifact is the agent's in the phase before; the gate that asks for reviews stands in the next one.
const LATER = `
name: later
version: "1"
phases:
  - id: SELF
    allowed_tools: []
    required_artifacts: [{type: review_report, schema: schemas/review.json, description: its own}]
    gates: [{id: self, type: validation, blockers: [{check: no_blocking_issues, message: Objections}]}]
  - id: OTHERS
    allowed_tools: []
    gates:
      - id: others
        type: approval
        approvers: [human]
        blockers:
          - {check: all_review_models_completed, required_reviews: [peer], message: A peer must review}
          - {check: no_blocking_issues, message: Objections}
          - {check: expression, when: 'artifacts.review_report.reviews.peer.status == "completed"', message: By a peer}
  - {id: END, allowed_tools: []}
`

describe('a gate that asks for reviews of an artifact of an earlier phase', () => {
  it('[REQ-REVIEW-6] judges what reviewers said, not what the agent handed in before, and binds the approval to it', async () => {
    const run = await start({ contract: LATER })
    const desk = await Desk.lay(() => run, 't')
    const own = { reviews: { peer: { status: 'completed' } }, blocking_issues: [] }
    expect((await desk.move('OTHERS', { artifacts: { review_report: own } })).body).toMatchObject({ allowed: true })
    expect(messagesOf(await desk.move('END'))).toMatchObject([
      'A peer must review: no report of peer',
      'Objections: there is no review_report',
      expect.stringContaining('By a peer'),
    ])
    await desk.report(await desk.reviewer('peer'), { status: 'completed', summary: 'one' })
    const ask = async () => (await desk.move('END')).body.pending_approval as { id: string; digest: string }
    const first = await ask()
    await desk.report(await desk.reviewer('peer'), { status: 'completed', summary: 'two' })
    const second = await ask()
    expect(second.digest).not.toBe(first.digest)
    const decision = { decision: 'approve', digest: second.digest }
    await run.call('POST', `/approvals/${second.id}/decision`, run.operator, decision)
    expect((await desk.move('END')).body).toMatchObject({ allowed: true, status: 'completed' })
    expect(run.faults).toEqual([])
    await run.stop()
  })
})
