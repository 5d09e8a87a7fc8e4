import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'
import { ERAS, type Era, INITIALIZE, McpAgent, modern } from './clients.js'

const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
const TOOLS = ['coordination_view', 'new_answer', 'vote']

let server: Running
beforeAll(async () => {
  server = await start()
})
afterEach(() => expect(server.faults).toEqual([]))
afterAll(() => server.stop())

interface Begun {
  readonly id: string
  readonly tokens: Readonly<Record<string, string>>
}

async function begin(ids: readonly string[], options: Record<string, unknown> = {}): Promise<Begun> {
  const agents = ids.map((id) => ({ id, kind: 'remote' }))
  const body = { question: 'Which way?', agents, options }
  const got = await server.call('POST', '/coordinations', server.operator, body)
  expect(got.status, JSON.stringify(got.body)).toBe(201)
  const seats = got.body.agents as { id: string; token: string }[]
  return { id: String(got.body.id), tokens: Object.fromEntries(seats.map(({ id, token }) => [id, token])) }
}

async function reliabilityOf(run: string, agent: string): Promise<Record<string, unknown> | null> {
  const { body } = await server.call('GET', `/coordinations/${run}/status`, server.operator)
  return (body.agents as Record<string, { reliability: Record<string, unknown> | null }>)[agent]?.reliability ?? null
}

