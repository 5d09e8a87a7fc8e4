import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Running, start } from '../http/harness.js'
import { DIALECTS, ModelServer } from '../participants/model-server.js'
import { answer, begin, ended, model, says, statusWhen, streamed, toldIn, toolError, vote } from './council.js'

let server: Running
beforeAll(async () => {
  server = await start()
  mkdirSync(join(server.workspace, 'docs'), { recursive: true })
  writeFileSync(join(server.workspace, 'docs/way.md'), 'north of here\n')
})
afterAll(() => server.stop())

let models: ModelServer
beforeEach(async () => {
  models = await ModelServer.start()
})
afterEach(() => models.stop())

const CALLED = 'Called execute_command (not workflow). Required: vote or new_answer'
const FIRST = streamed('new_answer', { content: 'go north' })
const GOOD_VOTE = streamed('vote', { agent_id: 'agent1', reason: 'it is the only one' })

/** Answers first and is agent1; then votes for itself as often as asked. */
const peer = (content: string) => ({
  id: 'a-peer',
  kind: 'scripted',
  script: [answer(content), ...Array.from({ length: 6 }, () => vote('agent1'))],
})

/** The model's server holds its first answer back until the peer's is there. */
async function hasAnswered(before: string | undefined): Promise<void> {
  const newest = await server.app.coordinations.newest()
  if (before === undefined || newest === null) return
  await statusWhen(server, newest.id, (status) => status.agents['a-peer']?.answer_count === 1)
}

interface Case {
  readonly reason: string
  readonly calls: readonly ReturnType<typeof streamed>[]
  /** What the model is told, without the count of attempts. */
  readonly message: string
  readonly error: string | null
  readonly workflow: readonly string[]
  readonly unknown?: readonly string[]
  readonly options?: Record<string, unknown>
  /** The content of the answer that a peer has given before the model is asked; none when undefined. */
  readonly before?: string
  readonly next: ReturnType<typeof streamed>
}

const SIMILAR = 'Answer too similar to agent1.1 (80% > 70%). Required: a different answer, or vote'
const CASES: readonly Case[] = [
  {
    reason: 'unknown_tool',
    calls: [streamed('execute_command', { command: 'ls' })],
    message: CALLED,
    error: null,
    workflow: [],
    unknown: ['execute_command'],
    next: FIRST,
  },
  {
    reason: 'invalid_vote_id',
    calls: [streamed('vote', { agent_id: 'agent5', reason: 'x' })],
    message: "Invalid agent_id 'agent5'. Valid agents: agent1",
    error: "Invalid agent_id 'agent5'. Valid agents: agent1",
    workflow: ['invalid_vote_id'],
    before: 'go south',
    next: GOOD_VOTE,
  },
  {
    reason: 'vote_no_answers',
    calls: [streamed('vote', { agent_id: 'agent1', reason: 'x' })],
    message: 'Cannot vote when no answers exist. Required: new_answer',
    error: 'Cannot vote when no answers exist. Required: new_answer',
    workflow: ['vote_no_answers'],
    next: FIRST,
  },
  {
    reason: 'vote_and_answer',
    calls: [streamed('vote', { agent_id: 'agent1', reason: 'x' }), streamed('new_answer', { content: 'both' })],
    message: 'Called vote and new_answer in one response. Required: exactly one of them',
    error: 'Called vote and new_answer in one response. Required: exactly one of them',
    workflow: ['vote_and_answer'],
    before: 'go south',
    next: GOOD_VOTE,
  },
  {
    reason: 'answer_limit',
    calls: [streamed('new_answer', { content: 'one more' })],
    message: 'Answer limit reached (1). Required: vote',
    error: 'Answer limit reached (1). Required: vote',
    workflow: ['answer_limit'],
    options: { max_new_answers_global: 1 },
    before: 'go south',
    next: GOOD_VOTE,
  },
  {
    reason: 'answer_novelty',
    calls: [streamed('new_answer', { content: 'a b c d e f g h' })],
    message: SIMILAR,
    error: SIMILAR,
    workflow: ['answer_novelty'],
    options: { novelty: 'balanced' },
    before: 'a b c d e f g h i j',
    next: GOOD_VOTE,
  },
  {
    reason: 'answer_duplicate',
    calls: [streamed('new_answer', { content: '  go south\n' })],
    message: 'Answer identical to agent1.1. Required: a different answer, or vote',
    error: 'Answer identical to agent1.1. Required: a different answer, or vote',
    workflow: ['answer_duplicate'],
    before: 'go south',
    next: GOOD_VOTE,
  },
]

