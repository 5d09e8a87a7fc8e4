import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'
import { Desk, REVIEWED } from '../http/reviewing.js'
import { ERAS, type Era, INITIALIZE, McpAgent, modern } from './clients.js'

const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
const OWN = ['review_view', 'review_artifact', 'submit_review']
const LOOKS = ['read_files', 'glob', 'grep', 'search_codebase', 'git_status', 'git_diff', 'git_log']
const APPROVED = { report: { status: 'approved', comments: [], blocking_issues: [] } }
const BUDGET = 20

let server: Running
let count = 0
const fresh = (): string => {
  count += 1
  return `t${count}`
}
const inReview = (): Promise<Desk> => Desk.inReview(() => server, fresh())

const NOTED = `
name: noted
version: "1"
phases:
  - id: A
    allowed_tools: []
    required_artifacts: [{type: note, description: a note}]
    gates: [{id: g, type: approval, approvers: [human]}]
  - {id: B, allowed_tools: []}
`

/** A task that waits for people, with a note that was handed in. */
async function withNote(text: string): Promise<Desk> {
  const desk = new Desk(() => server, fresh())
  await server.addTask({ id: desk.task, contract: 'noted' })
  desk.token = await server.claim(`agent-${desk.task}`, await server.addAgent(`agent-${desk.task}`), desk.task)
  await desk.move('B', { artifacts: { note: { text } } })
  return desk
}

