import { describe, expect, it } from 'vitest'
import { judgeConsensus } from '../../../src/core/councils/consensus.js'
import { decideRun } from '../../../src/core/councils/decide-council.js'
import { DEFAULT_OPTIONS, type RunOptions, runOptions } from '../../../src/core/councils/options.js'
import { nextDeadline } from '../../../src/core/councils/time-limits.js'
import type { Json } from '../../../src/core/json.js'
import { Council, call, newAnswer, T0, vote } from './council.js'

describe('options', () => {
  it('[REQ-ROUND-10] have these defaults', () => {
    expect(runOptions({ quorum: undefined })).toEqual({
      maxNewAnswersPerAgent: 3,
      maxNewAnswersGlobal: null,
      novelty: 'lenient',
      maxAttempts: 3,
      roundTimeoutSeconds: 600,
      timeoutSeconds: 1800,
      quorum: null,
      skipVoting: false,
      allowSelfVote: true,
      finalPresentation: false,
    })
  })

  it.each<[string, Partial<RunOptions>]>([
    ['no attempt', { maxAttempts: 0 }],
    ['half an answer', { maxNewAnswersPerAgent: 0.5 }],
    ['no end', { timeoutSeconds: Number.POSITIVE_INFINITY }],
    ['a negative round', { roundTimeoutSeconds: -1 }],
    ['more votes than agents', { quorum: 3 }],
    ['votes where nobody votes', { quorum: 1, skipVoting: true }],
    ['a novelty that does not exist', { novelty: 'constructor' as never }],
  ])('[REQ-ROUND-10] a run with %s does not start', (_name, options) => {
    expect(() => new Council({ options })).toThrow('invalid_start')
  })

  it.each([
    ['without agents', [], 'q'],
    ['with two of one id', [{ id: 'a' }, { id: 'a' }], 'q'],
    ['with an id that is no name', [{ id: '../x' }], 'q'],
    ['with too many', Array.from({ length: 65 }, (_, index) => ({ id: `a${index}` })), 'q'],
    ['without a question', [{ id: 'a' }], ' '],
  ])('[REQ-ROUND-10] a run %s does not start', (_name, agents, question) => {
    const start = { type: 'start' as const, id: 'r', question, agents, options: DEFAULT_OPTIONS }
    expect(decideRun(null, start, T0)).toMatchObject({ events: [], outcome: { because: 'invalid_start' } })
  })

  it('[REQ-ROUND-10] with skip_voting the run ends when all have answered, and the latest answer wins', () => {
    const council = new Council({ options: { skipVoting: true } })
    council.answer('b', 'x')
    expect(council.respond('b', [newAnswer('again')])).toMatchObject({ because: 'not_awaited' })
    expect(council.status().is_complete).toBe(false)
    council.answer('a', 'y')
    expect(council.status()).toMatchObject({ finish_reason: 'completed', results: { winner: 'a', votes: {} } })
  })

  it('[REQ-ROUND-10] without votes for oneself a lone answer waits for nobody', () => {
    const council = new Council({ options: { allowSelfVote: false } })
    council.answer('a', 'x')
    expect(council.respond('a', [vote('agent1')])).toMatchObject({ because: 'not_awaited' })
    council.vote('b', 'agent1')
    expect(council.status()).toMatchObject({ finish_reason: 'completed', results: { winner: 'a', votes: { a: 1 } } })
  })

  it('[REQ-ROUND-10] without votes for oneself, two answers mean two votes', () => {
    const council = new Council({ options: { allowSelfVote: false } })
    council.answer('a', 'x')
    council.answer('b', 'y')
    council.vote('b', 'agent1')
    expect(council.status().is_complete).toBe(false)
    council.vote('a', 'agent2')
    expect(council.status().results).toMatchObject({ winner: 'a', is_tie: true })
  })

  it('[REQ-ROUND-10] a final presentation ends the run and takes the place of the answer', () => {
    const council = new Council({ agents: ['a'], options: { finalPresentation: true } })
    council.answer('a', 'x')
    council.vote('a', 'agent1')
    expect(council.status()).toMatchObject({
      finish_reason: 'in_progress',
      is_complete: false,
      coordination: { phase: 'presentation', active_agent: 'a', is_final_presentation: true },
      results: { winner: 'a', final_answer_preview: 'x' },
    })
    council.turn('a')
    council.do({ type: 'final_presented', agent: 'a', text: 'the whole of it' })
    expect(council.events.at(-2)).toMatchObject({ type: 'final_presented', label: 'agent1.final' })
    expect(council.status()).toMatchObject({
      finish_reason: 'completed',
      coordination: { phase: 'finished', is_final_presentation: false },
      results: { winner: 'a', final_answer_preview: 'the whole of it' },
    })
  })

  it.each<[string, (council: Council) => void]>([
    ['nothing in time', (council) => council.tick(600)],
    ['an empty text', (council) => void council.do({ type: 'final_presented', agent: 'a', text: ' ' })],
    ['a crash', (council) => void council.do({ type: 'agent_failed', agent: 'a', message: 'gone' })],
  ])('[REQ-ROUND-10] with %s for a presentation the winning answer stands', (_name, happen) => {
    const council = new Council({ options: { finalPresentation: true } })
    council.answer('a', 'x')
    council.vote('a', 'agent1')
    council.vote('b', 'agent1')
    expect(council.do({ type: 'final_presented', agent: 'b', text: 'me' })).toMatchObject({ because: 'not_presenting' })
    happen(council)
    expect(council.status()).toMatchObject({
      finish_reason: 'completed',
      finish_reason_details: 'a won with 2 of 2 votes; without a final presentation',
      results: { final_answer_preview: 'x' },
    })
  })
})

