import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RunWalk } from '../../src/app/reports/report-council.js'
import { Refusals } from '../../src/app/reports/report-refusals.js'
import type { RunEvent } from '../../src/core/councils/event.js'
import type { JsonObject } from '../../src/core/json.js'
import { Council, call, newAnswer, T0, vote } from '../core/rounds/council.js'
import { type Running, start } from './harness.js'

const contract = `
name: reported
version: "1"
phases:
  - id: PLAN
    allowed_tools: [read_files]
    required_artifacts: [{type: plan, description: the plan}]
    gates: [{id: planned, type: validation, blockers: []}]
  - id: DONE
    allowed_tools: []
enforcement: {reconcile: "off"}
`

function reportOf(events: readonly RunEvent[], now: number): JsonObject {
  const walk = new RunWalk()
  for (const event of events) walk.add(event)
  return walk.view(now)!
}

describe('the report of a coordination', () => {
  it('[REQ-RUNREPORT-1] refusals are counted by agent, reason, phase and round, and what restarts lost', () => {
    const council = new Council()
    council.turn('a')
    council.respond('a', [vote('agent2')])
    council.respond('a', [], { text: 'only words' })
    council.answer('a', 'one')
    council.answer('b', 'two')
    council.turn('a')
    council.respond('a', [vote('agent7')])
    council.respond('a', [vote('agent7')])
    const report = reportOf(council.events, council.now)
    expect(report.refusals).toEqual({
      count: 4,
      by_agent: [{ agent: 'a', count: 4 }],
      by_reason: [
        { reason: 'invalid_vote_id', count: 2 },
        { reason: 'vote_no_answers', count: 1 },
        { reason: 'no_tool_calls', count: 1 },
      ],
      by_phase: [
        { phase: 'initial_answer', count: 2 },
        { phase: 'voting', count: 2 },
      ],
      by_round: [
        { round: 1, count: 2 },
        { round: 2, count: 2 },
      ],
      rows: [
        { agent: 'a', reason: 'vote_no_answers', phase: 'initial_answer', round: 1, count: 1 },
        { agent: 'a', reason: 'no_tool_calls', phase: 'initial_answer', round: 1, count: 1 },
        { agent: 'a', reason: 'invalid_vote_id', phase: 'voting', round: 2, count: 2 },
      ],
    })
    expect(report).toMatchObject({ buffer_chars_lost: 10, truncated: false, events: council.events.length })
    expect(report.agents).toMatchObject([
      { id: 'a', anonymous_id: 'agent1', refusals: 4, buffer_chars_lost: 10, outcome: 'ok', answers: 1 },
      { id: 'b', anonymous_id: 'agent2', refusals: 0, buffer_chars_lost: 0, outcome: null, answers: 1 },
    ])
  })

  it('[REQ-RUNREPORT-2] time and tokens belong to the agent and the round, and no turn counts twice', () => {
    const council = new Council()
    council.turn('a')
    council.now += 2000
    council.respond('a', [vote('agent2')])
    council.now += 3000
    council.respond('a', [newAnswer('one')])
    council.do({ type: 'usage', agent: 'a', tokens: { input: 100, output: 20, cacheRead: 5, cacheWrite: 1 } })
    council.now += 10_000
    council.turn('b')
    council.now += 1000
    council.respond('b', [newAnswer('two')])
    council.turn('a')
    council.now += 500
    council.do({ type: 'usage', agent: 'a', tokens: { input: 7, output: 3, cacheRead: 0, cacheWrite: 0 } })
    const [a, b] = reportOf(council.events, council.now).agents as unknown as readonly {
      readonly rounds: readonly JsonObject[]
    }[]
    expect(a?.rounds).toMatchObject([
      { round: 1, seconds: 5, refusals: 1, tokens: { input: 100, output: 20, cache_read: 5, cache_write: 1 } },
      { round: 2, seconds: 0.5, refusals: 0, tokens: { input: 7, output: 3 } },
    ])
    expect(b?.rounds).toMatchObject([{ round: 1, seconds: 1, tokens: { input: 0 } }])
  })

  it('[REQ-RUNREPORT-3] answers, votes and whether they count, the winner and the tie are there, and the timeline in order', () => {
    const council = new Council()
    council.answer('a', 'first')
    council.vote('b', 'agent1')
    council.answer('a', 'second')
    council.vote('b', 'agent1')
    council.vote('a', 'agent1')
    const report = reportOf(council.events, council.now)
    expect(report.answers).toMatchObject([
      { agent: 'a', label: 'agent1.1', content: 'first', chars: 5, is_cut: false },
      { agent: 'a', label: 'agent1.2', content: 'second' },
    ])
    expect(report.votes).toMatchObject([
      { agent: 'b', label: 'agent1.1', stands: false },
      { agent: 'b', label: 'agent1.2', stands: true },
      { agent: 'a', label: 'agent1.2', stands: true, reason: 'best' },
    ])
    expect(report.result).toEqual({ winner: 'a', label: 'agent1.2', is_tie: false, votes: { a: 2 } })
    expect(report.run).toMatchObject({ kind: 'coordination', status: 'completed', title: 'Why?' })
    expect((report.timeline as readonly JsonObject[]).map(({ type }) => type)).toEqual(
      council.types().filter((type) => type !== 'run_started'),
    )
  })

  it('[REQ-RUNREPORT-4] however much happened, the report stays within its bounds and says so', () => {
    const walk = new RunWalk()
    const base = new Council({ agents: ['a'], options: { maxNewAnswersPerAgent: 100, maxAttempts: 20 } })
    for (const event of base.events) walk.add(event)
    const at = T0 + 1
    for (let round = 1; round <= 2100; round += 1)
      walk.add({
        ...{ type: 'response_rejected', agent: 'a', round, attempt: 1, maxAttempts: 3, reason: 'unknown_tool' },
        ...{ toolCalls: ['x'], unknownTools: [`t${round}`], message: 'm', errorMessage: null },
        ...{ bufferPreview: '', bufferChars: 1, handled: 'restart', at },
      })
    for (let revision = 1; revision <= 200; revision += 1)
      walk.add({
        ...{ type: 'answer_accepted', agent: 'a', label: `agent1.${revision}`, content: '😀'.repeat(30_000) },
        ...{ verdict: null, voided: [], at },
      })
    const report = walk.view(at)!
    expect(report.truncated).toBe(true)
    expect(report.refusals).toMatchObject({ count: 2100 })
    expect(report.buffer_chars_lost).toBe(2100)
    const { rows, by_round } = report.refusals as { rows: readonly unknown[]; by_round: readonly unknown[] }
    expect(rows).toHaveLength(2000)
    expect(by_round).toHaveLength(500)
    expect(JSON.stringify(report).length).toBeLessThan(5_000_000)
    const answers = report.answers as readonly { content: string; chars: number; is_cut: boolean }[]
    expect(answers[0]).toMatchObject({ chars: 30_000, is_cut: true })
    expect(answers[0]?.content.isWellFormed()).toBe(true)
  })

  it('[REQ-RUNREPORT-4] names such as those that objects have of themselves are counted like others', () => {
    const refusals = new Refusals()
    for (const name of ['__proto__', 'constructor', '__proto__'])
      refusals.add({ agent: name, reason: name, phase: name, round: 1 })
    expect(refusals.view()).toMatchObject({ count: 3, by_agent: [{ agent: '__proto__', count: 2 }, {}] })
    expect(refusals.countForAgent('toString')).toBe(0)
  })
})

