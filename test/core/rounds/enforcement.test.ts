import { describe, expect, it } from 'vitest'
import type { ResponseCall } from '../../../src/core/councils/command.js'
import { isOnlyToolCalls } from '../../../src/core/councils/judge-response.js'
import type { RunOptions } from '../../../src/core/councils/options.js'
import { REASONS } from '../../../src/core/councils/reason.js'
import { Council, call, newAnswer, T0, vote } from './council.js'

interface Case {
  readonly name: string
  readonly given?: (council: Council) => void
  readonly options?: Partial<RunOptions>
  readonly calls: readonly ResponseCall[]
  readonly reason: string
  readonly message: string
  readonly error: string | null
}

const TEN = 'one two three four five six seven eight nine ten'
const bothAnswered = (council: Council): void => {
  council.answer('a', 'first')
  council.answer('b', 'second')
}

const CASES: readonly Case[] = [
  {
    name: 'a tool that does not exist',
    calls: [call('execute_command', { command: 'ls' })],
    reason: 'unknown_tool',
    message: 'Retry (1/3): Called execute_command (not workflow). Required: vote or new_answer',
    error: null,
  },
  {
    name: 'only tools that exist but end nothing',
    calls: [call('read_files'), call('grep'), call('read_files')],
    reason: 'no_workflow_tool',
    message: 'Retry (1/3): Called read_files, grep (not workflow). Required: vote or new_answer',
    error: null,
  },
  {
    name: 'text alone',
    calls: [],
    reason: 'no_tool_calls',
    message: 'Retry (1/3): No tool called. Required: vote or new_answer',
    error: null,
  },
  {
    name: 'a vote for an id that nobody has',
    given: bothAnswered,
    calls: [vote('agent5')],
    reason: 'invalid_vote_id',
    message: "Retry (1/3): Invalid agent_id 'agent5'. Valid agents: agent1, agent2",
    error: "Invalid agent_id 'agent5'. Valid agents: agent1, agent2",
  },
  {
    name: 'a vote for a real id in place of the anonymous one',
    given: bothAnswered,
    calls: [vote('b')],
    reason: 'invalid_vote_id',
    message: "Retry (1/3): Invalid agent_id 'b'. Valid agents: agent1, agent2",
    error: "Invalid agent_id 'b'. Valid agents: agent1, agent2",
  },
  {
    name: 'a vote for a participant that has no answer',
    given: (council) => council.answer('b', 'second'),
    calls: [vote('agent3')],
    reason: 'invalid_vote_id',
    message: "Retry (1/3): Invalid agent_id 'agent3'. Valid agents: agent2",
    error: "Invalid agent_id 'agent3'. Valid agents: agent2",
  },
  {
    name: 'a vote without an id',
    given: bothAnswered,
    calls: [call('vote', ['agent1'])],
    reason: 'invalid_vote_id',
    message: "Retry (1/3): Invalid agent_id ''. Valid agents: agent1, agent2",
    error: "Invalid agent_id ''. Valid agents: agent1, agent2",
  },
  {
    name: 'a vote for itself where that is not allowed',
    given: bothAnswered,
    options: { allowSelfVote: false },
    calls: [vote('agent1')],
    reason: 'invalid_vote_id',
    message: "Retry (1/3): Invalid agent_id 'agent1'. Valid agents: agent2",
    error: "Invalid agent_id 'agent1'. Valid agents: agent2",
  },
  {
    name: 'a vote while there are no answers',
    calls: [vote('agent1')],
    reason: 'vote_no_answers',
    message: 'Retry (1/3): Cannot vote when no answers exist. Required: new_answer',
    error: 'Cannot vote when no answers exist. Required: new_answer',
  },
  {
    name: 'a vote and an answer at once',
    given: bothAnswered,
    calls: [vote('agent2'), newAnswer('third')],
    reason: 'vote_and_answer',
    message: 'Retry (1/3): Called vote and new_answer in one response. Required: exactly one of them',
    error: 'Called vote and new_answer in one response. Required: exactly one of them',
  },
  {
    name: 'one answer more than an agent may give',
    given: bothAnswered,
    options: { maxNewAnswersPerAgent: 1 },
    calls: [newAnswer('third')],
    reason: 'answer_limit',
    message: 'Retry (1/3): Answer limit reached (1). Required: vote',
    error: 'Answer limit reached (1). Required: vote',
  },
  {
    name: 'one answer more than all may give together',
    given: bothAnswered,
    options: { maxNewAnswersGlobal: 2 },
    calls: [newAnswer('third')],
    reason: 'answer_limit',
    message: 'Retry (1/3): Answer limit reached (2). Required: vote',
    error: 'Answer limit reached (2). Required: vote',
  },
  {
    name: 'an answer that shares eight of ten words',
    given: (council) => council.answer('b', 'one two three four five six seven eight nine'),
    options: { novelty: 'balanced' },
    calls: [newAnswer('ONE two three\tfour five\nsix seven eight ten')],
    reason: 'answer_novelty',
    message: 'Retry (1/3): Answer too similar to agent2.1 (80% > 70%). Required: a different answer, or vote',
    error: 'Answer too similar to agent2.1 (80% > 70%). Required: a different answer, or vote',
  },
  {
    name: 'the answer of somebody else, with white space around it',
    given: (council) => council.answer('b', 'second'),
    calls: [newAnswer('  second\n')],
    reason: 'answer_duplicate',
    message: 'Retry (1/3): Answer identical to agent2.1. Required: a different answer, or vote',
    error: 'Answer identical to agent2.1. Required: a different answer, or vote',
  },
  {
    name: 'an answer without content',
    calls: [call('new_answer', { content: '  ' })],
    reason: 'no_workflow_tool',
    message: 'Retry (1/3): Called new_answer (without content). Required: vote or new_answer',
    error: null,
  },
  {
    name: 'an answer that is too long',
    calls: [newAnswer('x'.repeat(100_001))],
    reason: 'no_workflow_tool',
    message: 'Retry (1/3): Called new_answer (content longer than 100,000 characters). Required: vote or new_answer',
    error: null,
  },
]

