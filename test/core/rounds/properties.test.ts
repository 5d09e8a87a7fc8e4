import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ResponseCall } from '../../../src/core/councils/command.js'
import { type CoordinationRun, isAwaited } from '../../../src/core/councils/council.js'
import { evolveRun } from '../../../src/core/councils/evolve-council.js'
import type { RunOptions } from '../../../src/core/councils/options.js'
import { buildParticipantView } from '../../../src/core/councils/view.js'
import { Council, call, newAnswer, vote } from './council.js'

const IDS = ['d', 'a', 'c', 'b'] as const
type Step = (council: Council) => void

const agent = fc.constantFrom(...IDS)
const anyCall: fc.Arbitrary<ResponseCall> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('agent1', 'agent2', 'agent3', 'agent4', 'agent9').map((id) => vote(id)) },
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 30 }).map((n) => newAnswer(`answer number ${n} of ${n * 7}`)) },
  { weight: 1, arbitrary: fc.constantFrom('grep', 'execute_command', 'constructor').map((name) => call(name)) },
  { weight: 1, arbitrary: fc.jsonValue().map((value) => call('vote', value as never)) },
)
const handled = fc.constantFrom('inline' as const, 'restart' as const)
const responded = fc
  .record({ agent, calls: fc.array(anyCall, { minLength: 0, maxLength: 3 }), handled, text: fc.string() })
  .map(
    (one): Step =>
      (council) =>
        void council.respond(one.agent, one.calls, one),
  )
const single = fc.record({ agent, one: anyCall, handled }).map(
  ({ agent: id, one, handled: how }): Step =>
    (council) =>
      void council.respond(id, [one], { handled: how }),
)
const steps = fc.oneof(
  { weight: 5, arbitrary: single },
  { weight: 3, arbitrary: responded },
  {
    weight: 5,
    arbitrary: agent.map(
      (id): Step =>
        (council) =>
          void council.turn(id),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record({ id: agent, label: fc.constantFrom('agent1.1', 'agent2.1', 'agent2.2', 'x') }).map(
      ({ id, label }): Step =>
        (council) =>
          void council.do({ type: 'injected', agent: id, shown: [label] }),
    ),
  },
  {
    weight: 1,
    arbitrary: agent.map(
      (id): Step =>
        (council) =>
          void council.do({ type: 'agent_failed', agent: id, message: 'gone' }),
    ),
  },
  {
    weight: 1,
    arbitrary: agent.map(
      (id): Step =>
        (council) =>
          void council.do({ type: 'agent_timed_out', agent: id }),
    ),
  },
  {
    weight: 1,
    arbitrary: agent.map(
      (id): Step =>
        (council) =>
          void council.do({ type: 'final_presented', agent: id, text: 'all' }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.integer({ min: -50, max: 200 }).map(
      (s): Step =>
        (council) =>
          council.tick(s),
    ),
  },
)
const options: fc.Arbitrary<Partial<RunOptions>> = fc.record({
  maxNewAnswersPerAgent: fc.integer({ min: 1, max: 3 }),
  maxNewAnswersGlobal: fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }),
  novelty: fc.constantFrom('lenient', 'balanced', 'strict'),
  maxAttempts: fc.integer({ min: 1, max: 4 }),
  skipVoting: fc.boolean(),
  allowSelfVote: fc.boolean(),
  finalPresentation: fc.boolean(),
})

function holds(council: Council): void {
  const { run, events } = council
  expect((JSON.parse(JSON.stringify(events)) as typeof events).reduce<CoordinationRun | null>(evolveRun, null)).toEqual(
    run,
  )
  const votes = [...run.agents.values()].flatMap((one) => (one.vote === null ? [] : [one.vote]))
  const counted = Object.values(council.status().results.votes).reduce((sum, count) => sum + count, 0)
  expect(counted).toBe(votes.length)
  for (const one of votes) expect(run.newest.get(one.votedFor)?.label).toBe(one.label)
  expect(events.filter(({ type }) => type === 'run_decided').length).toBeLessThanOrEqual(1)
  expect(events.filter(({ type }) => type === 'run_ended').length).toBeLessThanOrEqual(1)
  if (run.endedAt !== null) expect(events.at(-1)?.type).toBe('run_ended')
  for (const one of run.agents.values()) {
    expect(one.attempts).toBeLessThanOrEqual(run.options.maxAttempts)
    const record = council.reliability(one.id)
    expect(record?.total_enforcement_retries ?? 0).toBe(record?.enforcement_attempts.length ?? 0)
    expect(Object.values(record?.by_round ?? {}).reduce((sum, round) => sum + round.count, 0)).toBe(
      record?.total_enforcement_retries ?? 0,
    )
  }
}

describe('any order of answers, votes, failures and time-outs', () => {
  it('[REQ-ROUND-15] folds from its events to the same state, counts each vote once and has at most one winner', () => {
    fc.assert(
      fc.property(options, fc.array(steps, { maxLength: 60 }), (given, taken) => {
        const council = new Council({ agents: IDS, options: given })
        for (const step of taken) step(council)
        holds(council)
      }),
      { numRuns: 300 },
    )
  })

  it('[REQ-ROUND-15] ends at its limits whatever happened, with a winner exactly when there is an answer', () => {
    fc.assert(
      fc.property(options, fc.array(steps, { maxLength: 60 }), (given, taken) => {
        const council = new Council({ agents: IDS, options: given })
        for (const step of taken) step(council)
        council.now += 10_000_000
        council.do({ type: 'tick' })
        council.now += 10_000_000
        council.do({ type: 'tick' })
        const status = council.status()
        expect(status.is_complete).toBe(true)
        expect(status.results.winner !== null).toBe(council.run.answers.length > 0)
        if (status.results.winner !== null) expect(council.run.newest.has(status.results.winner)).toBe(true)
        const events = council.events.length
        for (const step of taken) step(council)
        expect(council.events).toHaveLength(events)
        holds(council)
      }),
      { numRuns: 300 },
    )
  })

  it('[REQ-ROUND-15] ends without any limit of time when every agent does what its view says', () => {
    fc.assert(
      fc.property(
        options,
        fc.array(steps, { maxLength: 40 }),
        fc.infiniteStream(fc.nat(99)),
        (given, taken, chance) => {
          const council = new Council({ agents: IDS, options: given })
          for (const step of taken) step(council)
          const draw = (): number => chance.next().value
          for (let turns = 0; council.run.endedAt === null && turns < 200; turns++) {
            const waiting = IDS.filter((id) => isAwaited(council.run, council.agent(id)))
            const id = waiting[draw() % Math.max(1, waiting.length)] ?? council.run.result?.winner ?? 'a'
            const view = buildParticipantView(council.run, id)!
            council.turn(id)
            if (view.must === 'present') council.do({ type: 'final_presented', agent: id, text: 'all of it' })
            else if (view.must === 'new_answer' || (view.must === 'new_answer_or_vote' && draw() < 30))
              council.respond(id, [newAnswer(`fresh${turns} of${id}${turns}`)])
            else council.respond(id, [vote(view.valid_agents[draw() % view.valid_agents.length] ?? '')])
          }
          expect(council.status().is_complete).toBe(true)
          holds(council)
        },
      ),
      { numRuns: 200 },
    )
  })
})
