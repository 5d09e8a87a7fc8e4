import { afterEach, describe, expect, it } from 'vitest'
import { processesWith } from '../confinement/scene.js'
import { type Body, contractWith, openStage, type Stage, until } from './stage.js'

const RUN_MS_MAX = 90_000
let stage: Stage
afterEach(async () => {
  expect(stage.server.faults).toEqual([])
  await stage.stop()
})

const phases = (spawn: string): string => `phases:
  - {id: PLAN, allowed_tools: []}
  - {id: REVIEW, allowed_tools: [], auto_spawn: [${spawn}]}
  - {id: DONE, allowed_tools: []}
`
const agents = (words: string): string =>
  `agents: {critic: {harness: command, command: node, args: [AGENT, ${words}]}}\n`

const reviewers = async (): Promise<readonly Body[]> => {
  const { body } = await stage.server.call('GET', '/agents', stage.server.operator)
  return (body.agents as Body[]).filter((one) => (one.spawn as Body | null)?.role === 'reviewer')
}

describe('reviewers that a phase starts by itself', () => {
  it(
    '[REQ-SPAWN-16] have places of their own, see the tree read-only, report, and end; the phase waits for them',
    async () => {
      const contract = contractWith({
        phases: phases('{agent: critic, count: 2, wait_for_completion: true}'),
        more: agents('"write:x.txt", spawn, claim, review'),
      })
      stage = await openStage(contract)
      const ada = await stage.server.addAgent('ada')
      const taskId = await stage.server.addTask()
      await stage.server.claim('ada', ada)
      const go = (target_phase: string) =>
        stage.server.call('POST', '/tasks/transition', ada, { task_id: taskId, target_phase })
      expect((await go('REVIEW')).body).toMatchObject({ allowed: true })
      expect((await go('DONE')).body).toMatchObject({ allowed: false })
      const over = await until(reviewers, (all) => all.length === 2 && all.every((one) => one.status === 'ended'))
      expect(over.map(({ spawn }) => (spawn as Body).reviewer).sort()).toEqual(['critic-1', 'critic-2'])
      for (const { agent_id, spawn } of over) {
        expect(spawn).toMatchObject({ outcome: 'finished', task_id: taskId, restarts: 0 })
        const log = await stage.log(String(agent_id))
        expect(log).toContain('write EROFS')
        expect(log).toContain('spawn not_permitted')
        expect(log).toContain('claim 403 not_permitted')
        expect(log).toContain('review 201 approved')
      }
      expect((await go('DONE')).body).toMatchObject({ allowed: true })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWN-17] are ended when the phase is left, and started anew when it is entered again',
    async () => {
      const mark = 'left-phase-8821'
      stage = await openStage(contractWith({ phases: phases('{agent: critic}'), more: agents(`hang, ${mark}`) }))
      const ada = await stage.server.addAgent('ada')
      const taskId = await stage.server.addTask()
      await stage.server.claim('ada', ada)
      await stage.server.call('POST', '/tasks/transition', ada, { task_id: taskId, target_phase: 'REVIEW' })
      await until(
        () => processesWith(mark).length,
        (count) => count > 0,
      )
      await stage.server.call('POST', `/tasks/${taskId}/rewind`, stage.server.operator, {
        to_phase: 'PLAN',
        reason: 'again',
      })
      const [first] = await until(reviewers, ([one]) => one?.status === 'ended')
      expect(first?.spawn).toMatchObject({ outcome: 'taken' })
      expect(processesWith(mark)).toEqual([])
      await stage.server.call('POST', '/tasks/transition', ada, { task_id: taskId, target_phase: 'REVIEW' })
      await until(reviewers, (all) => all.length === 2 && all[1]?.status === 'reviewing')
      await until(
        () => processesWith(mark).length,
        (count) => count > 0,
      )
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWN-18] that crash are started again after a back-off, then given up; the task goes on waiting',
    async () => {
      const contract = contractWith({
        phases: phases('{agent: critic, wait_for_completion: true}'),
        more: agents('"exit:4"'),
      })
      stage = await openStage(contract)
      const ada = await stage.server.addAgent('ada')
      const taskId = await stage.server.addTask()
      await stage.server.claim('ada', ada)
      await stage.server.call('POST', '/tasks/transition', ada, { task_id: taskId, target_phase: 'REVIEW' })
      const [one] = await until(reviewers, ([first]) => first?.status === 'ended')
      expect(one?.spawn).toMatchObject({ outcome: 'failed', restarts: 1, exit_code: 4 })
      expect(await stage.task(taskId)).toMatchObject({ status: 'active', phase: 'REVIEW' })
    },
    RUN_MS_MAX,
  )
})