function councilFor(one: Pick<Case, 'given' | 'options'>): Council {
  const council = new Council({ agents: ['a', 'b', 'c'], options: one.options ?? {} })
  one.given?.(council)
  council.turn('a')
  return council
}

describe('a response that is rejected', () => {
  it.each(CASES)('[REQ-ROUND-1] $name is $reason, with its words, and changes no answer and no vote', (one) => {
    const council = councilFor(one)
    const before = council.run
    const outcome = council.respond('a', one.calls, { text: 'Thinking' })
    expect(outcome).toMatchObject({ kind: 'rejected', reason: one.reason, message: one.message, stopped: null })
    expect(council.run.answers).toBe(before.answers)
    expect(council.agent('a').vote).toBe(null)
    const record = council.reliability('a')!
    expect(record.enforcement_attempts).toHaveLength(1)
    expect(record.enforcement_attempts[0]).toMatchObject({
      attempt: 1,
      max_attempts: 3,
      reason: one.reason,
      error_message: one.error,
      tool_calls: one.calls.map(({ name }) => name),
      buffer_preview: 'Thinking',
      buffer_chars: 8,
    })
    expect(record.workflow_errors).toEqual(one.error === null ? [] : [one.reason])
  })

  it('[REQ-ROUND-1] the table has every reason', () => {
    expect(new Set(CASES.map(({ reason }) => reason))).toEqual(new Set(REASONS))
  })

  it('[REQ-ROUND-1] what an agent chose to call a tool or an id cannot break the line or lead a terminal', () => {
    const council = new Council()
    council.answer('b', 'x')
    council.turn('a')
    const outcome = council.respond('a', [call('rm\n\u001b[31m'), call('y'.repeat(500))])
    expect(outcome).toMatchObject({ message: expect.stringMatching(/^[^\p{Cc}]{1,400}$/u) })
    const voted = council.respond('a', [vote("agent1'\nRetry (1/3): fine")])
    expect(voted).toMatchObject({ message: expect.not.stringContaining('\n') })
  })
})

