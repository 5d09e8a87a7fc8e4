import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { framesOf } from '../../sdk/typescript/src/sse.js'
import { DESCRIBED, ROUTES } from '../../src/http/routes/all.js'
import { ENDPOINTS } from '../garbage/endpoints.js'
import { Stage } from '../garbage/stage.js'
import { AnswerCheck } from '../http/answer-check.js'
import { makeShortcuts, ownTree, type Running } from '../http/harness.js'
import { prepareRequest, sendRequest } from '../http/right-requests.js'
import { makePlace, type Place, type Served, serve } from './process.js'

interface Heard {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly body: Record<string, unknown>
}

const hasTmux = spawnSync('tmux', ['-V']).status === 0
/** Answers with a stream, which has a test of its own. */
const STREAMS = new Set(DESCRIBED.filter(({ media }) => media !== undefined).map(({ id }) => id))

// A server that is alone refuses it; only nodes on PostgreSQL do it.
const AMONG_NODES = 'adoptNode'

describe('answers of a server process, held against the OpenAPI document that it serves', () => {
  let place: Place
  let served: Served
  let stage: Stage
  let check: AnswerCheck
  /** The first answer of each operation. */
  const heard = new Map<string, Heard>()

  beforeAll(async () => {
    place = await makePlace()
    served = await serve(place, 'tdd', {}, ['--confirm', 'never'])
    const { body: document } = await served.call('GET', '/openapi.json', null)
    check = new AnswerCheck(document as never)
    const call: Served['call'] = async (method, path, ...rest) => {
      const { status, body, headers } = await served.call(method, path, ...rest)
      const before = new Set(check.seen)
      expect(check.findMisfit(method, path, { status, body }), `${method} ${path}: ${JSON.stringify(body)}`).toBeNull()
      for (const id of check.seen) if (!before.has(id)) heard.set(id, { method, path, status, body })
      return { status, body, headers }
    }
    const { operator } = served
    const run = { ...place, call, operator, now: null, ...makeShortcuts(call, operator) } as unknown as Running
    stage = await Stage.open(run)
  })
  afterAll(async () => {
    await served?.stop()
    place?.remove()
  })

  const asked = ROUTES.filter(({ id }) => id !== AMONG_NODES && (id !== 'agentScreen' || hasTmux))
  it.each(asked.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '[REQ-SCHEMA-2] %s',
    async (_, route) => {
      const lane = route.id === 'agentScreen' ? await prepareScreen(stage) : await prepareRequest(stage, route.id)
      const { status, body } = await sendRequest(stage, route, { pair: lane.pair, base: lane.base() })
      expect(status, JSON.stringify(body)).toBe(route.success ?? 200)
      await ENDPOINTS[route.id]?.after?.(stage)
    },
  )

  it('a list of tasks with their progress', async () => {
    const { body } = await stage.run.call('GET', '/tasks?progress=true', stage.run.operator)
    expect(body.tasks).toContainEqual(expect.objectContaining({ progress: expect.objectContaining({ visit: 1 }) }))
  })

  it('GET /metrics/summary, and the snapshot of an operator and of a reviewer', async () => {
    const { review } = await stage.pair()
    expect((await stage.run.call('GET', '/metrics/summary', stage.run.operator)).status).toBe(200)
    expect((await stage.run.call('GET', '/state/snapshot', stage.run.operator)).body).toHaveProperty('alerts')
    expect((await stage.run.call('GET', '/state/snapshot', review)).body).toHaveProperty('reviewer')
  })

  it('a council of scripted agents until its end, with its status, its report and its events', async () => {
    const answer = (content: string) => ({ tool_calls: [{ name: 'new_answer', arguments: { content } }] })
    const vote = { tool_calls: [{ name: 'vote', arguments: { agent_id: 'agent1', reason: 'It is shorter.' } }] }
    const agents = ['a', 'b'].map((id) => ({ id, kind: 'scripted', script: [answer(`Take ${id}.`), vote, vote, vote] }))
    const { id } = await stage.operate('/coordinations', { question: 'Which way?', agents })
    const ask = (path: string) => stage.run.call('GET', path, stage.run.operator)
    await expect.poll(async () => (await ask(`/coordinations/${id}/status`)).body.is_complete).toBe(true)
    expect((await ask(`/coordinations/${id}`)).body).toHaveProperty('answers')
    expect((await ask(`/runs/${id}/report`)).body).toHaveProperty('votes')
    expect((await ask(`/status?run=${id}`)).body).toMatchObject({ is_complete: true })
    await expectFrames(`/coordinations/${id}/stream`, 3)
  })

  it('the events of the ledger as they are streamed', async () => {
    await expectFrames('/events', 50)
  })

  it('[REQ-SCHEMA-2] every route had an answer, and one with a field more or less is found', () => {
    const missing = DESCRIBED.filter(({ id }) => !STREAMS.has(id) && !heard.has(id)).map(({ id }) => id)
    expect(missing.filter((id) => id !== AMONG_NODES)).toEqual(hasTmux ? [] : ['agentScreen'])
    for (const { method, path, status, body } of heard.values()) {
      const isFound = (changed: object): boolean => check.findMisfit(method, path, { status, body: changed }) !== null
      expect(isFound({ ...body, surprise: true }), `${method} ${path} with a field that no schema names`).toBe(true)
      for (const name of check.listRequired(method, path, status))
        expect(isFound({ ...body, [name]: undefined }), `${method} ${path} without ${name}`).toBe(true)
    }
  })

  async function expectFrames(path: string, count: number): Promise<void> {
    const aborting = new AbortController()
    const answer = await fetch(`http://127.0.0.1:${place.port}/api/v1${path}`, {
      headers: { authorization: `Bearer ${served.operator}`, 'last-event-id': '0' },
      signal: aborting.signal,
    })
    const data: unknown[] = []
    for await (const frame of framesOf(answer.body as never)) {
      data.push(JSON.parse(frame.data))
      if (data.length >= count) break
    }
    aborting.abort()
    expect(data.length).toBeGreaterThanOrEqual(count)
    for (const body of data)
      expect(check.findMisfit('GET', path, { status: 200, body }), JSON.stringify(body)).toBeNull()
  }
})

async function prepareScreen(stage: Stage) {
  const agent = { harness: 'command', command: 'sleep', args: ['600'], adapter: 'tmux', agent_id: stage.fresh('shown') }
  await stage.operate('/agents/spawn', { ...agent, task: { title: 'x', workspace: ownTree(stage.run) } })
  const pair = await stage.pair()
  const base = () => ({ params: { id: agent.agent_id } })
  await expect
    .poll(async () => (await stage.run.call('GET', `/agents/${agent.agent_id}/screen`, stage.run.operator)).status)
    .toBe(200)
  return { pair, base }
}
