import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyRequest } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Route } from '../../src/http/route.js'
import { ROUTES } from '../../src/http/routes/all.js'
import { requestValidator } from '../../src/http/validate-request.js'
import { ENDPOINTS } from '../garbage/endpoints.js'
import type { Base } from '../garbage/mutate.js'
import { type Pair, Stage } from '../garbage/stage.js'
import { type Answer, start } from './harness.js'
import { prepareRequest, sendRequest } from './right-requests.js'

/** What goes on by itself writes events of its own between two calls, and agents are shown as they are then. */
const GOES_ON: ReadonlySet<string> = new Set(['spawnAgent', 'stopAgent', 'startCoordination'])
/** What is used once is made again under the same key, and its answer is never stored. */
const MADE_AGAIN: ReadonlySet<string> = new Set([
  ...['createLoginCode', 'logout', 'passkeyOptions', 'createConfirmation', 'setPassphrase'],
])
/** Refused where there is one server; the suite of several nodes has it. */
const AMONG_NODES: ReadonlySet<string> = new Set(['adoptNode'])
const UNSAFE = ROUTES.filter(({ method, id }) => method !== 'GET' && !MADE_AGAIN.has(id) && !AMONG_NODES.has(id))

describe('Idempotency-Key', () => {
  let stage: Stage
  const shown: string[] = []
  beforeAll(async () => {
    stage = await Stage.open()
  })
  afterAll(async () => {
    await stage.run.stop()
  })

  const send = async (route: Route, pair: Pair, base: Base, key: string): Promise<Answer> => {
    const answer = await sendRequest(stage, route, { pair, base, headers: { 'idempotency-key': key } })
    shown.push(JSON.stringify(answer.body))
    return answer
  }

  it.each(UNSAFE.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '[REQ-API-17] %s acts once under a key, and refuses the key for another request',
    async (name, route) => {
      const lane = await prepareRequest(stage, route.id)
      const base = lane.base()
      const key = stage.fresh('key')
      const first = await send(route, lane.pair, base, key)
      expect(first.status, JSON.stringify(first.body)).toBeLessThan(300)
      const other = await send(route, lane.pair, otherThan(route, base), key)
      // An agent CLI is refused in its own words.
      if (route.path.startsWith('/hooks/')) expect(JSON.stringify(other.body), name).toContain('[idempotency_mismatch]')
      else expect(other, name).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } })
      const { store } = stage.run.app.ledger
      const events = await store.lastSeq()
      const again = await send(route, lane.pair, base, key)
      expect(again.status, JSON.stringify(again.body)).toBe(first.status)
      if (GOES_ON.has(route.id)) expect(again.body.agent_id ?? again.body.id).toBe(first.body.agent_id ?? first.body.id)
      else expect(lasting(again.body)).toEqual(lasting(first.body))
      if (!GOES_ON.has(route.id)) expect(await store.lastSeq(), 'nothing more happened').toBe(events)
      await ENDPOINTS[route.id]?.after?.(stage)
    },
  )

  it('[REQ-API-16] tokens of repeated answers are nowhere in the database', () => {
    const tokens = shown.join('\n').match(/eyJ[\w-]+\.[\w-]+\.[\w-]+|plop_[\w-]{43}/g) ?? []
    expect(tokens.length).toBeGreaterThan(5)
    const files = ['ledger.db', 'ledger.db-wal'].map((file) => join(stage.run.stateDir, file)).filter(existsSync)
    for (const file of files) {
      const bytes = readFileSync(file)
      for (const token of tokens) expect(bytes.includes(token), file).toBe(false)
    }
  })

  it('[REQ-API-16] a login code is made again under its key, and is nowhere in the database', async () => {
    const make = () => stage.run.call('POST', '/login/codes', stage.run.operator, {}, { 'idempotency-key': 'code' })
    const codes = [(await make()).body, (await make()).body].map(({ code }) => String(code))
    expect(new Set(codes).size).toBe(2)
    const files = ['ledger.db', 'ledger.db-wal'].map((file) => join(stage.run.stateDir, file)).filter(existsSync)
    for (const file of files) for (const code of codes) expect(readFileSync(file).includes(code), file).toBe(false)
  })

  it('[REQ-API-16] tokens used under one key are counted once', async () => {
    const pair = await stage.pair()
    const usage = (key: string) =>
      stage.run.call('POST', '/usage', pair.phase, { input_tokens: 10, output_tokens: 5 }, { 'idempotency-key': key })
    const first = await usage('usage-1')
    expect(first.body).toMatchObject({ tokens: { input: 10, output: 5 } })
    expect((await usage('usage-1')).body).toEqual(first.body)
    expect((await usage('usage-2')).body).toMatchObject({ tokens: { input: 20, output: 10 } })
  })

  it('[REQ-API-16] a call that was refused for its token is made under the same key with a better one', async () => {
    const pair = await stage.pair()
    const renewed = await stage.run.claim(pair.agentId, pair.agent, pair.task)
    const beat = (token: string) =>
      stage.run.call('POST', '/tasks/heartbeat', token, { task_id: pair.task }, { 'idempotency-key': 'beat' })
    expect(await beat(pair.phase)).toMatchObject({ status: 403, body: { code: 'token_stale' } })
    expect(await beat(renewed)).toMatchObject({ status: 200 })
  })

  it('[REQ-API-16] the token of an operator that was revoked is not shown again', async () => {
    const name = stage.fresh('op')
    const add = () => stage.run.call('POST', '/operators', stage.run.operator, { name }, { 'idempotency-key': name })
    const { body } = await add()
    const list = () => stage.run.call('GET', '/tasks', String(body.operator_token))
    expect((await list()).status).toBe(200)
    expect((await add()).body).toEqual(body)
    await stage.operate(`/operators/${name}/revoke`, { reason: 'gone' })
    expect(await add()).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect((await list()).status).toBe(403)
  })
})

