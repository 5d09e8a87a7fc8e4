import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { processesWith } from '../confinement/scene.js'
import { contractWith, openStage, type Stage, until } from './stage.js'

const RUN_MS_MAX = 300_000
let stage: Stage
afterEach(async () => {
  expect(stage.server.faults).toEqual([])
  await stage.stop()
})

const eventsOf = async (
  taskId: string,
): Promise<readonly { type: string; at: string; data: Record<string, unknown> }[]> => {
  const { body } = await stage.server.call('GET', `/tasks/${taskId}/timeline`, stage.server.operator)
  return body.events as { type: string; at: string; data: Record<string, unknown> }[]
}
const typesOf = async (taskId: string): Promise<readonly string[]> => (await eventsOf(taskId)).map(({ type }) => type)

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

describe('an agent that is lost', () => {
  it(
    '[REQ-SPAWN-8] in a loop of crashes is started again after a longer back-off each time, then its task is parked with the reason',
    async () => {
      stage = await openStage(contractWith({ crash: '{max_retries: 2, backoff_seconds: 1}' }))
      const { agentId, taskId } = await stage.spawn(['say:broken', 'exit:3'])
      const ended = await stage.ended(agentId)
      expect(ended).toMatchObject({ outcome: 'parked', exit_code: 3, restarts: 2 })
      const task = await stage.task(taskId)
      expect(task).toMatchObject({ status: 'parked' })
      expect(String(ended.reason)).toMatch(
        /dropped 3 times without leaving PLAN \(recovery.agent_crash: max_retries 2\).*code 3/,
      )
      const events = await eventsOf(taskId)
      const dropped = events.filter(({ type }) => type === 'agent_dropped').map(({ at }) => Date.parse(at))
      const claimed = events.filter(({ type }) => type === 'task_claimed').map(({ at }) => Date.parse(at))
      expect([dropped.length, claimed.length]).toEqual([3, 3])
      expect((claimed[1] ?? 0) - (dropped[0] ?? 0)).toBeGreaterThanOrEqual(1000)
      expect((claimed[2] ?? 0) - (dropped[1] ?? 0)).toBeGreaterThanOrEqual(2000)
      const lost = (await stage.facts(agentId)).filter(({ type }) => type === 'agent_process_lost')
      expect(lost.map(({ data }) => [data.cause, data.exit_code])).toEqual([
        ['exited', 3],
        ['exited', 3],
        ['exited', 3],
      ])
      expect(lost[0]?.data.last_lines).toContain('broken')
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWN-9] keeps its task while it waits to be started again: nobody else gets it',
    async () => {
      stage = await openStage(contractWith({ crash: '{max_retries: 2, backoff_seconds: 2}' }))
      const ben = await stage.server.addAgent('ben')
      const { agentId, taskId } = await stage.spawn(['first', 'exit:1'])
      await until(
        () => stage.task(taskId),
        (task) => task.status === 'interrupted',
      )
      const claim = await stage.server.call('POST', '/tasks/claim', ben, { agent_id: 'ben', task_id: taskId })
      expect(claim.body.code).toBe('already_claimed')
      expect((await stage.server.call('POST', '/tasks/claim', ben, { agent_id: 'ben' })).body.code).toBe(
        'no_task_available',
      )
      expect(await stage.show(agentId)).toMatchObject({ state: 'waiting', lost: { cause: 'exited' } })
      expect(await stage.ended(agentId)).toMatchObject({ outcome: 'completed', restarts: 1 })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWN-10] by ending with code 0 while the task is open is told what is open, and its task is parked in the end',
    async () => {
      stage = await openStage(contractWith())
      const { agentId, taskId } = await stage.spawn(['prompt', 'claim', 'go:BUILD'])
      const ended = await stage.ended(agentId)
      expect(ended).toMatchObject({ outcome: 'parked', exit_code: 0, restarts: 1 })
      expect(String(ended.reason)).toContain('ended with code 0 while the task is open')
      expect(await stage.task(taskId)).toMatchObject({ status: 'parked', phase: 'BUILD' })
      const log = await stage.log(agentId)
      expect(log).toMatch(
        /prompt [^\n]*is in phase BUILD[^\n]*Build it\.[^\n]*You were started before and ended while the task was open/,
      )
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWN-11] by being silent for its lease is ended, started again once, and its task is parked',
    async () => {
      stage = await openStage(contractWith({ leaseSeconds: 2 }))
      const mark = 'silent-7715'
      const { agentId, taskId } = await stage.spawn(['claim', 'hang', mark])
      await until(
        () => stage.show(agentId),
        (one) => one.restarts === 1,
      )
      const ended = await stage.ended(agentId)
      expect(ended).toMatchObject({ outcome: 'parked', lost: { cause: 'silent' } })
      expect(await stage.task(taskId)).toMatchObject({ status: 'parked' })
      expect((await typesOf(taskId)).filter((type) => type === 'lease_lapsed')).toHaveLength(2)
      expect(processesWith(mark)).toEqual([])
    },
    RUN_MS_MAX,
  )

  it.each([
    ['PLAN', []],
    ['BUILD', ['go:BUILD']],
  ])(
    '[REQ-SPAWN-12] by a kill in %s is followed by another process in the same phase, and the token of the first is dead',
    async (phase, words) => {
      stage = await openStage(contractWith())
      const mark = `killed-${phase}-3391`
      const { agentId, taskId } = await stage.spawn(['first', 'claim', ...words, 'say:there', 'beat', mark])
      await until(
        () => stage.log(agentId),
        (log) => log.includes('there'),
      )
      const pids = processesWith(mark).map(({ pid }) => pid)
      const tokens = pids.flatMap(
        (pid) => /PHASELOCK_TOKEN=([^\0]+)/.exec(readFileSync(`/proc/${pid}/environ`, 'utf8'))?.[1] ?? [],
      )
      const [old = ''] = tokens
      expect(old).toMatch(/^eyJ/)
      // One of them may take the others with it.
      for (const pid of pids) killIfThere(pid)
      expect(await stage.ended(agentId)).toMatchObject({ outcome: 'completed', restarts: 1 })
      const log = await stage.log(agentId)
      expect(log).toContain(`second\nclaim 200 ${taskId} ${phase}`)
      expect((await stage.server.call('POST', '/tasks/heartbeat', old, {})).body.code).toBe('token_invalid')
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWN-13] without a rule of the contract is not started again without end',
    async () => {
      stage = await openStage(contractWith({ crash: '{action: park, max_retries: 1, backoff_seconds: 1}' }))
      const { agentId } = await stage.spawn(['exit:1'])
      expect(await stage.ended(agentId)).toMatchObject({ outcome: 'parked', restarts: 0 })
      await stage.stop()
      stage = await openStage(contractWith({ crash: null }))
      const { agentId: other, taskId } = await stage.spawn(['exit:1'])
      await until(
        () => stage.task(taskId),
        (task) => task.status === 'interrupted',
      )
      const [dropped] = (await eventsOf(taskId)).filter(({ type }) => type === 'agent_dropped')
      expect(Number(dropped?.data.claimable_at) - Date.parse(dropped?.at ?? '')).toBe(60_000)
      expect(await stage.show(other)).toMatchObject({ state: 'waiting' })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWN-14] through a restart of the server goes on, without counting as a crash',
    async () => {
      stage = await openStage(contractWith({ crash: '{action: park, max_retries: 1, backoff_seconds: 1}' }))
      const mark = 'restart-6642'
      const { agentId, taskId } = await stage.spawn(['first', 'claim', 'go:BUILD', 'say:there', 'beat', mark])
      await until(
        () => stage.log(agentId),
        (log) => log.includes('there'),
      )
      const server = await stage.server.restart()
      expect(processesWith(mark)).toEqual([])
      const ask = async () => (await server.call('GET', `/agents/${agentId}`, server.operator)).body
      const ended = await until(ask, (one) => one.state === 'ended')
      expect(ended).toMatchObject({ outcome: 'completed', lost: { cause: 'server_stopped' } })
      const { body } = await server.call('GET', `/tasks/${taskId}`, server.operator)
      expect(body).toMatchObject({ status: 'completed' })
      await server.stop()
      stage = await openStage(contractWith())
    },
    RUN_MS_MAX,
  )
})