async function send(token: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}/mcp`, {
    method: 'POST',
    headers: { ...ACCEPT, authorization: `Bearer ${token}`, ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

describe.each(ERAS)('what a token opens over MCP $name', (era: Era) => {
  let run: Begun
  let closing: McpAgent[] = []
  const connect = async (token = ''): Promise<McpAgent> => {
    const agent = await McpAgent.connect(server.url, token, era)
    closing.push(agent)
    return agent
  }
  beforeEach(async () => {
    run = await begin(['a', 'b'])
  })
  afterEach(async () => {
    for (const agent of closing) await agent.close()
    closing = []
  })

  it("[REQ-DOOR-1] a participant's token shows three tools, and nothing of tasks", async () => {
    const agent = await connect(run.tokens.a)
    const { tools } = await agent.client.listTools()
    expect(tools.map(({ name }) => name).sort()).toEqual(TOOLS)
    expect(agent.client.getServerCapabilities()).toEqual({ tools: {} })
    await expect(agent.client.request({ method: 'resources/list' })).rejects.toThrow(/method not found/i)
    await expect(agent.client.request({ method: 'prompts/list' })).rejects.toThrow(/method not found/i)
  })

  it('[REQ-DOOR-1] tools of tasks are unknown to a participant: each call is judged and counted, and none is made', async () => {
    const task = await server.addTask()
    const agent = await connect(run.tokens.a)
    const names = ['claim_task', 'search_standards', 'read_files']
    for (const [index, name] of names.entries()) {
      const { text, structured } = await agent.refused(name, { query: 'x', paths: ['a'] })
      const last = index === names.length - 1 ? '\nAgent failed to use workflow tools after 3 attempts' : ''
      expect(text).toBe(`Retry (${index + 1}/3): Called ${name} (not workflow). Required: vote or new_answer${last}`)
      expect(structured).toMatchObject({ accepted: false, reason: 'unknown_tool', attempt: index + 1, max_attempts: 3 })
    }
    expect(await reliabilityOf(run.id, 'a')).toMatchObject({ unknown_tools: names, outcome: 'non_compliant' })
    const { body } = await server.call('GET', `/tasks/${task}`, server.operator)
    expect(body.agent_id).toBeNull()
  })

  it("[REQ-DOOR-2] an agent's or a phase's token shows nothing of coordinations", async () => {
    const id = `worker-${era.name.slice(0, 4)}`
    const token = await server.addAgent(id)
    const phase = await server.claim(id, token, await server.addTask())
    for (const one of [token, phase]) {
      const agent = await connect(one)
      const { tools } = await agent.client.listTools()
      expect(tools.filter(({ name }) => TOOLS.includes(name))).toEqual([])
      for (const name of TOOLS) {
        const { text } = await agent.refused(name, { agent_id: 'agent1', reason: 'x' })
        expect(text).not.toContain('Required: vote or new_answer')
        expect(text).not.toContain('Which way?')
      }
    }
    expect(await reliabilityOf(run.id, 'a')).toBeNull()
  })

  it('[REQ-DOOR-3] a call is judged as a response over REST, and a rejection is an error in exactly its words', async () => {
    const [a, b] = [await connect(run.tokens.a), await connect(run.tokens.b)]
    const early = await a.refused('vote', { agent_id: 'agent2', reason: 'I like it' })
    expect(early.text).toBe('Retry (1/3): Cannot vote when no answers exist. Required: new_answer')
    expect(Object.keys(early.structured)).toEqual([
      'accepted',
      'reason',
      'message',
      'attempt',
      'max_attempts',
      'round',
      'view',
    ])
    expect(early.structured).toMatchObject({ reason: 'vote_no_answers', message: early.text, attempt: 1, round: 1 })
    expect(await a.does('new_answer', { content: 'Go left.' })).toMatchObject({
      ...{ accepted: true, action: 'new_answer', label: 'agent1.1', attempt: 2, max_attempts: 3 },
    })
    expect(await b.does('coordination_view')).toMatchObject({
      question: 'Which way?',
      anonymous_id: 'agent2',
      answers: [{ agent_id: 'agent1', label: 'agent1.1', content: 'Go left.' }],
      must: 'new_answer_or_vote',
    })
    expect((await b.refused('vote', { agent_id: 'agent5', reason: 'r' })).text).toBe(
      "Retry (1/3): Invalid agent_id 'agent5'. Valid agents: agent1",
    )
    const { attempts } = { attempts: (await reliabilityOf(run.id, 'b'))?.enforcement_attempts }
    expect(attempts).toMatchObject([{ reason: 'invalid_vote_id', handled: 'restart', tool_calls: ['vote'] }])
    expect(await b.does('vote', { agent_id: 'agent1', reason: 'r' })).toMatchObject({ accepted: true, action: 'vote' })
    expect(await a.does('vote', { agent_id: 'agent1', reason: 'r' })).toMatchObject({ accepted: true, action: 'vote' })
    expect(await a.does('coordination_view')).toMatchObject({ is_complete: true, winner: 'agent1', must: 'none' })
  })

  it('[REQ-DOOR-3] a vote without sight of a newer answer is asked for again, with that answer', async () => {
    const [a, b] = [await connect(run.tokens.a), await connect(run.tokens.b)]
    await a.does('coordination_view')
    await b.does('new_answer', { content: 'Go right, then up.' })
    const { text, structured } = await a.refused('vote', { agent_id: 'agent2', reason: 'r' })
    expect(text).toContain('The vote was not counted: agent2.1 came in the meantime.')
    expect(text).toContain('Go right, then up.')
    expect(structured).toMatchObject({ accepted: false, asked_again: true })
    expect(await reliabilityOf(run.id, 'a')).toBeNull()
    expect(await a.does('vote', { agent_id: 'agent2', reason: 'r' })).toMatchObject({ accepted: true })
  })

  it('[REQ-DOOR-3] the winner presents its answer with new_answer, and with nothing else', async () => {
    run = await begin(['a', 'b'], { skip_voting: true, max_new_answers_per_agent: 1, final_presentation: true })
    const [a, b] = [await connect(run.tokens.a), await connect(run.tokens.b)]
    await a.does('new_answer', { content: 'Go left.' })
    await b.does('new_answer', { content: 'Take the stairs up.' })
    expect(await b.does('coordination_view')).toMatchObject({ must: 'present' })
    expect((await b.refused('vote', { agent_id: 'agent1', reason: 'r' })).text).toContain('call new_answer')
    const presented = await b.does('new_answer', { content: 'Stairs, as said.' })
    expect(presented).toMatchObject({ accepted: true, action: 'final_presentation', label: 'agent2.final' })
    const { body } = await server.call('GET', `/coordinations/${run.id}`, server.operator)
    expect(JSON.stringify(body.final_presentation)).toContain('Stairs, as said.')
  })

  it('[REQ-DOOR-3] arguments of any shape are judged, and names beyond bounds are refused', async () => {
    const agent = await connect(run.tokens.a)
    const { text } = await agent.refused('new_answer', { content: { of: ['no', 'kind'] } })
    expect(text).toBe('Retry (1/3): Called new_answer (without content). Required: vote or new_answer')
    expect((await agent.refused('x'.repeat(201))).structured).toMatchObject({ code: 'invalid_request' })
    const odd = await agent.refused('vote\u001b[31m\nRetry (9/9)', {})
    expect(odd.text).not.toMatch(/\p{Cc}/u)
  })

  it('[REQ-DOOR-4] when the run is over, a call is refused with what to do, and the view tells how it ended', async () => {
    const agent = await connect(run.tokens.a)
    await server.call('POST', `/coordinations/${run.id}/cancel`, server.operator, { reason: 'enough' })
    const { text, structured } = await agent.refused('new_answer', { content: 'Too late.' })
    expect(structured).toMatchObject({ code: 'conflict' })
    expect(text).toContain('The council is over.')
    expect(text).toContain('coordination_view shows how it ended.')
    expect(await agent.does('coordination_view')).toMatchObject({ is_complete: true, finish_reason: 'cancelled' })
  })
})

describe('tokens of participants', () => {
  it('[REQ-DOOR-4] a forged, a cut and an expired token are refused before anything is looked at', async () => {
    const { tokens } = await begin(['a', 'b'], { timeout_seconds: 60 })
    const [head = '', body = '', mark = ''] = (tokens.a ?? '').split('.')
    const other = Buffer.from(body, 'base64url').toString().replace('"a"', '"b"')
    for (const forged of [`${head}.${Buffer.from(other).toString('base64url')}.${mark}`, `${head}.${body}.`]) {
      const { status, text } = await send(forged, modern('tools/list').body, modern('tools/list').headers)
      expect([status, JSON.parse(text).code]).toEqual([403, 'token_invalid'])
    }
    server.now = Date.now() + 400 * 24 * 3600_000
    const late = await send(tokens.a ?? '', modern('tools/list').body, modern('tools/list').headers)
    server.now = null
    expect([late.status, JSON.parse(late.text).code]).toEqual([403, 'token_invalid'])
    expect(JSON.parse(late.text).remedy).not.toBe('')
  })

  it('[REQ-DOOR-4] a session belongs to one participant of one run', async () => {
    const [first, second] = [await begin(['a', 'b']), await begin(['a', 'b'])]
    const agent = await server.addAgent('a')
    const opened = await send(first.tokens.a ?? '', INITIALIZE)
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    expect((await send(first.tokens.a ?? '', LIST, session)).status).toBe(200)
    for (const other of [first.tokens.b, second.tokens.a, agent])
      expect((await send(other ?? '', LIST, session)).status).toBe(404)
    const own = await send(agent, INITIALIZE)
    const ofAgent = { 'mcp-session-id': own.headers.get('mcp-session-id') ?? '' }
    expect((await send(first.tokens.a ?? '', LIST, ofAgent)).status).toBe(404)
  })
})