describe.each(DIALECTS)('a model behind $provider', (dialect) => {
  const script = { text: ['I think ', 'this is it 🙂.'] }
  const BUFFER = { buffer_preview: 'I think this is it 🙂.', buffer_chars: 21 }

  /** A run in which the model is asked once the peer has answered. */
  async function run(one: Pick<Case, 'options' | 'before'>, more: Record<string, unknown> = {}) {
    const seats = one.before === undefined ? [] : [peer(one.before)]
    const { id } = await begin(server, {
      agents: [...seats, model('b-model', dialect, models, more)],
      options: { ...one.options },
    })
    return id
  }

  it.each(CASES)(
    '[REQ-ENFORCED-1] $reason is reported as a tool error in the same conversation, and recorded',
    async (one) => {
      models.will(
        [{ until: () => hasAnswered(one.before) }, ...says(dialect, { ...script, calls: one.calls })],
        ...(one.before === undefined ? [] : [says(dialect, { calls: [one.next] })]),
        says(dialect, { text: ['Then so.'], calls: [one.next] }),
        says(dialect, { calls: [GOOD_VOTE] }),
      )
      const status = await ended(server, await run(one))
      const record = status.agents['b-model']?.reliability
      expect(record).toMatchObject({
        enforcement_attempts: [
          {
            round: 1,
            attempt: 1,
            max_attempts: 3,
            reason: one.reason,
            tool_calls: one.calls.map(({ name }) => name),
            error_message: one.error,
            ...BUFFER,
            handled: 'inline',
            timestamp: expect.closeTo(Date.now() / 1000, -2),
          },
        ],
        by_round: { 1: { count: 1, reasons: [one.reason] } },
        unknown_tools: one.unknown ?? [],
        workflow_errors: one.workflow,
        total_enforcement_retries: 1,
        total_buffer_chars_lost: 0,
        outcome: 'ok',
      })
      const told = toldIn(dialect, models, 1)
      const errors = told.filter((line) => line.startsWith(toolError(dialect, 'Retry')))
      const expected = toolError(dialect, `Retry (1/3): ${one.message}`)
      expect(errors.map((line) => line.split('\n')[0])).toEqual(one.calls.map(() => expected))
      expect(told).toContain('assistant: I think this is it 🙂.')
      expect(status.agents['b-model']?.times_restarted).toBeLessThanOrEqual(1)
    },
  )

  it('[REQ-ENFORCED-2] no_tool_calls is a restart that carries what was streamed', async () => {
    models.will(
      says(dialect, { reasoning: 'Hm.', ...script }),
      says(dialect, { calls: [FIRST] }),
      says(dialect, { calls: [GOOD_VOTE] }),
    )
    const status = await ended(server, await run({}))
    expect(status.agents['b-model']).toMatchObject({
      reliability: {
        enforcement_attempts: [
          { reason: 'no_tool_calls', tool_calls: [], error_message: null, handled: 'restart', ...BUFFER },
        ],
        unknown_tools: [],
        workflow_errors: [],
        total_buffer_chars_lost: 21,
        outcome: 'ok',
      },
    })
    const told = toldIn(dialect, models, 1)
    expect(told.filter((line) => line.startsWith('assistant'))).toEqual([])
    expect(told.at(-1)).toContain('\n\nRetry (1/3): No tool called. Required: vote or new_answer\n\n')
    expect(told.at(-1)).toContain('What you had written before this restart (21 characters):\nI think this is it 🙂.')
  })

  it('[REQ-ENFORCED-3] no_workflow_tool is a turn that ended after tools that only look', async () => {
    models.will(
      says(dialect, { text: ['Let me look. '], calls: [streamed('read_files', { path: 'docs/way.md' })] }),
      says(dialect, { text: ['It is north.'] }),
      says(dialect, { calls: [FIRST] }),
      says(dialect, { calls: [GOOD_VOTE] }),
    )
    const status = await ended(server, await run({ options: { tools: ['read_files'] } }))
    expect(toldIn(dialect, models, 1).at(-1)).toContain('north of here')
    expect(status.agents['b-model']?.reliability).toMatchObject({
      enforcement_attempts: [
        {
          reason: 'no_workflow_tool',
          tool_calls: ['read_files'],
          error_message: null,
          handled: 'restart',
          buffer_preview: 'Let me look. It is north.',
          buffer_chars: 25,
        },
      ],
      total_buffer_chars_lost: 25,
    })
    const last = toldIn(dialect, models, 2).at(-1) ?? ''
    expect(last).toContain('Retry (1/3): Called read_files (not workflow). Required: vote or new_answer')
    expect(last).toContain('Let me look. It is north.')
  })

  it('[REQ-ENFORCED-3] an unknown tool wins over one that only looks, which is run all the same', async () => {
    const calls = [streamed('read_files', { path: 'docs/way.md' }), streamed('execute_command', {})]
    models.will(says(dialect, { calls }), says(dialect, { calls: [FIRST] }), says(dialect, { calls: [GOOD_VOTE] }))
    const status = await ended(server, await run({ options: { tools: ['read_files'] } }))
    expect(status.agents['b-model']?.reliability?.enforcement_attempts).toMatchObject([
      { reason: 'unknown_tool', tool_calls: ['read_files', 'execute_command'], handled: 'inline' },
    ])
    const told = toldIn(dialect, models, 1)
    expect(told.at(-2)).toContain('north of here')
    expect(told.at(-1)).toBe(toolError(dialect, `Retry (1/3): ${CALLED}`))
  })

  it('[REQ-ENFORCED-2] a model without tool errors gets the refusal in a new conversation, with its call', async () => {
    models.will(
      says(dialect, { ...script, calls: [streamed('execute_command', { command: 'ls -la' })] }),
      says(dialect, { calls: [FIRST] }),
      says(dialect, { calls: [GOOD_VOTE] }),
    )
    const status = await ended(server, await run({}, { takes_tool_errors: false }))
    expect(status.agents['b-model']?.reliability).toMatchObject({
      enforcement_attempts: [{ reason: 'unknown_tool', handled: 'restart', ...BUFFER }],
      total_buffer_chars_lost: 21,
    })
    const last = toldIn(dialect, models, 1).at(-1) ?? ''
    expect(last).toContain(`Retry (1/3): ${CALLED}`)
    expect(last).toContain('I think this is it 🙂.')
    expect(last).toContain('You had called execute_command, without effect:\n{"command":"ls -la"}')
  })

  it('[REQ-ENFORCED-4] a server that asks to wait and one that fails are asked again, without an enforcement event', async () => {
    models.will(
      { status: 429, headers: { 'retry-after': '0' }, acts: ['{}'] },
      { status: 500, headers: { 'retry-after': '0' }, acts: ['{}'] },
      says(dialect, { calls: [FIRST] }),
      says(dialect, { calls: [GOOD_VOTE] }),
    )
    const status = await ended(server, await run({}))
    expect(status).toMatchObject({
      finish_reason: 'completed',
      agents: { 'b-model': { error: null, reliability: null } },
    })
    expect(models.asked).toHaveLength(4)
  })

  it.each([
    ['ends in the middle', (half: readonly string[]) => [...half, 'cut' as const], 'The stream ended in the middle.'],
    ['cannot be read', (half: readonly string[]) => [...half, 'data: {"half\n\n'], 'The stream cannot be understood.'],
  ])('[REQ-ENFORCED-4] a stream that %s takes the agent out, and the others go on', async (_name, acts, message) => {
    const half = dialect.answer({ text: ['Half an '], calls: [FIRST], cut: true })
    models.will(says(dialect, { calls: [streamed('execute_command', {})] }), [
      { until: () => hasAnswered('go south') },
      ...acts(half),
    ])
    const status = await ended(server, await run({ before: 'go south' }))
    expect(status).toMatchObject({ finish_reason: 'completed', results: { winner: 'a-peer', votes: { 'a-peer': 1 } } })
    expect(status.agents['b-model']).toMatchObject({
      status: 'error',
      answer_count: 0,
      error: { type: 'crash', message },
      reliability: { outcome: 'dropped', total_enforcement_retries: 1 },
    })
  })
})
