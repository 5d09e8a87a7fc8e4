import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

let run: Running
beforeAll(async () => {
  run = await start()
})
afterAll(() => run.stop())

const show = (id: string) => run.call('GET', `/agents/${id}`, run.operator)

it('[REQ-KNOWNAGENT-1] an agent that nobody started is shown as in the list, at work and revoked', async () => {
  const token = await run.addAgent('ada', ['go'])
  const list = async () => ((await run.call('GET', '/agents', run.operator)).body.agents as object[])[0]
  expect(await show('ada')).toMatchObject({
    status: 200,
    body: { agent_id: 'ada', capabilities: ['go'], status: 'idle', task_id: null, spawn: null },
  })
  expect((await show('ada')).body).toEqual(await list())
  const task = await run.addTask()
  await run.claim('ada', token, task)
  expect((await show('ada')).body).toMatchObject({ status: 'working', task_id: task, phase: 'PLAN' })
  expect((await show('ada')).body).toEqual(await list())
  await run.call('POST', '/agents/ada/revoke', run.operator, {})
  expect((await show('ada')).body).toMatchObject({ status: 'revoked' })
})

it('[REQ-KNOWNAGENT-1] an agent that nobody knows is not found, and has no log', async () => {
  await run.addAgent('bob')
  expect(await show('nobody')).toMatchObject({
    ...{ status: 404, body: { code: 'not_found', detail: 'There is no agent "nobody".' } },
  })
  expect(await run.call('GET', '/agents/bob/log', run.operator)).toMatchObject({ status: 404 })
})

it('[REQ-KNOWNAGENT-1] is for operators', async () => {
  const token = await run.addAgent('eve')
  expect(await run.call('GET', '/agents/eve', token)).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
})
