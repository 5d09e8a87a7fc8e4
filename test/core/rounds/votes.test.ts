import { describe, expect, it } from 'vitest'
import { decideRun } from '../../../src/core/councils/decide-council.js'
import { evolveRun } from '../../../src/core/councils/evolve-council.js'
import { buildParticipantView } from '../../../src/core/councils/view.js'
import { Council, call, newAnswer, vote } from './council.js'

describe('names', () => {
  it('[REQ-ROUND-5] agents are numbered by their sorted ids, whatever the order of registration', () => {
    const council = new Council({ agents: ['b', 'C', 'a', 'a10', 'a9'] })
    expect([...council.run.agents.values()].map(({ id, anonymousId }) => `${id}=${anonymousId}`)).toEqual([
      'b=agent5',
      'C=agent1',
      'a=agent2',
      'a10=agent3',
      'a9=agent4',
    ])
  })

  it('[REQ-ROUND-5] the k-th answer of agent N is agentN.k', () => {
    const council = new Council()
    expect(council.answer('b', 'one')).toMatchObject({ label: 'agent2.1' })
    expect(council.answer('b', 'two')).toMatchObject({ label: 'agent2.2' })
    expect(council.answer('a', 'three')).toMatchObject({ label: 'agent1.1' })
  })

  it('[REQ-ROUND-5] a participant sees the newest answer of each, its own last, and no real id', () => {
    const council = new Council({ agents: ['zoe-secret', 'max-secret', 'eva-secret', 'bob-secret'] })
    council.answer('zoe-secret', 'four')
    council.answer('eva-secret', 'two')
    council.answer('max-secret', 'three')
    council.answer('eva-secret', 'two again')
    council.answer('bob-secret', 'one')
    const view = buildParticipantView(council.run, 'eva-secret')!
    expect(view.answers.map(({ label }) => label)).toEqual(['agent3.1', 'agent4.1', 'agent1.1', 'agent2.2'])
    expect(view).toMatchObject({ question: 'Why?', anonymous_id: 'agent2', must: 'new_answer_or_vote' })
    expect(JSON.stringify(view)).not.toContain('secret')
    expect(buildParticipantView(council.run, 'agent2')).toBe(null)
    expect(buildParticipantView(council.run, 'constructor')).toBe(null)
  })

  it('[REQ-ROUND-5] a view says which attempt is next, and what limits and skipped votes leave to do', () => {
    const global = new Council({ options: { maxNewAnswersGlobal: 1 } })
    global.respond('b', [])
    expect(buildParticipantView(global.run, 'b')).toMatchObject({ attempt: 2, max_attempts: 3, must: 'new_answer' })
    global.answer('a', 'x')
    expect(buildParticipantView(global.run, 'b')).toMatchObject({
      must: 'vote',
      valid_agents: ['agent1'],
      needs_verdict: false,
    })
    global.respond('b', [])
    global.respond('b', [])
    expect(buildParticipantView(global.run, 'b')).toMatchObject({ attempt: 3, must: 'none' })
    const skipping = new Council({ options: { skipVoting: true } })
    skipping.answer('a', 'x')
    expect([buildParticipantView(skipping.run, 'a')?.must, buildParticipantView(skipping.run, 'b')?.must]).toEqual([
      'wait',
      'new_answer',
    ])
  })

  it('[REQ-ROUND-5] a verdict means nothing where none is asked for', () => {
    const council = new Council()
    council.respond('a', [newAnswer('x', 'approve')])
    expect(council.run.answers[0]?.verdict).toBe(null)
  })

  it('[REQ-ROUND-5] a view says what must be done next', () => {
    const council = new Council({ options: { maxNewAnswersPerAgent: 1, finalPresentation: true } })
    const must = (id: string): string | undefined => buildParticipantView(council.run, id)?.must
    expect(must('a')).toBe('new_answer')
    council.answer('a', 'x')
    expect([must('a'), must('b')]).toEqual(['vote', 'new_answer_or_vote'])
    council.vote('a', 'agent1')
    expect(must('a')).toBe('wait')
    council.vote('b', 'agent1')
    expect([must('a'), must('b')]).toEqual(['present', 'wait'])
    council.do({ type: 'final_presented', agent: 'a', text: 'done' })
    expect([must('a'), must('b')]).toEqual(['none', 'none'])
  })
})

