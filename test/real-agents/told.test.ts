import { describe, expect, it } from 'vitest'
import { outputReader } from '../../src/participants/harness-output.js'
import { Teller } from '../../src/spawn/told.js'

const event = (data: unknown): string => JSON.stringify({ type: 'stream_event', event: data })
const BEGAN = event({ type: 'message_start', message: { id: 'm', usage: { input_tokens: 5 } } })
const WROTE = event({ type: 'message_delta', usage: { output_tokens: 3 } })
const ENDED = event({ type: 'message_stop' })
const WHOLE = { input: 5, output: 3, cacheRead: 0, cacheWrite: 0 }

describe('what a harness writes', () => {
  it('[REQ-REALAGENT-2] a message counts once, however its lines come', () => {
    const apart = new Teller(outputReader('claude-code'))
    expect([BEGAN, WROTE, ENDED].map((line) => apart.take([line]).usages)).toEqual([[], [], [WHOLE]])
    const together = new Teller(outputReader('claude-code'))
    expect(together.take([BEGAN, WROTE, ENDED, BEGAN, WROTE, ENDED]).usages).toEqual([WHOLE, WHOLE])
    expect(together.end().usages).toEqual([])
  })

  it('[REQ-REALAGENT-2] a message that was never finished counts with what was told of it', () => {
    const teller = new Teller(outputReader('claude-code'))
    const begun = { ...WHOLE, output: 0 }
    expect(teller.take([BEGAN, BEGAN]).usages).toEqual([begun])
    expect(teller.end().usages).toEqual([begun])
  })

  it('[REQ-REALAGENT-2] a harness that tells it at its end only is counted then', () => {
    const teller = new Teller(outputReader('codex'))
    const usage = { input_tokens: 12, cached_input_tokens: 2, output_tokens: 4 }
    const told = teller.take([JSON.stringify({ type: 'turn.completed', usage })])
    expect(told.usages).toEqual([{ input: 10, output: 4, cacheRead: 2, cacheWrite: 0 }])
  })

  it('[REQ-REALAGENT-4] a tool that Claude Code does not have is told by its name, and nothing else is taken for one', () => {
    const teller = new Teller(outputReader('claude-code'))
    const result = (content: unknown, isError: boolean): string => {
      const block = { type: 'tool_result', tool_use_id: 't', content, is_error: isError }
      return JSON.stringify({ type: 'user', message: { role: 'user', content: [block] } })
    }
    const text = '<tool_use_error>Error: No such tool available: '
    const lines = [
      ...[
        result(`${text}Bash. Bash is disabled.</tool_use_error>`, true),
        result(`${text}mcp__phaselock__approve<`, true),
      ],
      ...[result(`${text}Write.`, false), result(`read: ${text}Write.`, true), result([{ type: 'text', text }], true)],
      ...[result(`${text}../x`, true), '{"type":"user","message":null}', '{"type":"user"}'],
    ]
    expect(teller.take(lines).turnedAway).toEqual(['Bash', 'approve'])
  })
})
