import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../src/core/councils/event.js'
import { depth } from '../depth.js'
import { planOf, VOTERS, VotedTask } from './consensus-scene.js'

type Step = (task: VotedTask) => void

const QUORUM = 2
const subject = fc.constantFrom('s1', 's2')
const agent = fc.constantFrom(...VOTERS)
const verdict = fc.constantFrom('approve' as const, 'request_changes' as const)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 80,
    arbitrary: fc.record({ agent, n: fc.nat(2), subject }).map(
      (one): Step =>
        (task) => {
          const run = task.runs.get(one.subject)
          const answered = [...(run?.ids ?? [])].filter(([, id]) => run?.newest.has(id)).map(([name]) => name)
          const whom = answered[one.n % Math.max(1, answered.length)]
          if (whom !== undefined) task.vote(one.agent, whom, one.subject)
        },
    ),
  },
  {
    weight: 40,
    arbitrary: subject.map(
      (one): Step =>
        (task) =>
          void task.leave(one),
    ),
  },
  {
    weight: 20,
    arbitrary: fc.record({ agent, verdict, n: fc.integer({ min: 0, max: 9 }), subject }).map(
      (one): Step =>
        (task) =>
          task.answer(one.agent, one.verdict, `${one.n} says ${one.n}`, one.subject),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record({ agent, whom: fc.constantFrom('agent1', 'agent2', 'agent3'), subject }).map(
      (one): Step =>
        (task) =>
          task.vote(one.agent, one.whom, one.subject),
    ),
  },
  {
    weight: 3,
    arbitrary: subject.map(
      (one): Step =>
        (task) =>
          task.inRun(one, { type: 'cancel', reason: 'no' }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record({ agent, subject }).map(
      (one): Step =>
        (task) =>
          task.inRun(one.subject, { type: 'agent_failed', agent: one.agent, message: 'x' }),
    ),
  },
  {
    weight: 3,
    arbitrary: subject.map(
      (one): Step =>
        (task) => {
          task.now += 400_000
          task.inRun(one, { type: 'tick' })
        },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(...VOTERS, 'b').map(
      (id): Step =>
        (task) => {
          task.do({ type: 'release', reason: 'enough' })
          task.claim(id)
        },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constant((task: VotedTask) => {
      task.do({ type: 'rewind', to: 'WORK', reason: 'again', agentIsFree: true }, 'operator:admin')
      task.runs.clear()
      task.runEvents.clear()
    }),
  },
)

/** A plain reading of the run: the last votes that no answer voided, and whose newest answer they are for. */
function approves(events: readonly RunEvent[]): boolean {
  const votes = new Map<string, string>()
  const verdicts = new Map<string, string | null>()
  let isOver = false
  for (const event of events) {
    if (event.type === 'answer_accepted') {
      votes.clear()
      verdicts.set(event.agent, event.verdict)
    }
    if (event.type === 'vote_cast') votes.set(event.agent, event.votedFor)
    if (event.type === 'run_ended') isOver = event.finishReason === 'completed' || event.finishReason === 'timeout'
  }
  const counts = VOTERS.map((id) => [id, [...votes.values()].filter((one) => one === id).length] as const)
  const most = Math.max(...counts.map(([, count]) => count))
  const winner = counts.find(([, count]) => count === most)?.[0] ?? ''
  return isOver && most >= QUORUM && verdicts.get(winner) === 'approve'
}

describe('any order of requests, answers, votes, failures and takeovers', () => {
  it('[REQ-CONSENSUS-4] opens the phase only by a vote that a plain reading of its events approves', () => {
    let opened = 0
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 60, size: 'max' }), (steps) => {
        const task = new VotedTask({}, planOf({ quorum: QUORUM }))
        for (const one of steps) {
          one(task)
          const passed = task.events.find((event) => event.type === 'gate_passed')
          if (passed?.type !== 'gate_passed') continue
          opened += 1
          const voted = task.runEvents.get(passed.consensus?.subject ?? '') ?? []
          expect(approves(voted)).toBe(true)
          expect(VOTERS.filter((id) => task.state.holders.includes(id))).toEqual([])
          break
        }
        task.expectReplayEqualsLive()
      }),
      { numRuns: depth(250, 2000) },
    )
    expect(opened).toBeGreaterThan(depth(5, 20))
  })
})