describe('votes', () => {
  it('[REQ-ROUND-6] an accepted answer voids all votes, and agents that voted are asked again', () => {
    const council = new Council({ agents: ['a', 'b', 'c'] })
    council.answer('a', 'x')
    council.vote('a', 'agent1')
    council.vote('b', 'agent1')
    expect(council.status().results.votes).toEqual({ a: 2 })
    council.answer('c', 'y')
    expect(council.events.at(-1)).toMatchObject({ type: 'answer_accepted', voided: ['a', 'b'] })
    expect(council.status().results.votes).toEqual({})
    expect(council.status().agents.a?.vote_cast).toBe(null)
    expect(council.status().is_complete).toBe(false)
    for (const id of ['a', 'b', 'c']) expect(council.vote(id, 'agent3').kind).toBe('accepted')
    expect(council.status().results).toMatchObject({ votes: { c: 3 }, winner: 'c', is_tie: false })
  })

  it('[REQ-ROUND-6] a rejected answer voids no vote', () => {
    const council = new Council()
    council.answer('a', 'x')
    council.vote('a', 'agent1')
    council.turn('b')
    council.respond('b', [newAnswer('x')])
    expect(council.status().results.votes).toEqual({ a: 1 })
  })

  it.each(['inline', 'restart'] as const)(
    '[REQ-ROUND-6] a vote beside a newer revision that its voter has not seen is asked for again (%s)',
    (handled) => {
      const council = new Council()
      council.answer('a', 'old')
      council.turn('b')
      council.answer('a', 'new')
      const outcome = council.respond('b', [vote('agent1')], { handled })
      expect(outcome).toMatchObject({ kind: 'asked_again', shown: ['agent1.2'] })
      expect(council.agent('b').vote).toBe(null)
      expect(council.reliability('b')).toBe(null)
      expect(council.events.at(-1)).toMatchObject({ type: 'vote_asked_again', agent: 'b', votedFor: 'a' })
      expect(council.agent('b').attempts).toBe(0)
      expect(council.respond('b', [vote('agent1')])).toMatchObject({ kind: 'accepted', label: 'agent1.2' })
      expect(council.status().agents.b?.vote_cast).toEqual({
        voted_for_agent: 'a',
        voted_for_label: 'agent1.2',
        reason_preview: 'best',
      })
    },
  )

  it('[REQ-ROUND-6] a vote without sight of the answer of somebody else is asked for again as well', () => {
    const council = new Council({ agents: ['a', 'b', 'c'] })
    council.answer('a', 'x')
    council.turn('b')
    council.answer('c', 'y')
    expect(council.respond('b', [vote('agent1')])).toMatchObject({ kind: 'asked_again', shown: ['agent3.1'] })
    expect(council.respond('b', [vote('agent1')])).toMatchObject({ kind: 'accepted', label: 'agent1.1' })
  })

  it('[REQ-ROUND-6] a vote for an answer that was injected counts, for its own author', () => {
    const council = new Council({ agents: ['a', 'b', 'c'] })
    council.answer('a', 'x')
    council.turn('b')
    council.answer('c', 'y')
    council.do({ type: 'injected', agent: 'b', shown: ['agent3.1'] })
    expect(council.respond('b', [vote('agent3')])).toMatchObject({ kind: 'accepted', label: 'agent3.1' })
    expect(council.status().results.votes).toEqual({ c: 1 })
    expect(council.agent('b').round).toBe(1)
  })

  it('[REQ-ROUND-6] a bad vote is rejected even when it would be stale, and the rejection delivers nothing', () => {
    const council = new Council()
    council.answer('a', 'x')
    council.turn('b')
    council.answer('a', 'y')
    expect(council.respond('b', [vote('agent9')])).toMatchObject({ kind: 'rejected', reason: 'invalid_vote_id' })
    expect(council.respond('b', [vote('agent1')]).kind).toBe('asked_again')
  })

  it('[REQ-ROUND-6] an agent with a valid vote is not asked again', () => {
    const council = new Council()
    council.answer('a', 'x')
    council.vote('a', 'agent1')
    const events = council.events.length
    expect(council.respond('a', [vote('agent1')])).toMatchObject({ kind: 'refused', because: 'not_awaited' })
    expect(council.respond('a', [newAnswer('z')])).toMatchObject({
      because: 'not_awaited',
      detail: 'The vote stands; there is nothing to do unless another answer arrives.',
    })
    expect(council.turn('a')).toMatchObject({ kind: 'refused', because: 'not_awaited' })
    expect(council.do({ type: 'injected', agent: 'a', shown: ['agent1.1'] })).toMatchObject({ because: 'not_awaited' })
    expect(council.events).toHaveLength(events)
  })
})

