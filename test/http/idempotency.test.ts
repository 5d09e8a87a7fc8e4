import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyRequest } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Route } from '../../src/http/route.js'
import { ROUTES } from '../../src/http/routes/all.js'
import { requestValidator } from '../../src/http/validate.js'
import { ENDPOINTS, type Lane } from '../garbage/endpoints.js'
import type { Base } from '../garbage/mutate.js'
import { type Pair, Stage } from '../garbage/stage.js'
import { type Answer, ownTree } from './harness.js'

const UPSTREAM = join(import.meta.dirname, '../tools/upstream/fixtures/server.mjs')
const WITH_TOOLS = `
name: with-tools
version: "1"
phases:
  - {id: WORK, allowed_tools: [files.echo]}
  - {id: DONE, allowed_tools: []}
mcp_servers:
  files: {command: node, args: [server.mjs]}
`

const WITH_GUIDE = `
name: with-guide
version: "1"
phases:
  - {id: A, allowed_tools: [glob]}
  - {id: B, allowed_tools: []}
knowledge: {sources: [GUIDE.md]}
`

/** Right requests of endpoints whose request in the garbage tests is refused. */
const SUCCEEDING: Readonly<Record<string, (stage: Stage) => Promise<Lane>>> = {
  acceptTree: (stage) => changedTree(stage),
  revertTree: (stage) => changedTree(stage),
  handOverTask: (stage) => ofWorktree(stage, { reason: 'because', commit: true }),
  discardTask: (stage) => ofWorktree(stage, { reason: 'because', force: true }),
  executeTool: (stage) => asAgent(stage, { tool_name: 'glob', args: { pattern: '**' } }),
  searchKnowledge: (stage) => asAgent(stage, { query: 'naming' }),
  stashTask: async (stage) => {
    const pair = await stage.pair({ workspace: ownTree(stage.run) })
    return { pair, base: () => ({ params: { id: pair.task }, body: { reason: 'something else first' } }) }
  },
  stopAgent: async (stage) => {
    const agent_id = stage.fresh('started')
    await stage.operate('/agents/spawn', {
      ...{ harness: 'command', command: 'sleep', args: ['600'], agent_id, task: { title: 'x' } },
    })
    return { pair: await stage.pair(), base: () => ({ params: { id: agent_id }, body: { reason: 'gone' } }) }
  },
  acceptTools: async (stage) => {
    const workspace = ownTree(stage.run)
    cpSync(UPSTREAM, join(workspace, 'server.mjs'))
    await stage.operate('/contracts', { source: WITH_TOOLS })
    const id = await stage.run.addTask({ contract: 'with-tools', workspace })
    return { pair: await stage.pair(), base: () => ({ params: { id }, body: { reason: 'looked at them' } }) }
  },
}

async function asAgent(stage: Stage, body: Record<string, unknown>): Promise<Lane> {
  const workspace = ownTree(stage.run)
  writeFileSync(join(workspace, 'GUIDE.md'), '# Naming\n\nNaming says what a thing is for.\n')
  await stage.operate('/contracts', { source: WITH_GUIDE })
  const pair = await stage.pair({ contract: 'with-guide', workspace })
  return { pair, base: () => ({ body: { task_id: pair.task, ...body } }) }
}

async function changedTree(stage: Stage): Promise<Lane> {
  const workspace = ownTree(stage.run)
  const pair = await stage.pair({ workspace })
  writeFileSync(join(workspace, 'by-hand.txt'), 'nobody allowed this\n')
  return { pair, base: () => ({ params: { id: pair.task }, body: { reason: 'looked at it' } }) }
}

async function ofWorktree(stage: Stage, body: Record<string, unknown>): Promise<Lane> {
  const lane = await ENDPOINTS.mergeTask?.prepare(stage, 0)
  if (lane === undefined) throw new Error('there is no endpoint mergeTask')
  return { ...lane, base: () => ({ ...lane.base(), body }) }
}

/** What goes on by itself writes events of its own between two calls, and agents are shown as they are then. */
const GOES_ON: ReadonlySet<string> = new Set(['spawnAgent', 'stopAgent', 'startCoordination'])
const UNSAFE = ROUTES.filter(({ method }) => method !== 'GET')

describe('Idempotency-Key', () => {
  let stage: Stage
  const shown: string[] = []
  beforeAll(async () => {
    stage = await Stage.open()
  }, 60_000)
  afterAll(async () => {
    await stage.run.stop()
  })

  const send = async (route: Route, pair: Pair, base: Base, key: string): Promise<Answer> => {
    const path = route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(base.params?.[name] ?? ''))
    const token = tokenFor(route, pair, stage.run.operator)
    const answer = await stage.run.call(route.method, path, token, base.body ?? {}, { 'idempotency-key': key })
    shown.push(JSON.stringify(answer.body))
    return answer
  }

  it.each(UNSAFE.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '[REQ-API-17] %s acts once under a key, and refuses the key for another request',
    async (name, route) => {
      const endpoint = ENDPOINTS[route.id]
      if (endpoint === undefined) throw new Error(`there is no right request for ${route.id}`)
      const lane = await (SUCCEEDING[route.id]?.(stage) ?? endpoint.prepare(stage, 0))
      const base = lane.base()
      const key = stage.fresh('key')
      const first = await send(route, lane.pair, base, key)
      expect(first.status, JSON.stringify(first.body)).toBeLessThan(300)
      const other = await send(route, lane.pair, otherThan(route, base), key)
      expect(other, `${name} with another body`).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } })
      const { store } = stage.run.app.ledger
      const events = await store.lastSeq()
      const again = await send(route, lane.pair, base, key)
      expect(again.status, JSON.stringify(again.body)).toBe(first.status)
      if (GOES_ON.has(route.id)) expect(again.body.agent_id ?? again.body.id).toBe(first.body.agent_id ?? first.body.id)
      else expect(lasting(again.body)).toEqual(lasting(first.body))
      if (!GOES_ON.has(route.id)) expect(await store.lastSeq(), 'nothing more happened').toBe(events)
      await endpoint.after?.(stage)
    },
    60_000,
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

function tokenFor({ id, access }: Route, pair: Pair, operator: string): string {
  if (id === 'claimTask') return pair.agent
  if (access === 'operator' || id === 'decideApproval' || id === 'answerQuestion') return operator
  if (access === 'reviewer') return pair.review
  return access === 'participant' ? (pair.participant ?? '') : pair.phase
}

/** Another request to the same route that its schema accepts. */
function otherThan(route: Route, base: Base): Base {
  const validate = requestValidator(route)
  const fits = (body: unknown): boolean => validate({ body, query: {}, params: {} } as FastifyRequest) === null
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
  const isMinted = (name: string): boolean => /token$|^expires_at$|^query_time_ms$/.test(name)
  return JSON.parse(JSON.stringify(body, (name, value) => (isMinted(name) ? undefined : value)))
}
