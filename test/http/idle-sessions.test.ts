import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sweep } from '../../src/app/sweep.js'
import { ERAS, McpAgent } from '../mcp/clients.js'
import { ownTree, type Running, start } from './harness.js'

const CONTRACT = (recovery = '') => `
name: idle
version: "1"
phases:
  - id: PLAN
    allowed_tools: [read_files, ask_user_question]
    gates: [{id: plan, type: approval, timeout_seconds: 86400}]
  - {id: CODE, allowed_tools: [read_files, write_files]}
  - {id: DONE, allowed_tools: []}
enforcement: {lease_seconds: 60, confinement: best_effort, reconcile: off}
${recovery}
`
const LEASE_MS = 60_000

interface LedgerEvent {
  readonly type: string
  readonly actor: string
  readonly data: Record<string, unknown>
}

let run: Running
let agent: string
let phaseToken: string
let task: string
let count = 0

async function begin(): Promise<void> {
  count += 1
  task = `T${count}`
  run.now = Date.UTC(2026, 0, 5) + count * 10_000_000
  agent = await run.addAgent(`idle${count}`)
  await run.addTask({ id: task, workspace: ownTree(run) })
  phaseToken = await run.claim(`idle${count}`, agent, task)
}

async function idle(ms = LEASE_MS + 1): Promise<void> {
  run.now = (run.now ?? 0) + ms
  await sweep(run.app)
}

const read = (token = agent) =>
  run.call('POST', '/tools/execute', token, { task_id: task, tool_name: 'read_files', args: { path: 'a.txt' } })
const taskNow = async () => (await run.call('GET', `/tasks/${task}`, run.operator)).body
const events = async () =>
  (await run.call('GET', `/tasks/${task}/timeline?limit=1000`, run.operator)).body.events as readonly LedgerEvent[]
const typesOf = async (...types: readonly string[]) =>
  (await events()).map(({ type }) => type).filter((type) => types.includes(type))
const refusedWith = async (code: string): Promise<void> => {
  expect(await read()).toMatchObject({ body: { code } })
  expect(await run.call('GET', '/prompt', agent)).toMatchObject({ body: { code } })
}

beforeAll(async () => {
  run = await start({ contract: CONTRACT() })
})
afterAll(async () => {
  expect(run.faults).toEqual([])
  await run.stop()
})