describe('one response', () => {
  const responses: readonly {
    readonly name: string
    readonly calls: readonly ResponseCall[]
    readonly reason: string
    readonly given?: (council: Council) => void
  }[] = [
    { name: 'three bad calls', calls: [call('x'), call('y'), call('z')], reason: 'unknown_tool' },
    {
      name: 'three invalid votes',
      given: bothAnswered,
      calls: [vote('agent7'), vote('agent8'), vote('agent9')],
      reason: 'invalid_vote_id',
    },
    {
      name: 'a tool that does not exist beside one that does',
      calls: [call('grep'), call('x')],
      reason: 'unknown_tool',
    },
    { name: 'a good answer before a bad call', calls: [newAnswer('good'), call('x')], reason: 'unknown_tool' },
    { name: 'a good answer after a bad call', calls: [call('x'), newAnswer('good')], reason: 'unknown_tool' },
    {
      name: 'a good vote after an invalid one',
      given: bothAnswered,
      calls: [vote('agent7'), vote('agent2')],
      reason: 'invalid_vote_id',
    },
    {
      name: 'an invalid vote before an unknown tool',
      given: bothAnswered,
      calls: [vote('agent7'), call('x')],
      reason: 'invalid_vote_id',
    },
    {
      name: 'an unknown tool before a vote and an answer',
      given: bothAnswered,
      calls: [call('x'), vote('agent2'), newAnswer('good')],
      reason: 'unknown_tool',
    },
    {
      name: 'an invalid vote and an answer',
      given: bothAnswered,
      calls: [vote('agent7'), newAnswer('good')],
      reason: 'vote_and_answer',
    },
  ]

  it.each(responses)('[REQ-ROUND-2] $name is one attempt for $reason and has no other effect', (one) => {
    const council = councilFor(one)
    const answers = council.run.answers.length
    expect(council.respond('a', one.calls)).toMatchObject({ kind: 'rejected', reason: one.reason, attempt: 1 })
    expect(council.reliability('a')?.total_enforcement_retries).toBe(1)
    expect(council.reliability('a')?.enforcement_attempts[0]?.tool_calls).toEqual(one.calls.map(({ name }) => name))
    expect(council.run.answers).toHaveLength(answers)
    expect(council.agent('a').vote).toBe(null)
  })

  it('[REQ-ROUND-2] of several votes the last counts, and once', () => {
    const council = councilFor({ given: bothAnswered })
    expect(council.respond('a', [vote('agent1'), call('grep'), vote('agent2')])).toMatchObject({
      kind: 'accepted',
      action: 'vote',
      label: 'agent2.1',
    })
    expect(council.status().results.votes).toEqual({ b: 1 })
  })

  it('[REQ-ROUND-2] of several answers the last counts, and one is recorded', () => {
    const council = new Council()
    expect(council.respond('a', [newAnswer('one'), newAnswer('two')])).toMatchObject({ label: 'agent1.1' })
    expect(council.run.answers.map(({ content }) => content)).toEqual(['two'])
  })

  it.each([
    [['grep', 'read_files'], true],
    [[], false],
    [['grep', 'vote'], false],
    [['new_answer'], false],
    [['grep', 'execute_command'], false],
  ] as const)('[REQ-ROUND-2] after calls of %j the agent goes on without a decision: %s', (names, isOn) => {
    expect(
      isOnlyToolCalls(
        names.map((name) => call(name)),
        ['grep', 'read_files', 'vote'],
      ),
    ).toBe(isOn)
  })

  it('[REQ-ROUND-2] more calls than anybody makes are one rejected response', () => {
    const council = new Council()
    const calls = [...Array.from({ length: 1000 }, () => call('grep')), newAnswer('late')]
    expect(council.respond('a', calls)).toMatchObject({
      message: 'Retry (1/3): Called grep (more than 1,000 calls in one response). Required: vote or new_answer',
    })
    expect(council.reliability('a')?.enforcement_attempts[0]?.tool_calls).toHaveLength(100)
  })
})

