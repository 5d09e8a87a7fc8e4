import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'
import { logIn, logInFirst } from './browser-session.js'

const CONTRACT = `
name: plain
version: "1"
phases:
  - {id: WORK, allowed_tools: [read_files]}
  - {id: DONE, allowed_tools: []}
enforcement: {confinement: "off"}
`
const HOUR_MS = 3600 * 1000

let run: Running
beforeAll(async () => {
  run = await start({ contract: CONTRACT })
})
afterEach(() => {
  expect(run.faults).toEqual([])
  run.now = null
})
afterAll(() => run.stop())

const makeCode = async (token = run.operator): Promise<string> =>
  String((await run.call('POST', '/login/codes', token, {})).body.code)

const addOperator = async (name: string, role?: string): Promise<string> =>
  String(
    (await run.call('POST', '/operators', run.operator, { name, ...(role === undefined ? {} : { role }) })).body
      .operator_token,
  )

const refusal = (status: number, code: string) => ({ status, body: { code } })

describe('a login', () => {
  it('[REQ-LOGIN-1] a wrong, used or expired code opens no session', async () => {
    expect(await run.call('POST', '/login', null, { code: 'guessed' })).toMatchObject(refusal(403, 'login_failed'))
    const code = await makeCode()
    expect((await logIn(run, { code })).answer.status).toBe(200)
    const again = await run.call('POST', '/login', null, { code })
    expect(again).toMatchObject(refusal(403, 'login_failed'))
    expect(again.headers.get('set-cookie')).toBeNull()
    const late = await makeCode()
    run.now = Date.now() + 10 * 60 * 1000 + 1
    expect(await run.call('POST', '/login', null, { code: late })).toMatchObject(refusal(403, 'login_failed'))
  })

  it('[REQ-LOGIN-1] a wrong or revoked operator token, an agent token, both or neither open no session', async () => {
    const agent = await run.addAgent('ada')
    const gone = await addOperator('gone')
    await run.call('POST', '/operators/gone/revoke', run.operator, {})
    const code = await makeCode(await addOperator('leaving'))
    await run.call('POST', '/operators/leaving/revoke', run.operator, {})
    for (const body of [{ operator_token: 'plop_x' }, { operator_token: gone }, { operator_token: agent }, { code }])
      expect(await run.call('POST', '/login', null, body)).toMatchObject(refusal(403, 'login_failed'))
    for (const body of [{}, { code: 'a', operator_token: 'b' }, { code: 1 }, { name: 'admin' }])
      expect(await run.call('POST', '/login', null, body)).toMatchObject(refusal(400, 'invalid_request'))
  })

  it('[REQ-LOGIN-1] guesses are limited like every request without a token', async () => {
    run.now = Date.now() + 60_000
    const statuses: number[] = []
    for (let tries = 0; tries < 130; tries += 1)
      statuses.push((await run.call('POST', '/login', null, { code: 'guessed' })).status)
    expect(statuses).toContain(429)
    run.now += 60_000
    expect((await logIn(run, { operator_token: run.operator })).answer.status).toBe(200)
  })

  it('[REQ-LOGIN-1] neither an agent nor a session makes a code', async () => {
    const agent = await run.addAgent('eve')
    expect(await run.call('POST', '/login/codes', agent, {})).toMatchObject(refusal(403, 'not_permitted'))
    const session = await logIn(run, { operator_token: run.operator })
    expect(await session.call('POST', '/login/codes')).toMatchObject(refusal(403, 'not_permitted'))
    const made = await run.call('POST', '/login/codes', run.operator, {})
    expect(made).toMatchObject({
      status: 201,
      body: { url: `http://localhost:${run.port}/login#code=${made.body.code}` },
    })
  })

  it('[REQ-LOGIN-2] sets a cookie that scripts cannot read and other sites cannot send', async () => {
    const { answer } = await logIn(run, { operator_token: run.operator })
    const [pair = '', ...attributes] = (answer.headers.get('set-cookie') ?? '').split('; ')
    expect(pair).toMatch(new RegExp(`^phaselock_${run.port}=plse_[\\w-]{43}$`))
    expect(attributes).toEqual(['HttpOnly', 'SameSite=Strict', 'Path=/', 'Max-Age=43200'])
    expect(answer.body).toMatchObject({ operator: { name: 'admin', role: null }, expires_at: expect.any(String) })
    const events = JSON.stringify((await run.call('GET', '/audit/query?type=session_opened', run.operator)).body)
    expect(events).toContain('"came_from":"token"')
    expect(events).not.toContain(pair.split('=')[1])
  })

  it('[REQ-LOGIN-3] a session says where it came from', async () => {
    for (const [session, came_from] of [
      [await logInFirst(run), 'first_code'],
      [await logIn(run, { code: await makeCode() }), 'code'],
      [await logIn(run, { operator_token: run.operator }), 'token'],
    ] as const)
      expect((await session.call('GET', '/session')).body).toMatchObject({
        ...{ came_from, operator: { name: 'admin', role: null }, csrf_token: session.csrf, confirm: 'native' },
        ...{ passkeys: 0, has_passphrase: false, may_register_passkey: came_from === 'first_code' },
      })
  })
})