describe('time limits', () => {
  it('[REQ-ROUND-10] no presentation is asked of a winner that is gone, nor after the time limit', () => {
    const gone = new Council({ options: { finalPresentation: true } })
    gone.answer('a', 'x')
    gone.vote('a', 'agent1')
    gone.do({ type: 'agent_failed', agent: 'a', message: 'gone' })
    gone.vote('b', 'agent1')
    expect(gone.status()).toMatchObject({ is_complete: true, finish_reason: 'completed', results: { winner: 'a' } })
    const late = new Council({ options: { finalPresentation: true, roundTimeoutSeconds: 1800 } })
    late.answer('a', 'x')
    late.vote('a', 'agent1')
    late.tick(1800)
    expect(late.status()).toMatchObject({
      is_complete: true,
      finish_reason: 'timeout',
      finish_reason_details: 'Time limit: a won with 1 of 1 vote',
      agents: { b: { error: { message: 'The run reached its time limit before the agent finished' } } },
    })
  })

  it('[REQ-ROUND-9] an agent that is not waited for has no deadline', () => {
    const council = new Council({ options: { roundTimeoutSeconds: 100 } })
    council.answer('a', 'x')
    council.vote('a', 'agent1')
    council.tick(50)
    council.turn('b')
    expect(nextDeadline(council.run)).toBe(T0 + 150_000)
  })

  it('[REQ-ROUND-9] without an answer there is no winner', () => {
    const council = new Council({ options: { roundTimeoutSeconds: 1800 } })
    council.tick(1799)
    expect(council.status().is_complete).toBe(false)
    council.tick(1)
    expect(council.status()).toMatchObject({
      finish_reason: 'timeout',
      finish_reason_details: 'No answers available from any agents due to timeout',
      is_complete: true,
      results: { winner: null, votes: {} },
    })
  })

  it('[REQ-ROUND-9] when every agent ran out of its round without an answer, that is a timeout too', () => {
    const council = new Council()
    council.tick(600)
    expect(council.status()).toMatchObject({
      finish_reason: 'timeout',
      finish_reason_details: 'No answers available from any agents due to timeout',
      agents: { a: { status: 'timeout' }, b: { status: 'timeout' } },
    })
  })

  it('[REQ-ROUND-9] votes that stand decide at the limit, otherwise the latest answer', () => {
    for (const [votes, winner] of [
      [['a', 'agent1'], 'a'],
      [null, 'b'],
    ] as const) {
      const council = new Council({ agents: ['a', 'b', 'c'], options: { roundTimeoutSeconds: 1800 } })
      council.answer('a', 'x')
      council.answer('b', 'y')
      if (votes !== null) council.vote(votes[0], votes[1])
      council.tick(1800)
      expect(council.status()).toMatchObject({ finish_reason: 'timeout', results: { winner } })
    }
  })

  it('[REQ-ROUND-9] a round that takes too long ends the agent, not the run', () => {
    const council = new Council()
    council.tick(300)
    council.answer('b', 'x')
    council.tick(300)
    expect(council.status()).toMatchObject({
      is_complete: false,
      agents: {
        a: {
          status: 'timeout',
          error: { type: 'timeout', message: 'Agent did not finish its round within 600 seconds' },
        },
      },
    })
    council.vote('b', 'agent2')
    expect(council.status()).toMatchObject({ finish_reason: 'completed', results: { winner: 'b' } })
  })

  it('[REQ-ROUND-9] a new round has its whole time, and agents that voted cannot time out', () => {
    const council = new Council({ options: { roundTimeoutSeconds: 100 } })
    council.answer('a', 'x')
    council.vote('a', 'agent1')
    council.tick(60)
    council.turn('b')
    council.tick(99)
    expect(council.agent('b').status).toBe('live')
    council.respond('b', [newAnswer('y')])
    council.tick(99)
    expect([council.agent('a').status, council.agent('b').status]).toEqual(['live', 'live'])
    council.tick(1)
    expect([council.agent('a').status, council.agent('b').status]).toEqual(['timed_out', 'timed_out'])
  })

  it('[REQ-ROUND-9] limits hold when nobody ticks: what comes too late is not heard', () => {
    const council = new Council({ options: { roundTimeoutSeconds: 1800 } })
    council.answer('a', 'x')
    council.turn('b')
    council.now += 1_800_000
    expect(council.respond('b', [newAnswer('late')])).toMatchObject({ kind: 'refused', because: 'run_over' })
    expect(council.status()).toMatchObject({ finish_reason: 'timeout', results: { winner: 'a' } })
  })

  it('[REQ-ROUND-9] rejected responses and looking do not lengthen a round', () => {
    const council = new Council({ options: { roundTimeoutSeconds: 100 } })
    council.turn('a')
    council.tick(60)
    council.respond('a', [call('x')])
    council.turn('a')
    council.tick(40)
    expect(council.agent('a').status).toBe('timed_out')
  })

  it('[REQ-ROUND-9] the next deadline is the nearest, and there is none after the end', () => {
    const council = new Council({ options: { finalPresentation: true } })
    expect(nextDeadline(council.run)).toBe(T0 + 600_000)
    council.tick(30)
    council.answer('a', 'x')
    council.vote('a', 'agent1')
    expect(nextDeadline(council.run)).toBe(T0 + 600_000)
    council.vote('b', 'agent1')
    expect(nextDeadline(council.run)).toBe(T0 + 630_000)
    council.tick(600)
    expect(nextDeadline(council.run)).toBe(null)
  })

  it('[REQ-ROUND-9] a clock that goes back makes no event older than the one before', () => {
    const council = new Council()
    council.now -= 5000
    council.answer('a', 'x')
    expect(council.events.map(({ at }) => at)).toEqual(council.events.map(() => T0))
    expect(council.status().meta.elapsed_seconds).toBe(0)
  })
})