describe('an agent that was idle for longer than its lease', () => {
  beforeEach(begin)

  it('[REQ-IDLE-1] stays without its task when another agent took it meanwhile', async () => {
    await idle()
    const other = await run.addAgent(`other${count}`)
    await run.claim(`other${count}`, other, task)
    await refusedWith('no_active_task')
    expect(await taskNow()).toMatchObject({ status: 'active', agent_id: `other${count}` })
    await idle()
    await refusedWith('no_active_task')
  })

  it('[REQ-IDLE-1] stays without its task when an operator reassigned, rewound or cancelled it', async () => {
    const steps: readonly (readonly [string, object])[] = [
      ['reassign', { reason: 'r' }],
      ['rewind', { to_phase: 'PLAN', reason: 'r' }],
      ['cancel', { reason: 'r' }],
    ]
    for (const [action, body] of steps) {
      await begin()
      await idle()
      expect(await run.call('POST', `/tasks/${task}/${action}`, run.operator, body)).toMatchObject({ status: 200 })
      await refusedWith('no_active_task')
      expect(await typesOf('task_claimed'), action).toHaveLength(1)
    }
  })

  it('[REQ-IDLE-1] stays without a task that it gave back', async () => {
    await run.call('POST', '/tasks/release', agent, { task_id: task })
    await idle()
    await refusedWith('no_active_task')
    expect(await taskNow()).toMatchObject({ status: 'queued' })
  })

  it('[REQ-IDLE-1] stays without its task when it was revoked or registered again', async () => {
    await idle()
    const again = await run.addAgent(`idle${count}`)
    await refusedWith('token_invalid')
    expect(await read(again)).toMatchObject({ body: { code: 'no_active_task' } })
    await run.call('POST', `/agents/idle${count}/revoke`, run.operator, { reason: 'r' })
    expect(await read(again)).toMatchObject({ body: { code: 'token_invalid' } })
    expect(await taskNow()).toMatchObject({ status: 'interrupted' })
  })

  it('[REQ-IDLE-1] takes nothing up while agents are paused', async () => {
    await idle()
    await run.call('POST', '/pause', run.operator, { reason: 'lunch' })
    await refusedWith('no_active_task')
    await run.call('POST', '/unpause', run.operator, {})
    expect(await typesOf('task_claimed')).toHaveLength(1)
  })

  it('[REQ-IDLE-2] takes its task up with the next call, in its phase and with a new epoch, and the ledger says so', async () => {
    const before = await taskNow()
    await idle()
    expect(await taskNow()).toMatchObject({ status: 'interrupted', agent_id: null })
    const answer = await run.call('POST', '/tools/check', agent, {
      ...{ task_id: task, tool_name: 'read_files', args: { path: 'a.txt' } },
    })
    expect(answer).toMatchObject({ status: 200, body: { allowed: true } })
    expect(await taskNow()).toMatchObject({
      ...{ status: 'active', phase: 'PLAN', visit: before.visit, agent_id: `idle${count}` },
      epoch: Number(before.epoch) + 1,
    })
    const [, claimed] = (await events()).filter(({ type }) => type === 'task_claimed')
    expect(claimed).toMatchObject({ actor: `agent:idle${count}`, data: { resumed: true, agent_id: `idle${count}` } })
    expect(await read(phaseToken)).toMatchObject({ status: 403, body: { code: 'token_stale' } })
  })

  it('[REQ-IDLE-1] is left alone when only its client looks around', async () => {
    for (const era of ERAS) {
      const client = await McpAgent.connect(run.url, agent, era)
      await idle()
      const { tools } = await client.client.listTools()
      expect(tools.map(({ name }) => name)).toContain('ask_user_question')
      await expect(client.client.readResource({ uri: 'phaselock://task/status' })).rejects.toThrow('no_active_task')
      expect(await taskNow()).toMatchObject({ status: 'interrupted' })
      await client.does('get_workflow_state')
      await client.close()
    }
    await idle()
    expect((await run.call('GET', '/events', agent)).body).toMatchObject({ code: 'no_active_task' })
    expect(await taskNow()).toMatchObject({ status: 'interrupted' })
  })

  it('[REQ-IDLE-2] takes its task up over MCP and through hooks', async () => {
    for (const era of ERAS) {
      await idle()
      const client = await McpAgent.connect(run.url, agent, era)
      expect(await client.does('get_workflow_state')).toMatchObject({ current_phase: 'PLAN' })
      await client.close()
    }
    await idle()
    const body = { hook_event_name: 'PreToolUse', cwd: String((await taskNow()).workspace), tool_use_id: 'toolu_1' }
    const answer = await run.call('POST', '/hooks/claude-code', agent, {
      ...{ ...body, tool_name: 'Read', tool_input: { file_path: 'a.txt' } },
    })
    expect(answer.body).toMatchObject({ hookSpecificOutput: { permissionDecision: 'allow' } })
    expect(await typesOf('lease_lapsed', 'task_claimed')).toHaveLength(7)
  })

  it('[REQ-IDLE-2] gets its own task, and not an older one, when it claims without naming one', async () => {
    await run.addTask({ id: `urgent${count}`, priority: 9, workspace: ownTree(run) })
    await idle()
    const claimed = await run.call('POST', '/tasks/claim', agent, { agent_id: `idle${count}` })
    expect(claimed.body).toMatchObject({ task: { id: task } })
    await run.call('POST', `/tasks/urgent${count}/cancel`, run.operator, { reason: 'r' })
  })

  it('[REQ-IDLE-3] of many calls at once one takes the task up, and all of them go on', async () => {
    await idle()
    const answers = await Promise.all(Array.from({ length: 12 }, () => run.call('GET', '/prompt', agent)))
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200))
    expect(await typesOf('task_claimed')).toHaveLength(2)
  })

  it('[REQ-IDLE-3] a call that arrives while the lapse is being written goes on', async () => {
    for (let round = 0; round < 30; round += 1) {
      run.now = (run.now ?? 0) + LEASE_MS + 1
      const calls = Array.from({ length: 6 }, () => run.call('GET', '/prompt', agent))
      const swept = new Promise((resolve) => setTimeout(resolve, round % 5)).then(() => sweep(run.app))
      const answers = await Promise.all(calls)
      await swept
      expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200))
    }
  })

  it('[REQ-IDLE-3] of two agents at once one gets the task', async () => {
    const other = await run.addAgent(`other${count}`)
    await idle()
    const [mine, theirs] = await Promise.all([
      run.call('GET', '/prompt', agent),
      run.call('POST', '/tasks/claim', other, { agent_id: `other${count}`, task_id: task }),
    ])
    expect([mine.status, theirs.status].filter((status) => status === 200)).toHaveLength(1)
    expect(await typesOf('task_claimed')).toHaveLength(2)
    expect(await taskNow()).toMatchObject({ agent_id: mine.status === 200 ? `idle${count}` : `other${count}` })
  })
})

