import { afterEach, describe, expect, it } from 'vitest'
import { LIVES_MAX } from '../../src/spawn/spawn-limits.js'
import { type Body, contractWith, openStage, QUICK, type Stage, until } from './stage.js'

const RUN_MS_MAX = 300_000
const EACH = 16
let stage: Stage
afterEach(async () => {
  expect(stage.server.faults).toEqual([])
  await stage.stop()
})

const CONTRACT = contractWith({
  phases: `phases:
  - {id: PLAN, allowed_tools: []}
  - {id: REVIEW, allowed_tools: [], auto_spawn: [{agent: critic, count: ${EACH}}]}
  - {id: DONE, allowed_tools: []}
`,
  more: 'agents: {critic: {harness: command, command: sleep, args: ["1000"]}}\n',
})

/** The reviewers that are alive. */
async function alive(): Promise<readonly Body[]> {
  const { body } = await stage.server.call('GET', '/agents', stage.server.operator)
  return (body.agents as Body[]).filter((one) => one.status === 'reviewing')
}
const of = (taskId: string, all: readonly Body[]): readonly Body[] => all.filter((one) => one.task_id === taskId)

async function inReview(at: number): Promise<string> {
  const agent = `ada-${at}`
  const token = await stage.server.addAgent(agent)
  const taskId = await stage.server.addTask()
  await stage.server.claim(agent, token, taskId)
  const moved = await stage.server.call('POST', '/tasks/transition', token, { task_id: taskId, target_phase: 'REVIEW' })
  expect(moved.body).toMatchObject({ allowed: true })
  return taskId
}

describe('reviewers for which there is no room', () => {
  it(
    '[REQ-BREAKAGAIN-11] are started when there is, also behind a task that wants none any more',
    async () => {
      stage = await openStage(CONTRACT)
      for (let at = 0; at < LIVES_MAX / EACH; at += 1) await inReview(at)
      await until(alive, (all) => all.length === LIVES_MAX)
      const gone = await inReview(90)
      const last = await inReview(91)
      await new Promise((resolve) => setTimeout(resolve, QUICK.lookMs * 3))
      expect(of(last, await alive())).toEqual([])
      const back = { to_phase: 'PLAN', reason: 'not yet' }
      expect((await stage.server.call('POST', `/tasks/${gone}/rewind`, stage.server.operator, back)).status).toBe(200)
      const [one] = await alive()
      const path = `/agents/${String(one?.agent_id)}/stop`
      expect((await stage.server.call('POST', path, stage.server.operator, { reason: 'room' })).status).toBe(200)
      const now = await until(alive, (all) => of(last, all).length > 0)
      expect([of(last, now).length, of(gone, now).length, now.length]).toEqual([1, 0, LIVES_MAX])
    },
    RUN_MS_MAX,
  )
})