describe('a consensus', () => {
  const review = (options: Partial<RunOptions> = {}): Council =>
    new Council({ agents: ['r1', 'r2', 'r3'], options, isConsensus: true })
  const say = (council: Council, agent: string, verdict: Json): void => {
    council.turn(agent)
    council.respond(agent, [call('new_answer', { content: `${agent} says`, verdict })])
  }

  it('[REQ-ROUND-11] an answer without a verdict is rejected', () => {
    for (const verdict of [undefined, 'Approve', 'maybe', true]) {
      const council = review()
      council.turn('r1')
      const args = verdict === undefined ? { content: 'x' } : { content: 'x', verdict }
      expect(council.respond('r1', [call('new_answer', args)])).toMatchObject({
        message:
          'Retry (1/3): Called new_answer (verdict must be approve or request_changes). Required: vote or new_answer',
      })
      expect(council.run.answers).toHaveLength(0)
    }
  })

  it.each<[string, (council: Council) => void, Partial<RunOptions>]>([
    [
      'the winner requests changes',
      (council) => {
        say(council, 'r1', 'request_changes')
        for (const id of ['r1', 'r2', 'r3']) council.vote(id, 'agent1')
      },
      {},
    ],
    [
      'the winner has too few votes',
      (council) => {
        say(council, 'r1', 'approve')
        say(council, 'r2', 'approve')
        say(council, 'r3', 'approve')
        for (const [index, id] of ['r1', 'r2', 'r3'].entries()) council.vote(id, `agent${index + 1}`)
      },
      { quorum: 2 },
    ],
    [
      'nobody voted before the time limit',
      (council) => {
        say(council, 'r1', 'approve')
        council.tick(1800)
      },
      {},
    ],
    [
      'it was cancelled after the winner was known',
      (council) => {
        say(council, 'r1', 'approve')
        for (const id of ['r1', 'r2', 'r3']) council.vote(id, 'agent1')
        council.do({ type: 'cancel', reason: 'no' })
      },
      { finalPresentation: true },
    ],
    [
      'every reviewer crashed',
      (council) => {
        for (const agent of ['r1', 'r2', 'r3']) council.do({ type: 'agent_failed', agent, message: 'x' })
      },
      {},
    ],
    [
      'voting is skipped and one did not answer in time',
      (council) => {
        say(council, 'r1', 'approve')
        council.tick(1800)
      },
      { skipVoting: true },
    ],
  ])('[REQ-ROUND-11] does not hold when %s', (_name, happen, options) => {
    const council = review(options)
    expect(judgeConsensus(council.run).status).toBe('pending')
    happen(council)
    expect(judgeConsensus(council.run).status).toBe('fails')
  })

  it('[REQ-ROUND-11] holds when the winner approves with the quorum', () => {
    const council = review({ quorum: 2 })
    say(council, 'r2', 'approve')
    say(council, 'r1', 'request_changes')
    council.vote('r1', 'agent1')
    council.vote('r2', 'agent2')
    expect(judgeConsensus(council.run).status).toBe('pending')
    council.vote('r3', 'agent2')
    expect(judgeConsensus(council.run)).toEqual({ status: 'holds', message: 'r2 approves with 2 votes.' })
  })

  it('[REQ-ROUND-11] the verdict of the newest answer of the winner counts', () => {
    const council = review()
    say(council, 'r1', 'approve')
    council.turn('r1')
    council.respond('r1', [newAnswer('found something', 'request_changes')])
    for (const id of ['r1', 'r2', 'r3']) council.vote(id, 'agent1')
    expect(judgeConsensus(council.run).status).toBe('fails')
  })

  it('[REQ-ROUND-11] where voting is skipped the latest answer of all decides', () => {
    const council = review({ skipVoting: true })
    for (const id of ['r1', 'r2', 'r3']) say(council, id, id === 'r3' ? 'approve' : 'request_changes')
    expect(judgeConsensus(council.run).status).toBe('holds')
  })
})