describe('a transition through next', () => {
  const LOOP = `
mode: discovery
start_node: code
nodes:
  code: {prompt: CODE, transitions: [{when: code_complete, to: review}]}
  review: {prompt: REVIEW, transitions: [{when: review_complete, to: done}]}
enforcement: {confinement: best_effort, reconcile: off}
`
  it('[REQ-API-16] is answered again with its prompt, and so is the one that completes the task', async () => {
    const run = await start({ contract: LOOP })
    await run.addTask({ id: 'T' })
    const agent = await run.addAgent('coder')
    await run.claim('coder', agent, 'T')
    const next = (claim: string) =>
      run.call('POST', '/prompt/next', agent, { claims: { [claim]: true } }, { 'idempotency-key': claim })
    for (const [claim, text] of [
      ['code_complete', 'REVIEW'],
      ['review_complete', 'Task T is completed.'],
    ] as const) {
      const first = await next(claim)
      expect(first.body).toMatchObject({ allowed: true, kind: 'prompt', text })
      expect(lasting((await next(claim)).body)).toEqual(lasting(first.body))
    }
    await run.stop()
  })
})

/** Another request to the same route that its schema accepts. */
function otherThan(route: Route, base: Base): Base {
  const validate = requestValidator(route)
  const fits = (body: unknown): boolean =>
    validate({ body, query: {}, params: {}, headers: {} } as FastifyRequest) === null
  const fields = (route.body?.properties ?? {}) as Record<string, unknown>
  const names = Object.keys(fields).filter((name) => name !== 'phase_token' && name !== 'idempotency_key')
  for (const name of [...names, 'one_more'])
    for (const value of otherValues(base.body?.[name])) {
      const body = { ...base.body, [name]: value }
      if (fits(body)) return { ...base, body }
    }
  const params = Object.fromEntries(Object.keys(base.params ?? {}).map((name) => [name, 'other']))
  return { ...base, params }
}

function otherValues(value: unknown): readonly unknown[] {
  if (typeof value === 'string') return [`${value}x`, 'reject', 'f'.repeat(64)].filter((one) => one !== value)
  if (typeof value === 'number') return [value + 1]
  if (typeof value === 'boolean') return [!value]
  if (Array.isArray(value))
    return [
      [...value, ...value],
      [...value, 'other'],
    ]
  return value === undefined ? ['other', 1, true] : [{ ...value, other: true }]
}

// Tokens are minted anew, and how long a search took is measured.
function lasting(body: Answer['body']): unknown {
  const isMinted = (name: string): boolean => /token$|^expires_at$|^query_time_ms$|^code$|^url$/.test(name)
  return JSON.parse(JSON.stringify(body, (name, value) => (isMinted(name) ? undefined : value)))
}