beforeAll(async () => {
  const contract = `${REVIEWED}enforcement: {reconcile: "off", denial_budget: ${BUDGET}}\n`
  server = await start({ contract, agentPerSecond: 1_000_000 })
  expect((await server.call('POST', '/contracts', server.operator, { source: NOTED })).status).toBe(201)
  const git = (...words: string[]) => execFileSync('git', words, { cwd: server.workspace })
  mkdirSync(join(server.workspace, 'src'))
  writeFileSync(join(server.workspace, 'src/a.ts'), 'export const answer = 42\n')
  git('init', '-q')
  git('-c', 'user.name=t', '-c', 'user.email=t@t', 'add', '.')
  git('-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'first')
})
afterEach(() => expect(server.faults).toEqual([]))
afterAll(async () => {
  expect((await server.call('GET', '/audit/verify', server.operator)).body).toMatchObject({ ok: true })
  await server.stop()
})

async function send(method: string, token: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}/mcp`, {
    method,
    headers: { ...ACCEPT, authorization: `Bearer ${token}`, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** What the ledger has of refusals outside of tasks, newest first. */
async function refusals(actor: string): Promise<readonly { code: string; path: string }[]> {
  const { body } = await server.call('GET', '/audit/query?type=request_refused&limit=50', server.operator)
  const all = body.events as { actor: string; data: { code: string; path: string } }[]
  return all.filter((one) => one.actor === actor).map(({ data }) => data)
}

/** Looks, and reports on what it looked at. */
async function report(agent: McpAgent, about: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { subject } = await agent.does('review_view')
  return agent.does('submit_review', { ...about, subject })
}

describe.each(ERAS)('a review token over MCP $name', (era: Era) => {
  let closing: McpAgent[] = []
  const connect = async (token: string): Promise<McpAgent> => {
    const agent = await McpAgent.connect(server.url, token, era)
    closing.push(agent)
    return agent
  }
  afterEach(async () => {
    for (const agent of closing) await agent.close()
    closing = []
  })

  it('[REQ-REVIEWDOOR-1] every tool of phases, every tool that changes things and every made-up one is refused, counted and recorded under the name of the reviewer', async () => {
    const desk = await inReview()
    const agent = await connect(await desk.reviewer('security'))
    const names = [
      ...['claim_task', 'start_workflow', 'request_transition', 'next', 'continue', 'complete_phase'],
      ...['get_workflow_state', 'get_phase_content', 'search_standards'],
      ...['write_files', 'edit_files', 'bash', 'run_tests', 'git_commit', 'approve', 'vote', '__proto__'],
    ]
    for (const [index, name] of names.entries()) {
      const { text, structured } = await agent.refused(name, { target_phase: 'DONE', path: 'x', content: 'x' })
      expect(structured).toMatchObject({ code: 'forbidden_tool', allowed_tools: LOOKS })
      expect(text).toContain(`Retry (${index + 1}/${BUDGET}): Called ${name} (reviewers only look)`)
      expect(text).toContain('report with the tool submit_review')
    }
    const denied = (await desk.events()).filter(({ type }) => type === 'tool_denied')
    expect(denied.map(({ actor, data }) => [actor, data.tool_name])).toEqual(
      names.map((name) => ['reviewer:security', name]),
    )
    const { body } = await server.call('GET', `/tasks/${desk.task}`, server.operator)
    expect(body).toMatchObject({ phase: 'REVIEW', status: 'active', agent_id: `agent-${desk.task}` })
  })

  it('[REQ-REVIEWDOOR-1] refusals without end cost the token, and the report that was sent with it', async () => {
    const desk = await inReview()
    const agent = await connect(await desk.reviewer('security'))
    await report(agent, { report: { status: 'in_progress' } })
    for (let at = 0; at < BUDGET; at += 1) await agent.refused('bash', { command: 'true' })
    expect((await agent.refused('review_view')).structured).toMatchObject({ code: 'token_stale' })
    expect((await desk.reviews()).body.reviews).toMatchObject([{ token_status: 'revoked', status: null }])
  })

  it('[REQ-REVIEWDOOR-1] nothing of another task, of the contract or outside of the tree is shown', async () => {
    const other = await withNote('of another task')
    const desk = await inReview()
    const agent = await connect(await desk.reviewer('security'))
    for (const args of [{ type: 'note' }, { type: 'note', task_id: other.task }, { type: '../x' }])
      expect((await agent.refused('review_artifact', args)).structured.code).toMatch(/^(not_found|invalid_request)$/)
    expect((await agent.refused('review_view', { task_id: other.task })).structured).toMatchObject({
      code: 'invalid_request',
    })
    const outside = { path: join(server.workspace, 'src/a.ts') }
    expect((await agent.refused('read_files', outside)).structured).toMatchObject({ code: 'constraint_violation' })
    expect((await agent.refused('read_files', { path: 'src/a.ts', task_id: other.task })).structured).toMatchObject({
      code: 'invalid_request',
    })
    const { structured } = await agent.call('review_view')
    expect(JSON.stringify(structured)).not.toContain(other.task)
  })

  it('[REQ-REVIEWDOOR-2] the list has the tools that look, the view, and the report; there is nothing else', async () => {
    const desk = await inReview()
    const agent = await connect(await desk.reviewer('security'))
    const { tools } = await agent.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([...OWN, ...LOOKS])
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true).map(({ name }) => name)).toEqual([
      'submit_review',
    ])
    expect(agent.client.getServerCapabilities()).toEqual({ tools: {} })
    for (const method of ['resources/list', 'prompts/list'] as const)
      await expect(agent.client.request({ method })).rejects.toThrow(/method not found/i)
  })

  it('[REQ-REVIEWDOOR-2] agents have no reviewer tools, and cannot report', async () => {
    const desk = await inReview()
    await desk.reviewer('security')
    for (const token of [desk.agent, desk.token]) {
      const agent = await connect(token)
      const { tools } = await agent.client.listTools()
      expect(tools.filter(({ name }) => OWN.includes(name))).toEqual([])
      for (const name of OWN) await agent.refused(name, APPROVED)
    }
    expect((await desk.reviews()).body.reviews).toMatchObject([{ reviewer: 'security', status: null }])
  })

  it('[REQ-REVIEWDOOR-3] a report of the wrong shape is refused as over REST, and the ledger names the reviewer', async () => {
    const desk = await inReview()
    const name = 'quality'
    const agent = await connect(await desk.reviewer(name))
    const before = (await refusals(`reviewer:${name}`)).length
    const wrong: readonly Record<string, unknown>[] = [
      {},
      { report: {} },
      { report: 'approved' },
      { report: { status: 'perfect' } },
      { report: { status: 'approved', reviewer: 'security' } },
      { report: { status: 'approved', comments: [{ text: ' ' }] } },
      { report: { status: 'approved', comments: Array.from({ length: 201 }, () => ({ text: 'x' })) } },
      { report: { status: 'approved', blocking_issues: Array.from({ length: 101 }, () => 'x') } },
      { ...APPROVED, subject: 'mine' },
      { ...APPROVED, task_id: 't1' },
    ]
    for (const args of wrong)
      expect((await agent.refused('submit_review', args)).structured).toMatchObject({ code: 'invalid_request' })
    const found = await refusals(`reviewer:${name}`)
    expect(found.length - before).toBe(wrong.length)
    expect(found[0]).toMatchObject({ code: 'invalid_request', path: '/mcp#submit_review' })
    const { subject } = await agent.does('review_view')
    const issues = { report: { status: 'approved', blocking_issues: ['a hole'] }, subject }
    expect((await agent.refused('submit_review', issues)).text).toContain('cannot approve')
    const large = {
      report: { status: 'approved', comments: Array.from({ length: 100 }, () => ({ text: 'x'.repeat(4000) })) },
      subject,
    }
    expect((await agent.refused('submit_review', large)).structured).toMatchObject({ code: 'payload_too_large' })
    expect((await desk.reviews()).body.reviews).toMatchObject([{ status: null }])
  })

  it('[REQ-BREAKAGAIN-8] a report that does not say what was looked at is refused: the work may have changed meanwhile', async () => {
    const desk = await inReview()
    const agent = await connect(await desk.reviewer('security'))
    await agent.does('read_files', { path: 'src/a.ts' })
    writeFileSync(join(desk.tree, 'src/a.ts'), 'export const answer = stolen()\n')
    expect((await agent.refused('submit_review', APPROVED)).structured).toMatchObject({
      ...{ code: 'invalid_request', detail: expect.stringContaining('subject') },
    })
    expect((await desk.reviews()).body.reviews).toMatchObject([{ status: null }])
  })

  it('[REQ-REVIEWDOOR-3] a report about work that has changed since is refused, and one about the work as it is counts', async () => {
    const desk = await inReview()
    const agent = await connect(await desk.reviewer('security'))
    const { subject } = await agent.does('review_view')
    writeFileSync(join(desk.tree, 'src/a.ts'), 'export const answer = 43\n')
    expect((await agent.refused('submit_review', { ...APPROVED, subject })).structured).toMatchObject({
      code: 'conflict',
    })
    const { subject: now } = await agent.does('review_view')
    expect(await agent.does('submit_review', { ...APPROVED, subject: now })).toMatchObject({
      ...{ task_id: desk.task, reviewer: 'security', status: 'approved', finished: true, subject: now },
    })
    expect((await desk.reviews()).body.reviews).toMatchObject([{ counts_as: 'approved', token_status: 'finished' }])
  })

  it('[REQ-REVIEWDOOR-3] looking and reporting go through to the gate, each under the name of the reviewer', async () => {
    const desk = await inReview()
    const [security, quality] = [
      await connect(await desk.reviewer('security')),
      await connect(await desk.reviewer('quality')),
    ]
    const view = await security.does('review_view')
    expect(view).toMatchObject({ task: { id: desk.task }, current_phase: { id: 'REVIEW' }, reviewer: 'security' })
    expect(view.next_step).toBe('Look at the work, then report with the tool submit_review.')
    expect(JSON.stringify(await security.does('read_files', { path: 'src/a.ts' }))).toContain('answer = 42')
    expect(JSON.stringify(await security.does('git_log', {}))).toContain('first')
    const objection = { status: 'changes_requested', blocking_issues: [{ text: 'a hole', path: 'src/a.ts', line: 1 }] }
    expect(await report(security, { report: objection })).toMatchObject({ finished: false })
    expect((await security.does('review_view')).report).toMatchObject({ status: 'changes_requested' })
    expect(JSON.stringify(await quality.does('review_view'))).not.toContain('a hole')
    for (const one of [security, quality]) await report(one, APPROVED)
    expect((await desk.move('DONE')).body).toMatchObject({ allowed: true })
    const seen = (await desk.events()).filter(({ actor }) => actor === 'reviewer:security').map(({ type }) => type)
    expect(new Set(seen)).toEqual(new Set(['tool_allowed', 'tool_finished', 'review_submitted']))
  })

  it('[REQ-REVIEWDOOR-3] what was handed in is read whole, also what is too large for the view', async () => {
    const text = 'n'.repeat(70_000)
    const desk = await withNote(text)
    const agent = await connect(await desk.reviewer('security'))
    const { artifacts } = (await agent.does('review_view')) as { artifacts: { type: string; content: unknown }[] }
    expect(artifacts.find(({ type }) => type === 'note')).toMatchObject({ content: null })
    expect(await agent.does('review_artifact', { type: 'note' })).toMatchObject({ type: 'note', content: { text } })
  })

  it('[REQ-REVIEWDOOR-4] a client that is connected is refused from the next call on when its review is finished, revoked, superseded, over or at rest', async () => {
    const ends: readonly (readonly [string, (desk: Desk, agent: McpAgent) => Promise<unknown>, string])[] = [
      ['finished', (_desk, agent) => report(agent, APPROVED), 'token_stale'],
      [
        'revoked',
        (desk) =>
          server.call('POST', `/tasks/${desk.task}/reviewers/security/revoke`, server.operator, { reason: 'r' }),
        'token_stale',
      ],
      ['superseded', (desk) => desk.reviewer('security'), 'token_stale'],
      ['of a visit that is over', (desk) => desk.back(), 'token_stale'],
      [
        'of a task that was cancelled',
        (desk) => server.call('POST', `/tasks/${desk.task}/cancel`, server.operator, { reason: 'r' }),
        'task_not_active',
      ],
    ]
    for (const [why, end, code] of ends) {
      const desk = await inReview()
      const agent = await connect(await desk.reviewer('security'))
      await agent.does('review_view')
      await end(desk, agent)
      for (const [name, args] of [
        ['review_view', {}],
        ['read_files', { path: 'src/a.ts' }],
        ['submit_review', APPROVED],
        ['submit_review', {}],
        ['review_artifact', { type: 'notes' }],
      ] as const)
        expect([why, (await agent.refused(name, args)).structured.code]).toEqual([why, code])
      await expect(agent.client.listTools()).rejects.toThrow(code)
      const refused = (await desk.events()).filter(({ type }) => type === 'token_refused')
      expect([why, new Set(refused.map(({ actor }) => actor))]).toEqual([why, new Set(['reviewer:security'])])
    }
  })

  it('[REQ-REVIEWDOOR-4] pausing all agents holds reviewers, too', async () => {
    const desk = await inReview()
    const agent = await connect(await desk.reviewer('security'))
    await server.call('POST', '/pause', server.operator, { reason: 'r' })
    const { structured } = await agent.refused('submit_review', APPROVED)
    await server.call('POST', '/unpause', server.operator, {})
    expect(structured).toMatchObject({ code: 'agents_paused' })
    await report(agent, APPROVED)
  })
})

describe('tokens and sessions of reviewers', () => {
  it('[REQ-REVIEWDOOR-4] an expired token is refused, also in a session that is open', async () => {
    const desk = await inReview()
    const token = await desk.reviewer('security', { expires_seconds: 60 })
    const opened = await send('POST', token, INITIALIZE)
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    expect((await send('POST', token, LIST, session)).status).toBe(200)
    server.now = Date.now() + 125_000
    const late = await send('POST', token, LIST, session)
    const alone = await send('POST', token, modern('tools/list').body, modern('tools/list').headers)
    server.now = null
    for (const { status, text } of [late, alone])
      expect([status, JSON.parse(text).code]).toEqual([403, 'token_invalid'])
  })

  it('[REQ-REVIEWDOOR-4] a token that is dead opens no session', async () => {
    const desk = await inReview()
    const token = await desk.reviewer('security')
    await desk.report(token)
    const { status, text } = await send('POST', token, INITIALIZE)
    expect([status, JSON.parse(text).code]).toEqual([403, 'token_stale'])
  })

  it('[REQ-REVIEWDOOR-4] a session belongs to one reviewer of one task, and there is nothing to listen to', async () => {
    const [desk, other] = [await inReview(), await inReview()]
    const token = await desk.reviewer('security')
    const opened = await send('POST', token, INITIALIZE)
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    const strangers = [await desk.reviewer('quality'), await other.reviewer('security'), desk.agent, desk.token]
    for (const one of strangers) expect((await send('POST', one, LIST, session)).status).toBe(404)
    expect((await send('GET', token, undefined, session)).status).toBe(405)
    const listen = modern('subscriptions/listen', { notifications: { toolsListChanged: true } })
    expect((await send('POST', token, listen.body, listen.headers)).status).toBe(404)
    expect((await send('POST', token, LIST, session)).status).toBe(200)
    const own = await send('POST', desk.agent, INITIALIZE)
    const ofAgent = { 'mcp-session-id': own.headers.get('mcp-session-id') ?? '' }
    expect((await send('POST', token, LIST, ofAgent)).status).toBe(404)
  })
})