describe('GET /runs/{id}/report', () => {
  let run: Running
  beforeAll(async () => {
    run = await start({ contract })
    for (const id of ['t', 'queued', 'other']) await run.addTask({ id, title: 'Reported' })
  })
  afterAll(() => run.stop())
  const report = (id: string, token: string | null = run.operator) => run.call('GET', `/runs/${id}/report`, token)

  it('[REQ-RUNREPORT-5] only operators get it, and what is not there is not found', async () => {
    const agent = await run.addAgent('b')
    const token = await run.claim('b', agent, 'other')
    expect(await report('other', null)).toMatchObject({ status: 401 })
    expect(await report('other', agent)).toMatchObject({ status: 403 })
    expect(await report('other', token)).toMatchObject({ status: 403 })
    for (const id of ['nobody', '..', '%2e%2e%2fledger.db', 'run:x', '__proto__'])
      expect((await report(id)).status).toBe(404)
  })

  it('[REQ-RUNREPORT-6] a task that nobody began has an empty report', async () => {
    expect((await report('queued')).body).toMatchObject({
      run: { id: 'queued', kind: 'task', status: 'queued', started_at: null, elapsed_seconds: 0 },
      ...{ agents: [], phases: [], refusals: { count: 0, rows: [] } },
      gates: { passed: 0, blocked: 0, pass_rate: null },
    })
  })

  it('[REQ-RUNREPORT-6] refusals, gates, time and tokens of a task are counted by phase and visit', async () => {
    const agent = await run.addAgent('a')
    run.now = Date.now()
    const token = await run.claim('a', agent, 't')
    const use = (tool_name: string) =>
      run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args: { path: 'x', content: '' } })
    await use('write_files')
    await use('write_files')
    await use('bash')
    await run.call('POST', '/usage', token, { input_tokens: 50, output_tokens: 5 })
    const move = (artifacts: object) =>
      run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: 'DONE', artifacts })
    expect((await move({})).body).toMatchObject({ allowed: false })
    run.now += 60_000
    expect((await move({ plan: {} })).body).toMatchObject({ allowed: true })
    const { body } = await report('t')
    expect(body).toMatchObject({
      run: { id: 't', status: 'completed', elapsed_seconds: 60 },
      agents: [{ id: 'a', refusals: 4 }],
      refusals: {
        count: 4,
        by_agent: [{ agent: 'a', count: 4 }],
        by_phase: [{ phase: 'PLAN', count: 4 }],
        by_round: [{ round: 1, count: 4 }],
      },
      gates: {
        ...{ passed: 1, blocked: 1, pass_rate: 0.5 },
        // What a phase requires to be left is no gate of its own.
        by_gate: [
          { gate: 'leaving PLAN', passed: 0, blocked: 1 },
          { gate: 'planned', passed: 1, blocked: 0 },
        ],
      },
      truncated: false,
    })
    expect((body.refusals as JsonObject).by_reason).toContainEqual({ reason: 'forbidden_tool', count: 3 })
    expect((body.phases as readonly JsonObject[])[0]).toMatchObject({
      ...{ phase: 'PLAN', visits: 1, seconds: 60, refusals: 4 },
      tokens: { input: 50, output: 5, grade: 'reported' },
    })
    run.now = null
  })

  it('[REQ-RUNREPORT-5] a coordination is reported while it goes on, with its answers whole', async () => {
    const long = 'x'.repeat(5000)
    const started = await run.call('POST', '/coordinations', run.operator, {
      question: 'Which?',
      agents: [{ id: 'r', kind: 'remote' }],
    })
    const id = String(started.body.id)
    const [{ token }] = started.body.agents as [{ token: string }]
    const respond = (calls: readonly object[]) =>
      run.call('POST', `/coordinations/${id}/respond`, token, { text: 'said', tool_calls: calls })
    await run.call('GET', `/coordinations/${id}`, token)
    await respond([call('vote', { agent_id: 'agent1', reason: '' })])
    await respond([call('new_answer', { content: long })])
    const { status, body } = await report(id)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      run: { id, kind: 'coordination', status: 'in_progress', title: 'Which?' },
      refusals: { count: 1, by_reason: [{ reason: 'vote_no_answers', count: 1 }] },
      ...{ buffer_chars_lost: 4, answers: [{ agent: 'r', label: 'agent1.1', content: long }] },
    })
    expect(await report(id, token)).toMatchObject({ status: 403 })
  })
})
