import { afterEach, describe, expect, it } from 'vitest'
import { processesWith } from '../confinement/scene.js'
import { type Body, contractWith, openStage, QUICK, type Stage, until } from './stage.js'

const RUN_MS_MAX = 300_000
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

let ada: string

const go = (taskId: string, target_phase: string) =>
  stage.server.call('POST', '/tasks/transition', ada, { task_id: taskId, target_phase })

/** A task whose agent has gone on to the phase that starts reviewers. */
async function inReview(): Promise<string> {
  ada = await stage.server.addAgent('ada')
  const taskId = await stage.server.addTask()
  await stage.server.claim('ada', ada)
  expect((await go(taskId, 'REVIEW')).body).toMatchObject({ allowed: true })
  return taskId
}

describe('reviewers that a phase starts by itself', () => {
  it(
    '[REQ-SPAWN-16] have their own places, write nothing, report, and end; the phase waits for them',
    async () => {
      const contract = contractWith({
        phases: phases('{agent: critic, count: 2, wait_for_completion: true}'),
        more: agents('"write:x.txt", spawn, claim, review'),
      })
      stage = await openStage(contract)
      const taskId = await inReview()
      expect((await go(taskId, 'DONE')).body).toMatchObject({ allowed: false })
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
      expect((await go(taskId, 'DONE')).body).toMatchObject({ allowed: true })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWN-17] are ended when the phase is left, and started again when it is entered again',
    async () => {
      const mark = 'left-phase-8821'
      stage = await openStage(contractWith({ phases: phases('{agent: critic}'), more: agents(`hang, ${mark}`) }))
      const taskId = await inReview()
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
      await go(taskId, 'REVIEW')
      await until(reviewers, (all) => all.length === 2 && all[1]?.status === 'reviewing')
      await until(
        () => processesWith(mark).length,
        (count) => count > 0,
      )
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWN-29] are known through their own socket alone: what came out of it with their token opens nothing',
    async () => {
      stage = await openStage(contractWith({ phases: phases('{agent: critic}'), more: agents('mirror, hang') }))
      const taskId = await inReview()
      const [one] = await until(reviewers, ([first]) => first?.status === 'reviewing')
      const written = await until(
        () => stage.log(String(one?.agent_id)),
        (log) => log.includes('mirror '),
      )
      const token = (/mirror (\S+)/.exec(written)?.[1] ?? '').split('').reverse().join('')
      const report = { report: { status: 'approved' } }
      for (const [method, path, body] of [
        ['POST', `/tasks/${taskId}/reviews`, report],
        ['GET', '/state/snapshot', undefined],
      ] as const)
        expect(await stage.server.call(method, path, token, body)).toMatchObject({
          status: 403,
          body: { code: 'token_mismatch' },
        })
      // The same name, let in by an operator, is somebody else.
      const added = await stage.server.call('POST', `/tasks/${taskId}/reviewers`, stage.server.operator, {
        name: 'critic',
      })
      const own = String(added.body.review_token)
      expect((await stage.server.call('POST', `/tasks/${taskId}/reviews`, own, report)).status).toBe(201)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWN-30] that ask for changes wait for them, are asked again about other work alone, and count as no loss',
    async () => {
      const contract = contractWith({
        phases: `phases:
  - {id: PLAN, allowed_tools: []}
  - id: REVIEW
    allowed_tools: [write_files]
    required_artifacts: [{type: review_report, schema: schemas/review.json}]
    gates: [{id: g, type: validation, blockers: [{check: no_blocking_issues}]}]
    auto_spawn: [{agent: critic, wait_for_completion: true}]
  - {id: DONE, allowed_tools: []}
`,
        crash: '{max_retries: 1, backoff_seconds: 60}',
        more: agents('judge'),
      })
      stage = await openStage(contract)
      const taskId = await inReview()
      const starts = async (): Promise<number> => {
        const [one] = await reviewers()
        return (await stage.facts(String(one?.agent_id))).filter(({ type }) => type === 'agent_started').length
      }
      const [one] = await until(reviewers, ([first]) => (first?.spawn as Body | undefined)?.state === 'waiting')
      expect(one?.spawn).toMatchObject({ lost: { detail: 'it asked for changes and waits for them' } })
      // Asking again without having changed anything asks nobody.
      expect((await go(taskId, 'DONE')).body).toMatchObject({ allowed: false })
      await stage.server.call('POST', '/tools/execute', ada, {
        ...{ task_id: taskId, tool_name: 'write_files', args: { path: 'a.txt', content: 'better' } },
      })
      await new Promise((resolve) => setTimeout(resolve, QUICK.lookMs * 3))
      expect(await starts()).toBe(1)
      expect((await go(taskId, 'DONE')).body).toMatchObject({ allowed: false })
      const [over] = await until(reviewers, ([first]) => first?.status === 'ended')
      expect(over?.spawn).toMatchObject({ outcome: 'finished', restarts: 1 })
      expect((await go(taskId, 'DONE')).body).toMatchObject({ allowed: true })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWN-31] that approved are followed by another one when the work was changed after that, and by one alone',
    async () => {
      const contract = contractWith({
        phases: `phases:
  - {id: PLAN, allowed_tools: []}
  - id: REVIEW
    allowed_tools: [write_files]
    required_artifacts: [{type: review_report, schema: schemas/review.json}]
    auto_spawn: [{agent: critic, wait_for_completion: true}]
  - {id: DONE, allowed_tools: []}
`,
        more: agents('prompt, review'),
      })
      stage = await openStage(contract)
      const taskId = await inReview()
      const [first] = await until(reviewers, ([one]) => one?.status === 'ended')
      expect(first?.spawn).toMatchObject({ outcome: 'finished' })
      await stage.server.call('POST', '/tools/execute', ada, {
        ...{ task_id: taskId, tool_name: 'write_files', args: { path: 'a.txt', content: 'other' } },
      })
      // Several requests at once want one reviewer, not several.
      const refused = await Promise.all([1, 2, 3].map(() => go(taskId, 'DONE')))
      expect(refused.map(({ body }) => body.allowed ?? false)).toEqual([false, false, false])
      const all = await until(reviewers, (some) => some.length > 1 && some.every((one) => one.status === 'ended'))
      expect(all).toHaveLength(2)
      const second = all.find((one) => one.agent_id !== first?.agent_id)
      expect(second?.spawn).toMatchObject({ outcome: 'finished', restarts: 0 })
      const { body: log } = await stage.server.call(
        'GET',
        `/agents/${String(second?.agent_id)}/log`,
        stage.server.operator,
      )
      expect(JSON.stringify(log)).toContain('You approved before, and the work has changed since')
      expect((await go(taskId, 'DONE')).body).toMatchObject({ allowed: true })
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
      const taskId = await inReview()
      const [one] = await until(reviewers, ([first]) => first?.status === 'ended')
      expect(one?.spawn).toMatchObject({ outcome: 'failed', restarts: 1, exit_code: 4 })
      expect(await stage.task(taskId)).toMatchObject({ status: 'active', phase: 'REVIEW' })
    },
    RUN_MS_MAX,
  )
})