describe('attempts', () => {
  it('[REQ-ROUND-4] the last attempt is recorded and stops the agent, and the others go on', () => {
    const council = new Council()
    council.turn('a')
    council.respond('a', [call('execute_command')])
    council.respond('a', [call('read_files')])
    const last = council.respond('a', [], { text: 'I give up', handled: 'restart' })
    expect(last).toMatchObject({
      message: 'Retry (3/3): No tool called. Required: vote or new_answer',
      stopped: 'Agent failed to use workflow tools after 3 attempts',
    })
    expect(council.reliability('a')).toMatchObject({
      by_round: { 1: { count: 3, reasons: ['unknown_tool', 'no_workflow_tool', 'no_tool_calls'] } },
      total_enforcement_retries: 3,
      outcome: 'non_compliant',
    })
    expect(council.status().agents.a).toMatchObject({
      status: 'stopped',
      error: { type: 'non_compliant', message: 'Agent failed to use workflow tools after 3 attempts' },
    })
    expect(council.respond('a', [newAnswer('late')])).toMatchObject({ kind: 'refused', because: 'not_awaited' })
    expect(council.status().is_complete).toBe(false)
    council.answer('b', 'mine')
    council.vote('b', 'agent2')
    expect(council.status()).toMatchObject({ finish_reason: 'completed', results: { winner: 'b' } })
  })

  it('[REQ-ROUND-4] a new round starts the attempts at 1 again, a restart alone does not', () => {
    const council = new Council()
    council.turn('a')
    council.respond('a', [], { handled: 'restart' })
    council.turn('a')
    expect(council.respond('a', [], { handled: 'restart' })).toMatchObject({ round: 1, attempt: 2 })
    council.answer('b', 'news')
    council.turn('a')
    expect(council.respond('a', [call('x')])).toMatchObject({ round: 2, attempt: 1 })
    expect(council.reliability('a')?.by_round).toEqual({
      1: { count: 2, reasons: ['no_tool_calls'] },
      2: { count: 1, reasons: ['unknown_tool'] },
    })
  })

  it('[REQ-ROUND-4] a run that allows one attempt stops at the first', () => {
    const council = new Council({ options: { maxAttempts: 1 } })
    expect(council.respond('a', [])).toMatchObject({
      message: 'Retry (1/1): No tool called. Required: vote or new_answer',
      stopped: 'Agent failed to use workflow tools after 1 attempt',
    })
  })
})

