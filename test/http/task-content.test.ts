import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { PLAN, type Running, start } from './harness.js'

const CONTRACT = `
name: told
version: "1"
phases:
  - id: PLAN
    allowed_tools: [read_files]
    prompt: "Plan: {{task.title}}"
    required_artifacts: [{type: plan_document, description: the plan}]
  - {id: DONE, allowed_tools: []}
enforcement: {confinement: "off", reconcile: "off"}
`

let run: Running
let phase: string
let agent: string

beforeAll(async () => {
  run = await start({ contract: CONTRACT })
  agent = await run.addAgent('ada')
  await run.addTask({ id: 'one', title: 'Say it' })
  await run.addTask({ id: 'other' })
  phase = await run.claim('ada', agent, 'one')
})
afterEach(() => expect(run.faults).toEqual([]))
afterAll(() => run.stop())

const get = (path: string, token = run.operator) => run.call('GET', path, token)

describe('what an operator reads of a task', () => {
  it('the prompt is refused to agents and for unknown tasks, and is the one that the agent gets', async () => {
    expect(await get('/tasks/one/prompt', phase)).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
    expect(await get('/tasks/nope/prompt')).toMatchObject({ status: 404, body: { code: 'not_found' } })
    const told = (await get('/prompt', phase)).body
    expect((await get('/tasks/one/prompt')).body).toEqual({
      task_id: 'one',
      ...told,
      allowed_tools: ['read_files'],
      next_step: expect.stringContaining('plan_document'),
    })
    expect(told).toMatchObject({ kind: 'prompt', text: 'Plan: Say it', phase: 'PLAN' })
  })

  it('a content is found by the hash that an event of the same task names, and every version of it', async () => {
    const hand = (title: string) =>
      run.call('POST', '/tasks/transition', phase, {
        ...{ task_id: 'one', target_phase: 'NOWHERE', artifacts: { plan_document: { ...PLAN, title } } },
      })
    await hand('A first plan to look at')
    const asked = (title: string) =>
      run.call('POST', '/tasks/transition', phase, {
        ...{ task_id: 'one', target_phase: 'DONE', artifacts: { plan_document: { ...PLAN, title } } },
      })
    expect((await asked('A plan that is handed in')).body).toMatchObject({ allowed: true })
    const { events } = (await get('/tasks/one/timeline')).body as { events: { seq: number; data: Named }[] }
    const named = events.find(({ data }) => (data.artifacts?.length ?? 0) > 0)
    const sha256 = String(named?.data.artifacts?.[0]?.sha256)
    expect((await get(`/tasks/one/contents/${sha256}`)).body).toMatchObject({
      ...{ task_id: 'one', sha256, kind: 'artifact', name: 'plan_document', seq: named?.seq, phase: 'PLAN' },
      content: { title: 'A plan that is handed in' },
    })
    expect(await get(`/tasks/other/contents/${sha256}`)).toMatchObject({ status: 404, body: { code: 'not_found' } })
    expect(await get(`/tasks/one/contents/${'0'.repeat(64)}`)).toMatchObject({ status: 404 })
    expect(await get(`/tasks/one/contents/${sha256}`, agent)).toMatchObject({ status: 403 })
  })
})

interface Named {
  readonly artifacts?: readonly { readonly sha256: string }[]
}

describe('parking one task', () => {
  it('stops its agent until it is resumed, and is refused for a task that is over or parked', async () => {
    await run.addTask({ id: 'paused' })
    const coder = await run.addAgent('bob')
    const token = await run.claim('bob', coder, 'paused')
    const park = (id: string, by = run.operator, body: unknown = { reason: 'look first' }) =>
      run.call('POST', `/tasks/${id}/park`, by, body)
    expect(await park('paused', token)).toMatchObject({ status: 403 })
    expect(await park('paused', run.operator, {})).toMatchObject({ status: 400 })
    expect(await park('nope')).toMatchObject({ status: 404 })
    expect(await park('paused')).toMatchObject({ status: 200, body: { status: 'parked', parked_reason: 'look first' } })
    expect(await park('paused')).toMatchObject({ status: 409, body: { code: 'task_not_active' } })
    expect(await get('/prompt', token)).toMatchObject({ status: 409, body: { code: 'task_not_active' } })
    await run.call('POST', '/tasks/paused/resume', run.operator, { reason: 'seen' })
    expect(await get('/prompt', token)).toMatchObject({ status: 200 })
  })
})
