import { describe, expect, it } from 'vitest'
import { countChars, takeFirstChars } from '../../../src/core/councils/code-points.js'
import {
  ATTEMPTS_KEPT_MAX,
  addRefusal,
  addRound,
  buildReliabilityRecord,
  NO_RELIABILITY,
  type Reliability,
  UNKNOWN_TOOLS_KEPT_MAX,
} from '../../../src/core/councils/reliability.js'
import { buildRunStatus } from '../../../src/core/councils/status.js'
import { cpuMs } from '../../cpu-time.js'
import { Council, call, newAnswer, T0, vote } from './council.js'

describe('characters', () => {
  it('[REQ-ROUND-13] a preview has 500 characters and never half of one', () => {
    const council = new Council()
    council.turn('a')
    council.respond('a', [], { buffer: `${'x'.repeat(499)}😀😀` })
    const attempt = council.reliability('a')?.enforcement_attempts[0]
    expect(attempt?.buffer_preview).toBe(`${'x'.repeat(499)}😀`)
    expect(attempt?.buffer_chars).toBe(501)
  })

  it('[REQ-ROUND-13] counting and cutting agree with the code points of a text', () => {
    for (const text of ['', 'a', '😀', 'a😀b', '\ud83d', '\ude00\ud83d', '\ud83d\ud83d\ude00x', '😀'.repeat(5)]) {
      const points = Array.from(text.toWellFormed())
      expect(countChars(text)).toBe(points.length)
      for (let max = 0; max <= points.length + 1; max++)
        expect(takeFirstChars(text, max)).toBe(points.slice(0, max).join(''))
    }
  })

  it('[REQ-ROUND-13] a stream of which only the beginning was kept is counted whole', () => {
    const council = new Council()
    for (const [said, chars] of [
      [7000, 7000],
      [2, 5],
      [Number.NaN, 5],
    ] as const) {
      const command = { type: 'responded' as const, agent: 'a', text: '', toolCalls: [], knownTools: [] }
      council.do({ ...command, buffer: '12345', bufferChars: said, handled: 'restart' })
      expect(council.reliability('a')?.enforcement_attempts.at(-1)?.buffer_chars).toBe(chars)
    }
  })
})

describe('tokens', () => {
  it('[REQ-ROUND-19] those of every turn are added up, with the round they were used in', () => {
    const council = new Council()
    council.turn('a')
    const tokens = { input: 10, output: 3, cacheRead: 2, cacheWrite: 1 }
    council.do({ type: 'usage', agent: 'a', tokens })
    council.do({ type: 'usage', agent: 'a', tokens })
    expect(council.run.agents.get('a')?.tokens).toEqual({ input: 20, output: 6, cacheRead: 4, cacheWrite: 2 })
    expect(council.run.agents.get('b')?.tokens).toEqual({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 })
    expect(council.events.at(-1)).toMatchObject({ type: 'usage_recorded', agent: 'a', round: 1, ...tokens })
  })
})

describe('status.json of a run', () => {
  it('[REQ-ROUND-14] has its keys in their order', () => {
    const council = new Council()
    council.answer('a', 'x')
    const status = buildRunStatus(council.run, T0 + 1500, '/state/runs/run-1')
    const shape = (value: object): readonly string[] => Object.keys(value)
    expect(shape(status)).toEqual([
      'finish_reason',
      'finish_reason_details',
      'is_complete',
      'meta',
      'coordination',
      'agents',
      'results',
    ])
    expect(status.meta).toEqual({
      last_updated: T0 / 1000,
      session_id: 'run-1',
      log_dir: '/state/runs/run-1',
      question: 'Why?',
      start_time: T0 / 1000,
      elapsed_seconds: 1.5,
    })
    expect(shape(status.meta)).toEqual([
      'last_updated',
      'session_id',
      'log_dir',
      'question',
      'start_time',
      'elapsed_seconds',
    ])
    expect(shape(status.coordination)).toEqual([
      'phase',
      'active_agent',
      'completion_percentage',
      'is_final_presentation',
    ])
    expect(shape(status.agents.a!)).toEqual([
      'status',
      'answer_count',
      'latest_answer_label',
      'vote_cast',
      'times_restarted',
      'last_activity',
      'error',
      'reliability',
    ])
    expect(shape(status.results)).toEqual(['votes', 'winner', 'is_tie', 'final_answer_preview'])
  })

  it('[REQ-ROUND-14] follows a run from its start to its end', () => {
    const council = new Council()
    const word = (): readonly unknown[] => {
      const { agents, coordination } = council.status()
      return [agents.a?.status, agents.b?.status, coordination.phase, coordination.completion_percentage]
    }
    expect(word()).toEqual(['waiting', 'waiting', 'initial_answer', 0])
    council.turn('a')
    expect(council.status().coordination.active_agent).toBe('a')
    expect(word()).toEqual(['streaming', 'waiting', 'initial_answer', 0])
    council.respond('a', [call('x')], { handled: 'inline' })
    expect(word()).toEqual(['streaming', 'waiting', 'initial_answer', 0])
    council.respond('a', [], { handled: 'restart' })
    expect(word()).toEqual(['restarting', 'waiting', 'initial_answer', 0])
    council.answer('a', 'x')
    expect(council.status().agents.a).toMatchObject({
      answer_count: 1,
      latest_answer_label: 'agent1.1',
      times_restarted: 1,
    })
    expect(word()).toEqual(['answered', 'waiting', 'voting', 25])
    council.vote('a', 'agent1')
    expect(word()).toEqual(['voted', 'waiting', 'voting', 50])
    council.vote('b', 'agent1')
    expect(word()).toEqual(['completed', 'completed', 'finished', 100])
  })

  it('[REQ-ROUND-14] the reason of a vote is shown by its beginning', () => {
    const council = new Council()
    council.answer('a', 'x')
    council.turn('a')
    council.respond('a', [vote('agent1', '😀'.repeat(3000))])
    expect(council.agent('a').vote?.reason).toBe('😀'.repeat(2000))
    expect(council.status().agents.a?.vote_cast?.reason_preview).toBe('😀'.repeat(500))
  })
})