describe('rounds', () => {
  it('[REQ-ROUND-7] an agent that votes before it was shown anything is shown the answers, which is its second round', () => {
    const council = new Council()
    council.answer('a', 'x')
    expect(council.respond('b', [vote('agent1')], { handled: 'restart' })).toMatchObject({
      kind: 'asked_again',
      round: 1,
    })
    expect(council.agent('b')).toMatchObject({ round: 2, turn: 'restarting' })
    council.turn('b')
    expect(council.agent('b').round).toBe(2)
  })

  it('[REQ-ROUND-7] a turn with new answers begins a round; the same answers again, and injected ones, do not', () => {
    const council = new Council()
    const round = (): number => council.agent('b').round
    council.turn('b')
    expect(round()).toBe(1)
    council.turn('b')
    expect(round()).toBe(1)
    council.answer('a', 'x')
    council.do({ type: 'injected', agent: 'b', shown: ['agent1.1'] })
    council.turn('b')
    expect(round()).toBe(1)
    council.answer('a', 'y')
    council.turn('b')
    expect(round()).toBe(2)
    council.respond('b', [newAnswer('z')])
    council.turn('b')
    expect(round()).toBe(3)
  })

  it('[REQ-ROUND-7] the first turn is round 1 whatever it shows', () => {
    const council = new Council()
    council.answer('a', 'x')
    council.turn('b')
    expect(council.agent('b').round).toBe(1)
  })

  it('[REQ-ROUND-7] a vote that is asked for in a new turn begins a round, in the same stream it does not', () => {
    for (const [handled, round] of [
      ['inline', 1],
      ['restart', 2],
    ] as const) {
      const council = new Council()
      council.answer('a', 'x')
      council.turn('b')
      council.answer('a', 'y')
      council.respond('b', [vote('agent1')], { handled })
      council.turn('b')
      expect(council.agent('b').round).toBe(round)
    }
  })

  it('[REQ-ROUND-7] looking again at the same answers leaves nothing behind', () => {
    const council = new Council()
    council.turn('a')
    const events = council.events.length
    for (let times = 0; times < 5; times++) council.turn('a')
    council.do({ type: 'injected', agent: 'a', shown: [] })
    expect(council.events).toHaveLength(events)
  })
})

describe('the winner', () => {
  it('[REQ-ROUND-8] has the most standing votes', () => {
    const council = new Council({ agents: ['a', 'b', 'c'] })
    council.answer('b', 'x')
    council.answer('c', 'y')
    council.vote('a', 'agent3')
    council.vote('b', 'agent2')
    council.vote('c', 'agent3')
    expect(council.status()).toMatchObject({
      finish_reason: 'completed',
      finish_reason_details: 'c won with 2 of 3 votes',
      results: { votes: { b: 1, c: 2 }, winner: 'c', is_tie: false, final_answer_preview: 'y' },
    })
  })

  it('[REQ-ROUND-8] is the earlier registered of those tied', () => {
    const council = new Council({ agents: ['z', 'a'] })
    council.answer('a', 'x')
    council.answer('z', 'y')
    council.vote('a', 'agent1')
    council.vote('z', 'agent2')
    expect(council.status()).toMatchObject({
      finish_reason_details: 'z won with 1 of 2 votes, tied with a (tie-broken by registration order)',
      results: { winner: 'z', is_tie: true, votes: { z: 1, a: 1 } },
    })
  })

  it('[REQ-ROUND-8] may be an agent that was stopped after its answer', () => {
    const council = new Council({ options: { maxAttempts: 1 } })
    council.answer('a', 'x')
    council.turn('a')
    council.respond('a', [])
    council.vote('b', 'agent1')
    expect(council.status()).toMatchObject({ finish_reason: 'completed', results: { winner: 'a' } })
  })

  it('[REQ-ROUND-8] is decided by the votes that were cast when nobody is left', () => {
    const council = new Council()
    council.answer('a', 'x')
    council.vote('a', 'agent1')
    council.do({ type: 'agent_failed', agent: 'a', message: 'gone' })
    expect(council.status().is_complete).toBe(false)
    council.do({ type: 'agent_failed', agent: 'b', message: 'gone' })
    expect(council.status()).toMatchObject({ finish_reason: 'completed', results: { winner: 'a', votes: { a: 1 } } })
  })

  it('[REQ-ROUND-8] is the latest answer, and the run an error, when all crashed before a vote', () => {
    const council = new Council()
    council.answer('a', 'x')
    council.answer('b', 'y')
    for (const agent of ['a', 'b']) council.do({ type: 'agent_failed', agent, message: 'gone' })
    expect(council.status()).toMatchObject({ finish_reason: 'error', results: { winner: 'b', votes: {} } })
  })

  it('[REQ-ROUND-8] does not exist when all crashed without an answer', () => {
    const council = new Council()
    for (const agent of ['a', 'b']) council.do({ type: 'agent_failed', agent, message: 'gone' })
    expect(council.status()).toMatchObject({
      finish_reason: 'error',
      finish_reason_details: 'No answers available: every agent failed or was stopped',
      results: { winner: null, final_answer_preview: null },
    })
  })

  it('[REQ-ROUND-8] some crashed, some ran out of time and nobody voted: a timeout if there is an answer, else an error', () => {
    for (const [content, reason] of [
      ['x', 'timeout'],
      [null, 'error'],
    ] as const) {
      const council = new Council()
      if (content !== null) council.answer('b', content)
      council.do({ type: 'agent_failed', agent: 'b', message: 'gone' })
      council.do({ type: 'agent_timed_out', agent: 'a' })
      expect(council.status()).toMatchObject({ finish_reason: reason, results: { is_tie: false } })
    }
  })

  it('[REQ-ROUND-8] a tool name is not a participant: an agent may be called constructor', () => {
    const council = new Council({ agents: ['constructor', 'toString'] })
    council.answer('constructor', 'x')
    council.vote('toString', 'agent1')
    council.vote('constructor', 'agent1')
    expect(council.status().results).toMatchObject({ winner: 'constructor', votes: { constructor: 2 } })
  })
})