describe('answers', () => {
  it('[REQ-ROUND-3] the limit is looked at before duplicates, and duplicates before novelty', () => {
    const council = new Council({ options: { maxNewAnswersPerAgent: 1, novelty: 'strict' } })
    council.answer('a', TEN)
    council.turn('a')
    expect(council.respond('a', [newAnswer(TEN)])).toMatchObject({ reason: 'answer_limit' })
    council.turn('b')
    expect(council.respond('b', [newAnswer(TEN)])).toMatchObject({ reason: 'answer_duplicate' })
    expect(council.respond('b', [newAnswer(`${TEN} eleven`)])).toMatchObject({ reason: 'answer_novelty' })
    expect(council.run.answers).toHaveLength(1)
  })

  it.each([
    ['lenient', 10, true],
    ['balanced', 7, true],
    ['balanced', 8, false],
    ['strict', 5, true],
    ['strict', 6, false],
  ] as const)('[REQ-ROUND-3] under %s, %i common words of ten are accepted: %s', (novelty, common, isAccepted) => {
    const council = new Council({ options: { novelty } })
    council.answer('b', TEN.split(' ').slice(0, common).join(' '))
    council.turn('a')
    const content = common === 10 ? `${TEN}  ten` : TEN
    expect(council.respond('a', [newAnswer(content)]).kind).toBe(isAccepted ? 'accepted' : 'rejected')
  })

  it('[REQ-ROUND-3] a share just above the limit is not shown as the limit', () => {
    const council = new Council({ options: { novelty: 'balanced' } })
    const words = Array.from({ length: 1000 }, (_, index) => `w${index}`)
    council.answer('b', words.slice(0, 701).join(' '))
    council.turn('a')
    const outcome = council.respond('a', [newAnswer(words.join(' '))])
    expect(outcome).toMatchObject({ message: expect.stringMatching(/agent2\.1 \(70\.\d% > 70%\)/) })
  })

  it('[REQ-ROUND-3] the most similar answer is named, also an older revision, and one by the same agent', () => {
    const council = new Council({ options: { novelty: 'strict' } })
    council.answer('a', 'one two three four')
    council.answer('a', 'completely different words here')
    council.turn('a')
    expect(council.respond('a', [newAnswer('one two three five')])).toMatchObject({
      message: expect.stringContaining('too similar to agent1.1 (60% > 50%)'),
    })
  })

  it.each([
    ['/trees/b', 'see /trees/b/src/x.ts', true],
    ['/trees/b/', 'see /trees/b/src/x.ts', true],
    ['/trees/b', 'see /trees/bc/src/x.ts', false],
    ['/trees/b', 'see /other/trees/b/src/x.ts', false],
    ['/trees/a.b', 'see /trees/axb/src/x.ts', false],
  ])('[REQ-ROUND-3] with a work tree %s, %s is a duplicate: %s', (workTree, content, isDuplicate) => {
    const council = new Council({
      agents: [
        { id: 'a', workTree: '/trees/a' },
        { id: 'b', workTree },
      ],
    })
    council.answer('a', 'see /trees/a/src/x.ts')
    council.turn('b')
    const outcome = council.respond('b', [newAnswer(content)])
    expect(outcome).toMatchObject(isDuplicate ? { reason: 'answer_duplicate' } : { kind: 'accepted' })
  })

  it.each([
    ['/trees/ax', '/trees/bx'],
    ['see x/trees/a', 'see x/trees/b'],
    ['/trees/a-1/f', '/trees/b-1/f'],
  ])('[REQ-ROUND-3] %s and %s are in no work tree and are two answers', (one, other) => {
    const council = new Council({
      agents: [
        { id: 'a', workTree: '/trees/a' },
        { id: 'b', workTree: '/trees/b' },
      ],
    })
    council.answer('a', one)
    expect(council.answer('b', other).kind).toBe('accepted')
  })

  it('[REQ-ROUND-3] a work tree may be named several times, and at the end', () => {
    const council = new Council({
      agents: [
        { id: 'a', workTree: '/trees/a' },
        { id: 'b', workTree: '/trees/b' },
      ],
    })
    council.answer('a', 'cp /trees/a/x /trees/a')
    council.turn('b')
    expect(council.respond('b', [newAnswer('cp /trees/b/x /trees/b')])).toMatchObject({ reason: 'answer_duplicate' })
  })

  it.each([
    ['1 2 3 4 5 6', '1 2 3 4 5 8', 'agent1.1'],
    ['1 2 3 4 5 6', '2 3 4 5 6 7', 'agent1.1'],
    ['1 2 3 4 8 9', '1 2 3 4 5 6 7 9', 'agent2.1'],
  ])('[REQ-ROUND-3] of %s and %s the more similar one is named, the earlier of equals: %s', (first, second, label) => {
    const council = new Council({ agents: ['a', 'b', 'c'], options: { novelty: 'strict' } })
    // Both could not stand beside each other under this setting, so they are put there as they would be under another.
    const lenient = { ...council.run, options: { ...council.run.options, novelty: 'lenient' as const } }
    const strict = council.run.options
    council.run = lenient
    council.answer('a', first)
    council.answer('b', second)
    council.run = { ...council.run, options: strict }
    council.turn('c')
    const outcome = council.respond('c', [newAnswer('1 2 3 4 5 6 7')])
    expect(outcome).toMatchObject({ message: expect.stringContaining(`too similar to ${label} (`) })
  })

  it('[REQ-ROUND-3] a work tree inside another one is replaced whole', () => {
    const council = new Council({
      agents: [
        { id: 'a', workTree: '/trees' },
        { id: 'b', workTree: '/trees/b' },
      ],
    })
    council.answer('a', '/trees/x')
    council.turn('b')
    expect(council.respond('b', [newAnswer('/trees/b/x')])).toMatchObject({ reason: 'answer_duplicate' })
  })

  it('[REQ-ROUND-3] a copy with half a character in it is still a copy', () => {
    const council = new Council()
    council.answer('a', 'x\ud83d')
    council.turn('b')
    expect(council.respond('b', [newAnswer('x\ud83d')])).toMatchObject({ reason: 'answer_duplicate' })
  })
})