describe('a session', () => {
  it('[REQ-LOGIN-4] does not outlive 12 hours, a logout, a revocation or its operator', async () => {
    const token = await addOperator('olga')
    const expired = await logIn(run, { operator_token: token })
    run.now = Date.now() + 12 * HOUR_MS + 1
    expect(await expired.call('GET', '/session')).toMatchObject(refusal(403, 'session_ended'))
    run.now = null
    const left = await logIn(run, { operator_token: token })
    const out = await left.call('POST', '/logout')
    expect(out).toMatchObject({ status: 200, body: { logged_out: true } })
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0')
    expect(await left.call('GET', '/tasks')).toMatchObject(refusal(403, 'session_ended'))
    const revoked = await logIn(run, { operator_token: token })
    const id = String((await revoked.call('GET', '/session')).body.session_id)
    expect(await run.call('POST', `/sessions/${id}/revoke`, run.operator, {})).toMatchObject({
      body: { id, revoked: true },
    })
    expect(await revoked.call('GET', '/tasks')).toMatchObject(refusal(403, 'session_ended'))
    expect(await run.call('POST', `/sessions/${id}/revoke`, run.operator, {})).toMatchObject(refusal(404, 'not_found'))
    const last = await logIn(run, { operator_token: token })
    await run.call('POST', '/operators/olga/revoke', run.operator, {})
    expect(await last.call('GET', '/tasks')).toMatchObject(refusal(403, 'session_ended'))
    await addOperator('olga')
    expect(await last.call('GET', '/tasks')).toMatchObject(refusal(403, 'session_ended'))
  })

  it('[REQ-LOGIN-4] survives a restart of the server, and is listed', async () => {
    const session = await logIn(run, { operator_token: run.operator })
    const before = run
    run = await run.restart()
    const cookie = session.cookie.replace(String(before.port), String(run.port))
    const shown = await run.call('GET', '/session', null, undefined, { cookie })
    expect(shown).toMatchObject({ status: 200, body: { csrf_token: session.csrf } })
    const { sessions } = (await run.call('GET', '/sessions', null, undefined, { cookie })).body as {
      sessions: { current: boolean }[]
    }
    expect(sessions.filter(({ current }) => current)).toMatchObject([
      { id: shown.body.session_id, operator: 'admin', came_from: 'token', user_agent: expect.stringContaining('node') },
    ])
  })

  it('[REQ-LOGIN-5] changes nothing without its own CSRF token, and needs none to read', async () => {
    const session = await logIn(run, { operator_token: run.operator })
    const other = await logIn(run, { operator_token: run.operator })
    const task = { title: 'By cookie' }
    for (const headers of [{}, { 'x-csrf-token': '' }, { 'x-csrf-token': other.csrf }, { 'x-csrf-token': 'x' }])
      expect(
        await run.call('POST', '/tasks', null, task, { cookie: session.cookie, ...(headers as object) }),
      ).toMatchObject(refusal(403, 'csrf_token_missing'))
    expect(await run.call('POST', '/logout', null, {}, { cookie: session.cookie })).toMatchObject(
      refusal(403, 'csrf_token_missing'),
    )
    expect((await run.call('GET', '/tasks', null, undefined, { cookie: session.cookie })).body.tasks).toEqual([])
    expect(await session.call('POST', '/tasks', task)).toMatchObject({ status: 201 })
  })

  it('[REQ-LOGIN-5] is not for pages of other origins', async () => {
    const session = await logIn(run, { operator_token: run.operator })
    for (const headers of [
      { origin: 'http://evil.example' },
      { origin: 'http://localhost:3000' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ])
      for (const [method, path] of [
        ['GET', '/tasks'],
        ['POST', '/tasks'],
      ] as const)
        expect(
          await session.call(method, path, { title: 'x' }, headers as unknown as Record<string, string>),
          JSON.stringify(headers),
        ).toMatchObject(refusal(403, 'host_not_allowed'))
    expect(
      await session.call('POST', '/tasks', { title: 'x' }, { origin: `http://localhost:${run.port}` }),
    ).toMatchObject({ status: 201 })
    expect(
      await run.call('POST', '/login', null, { operator_token: run.operator }, { origin: 'http://evil.example' }),
    ).toMatchObject(refusal(403, 'host_not_allowed'))
  })

  it('[REQ-LOGIN-6] is not accepted by MCP and hooks, and a bearer token wins over the cookie', async () => {
    const session = await logIn(run, { operator_token: run.operator })
    const headers = { cookie: session.cookie, 'x-csrf-token': session.csrf, 'content-type': 'application/json' }
    const mcp = await fetch(`${run.url}/mcp`, { method: 'POST', headers, body: '{}' })
    expect(mcp.status).toBe(401)
    const hook = await session.call('POST', '/hooks/claude-code', { hook_event_name: 'PostToolUse' })
    // A hook is answered in the words of its agent CLI.
    expect(JSON.stringify(hook.body)).toContain('not_permitted')
    const wrong = await run.call('GET', '/tasks', 'plop_wrong', undefined, { cookie: session.cookie })
    expect(wrong).toMatchObject(refusal(403, 'token_invalid'))
    const agent = await run.addAgent('zoe')
    expect(await run.call('GET', '/tasks', agent, undefined, { cookie: session.cookie })).toMatchObject(
      refusal(403, 'not_permitted'),
    )
    expect(await run.call('POST', '/tasks', run.operator, { title: 'x' }, { cookie: session.cookie })).toMatchObject({
      status: 201,
    })
  })

  it('[REQ-LOGIN-6] with two different cookies of the name is none, and other cookies do not matter', async () => {
    const session = await logIn(run, { operator_token: run.operator })
    const name = session.cookie.split('=')[0]
    const twice = { cookie: `${session.cookie}; ${name}=plse_other` }
    expect(await run.call('GET', '/tasks', null, undefined, twice)).toMatchObject(refusal(401, 'token_missing'))
    const garbled = { cookie: `${name}=<script>` }
    expect(await run.call('GET', '/tasks', null, undefined, garbled)).toMatchObject(refusal(403, 'session_ended'))
    const among = { cookie: `theme=dark; ${session.cookie}; phaselock_1=x` }
    expect(await run.call('GET', '/tasks', null, undefined, among)).toMatchObject({ status: 200 })
  })

  it('[REQ-LOGIN-7] has the rights of its operator: with the role ci it sees and ends its own only', async () => {
    const admin = await logIn(run, { operator_token: run.operator })
    const robot = await logIn(run, { operator_token: await addOperator('robot', 'ci') })
    expect(await robot.call('POST', '/operators', { name: 'mine' })).toMatchObject(refusal(403, 'not_permitted'))
    const { sessions } = (await robot.call('GET', '/sessions')).body as { sessions: { operator: string }[] }
    expect(sessions.map(({ operator }) => operator)).toEqual(['robot'])
    const { session_id } = (await admin.call('GET', '/session')).body
    expect(await robot.call('POST', `/sessions/${session_id}/revoke`)).toMatchObject(refusal(404, 'not_found'))
    expect((await admin.call('GET', '/session')).status).toBe(200)
  })

  it('[REQ-LOGIN-8] follows events until it ends, and so does its stream', async () => {
    const session = await logIn(run, { operator_token: run.operator })
    const headers = { cookie: session.cookie }
    const stream = await fetch(`${run.url}/api/v1/events`, { headers })
    expect(stream.status).toBe(200)
    const read = stream.text()
    await run.addTask({ title: 'Seen' })
    await session.call('POST', '/logout')
    expect(await read).toContain('event: task_created')
    expect((await fetch(`${run.url}/api/v1/events`, { headers })).status).toBe(403)
  })
})
