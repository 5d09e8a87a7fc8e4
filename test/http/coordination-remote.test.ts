import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApi } from '../../src/http/openapi.js'
import { DESCRIBED } from '../../src/http/routes/all.js'
import { answer, begin, ended, eventsOf, type Seated, statusOf, vote } from '../coordination/council.js'
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
const tokenOf = (run: Run, index: number): string => run.agents[index]?.token ?? ''
const see = (run: Run, index: number, query = '') =>
  server.call('GET', `/coordinations/${run.id}${query}`, tokenOf(run, index))
const say = (run: Run, index: number, body: unknown, key?: string) =>
  server.call(
    'POST',
    `/coordinations/${run.id}/respond`,
    tokenOf(run, index),
    body,
    key === undefined ? {} : { 'idempotency-key': key },
  )

describe('who may respond', () => {
  it("[REQ-REMOTE-1] another run's token, operators, agents and reviewers may not, nor does anybody without a token", async () => {
    const [run, other] = [await remotes(['a', 'b']), await remotes(['a', 'b'])]
    const path = `/coordinations/${run.id}/respond`
    const agent = await server.addAgent('worker')
    const task = await server.addTask()
    const phase = await server.claim('worker', agent, task)
    const reviewer = await server.call('POST', `/tasks/${task}/reviewers`, server.operator, { name: 'critic' })
    for (const [token, status, code] of [
      [tokenOf(other, 0), 403, 'token_mismatch'],
      [server.operator, 403, 'not_permitted'],
      [agent, 403, 'not_permitted'],
      [phase, 403, 'not_permitted'],
      [String(reviewer.body.review_token), 403, 'not_permitted'],
      [`${tokenOf(run, 0).slice(0, -3)}abc`, 403, 'token_invalid'],
      [null, 401, 'token_missing'],
    ] as const)
      expect(await server.call('POST', path, token, answer('x'))).toMatchObject({ status, body: { code } })
    // An agent's token opens no run either.
    for (const token of [agent, phase, tokenOf(other, 0)])
      expect((await server.call('GET', `/coordinations/${run.id}`, token)).status).toBe(403)
    expect(Object.values((await statusOf(server, run.id)).agents)).toMatchObject([
      { answer_count: 0 },
      { answer_count: 0 },
    ])
  })

  it('[REQ-REMOTE-1] a token ends with the time that its run could take', async () => {
    const run = await remotes(['a'], { timeout_seconds: 10, round_timeout_seconds: 10 })
    server.now = Date.now() + 79_000
    try {
      expect((await see(run, 0)).status).toBe(200)
      server.now = Date.now() + 150_000
      expect(await see(run, 0)).toMatchObject({ status: 403, body: { code: 'token_invalid' } })
    } finally {
      server.now = null
    }
  })

  it('[REQ-REMOTE-2] a participant reaches nothing but its run: every other endpoint refuses it', async () => {
    const run = await remotes(['a', 'b'])
    const { paths } = openApi(DESCRIBED) as { paths: Record<string, Record<string, { operationId: string }>> }
    const open: string[] = []
    for (const [path, methods] of Object.entries(paths))
      for (const [method, { operationId }] of Object.entries(methods)) {
        const url = path.replace('{id}', run.id).replace(/\{[^}]+\}/g, 'a')
        const body = method === 'get' ? undefined : {}
        const got = await server.call(method.toUpperCase(), `/api/v1${url}`, tokenOf(run, 0), body)
        if (got.status === 403 && got.body.code === 'not_permitted') continue
        // An agent CLI is refused in its own words.
        if (path.startsWith('/hooks/') && JSON.stringify(got.body).includes('[not_permitted]')) continue
        open.push(`${operationId} ${got.status}`)
      }
    expect(open.sort()).toEqual(['getCoordination 200', 'login 400', 'respond 400'])
    for (const path of ['/events', `/coordinations/${run.id}/stream`, '/metrics/summary'])
      expect((await server.call('GET', path, tokenOf(run, 0))).status, path).toBe(403)
  })
})