describe('the scenarios of the enforcement record', () => {
  it('[REQ-ROUND-12] an unknown tool is tracked with round, attempt, reason, calls, preview and time', () => {
    const council = new Council()
    council.turn('a')
    council.now = T0 + 123
    council.respond('a', [call('execute_command')], {
      buffer: `[Reasoning]\n${'I should read. '.repeat(1000)}`,
      handled: 'restart',
    })
    const record = council.reliability('a')!
    expect(record.enforcement_attempts).toEqual([
      {
        round: 1,
        attempt: 1,
        max_attempts: 3,
        reason: 'unknown_tool',
        tool_calls: ['execute_command'],
        error_message: null,
        buffer_preview: `[Reasoning]\n${'I should read. '.repeat(1000)}`.slice(0, 500),
        buffer_chars: 15_012,
        handled: 'restart',
        timestamp: 1_736_683_468.123,
      },
    ])
    expect(record).toMatchObject({
      by_round: { 1: { count: 1, reasons: ['unknown_tool'] } },
      unknown_tools: ['execute_command'],
      workflow_errors: [],
      total_enforcement_retries: 1,
      total_buffer_chars_lost: 15_012,
      outcome: 'ok',
    })
  })

  it('[REQ-ROUND-12] an invalid vote is tracked with the valid ids', () => {
    const council = new Council()
    council.answer('a', 'x')
    council.answer('b', 'y')
    council.turn('a')
    council.respond('a', [vote('agent5')])
    expect(council.reliability('a')?.enforcement_attempts[0]).toMatchObject({
      reason: 'invalid_vote_id',
      error_message: "Invalid agent_id 'agent5'. Valid agents: agent1, agent2",
    })
  })

  it('[REQ-ROUND-12] several attempts of a round are all there, counted by round, and rounds without any are there too', () => {
    const council = new Council()
    council.turn('a')
    council.answer('b', 'one')
    council.turn('a')
    council.respond('a', [call('x')])
    council.respond('a', [call('x'), call('y')])
    council.answer('b', 'two')
    council.turn('a')
    council.respond('a', [newAnswer('mine')])
    const record = council.reliability('a')!
    expect(record.enforcement_attempts.map(({ round, attempt }) => [round, attempt])).toEqual([
      [2, 1],
      [2, 2],
    ])
    expect(record.by_round).toEqual({
      1: { count: 0, reasons: [] },
      2: { count: 2, reasons: ['unknown_tool'] },
      3: { count: 0, reasons: [] },
    })
    expect(record.unknown_tools).toEqual(['x', 'y'])
    expect(Object.keys(record)).toEqual([
      'enforcement_attempts',
      'by_round',
      'unknown_tools',
      'workflow_errors',
      'total_enforcement_retries',
      'total_buffer_chars_lost',
      'outcome',
    ])
  })

  it('[REQ-ROUND-12] an agent without events has no record', () => {
    const council = new Council()
    council.answer('a', 'x')
    expect(council.reliability('a')).toBe(null)
  })

  it('[REQ-ROUND-12] an inline refusal loses nothing, and a response without a call is a restart', () => {
    const council = new Council()
    council.turn('a')
    council.respond('a', [call('x')], { buffer: '12345', handled: 'inline' })
    expect(council.reliability('a')?.total_buffer_chars_lost).toBe(0)
    expect(council.respond('a', [], { text: '1234567', handled: 'inline' })).toMatchObject({ handled: 'restart' })
    expect(council.reliability('a')?.total_buffer_chars_lost).toBe(7)
  })

  it.each([
    ['a crash', (council: Council) => void council.do({ type: 'agent_failed', agent: 'a', message: 'exit 1' })],
    ['a time-out', (council: Council) => void council.do({ type: 'agent_timed_out', agent: 'a' })],
    ['the end of its round', (council: Council) => council.tick(600)],
    ['the end of the run', (council: Council) => council.tick(1800)],
  ])('[REQ-ROUND-12] after %s the outcome of an agent with events is dropped', (_name, happen) => {
    const council = new Council()
    council.turn('a')
    council.respond('a', [call('x')])
    happen(council)
    expect(council.reliability('a')?.outcome).toBe('dropped')
    expect(council.reliability('b')).toBe(null)
  })

  it('[REQ-ROUND-12] an agent that came to a valid end after a rejection is ok', () => {
    const council = new Council({ agents: ['a'] })
    council.turn('a')
    council.respond('a', [call('x')])
    council.respond('a', [newAnswer('y')])
    council.vote('a', 'agent1')
    expect(council.status().is_complete).toBe(true)
    expect(council.reliability('a')?.outcome).toBe('ok')
  })
})
