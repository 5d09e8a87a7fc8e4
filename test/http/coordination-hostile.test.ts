import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answer, begin, ended, eventsOf, fileAtEnd, type Seated, statusOf, vote } from '../coordination/council.js'
import { type Running, start } from './harness.js'

let server: Running
beforeAll(async () => {
  server = await start()
})
afterAll(() => server.stop())

interface Run {
  readonly id: string
  readonly agents: readonly Seated[]
}

const remotes = (ids: readonly string[], options = {}): Promise<Run> =>
  begin(server, { agents: ids.map((id) => ({ id, kind: 'remote' })), options })
const tokenOf = (run: Run, id: string): string => run.agents.find((one) => one.id === id)?.token ?? ''
const see = async (run: Run, id: string) =>
  (await server.call('GET', `/coordinations/${run.id}`, tokenOf(run, id))).body
const say = (run: Run, id: string, body: unknown) =>
  server.call('POST', `/coordinations/${run.id}/respond`, tokenOf(run, id), body)

describe('what a participant sees', () => {
  it('[REQ-REMOTE-8] views hold no real id, no vote and nothing of what others are refused', async () => {
    const run = await remotes(['alice', 'bob', 'carol'])
    await say(run, 'alice', answer('one way'))
    await say(run, 'bob', { text: 'SPOILT-TEXT', tool_calls: [{ name: 'spoilt_tool', arguments: {} }] })
    await see(run, 'bob')
    await say(run, 'bob', vote('agent1', 'SECRET-REASON'))
    const views = [await see(run, 'carol'), (await say(run, 'carol', { tool_calls: [] })).body]
    for (const view of views) {
      const text = JSON.stringify(view)
      expect(text).not.toMatch(/alice|bob|carol|SECRET-REASON|SPOILT-TEXT|spoilt_tool|"votes?"/)
      expect(text).toContain('agent1.1')
    }
    expect(views[0]).toEqual({
      ...{ id: run.id, question: 'Which way?', anonymous_id: 'agent3', round: 1, attempt: 1, max_attempts: 3 },
      answers: [{ agent_id: 'agent1', label: 'agent1.1', content: 'one way', verdict: null }],
      ...{ must: 'new_answer_or_vote', valid_agents: ['agent1'], needs_verdict: false },
      ...{ is_complete: false, finish_reason: 'in_progress', winner: null },
    })
    // The end tells the winner, under its number.
    await say(run, 'carol', vote('agent1'))
    await see(run, 'alice')
    await say(run, 'alice', vote('agent1'))
    await ended(server, run.id)
    expect(await see(run, 'bob')).toMatchObject({ winner: 'agent1', finish_reason: 'completed', must: 'none' })
    expect(JSON.stringify(await see(run, 'bob'))).not.toMatch(/alice|carol/)
  })

  it('[REQ-REMOTE-8] names that objects have are ids like others', async () => {
    const ids = ['__proto__', 'constructor', 'toString', 'a.b', '-', '..', 'hasOwnProperty']
    const run = await remotes(ids)
    expect(run.agents.map(({ id }) => id)).toEqual(ids)
    for (const id of ids) expect((await say(run, id, answer(`of ${id}`))).body).toMatchObject({ accepted: true })
    for (const id of ids) {
      await see(run, id)
      expect((await say(run, id, vote('agent1'))).body).toMatchObject({ accepted: true })
    }
    const status = await ended(server, run.id)
    expect(Object.keys(status.agents).sort()).toEqual([...ids].sort())
    expect(status.results.winner).toBe([...ids].sort()[0])
    const restarted = JSON.stringify(await statusOf(server, run.id))
    expect(JSON.parse(restarted)).toEqual(JSON.parse(JSON.stringify(status)))
  })

  it.each([
    [['a', 'a']],
    [['']],
    [['a b']],
    [['a/b']],
    [['../x']],
    [['a\u0000']],
    [['é']],
    [['x'.repeat(65)]],
    [[`sk-${'a1'.repeat(12)}`]],
  ])('[REQ-REMOTE-9] ids that cannot be used start nothing: %j', async (ids) => {
    const before = (await server.call('GET', '/coordinations', server.operator)).body.coordinations
    const got = await server.call('POST', '/coordinations', server.operator, {
      question: 'x',
      agents: ids.map((id) => ({ id, kind: 'remote' })),
    })
    expect(got).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect((await server.call('GET', '/coordinations', server.operator)).body.coordinations).toEqual(before)
  })
})