describe('commands that do not fit', () => {
  it('[REQ-ROUND-16] an agent that left cannot leave again, and is told why its responses do not count', () => {
    const council = new Council()
    council.do({ type: 'agent_failed', agent: 'a', message: 'exit 1' })
    const events = council.events.length
    council.do({ type: 'agent_failed', agent: 'a', message: 'exit 2' })
    council.do({ type: 'agent_timed_out', agent: 'a' })
    expect(council.events).toHaveLength(events)
    expect(council.status().agents.a).toMatchObject({ status: 'error', error: { type: 'crash', message: 'exit 1' } })
    expect(council.turn('a')).toMatchObject({ because: 'not_awaited', detail: 'exit 1' })
  })

  it('[REQ-ROUND-16] a run starts once, and with its start', () => {
    const council = new Council()
    const start = {
      type: 'start' as const,
      id: 'r',
      question: 'q',
      agents: [{ id: 'x' }],
      options: council.run.options,
    }
    expect(council.do(start)).toMatchObject({ because: 'already_started' })
    expect(() => decideRun(null, { type: 'tick' }, 0)).toThrow('the run is not started: tick')
    const event = { type: 'run_ended' as const, at: 0, finishReason: 'error' as const, details: '' }
    expect(() => evolveRun(null, event)).toThrow('starts with run_ended')
    const stray = { type: 'agent_failed' as const, agent: 'nobody', message: '', at: 0 }
    expect(() => evolveRun(council.run, stray)).toThrow('no agent nobody')
    const shown = { type: 'turn_began' as const, agent: 'a', shown: ['agent1.1'], at: 0 }
    expect(() => evolveRun(council.run, shown)).toThrow('no answer agent1.1')
  })

  it('[REQ-ROUND-16] are refused and leave no trace', () => {
    const council = new Council()
    const refusals = [
      council.do({ type: 'turn_began', agent: 'nobody', shown: [] }),
      council.do({ type: 'turn_began', agent: 'a', shown: ['agent1.1'] }),
      council.do({ type: 'injected', agent: 'a', shown: ['agent9.1'] }),
      council.do({ type: 'injected', agent: 'a', shown: ['constructor.1'] }),
      council.do({ type: 'final_presented', agent: 'a', text: 'me' }),
    ]
    expect(refusals.map((one) => one.kind === 'refused' && one.because)).toEqual([
      'unknown_agent',
      'unknown_answer',
      'unknown_answer',
      'unknown_answer',
      'not_presenting',
    ])
    expect(council.types()).toEqual(['run_started'])
    council.do({ type: 'cancel', reason: 'enough' })
    expect(council.respond('a', [newAnswer('x')])).toMatchObject({ because: 'run_over' })
    expect(council.do({ type: 'cancel', reason: 'again' })).toMatchObject({ because: 'run_over' })
    expect(council.status()).toMatchObject({ finish_reason: 'cancelled', finish_reason_details: 'enough' })
    expect(council.types()).toEqual(['run_started', 'run_ended'])
  })

  it('[REQ-ROUND-16] whatever is sent as arguments is judged, never a fault', () => {
    for (const args of [
      null,
      5,
      'x',
      [],
      [['agent_id']],
      { agent_id: { a: 1 } },
      { content: ['x'] },
      { content: null },
    ]) {
      const council = new Council({ options: { maxAttempts: 5 } })
      council.answer('b', 'x')
      council.turn('a')
      expect(council.respond('a', [call('vote', args)]).kind).toBe('rejected')
      expect(council.respond('a', [call('new_answer', args)]).kind).toBe('rejected')
      expect(council.respond('a', [call('constructor', args)])).toMatchObject({ reason: 'unknown_tool' })
    }
  })
})
