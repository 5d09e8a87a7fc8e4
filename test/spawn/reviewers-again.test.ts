import { afterEach, describe, expect, it } from 'vitest'
import { addReviewer } from '../../src/app/reviews/reviews.js'
import { type Body, contractWith, openStage, QUICK, type Stage, until } from './stage.js'

const REVIEW_STARTS_MAX = 20
const RUN_MS_MAX = 300_000
let stage: Stage
let ada: string
afterEach(async () => {
  expect(stage.server.faults).toEqual([])
  await stage.stop()
})

const reviewing = (words: string): string =>
  contractWith({
    phases: `phases:
  - {id: PLAN, allowed_tools: []}
  - id: REVIEW
    allowed_tools: [write_files]
    required_artifacts: [{type: review_report, schema: schemas/review.json}]
    gates: [{id: g, type: validation, blockers: [{check: no_blocking_issues}]}]
    auto_spawn: [{agent: critic, wait_for_completion: true}]
  - {id: DONE, allowed_tools: []}
`,
    more: `agents: {critic: {harness: command, command: node, args: [AGENT, ${words}]}}\n`,
  })

const reviewers = async (): Promise<readonly Body[]> => {
  const { body } = await stage.server.call('GET', '/agents', stage.server.operator)
  return (body.agents as Body[]).filter((one) => (one.spawn as Body | null)?.role === 'reviewer')
}
const spawnOf = (one: Body | undefined): Body => (one?.spawn ?? {}) as Body
const go = (taskId: string, target_phase: string) =>
  stage.server.call('POST', '/tasks/transition', ada, { task_id: taskId, target_phase })
const write = async (taskId: string, content: string): Promise<void> => {
  const call = { task_id: taskId, tool_name: 'write_files', args: { path: 'a.txt', content } }
  expect((await stage.server.call('POST', '/tools/execute', ada, call)).status).toBe(200)
}
const quiet = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, QUICK.lookMs * 4))

async function inReview(contract: string): Promise<string> {
  stage = await openStage(contract)
  ada = await stage.server.addAgent('ada')
  const taskId = await stage.server.addTask()
  await stage.server.claim('ada', ada)
  expect((await go(taskId, 'REVIEW')).body).toMatchObject({ allowed: true })
  return taskId
}

describe('reviewers that are asked again', () => {
  it(
    '[REQ-BREAKAGAIN-6] are not started by what the agent changes while they end: it asks first',
    async () => {
      const taskId = await inReview(reviewing('judge, "sleep:1500"'))
      await until(
        async () => (await stage.server.call('GET', `/tasks/${taskId}/reviews`, stage.server.operator)).body,
        ({ reviews }) => (reviews as Body[])[0]?.status === 'changes_requested',
      )
      await write(taskId, 'half')
      await until(reviewers, ([one]) => spawnOf(one).state === 'waiting')
      await quiet()
      expect(spawnOf((await reviewers())[0])).toMatchObject({ state: 'waiting', restarts: 0 })
      expect((await go(taskId, 'DONE')).body).toMatchObject({ allowed: false })
      const [over] = await until(reviewers, ([one]) => one?.status === 'ended')
      expect(spawnOf(over)).toMatchObject({ outcome: 'finished', restarts: 1 })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-BREAKAGAIN-13] leave their place to whom an operator lets in under their name, and do not come back',
    async () => {
      const taskId = await inReview(reviewing('"exit:4"'))
      await until(reviewers, ([one]) => spawnOf(one).state === 'waiting')
      const added = await stage.server.call('POST', `/tasks/${taskId}/reviewers`, stage.server.operator, {
        name: 'critic',
      })
      const [over] = await until(reviewers, ([one]) => one?.status === 'ended')
      expect(spawnOf(over)).toMatchObject({ outcome: 'taken', restarts: 0 })
      // Longer than its back-off.
      await new Promise((resolve) => setTimeout(resolve, 2000))
      const report = { report: { status: 'approved' } }
      const told = await stage.server.call('POST', `/tasks/${taskId}/reviews`, String(added.body.review_token), report)
      expect(told).toMatchObject({ status: 201, body: { finished: true } })
      expect(await reviewers()).toHaveLength(1)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-BREAKAGAIN-9] are not started, lost or given up while the task is at rest, and go on with it',
    async () => {
      const taskId = await inReview(reviewing('"sleep:1500", review'))
      await until(reviewers, ([one]) => spawnOf(one).state === 'running')
      // The agent uses up its refusals: its task is parked.
      const wrong = { task_id: taskId, tool_name: 'bash', args: { command: 'true' } }
      await until(
        async () => {
          await stage.server.call('POST', '/tools/execute', ada, wrong)
          return stage.task(taskId)
        },
        ({ status }) => status === 'parked',
      )
      await until(reviewers, ([one]) => spawnOf(one).state === 'waiting')
      // Longer than the back-offs after which it would have been given up.
      await new Promise((resolve) => setTimeout(resolve, 5000))
      expect(spawnOf((await reviewers())[0])).toMatchObject({ state: 'waiting', restarts: 0 })
      const resumed = await stage.server.call('POST', `/tasks/${taskId}/resume`, stage.server.operator, { reason: 'r' })
      expect(resumed.status).toBe(200)
      const [over] = await until(reviewers, ([one]) => one?.status === 'ended')
      expect(spawnOf(over)).toMatchObject({ outcome: 'finished', restarts: 1 })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-BREAKAGAIN-5] are not started without end by an agent that changes what they approved',
    async () => {
      const taskId = await inReview(reviewing('review'))
      await until(reviewers, ([one]) => one?.status === 'ended')
      const { app } = stage.server
      const system = { actor: 'system', once: undefined }
      for (let at = 1; at < REVIEW_STARTS_MAX; at += 1) {
        const added = await addReviewer(app, { taskId, name: 'critic', expiresSeconds: undefined }, system)
        expect(added.ok).toBe(true)
      }
      await write(taskId, 'other')
      expect((await go(taskId, 'DONE')).body).toMatchObject({ allowed: false })
      const all = await until(reviewers, (some) => some.length === 2 && some.every((one) => one.status === 'ended'))
      const last = all.find((one) => spawnOf(one).outcome === 'failed')
      expect(String(spawnOf(last).reason)).toContain('was started 20 times in this visit: an operator must add')
      const facts = await stage.facts(String(last?.agent_id))
      expect(facts.filter(({ type }) => type === 'agent_started')).toEqual([])
      // Asking goes on in vain, and starts nobody.
      for (const text of ['more', 'and more']) {
        await write(taskId, text)
        expect((await go(taskId, 'DONE')).body).toMatchObject({ allowed: false })
      }
      await quiet()
      expect(await reviewers()).toHaveLength(2)
    },
    RUN_MS_MAX,
  )
})