describe('the record of an agent in a phase workflow', () => {
  const denied = {
    at: T0,
    code: 'forbidden_tool',
    detail: 'Called write_files (not allowed in PLAN). Allowed: read_files, grep',
    retry: { attempt: 1, max: 3, text: 'Retry (1/3): …' },
    toolName: 'write_files',
  }

  it('[REQ-ROUND-17] rounds are visits, and reasons are the codes of the refusals', () => {
    let record = addRound(addRound(NO_RELIABILITY, 1), 2)
    record = addRefusal(record, denied, 2)
    record = addRefusal(record, { ...denied, code: 'unknown_tool', toolName: 'execute_command' }, 2)
    record = addRefusal(record, { at: T0, code: 'token_stale', detail: 'The token was superseded.' }, 3)
    expect(buildReliabilityRecord(record, 'ok')).toMatchObject({
      by_round: {
        1: { count: 0, reasons: [] },
        2: { count: 2, reasons: ['forbidden_tool', 'unknown_tool'] },
        3: { count: 1, reasons: ['token_stale'] },
      },
      unknown_tools: ['execute_command'],
      workflow_errors: [],
      total_enforcement_retries: 3,
      total_buffer_chars_lost: 0,
    })
    expect(record.attempts[0]).toEqual({
      round: 2,
      attempt: 1,
      max_attempts: 3,
      reason: 'forbidden_tool',
      tool_calls: ['write_files'],
      error_message: denied.detail,
      buffer_preview: '',
      buffer_chars: 0,
      handled: 'inline',
      timestamp: T0 / 1000,
    })
    expect(record.attempts[1]?.error_message).toBe(null)
  })

  it('[REQ-ROUND-17] a record stays bounded however often an agent is refused, and keeps counting', () => {
    let record: Reliability = NO_RELIABILITY
    for (let index = 0; index < 1500; index++)
      record = addRefusal(record, { ...denied, code: 'unknown_tool', toolName: `t${index}` }, index)
    const shown = buildReliabilityRecord(record, 'non_compliant')
    expect(shown?.enforcement_attempts).toHaveLength(ATTEMPTS_KEPT_MAX)
    expect(shown?.unknown_tools).toHaveLength(UNKNOWN_TOOLS_KEPT_MAX)
    expect(shown?.total_enforcement_retries).toBe(1500)
    expect(Object.keys(shown?.by_round ?? {})).toHaveLength(1000)
  })
})

describe('a long run', () => {
  it('[REQ-ROUND-18] of twenty agents in ten rounds is decided in little time', () => {
    const ids = Array.from({ length: 20 }, (_, index) => `agent-${index}`)
    const council = new Council({ agents: ids, options: { maxNewAnswersPerAgent: 10, novelty: 'balanced' } })
    const began = cpuMs()
    for (let round = 0; round < 10; round++) {
      for (const [index, id] of ids.entries()) {
        council.turn(id)
        council.respond(id, [call('x')], { buffer: 'b'.repeat(5000) })
        const words = Array.from({ length: 300 }, (_, word) => `${round}-${index}-${word}`)
        expect(council.respond(id, [newAnswer(words.join(' '))]).kind).toBe('accepted')
      }
    }
    for (const id of ids) expect(council.vote(id, 'agent7').kind).toBe('accepted')
    expect(council.status().is_complete).toBe(true)
    expect(cpuMs() - began).toBeLessThan(5000)
  })
})