describe('an agent whose task waits for people', () => {
  it(
    '[REQ-SPAWN-15] may end meanwhile, keeps the task, and is started again with the decision',
    async () => {
      const phases = `phases:
  - {id: PLAN, allowed_tools: [], gates: [{id: ok, type: approval, approvers: [human]}]}
  - {id: BUILD, allowed_tools: []}
  - {id: DONE, allowed_tools: []}
`
      stage = await openStage(
        contractWith({ phases, leaseSeconds: 2, crash: '{action: park, max_retries: 1, backoff_seconds: 1}' }),
      )
      const { agentId, taskId } = await stage.spawn(['claim', 'go:BUILD', 'go:DONE'])
      await until(
        () => stage.show(agentId),
        (one) => one.state === 'waiting',
      )
      // Longer than its lease.
      await new Promise((resolve) => setTimeout(resolve, 3_000))
      expect(await stage.task(taskId)).toMatchObject({ status: 'awaiting_approval', agent_id: agentId })
      const { body } = await stage.server.call('GET', '/approvals', stage.server.operator)
      const [approval] = body.approvals as { id: string; digest: string }[]
      const decision = { decision: 'approve', digest: approval?.digest }
      await stage.server.call('POST', `/approvals/${approval?.id}/decision`, stage.server.operator, decision)
      expect(await stage.ended(agentId)).toMatchObject({ outcome: 'completed' })
    },
    RUN_MS_MAX,
  )
})
