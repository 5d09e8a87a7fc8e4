import { describe, expect, it } from 'vitest'
import { makeComplaintReader, makeOutputReader } from '../../src/participants/agent-cli/agent-cli-output.js'
import { collectComplaints, Teller } from '../../src/spawn/agent-output.js'

const event = (data: unknown): string => JSON.stringify({ type: 'stream_event', event: data })
const BEGAN = event({ type: 'message_start', message: { id: 'm', usage: { input_tokens: 5 } } })
const WROTE = event({ type: 'message_delta', usage: { output_tokens: 3 } })
const ENDED = event({ type: 'message_stop' })
const WHOLE = { input: 5, output: 3, cacheRead: 0, cacheWrite: 0 }

describe('what an agent CLI writes', () => {
  it('[REQ-REALAGENT-2] a message counts once, however its lines come', () => {
    const apart = new Teller(makeOutputReader('claude-code'))
    expect([BEGAN, WROTE, ENDED].map((line) => apart.take([line]).usages)).toEqual([[], [], [WHOLE]])
    const together = new Teller(makeOutputReader('claude-code'))
    expect(together.take([BEGAN, WROTE, ENDED, BEGAN, WROTE, ENDED]).usages).toEqual([WHOLE, WHOLE])
    expect(together.end().usages).toEqual([])
  })

  it('[REQ-REALAGENT-2] a message that was never finished counts with what was reported it', () => {
    const teller = new Teller(makeOutputReader('claude-code'))
    const begun = { ...WHOLE, output: 0 }
    expect(teller.take([BEGAN, BEGAN]).usages).toEqual([begun])
    expect(teller.end().usages).toEqual([begun])
  })

  it('[REQ-REALAGENT-2] usage that an agent CLI reports only at its end is counted then', () => {
    const teller = new Teller(makeOutputReader('codex'))
    const usage = { input_tokens: 12, cached_input_tokens: 2, output_tokens: 4 }
    const told = teller.take([JSON.stringify({ type: 'turn.completed', usage })])
    expect(told.usages).toEqual([{ input: 10, output: 4, cacheRead: 2, cacheWrite: 0 }])
  })

  it('[REQ-REALAGENT-2] Gemini CLI reports usage with its result, OpenCode with each step', () => {
    const gemini = new Teller(makeOutputReader('gemini'))
    expect(gemini.take(['{"type":"message","role":"assistant","content":"x"}']).usages).toEqual([])
    const stats = { input_tokens: 12, cached: 2, output_tokens: 4 }
    expect(gemini.take([JSON.stringify({ type: 'result', status: 'success', stats })]).usages).toEqual([
      { input: 10, output: 4, cacheRead: 2, cacheWrite: 0 },
    ])
    const opencode = new Teller(makeOutputReader('opencode'))
    const tokens = { input: 10, output: 3, reasoning: 1, cache: { read: 2, write: 5 } }
    const step = JSON.stringify({ type: 'step_finish', part: { tokens } })
    const each = { input: 10, output: 4, cacheRead: 2, cacheWrite: 5 }
    expect(opencode.take([step, step]).usages).toEqual([each, each])
  })

  it('[REQ-REALAGENT-4] a tool that Claude Code does not have is reported by name, and nothing else is', () => {
    const teller = new Teller(makeOutputReader('claude-code'))
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

  it('[REQ-REALAGENT-4] a tool that Codex does not have is reported by name, and so are its own patches', () => {
    const said = '2026-11-15T23:02:52.270426Z ERROR codex_core::tools::router: error='
    const lines = [
      ...[`${said}unsupported call: exec_command`, `${said}unsupported custom tool call: apply_patch`],
      ...[`${said}unsupported call: mcp__phaselockapprove`, `${said}unsupported call: mcp__phaselock__approve`],
      ...[`${said}Exit code: 1`, 'unsupported call: shell', `x ${said}unsupported call: shell`, ''],
      `${said}unsupported call: rm -rf /`,
    ]
    const { turnedAway, usages } = collectComplaints(makeComplaintReader('codex'), lines)
    expect(turnedAway).toEqual(['codex.exec_command', 'codex.apply_patch', 'approve', 'approve', 'codex.rm_-rf__'])
    expect(usages).toEqual([])
    for (const harness of ['claude-code', 'gemini', 'opencode', 'command'] as const)
      expect(collectComplaints(makeComplaintReader(harness), lines).turnedAway).toEqual([])
    const teller = new Teller(makeOutputReader('codex'))
    const item = (type: unknown): string => JSON.stringify({ type: 'item.completed', item: { type, status: 'failed' } })
    const items = ['file_change', 'mcp_tool_call', 'constructor', 5, 'command_execution'].map(item)
    expect(teller.take(items).turnedAway).toEqual(['codex.apply_patch', 'codex.exec_command'])
  })

  it('[REQ-REALAGENT-4] tools that Gemini CLI and OpenCode do not have are reported by name, and failures of other tools are not', () => {
    const gemini = new Teller(makeOutputReader('gemini'))
    const result = (type: unknown, message: unknown): string =>
      JSON.stringify({ type: 'tool_result', status: 'error', error: { type, message } })
    const results = [
      ...[
        result('tool_not_registered', 'Tool "glob" not found. Did you mean "x"?'),
        result('other', 'Tool "x" not found.'),
      ],
      ...[
        result('tool_not_registered', 'Tool "mcp_phaselock_approve" not found.'),
        result('tool_not_registered', null),
      ],
      '{"type":"tool_result","status":"success"}',
    ]
    expect(gemini.take(results).turnedAway).toEqual(['gemini.glob', 'approve', 'gemini.'])
    const opencode = new Teller(makeOutputReader('opencode'))
    const used = (tool: unknown, error: unknown): string =>
      JSON.stringify({ type: 'tool_use', part: { type: 'tool', tool, state: { status: 'error', error } } })
    const absent = "Model tried to call unavailable tool 'invalid'. Available tools: x."
    const uses = [
      used('bash', absent),
      used('phaselock_approve', absent),
      used('phaselock_bash', 'refused: x'),
      used('x', null),
    ]
    expect(opencode.take(uses).turnedAway).toEqual(['opencode.bash', 'approve'])
  })
})