describe('when a response counts', () => {
  it('[REQ-REMOTE-3] one that is not awaited, or comes after the end, is a conflict and leaves no trace', async () => {
    const run = await remotes(['a', 'b'])
    await say(run, 0, answer('one way'))
    expect((await say(run, 0, vote('agent1'))).body).toMatchObject({ accepted: true })
    const again = await say(run, 0, vote('agent1'))
    expect(again).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail: 'The vote stands; there is nothing to do unless another answer arrives.' },
    })
    expect(again.body.view).toMatchObject({ must: 'wait' })
    await see(run, 1)
    expect((await say(run, 1, vote('agent1'))).body).toMatchObject({
      accepted: true,
      view: { must: 'none', winner: 'agent1' },
    })
    await ended(server, run.id)
    for (const index of [0, 1])
      expect(await say(run, index, answer('late'))).toMatchObject({
        status: 409,
        body: { detail: 'The council is over.' },
      })
    expect((await see(run, 0)).body).toMatchObject({ is_complete: true, finish_reason: 'completed', winner: 'agent1' })
    const answers = (await eventsOf(server, run.id)).filter(({ type }) => type === 'answer_accepted')
    expect(answers).toHaveLength(1)
  })

  it('[REQ-REMOTE-4] of sixteen responses at once one counts', async () => {
    const run = await remotes(['a', 'b'])
    const answers = await Promise.all(Array.from({ length: 16 }, () => say(run, 0, answer('one way'))))
    const others = answers.filter(({ body }) => body.accepted !== true)
    expect(others).toHaveLength(15)
    // Those that came while it was judged are a conflict; those after it are judged themselves.
    for (const { status, body } of others) expect([409, 'answer_duplicate']).toContain(body.reason ?? status)
    expect((await statusOf(server, run.id)).agents.a).toMatchObject({ answer_count: 1 })
    const voting = await remotes(['a', 'b'])
    await say(voting, 0, answer('one way'))
    const votes = await Promise.all(Array.from({ length: 16 }, () => say(voting, 0, vote('agent1'))))
    expect(votes.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 15 }, () => 409)])
    const status = await statusOf(server, voting.id)
    expect(status.agents.a).toMatchObject({ status: 'voted', reliability: null })
    expect(status.results.votes).toEqual({ a: 1 })
  })

  it('[REQ-REMOTE-4] the same key is answered the same and counted once, at once and later, and not for another body', async () => {
    const run = await remotes(['a', 'b'])
    const all = await Promise.all(Array.from({ length: 16 }, () => say(run, 0, answer('one way'), 'k1')))
    for (const one of all) expect({ status: one.status, body: one.body }).toEqual({ status: 200, body: all[0]?.body })
    expect(all[0]?.body).toMatchObject({ accepted: true, label: 'agent1.1', attempt: 1, max_attempts: 3, round: 1 })
    await say(run, 1, answer('another way'))
    expect((await say(run, 0, answer('one way'), 'k1')).body).toEqual(all[0]?.body)
    expect(await say(run, 0, answer('another'), 'k1')).toMatchObject({
      status: 422,
      body: { code: 'idempotency_mismatch' },
    })
    // A key is its owner's: the other agent may use it too.
    const bad = await say(run, 1, { tool_calls: [{ name: 'nope' }] }, 'k1')
    expect(bad.body).toMatchObject({ accepted: false, reason: 'unknown_tool', attempt: 1 })
    expect((await say(run, 1, { tool_calls: [{ name: 'nope' }] }, 'k1')).body).toEqual(bad.body)
    const { agents } = await statusOf(server, run.id)
    expect([agents.a?.answer_count, agents.b?.reliability?.total_enforcement_retries]).toEqual([1, 1])
  })

  it('[REQ-REMOTE-5] paused agents are refused without an attempt, and see what they saw', async () => {
    const run = await remotes(['a', 'b'])
    await server.call('POST', '/pause', server.operator, { reason: 'lunch' })
    try {
      expect(await say(run, 0, answer('x'))).toMatchObject({ status: 409, body: { code: 'agents_paused' } })
      expect((await see(run, 0)).body).toMatchObject({ round: 1, attempt: 1 })
    } finally {
      await server.call('POST', '/unpause', server.operator, { reason: 'go on' })
    }
    expect((await say(run, 0, answer('x'))).body).toMatchObject({ accepted: true })
  })

  it('[REQ-REMOTE-6] waiting ends when something is asked, when the run ends, and when the time is over', async () => {
    const run = await remotes(['a', 'b'])
    await say(run, 0, answer('one way'))
    await say(run, 0, vote('agent1'))
    const from = Date.now()
    const short = await see(run, 0, '?wait=1')
    expect(short.body).toMatchObject({ must: 'wait' })
    expect(Date.now() - from).toBeGreaterThanOrEqual(950)
    const waiting = see(run, 0, '?wait=30')
    await see(run, 1)
    await say(run, 1, answer('another way'))
    expect((await waiting).body).toMatchObject({ must: 'new_answer_or_vote', round: 2 })
    await say(run, 0, vote('agent2'))
    const last = see(run, 0, '?wait=30')
    await server.call('POST', `/coordinations/${run.id}/cancel`, server.operator, { reason: 'enough' })
    expect((await last).body).toMatchObject({ must: 'none', is_complete: true, finish_reason: 'cancelled' })
    expect(Date.now() - from).toBeLessThan(20_000)
    for (const wait of ['-1', '56', 'x', '1.5', '1e9']) expect((await see(run, 0, `?wait=${wait}`)).status).toBe(400)
  })

  it('[REQ-REMOTE-7] after the third bad response an agent is told that it is out, and the others go on', async () => {
    const run = await remotes(['a', 'b'])
    for (const attempt of [1, 2, 3]) {
      const { body } = await say(run, 0, { text: 'Hm 🙂', tool_calls: [] })
      expect(body).toMatchObject({
        accepted: false,
        reason: 'no_tool_calls',
        message: `Retry (${attempt}/3): No tool called. Required: vote or new_answer`,
        attempt,
        max_attempts: 3,
        round: 1,
      })
      expect(body.stopped).toBe(attempt === 3 ? 'Agent failed to use workflow tools after 3 attempts' : undefined)
    }
    expect(await say(run, 0, answer('x'))).toMatchObject({
      status: 409,
      body: { detail: 'Agent failed to use workflow tools after 3 attempts' },
    })
    await say(run, 1, answer('another way'))
    await say(run, 1, vote('agent2'))
    const status = await ended(server, run.id)
    expect(status.results.winner).toBe('b')
    expect(status.agents.a?.reliability).toMatchObject({
      enforcement_attempts: [
        { handled: 'restart', buffer_preview: 'Hm 🙂', buffer_chars: 4 },
        { handled: 'restart' },
        { handled: 'restart' },
      ],
      total_buffer_chars_lost: 12,
      outcome: 'non_compliant',
    })
  })
})