describe('an agent that waits for a person', () => {
  beforeEach(begin)
  const move = (token = agent) => run.call('POST', '/tasks/transition', token, { task_id: task, target_phase: 'CODE' })

  it('[REQ-IDLE-4] keeps its task while an approval is pending and for a lease after the answer, and loses it then', async () => {
    const { id, digest } = (await move()).body.pending_approval as Record<string, string>
    for (const _ of [1, 2, 3]) await idle()
    const other = await run.addAgent(`other${count}`)
    const theirs = () => run.call('POST', '/tasks/claim', other, { agent_id: `other${count}`, task_id: task })
    expect(await theirs()).toMatchObject({ status: 409, body: { code: 'already_claimed' } })
    expect(await run.call('POST', '/tokens/renew', phaseToken, { task_id: task })).toMatchObject({ status: 200 })
    await idle(LEASE_MS - 1000)
    expect(
      await run.call('POST', `/approvals/${id}/decision`, run.operator, { decision: 'approve', digest }),
    ).toMatchObject({ status: 200 })
    await idle(LEASE_MS - 1)
    expect(await taskNow()).toMatchObject({ status: 'active', agent_id: `idle${count}` })
    expect(await typesOf('lease_lapsed', 'task_claimed')).toEqual(['task_claimed'])
    await idle()
    expect(await taskNow()).toMatchObject({ status: 'interrupted' })
    expect((await move()).body).toMatchObject({ allowed: true })
  })

  it('[REQ-IDLE-4] keeps its task while a question is open, and no longer than a lease after the answer', async () => {
    const asked = await run.call('POST', '/tools/execute', agent, {
      ...{ task_id: task, tool_name: 'ask_user_question', args: { question: 'Which one?' } },
    })
    const { question_id: id } = asked.body.result as Record<string, string>
    for (const _ of [1, 2, 3]) await idle()
    expect(await taskNow()).toMatchObject({ status: 'active', agent_id: `idle${count}` })
    await run.call('POST', `/questions/${id}/answer`, run.operator, { answer: 'This one.' })
    await idle()
    await idle()
    expect(await typesOf('lease_lapsed')).toHaveLength(1)
  })
})

it('[REQ-IDLE-5] a back-off of the contract holds for the agent that was idle, too', async () => {
  const before = run
  run = await start({ contract: CONTRACT('recovery: {agent_crash: {max_retries: 3, backoff_seconds: 30}}') })
  try {
    await begin()
    await idle()
    expect(await read()).toMatchObject({
      body: { code: 'task_not_active', detail: expect.stringContaining('can be claimed in 30 s') },
    })
    await idle(30_000)
    expect(await run.call('GET', '/prompt', agent)).toMatchObject({ status: 200 })
    expect(run.faults).toEqual([])
  } finally {
    await run.stop()
    run = before
  }
})
