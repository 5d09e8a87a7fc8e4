import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from './harness.js'

const CONTRACT = `
name: named
version: "1"
phases:
  - id: WORK
    allowed_tools: [read_files]
    required_artifacts: [{type: review_report, schema: any.json}]
    gates:
      - id: reviewed
        type: validation
        blockers:
          - {check: all_review_models_completed, message: Reviewed, required_reviews: [sec-review]}
      - {id: signed, type: approval, approvers: [release_manager, human]}
  - {id: DONE, allowed_tools: []}
schemas: {any.json: {}}
`

let run: Running
let ci: string
let lead: string

beforeAll(async () => {
  run = await start({ contract: CONTRACT })
  const operator = async (name: string, role: string): Promise<string> =>
    String((await run.call('POST', '/operators', run.operator, { name, role })).body.operator_token)
  ci = await operator('robot', 'ci')
  lead = await operator('lea', 'lead')
})
afterEach(() => expect(run.faults).toEqual([]))
afterAll(() => run.stop())

const register = (token: string, agentId: string, more: object = {}): Promise<Answer> =>
  run.call('POST', '/agents', token, { agent_id: agentId, ...more })

describe('registering an agent', () => {
  it('[REQ-ROLES-6] an operator with the role ci does not take over the task of an agent by registering its id again', async () => {
    const token = await run.addAgent('ada')
    const taskId = await run.addTask()
    await run.claim('ada', token, taskId)
    const refused = await register(ci, 'ada')
    expect(refused).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect(refused.body.detail).toContain('"ada"')
    expect(refused.body.remedy).toContain('another id')
    expect(refused.body).not.toHaveProperty('agent_token')
    expect((await run.call('POST', '/tasks/heartbeat', token, { task_id: taskId })).status, 'ada goes on').toBe(200)
    // Neither after it has revoked the agent, nor in another spelling.
    expect((await run.call('POST', '/agents/ada/revoke', ci, {})).status).toBe(200)
    for (const name of ['ada', 'ADA', 'a.d-a_']) expect((await register(ci, name)).status, name).toBe(409)
    const again = await register(run.operator, 'ada')
    expect(again.status, 'a human gives it a new token').toBe(201)
    await run.claim('ada', String(again.body.agent_token), taskId)
  })

  it('[REQ-ROLES-6] of two that register one id at the same moment, the one without the role ci has it', async () => {
    const [human, machine] = await Promise.all([register(lead, 'race'), register(ci, 'race')])
    expect(human.status).toBe(201)
    expect([201, 409], 'before the other, or not at all').toContain(machine.status)
    const claimed = await run.call('POST', '/tasks/claim', String(human.body.agent_token), { agent_id: 'race' })
    expect(claimed.body.code, 'its token is alive').toBe('no_task_available')
  })

  it('[REQ-ROLES-6] the role ci gets its own answer again under the same key', async () => {
    const headers = { 'idempotency-key': 'nightly-7' }
    const ask = () => run.call('POST', '/agents', ci, { agent_id: 'nightly-7' }, headers)
    const first = await ask()
    const second = await ask()
    expect([first.status, second.status]).toEqual([201, 201])
    expect((await run.call('POST', '/agents/nightly-7/revoke', ci, {})).status).toBe(200)
  })

  it('[REQ-ROLES-7] nobody registers a name that stands for somebody in approvals, reviews, votes or the ledger', async () => {
    const names = [
      ...['human', 'orchestrator', 'admin', 'system', 'operator', 'phaselock', 'ci', 'stranger'],
      ...['Human', 'ORCHESTRATOR', 'ad-min', '_system', 'c.i', 'Operator-'],
      // A reviewer and an approver of the contract, operators and their roles.
      ...['sec-review', 'Sec_Review', 'release_manager', 'ReleaseManager', 'robot', 'lea', 'LEAD'],
    ]
    for (const name of names)
      for (const token of [ci, lead, run.operator]) {
        const refused = await register(token, name)
        expect(refused, name).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
        expect(refused.body.detail).toMatch(/^agent_id: ".*" cannot be used: it matches /)
      }
    for (const name of [
      'hu\u200bman',
      'ｈｕｍａｎ',
      'hum\u0430n',
      ' human',
      'human\n',
      'human\u00a0',
      'ci\u0000',
      'ⅽi',
    ])
      expect((await register(ci, name)).status, JSON.stringify(name)).toBe(400)
    const spawned = await run.call('POST', '/agents/spawn', run.operator, {
      ...{ harness: 'command', command: 'true', agent_id: 'Human', task: { title: 'x' } },
    })
    expect(spawned).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    for (const name of ['humanoid', 'ci-7', 'lea-2', 'admin.bot', 'sec-review-helper'])
      expect((await register(ci, name)).status, name).toBe(201)
  })

  it('[REQ-ROLES-7] names of contracts that are made known later are reserved too, and a known agent keeps its name', async () => {
    expect((await register(run.operator, 'vera')).status).toBe(201)
    const source = CONTRACT.replace('sec-review', 'vera').replace('release_manager', 'nora').replace('named', 'later')
    expect((await run.call('POST', '/contracts', run.operator, { source })).status).toBe(201)
    expect((await register(lead, 'nora')).status).toBe(400)
    expect((await register(ci, 'vera')).status).toBe(409)
    expect((await register(run.operator, 'vera')).status, 'a new token for it').toBe(201)
  })
})