describe('what a participant sends', () => {
  it('[REQ-REMOTE-10] malformed bodies are refused as such and are no attempt; odd arguments are one', async () => {
    const run = await remotes(['a', 'b'], { max_attempts: 20 })
    for (const body of [
      {},
      { tool_calls: 'vote' },
      { tool_calls: [1] },
      { tool_calls: [{}] },
      { tool_calls: [{ name: 1 }] },
      { tool_calls: [], text: 7 },
      { tool_calls: [], more: 1 },
      { tool_calls: Array.from({ length: 65 }, () => ({ name: 'vote' })) },
      { tool_calls: [{ name: 'x'.repeat(201) }] },
      { tool_calls: [], text: 'x'.repeat(200_001) },
      '{"tool_calls": [',
    ])
      expect(await say(run, 'a', body)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect((await statusOf(server, run.id)).agents.a?.reliability).toBeNull()
    const odd = [
      null,
      'text',
      7,
      [],
      { content: null },
      { content: '' },
      { content: { a: 1 } },
      { __proto__: 'x' },
      true,
    ]
    for (const args of odd) {
      const { status, body } = await say(run, 'a', { tool_calls: [{ name: 'new_answer', arguments: args }] })
      expect({ status, body }).toMatchObject({ status: 200, body: { accepted: false, reason: 'no_workflow_tool' } })
    }
    for (const args of [null, [], { agent_id: { a: 1 } }, { agent_id: '__proto__' }, { agent_id: 'a' }])
      expect((await say(run, 'a', { tool_calls: [{ name: 'vote', arguments: args }] })).body).toMatchObject({
        reason: 'vote_no_answers',
      })
    const { agents } = await statusOf(server, run.id)
    expect(agents.a?.reliability?.total_enforcement_retries).toBe(odd.length + 5)
    expect(server.faults).toEqual([])
  })

  it('[REQ-REMOTE-10] real ids, labels and numbers are not ids to vote for', async () => {
    const run = await remotes(['a', 'b'], { max_attempts: 20 })
    await say(run, 'a', answer('one way'))
    await see(run, 'b')
    for (const id of ['a', 'b', 'agent2', 'agent1.1', 'agent01', 'AGENT1', ' agent1', '', 'constructor', 1])
      expect((await say(run, 'b', { tool_calls: [{ name: 'vote', arguments: { agent_id: id } }] })).body).toMatchObject(
        {
          reason: 'invalid_vote_id',
          message: expect.stringMatching(/Invalid agent_id '.*'\. Valid agents: agent1$/),
        },
      )
    expect((await statusOf(server, run.id)).results.votes).toEqual({})
  })

  it('[REQ-REMOTE-11] huge texts are kept once, shown whole, and leave the status small', async () => {
    const run = await remotes(['a', 'b'])
    const content = 'wörd 🙂 '.repeat(12_000)
    expect((await say(run, 'a', answer(content))).body).toMatchObject({ accepted: true })
    expect((await say(run, 'b', answer('x'.repeat(100_001)))).body).toMatchObject({
      accepted: false,
      message: expect.stringContaining('content longer than 100,000 characters'),
    })
    const view = await see(run, 'b')
    expect((view.answers as { content: string }[])[0]?.content).toBe(content)
    expect(JSON.stringify(await statusOf(server, run.id)).length).toBeLessThan(10_000)
  })

  it('[REQ-REMOTE-11] sixty-four agents answer and vote, one more is refused', async () => {
    const ids = Array.from({ length: 64 }, (_, index) => `n${index}`)
    const run = await remotes(ids)
    await Promise.all(ids.map((id) => say(run, id, answer(`the way of ${id}`))))
    for (const id of ids) await see(run, id)
    const votes = await Promise.all(ids.map((id) => say(run, id, vote('agent1'))))
    expect(votes.filter(({ body }) => body.accepted === true)).toHaveLength(64)
    expect((await ended(server, run.id)).results.votes).toEqual({ n0: 64 })
    const more = await server.call('POST', '/coordinations', server.operator, {
      question: 'x',
      agents: [...ids, 'one-more'].map((id) => ({ id, kind: 'remote' })),
    })
    expect(more.status).toBe(400)
  })

  it('[REQ-REMOTE-11] thirty-two coordinations go on at once, however many are started together', async () => {
    const mine = await start()
    try {
      const body = { question: 'x', agents: [{ id: 'a', kind: 'remote' }] }
      const got = await Promise.all(
        Array.from({ length: 40 }, () => mine.call('POST', '/coordinations', mine.operator, body)),
      )
      const statuses = got.map(({ status }) => status)
      expect([statuses.filter((one) => one === 201), statuses.filter((one) => one === 409)]).toMatchObject({
        0: { length: 32 },
        1: { length: 8 },
      })
      const [first] = got.filter(({ status }) => status === 201)
      await mine.call('POST', `/coordinations/${first?.body.id}/cancel`, mine.operator, { reason: 'enough' })
      expect((await mine.call('POST', '/coordinations', mine.operator, body)).status).toBe(201)
    } finally {
      await mine.stop()
    }
  })

  it('[REQ-REMOTE-11] an agent that asks too often is slowed down, and the others are not', async () => {
    const mine = await start({ agentPerSecond: 4 })
    try {
      const { id, agents } = await begin(mine, { agents: ['a', 'b'].map((one) => ({ id: one, kind: 'remote' })) })
      const look = (index: number) => mine.call('GET', `/coordinations/${id}`, agents[index]?.token ?? '')
      const got = await Promise.all(Array.from({ length: 60 }, () => look(0)))
      const limited = got.filter(({ status }) => status === 429)
      expect(limited.length).toBeGreaterThan(5)
      expect(limited[0]?.body).toMatchObject({ code: 'rate_limited' })
      expect((await look(1)).status).toBe(200)
    } finally {
      await mine.stop()
    }
  })

  it('[REQ-REMOTE-12] secrets in answers, reasons, texts and tool names are in no view, status, ledger or stream', async () => {
    const secret = 'sk-abcdefghij0123456789abcdef'
    const run = await remotes(['a', 'b'])
    const given = await say(run, 'a', answer(`use ${secret} and ${tokenOf(run, 'b')} for it`))
    await say(run, 'b', { text: `with ${secret}`, tool_calls: [{ name: secret, arguments: { [secret]: secret } }] })
    const view = await see(run, 'b')
    expect(JSON.stringify(view)).toContain('use [redacted] and [redacted] for it')
    await say(run, 'b', vote('agent1', `because of ${secret}`))
    await say(run, 'a', vote('agent1'))
    await ended(server, run.id)
    const whole = await server.call('GET', `/coordinations/${run.id}`, server.operator)
    const file = await fileAtEnd(server.stateDir, run.id)
    const seen = JSON.stringify([given.body, view, whole.body, await statusOf(server, run.id), file])
    const events = JSON.stringify(await eventsOf(server, run.id))
    const exported = await fetch(`${server.url}/api/v1/audit/export`, {
      headers: { authorization: `Bearer ${server.operator}` },
    })
    for (const text of [seen, events, await exported.text()]) {
      expect(text).not.toContain('sk-abcdefghij')
      expect(text).not.toContain(tokenOf(run, 'b').slice(-40))
    }
  })
})
