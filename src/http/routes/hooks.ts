import { decideHook, hookedTask, recordHook } from '../../app/hooks.js'
import { ok, type Problem, type Result, refuse } from '../../app/result.js'
import type { JsonObject } from '../../core/contract.js'
import { asksForDecision, type ClaudeCodeHook, readClaudeCodeHook } from '../../hooks/claude-code.js'
import { afterwards, decision } from '../../hooks/claude-code-answers.js'
import { toFact } from '../../hooks/claude-code-facts.js'
import { toContractCalls } from '../../hooks/claude-code-tools.js'
import { bearerOf, type Call, type Route } from '../route.js'

/** What harnesses call whose own tools do the work. */
export const HOOK_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/hooks/claude-code',
    id: 'hookClaudeCode',
    summary: 'A hook of Claude Code: decides a call before it is made, and counts it afterwards',
    access: 'agent',
    body: {
      type: 'object',
      additionalProperties: true,
      required: ['hook_event_name'],
      properties: {
        hook_event_name: { description: '`PreToolUse`, `PostToolUse` or `PostToolUseFailure`.' },
      },
    },
    answer:
      'In the words of the harness: `{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision, permissionDecisionReason}}`, or `{hookSpecificOutput?: {hookEventName, additionalContext}, systemMessage?}`',
    refusal: denied,
    handle: async (call) => {
      const read = readClaudeCodeHook(call.body)
      if (!read.ok) return refuse('invalid_request', read.detail)
      return read.hook.event === 'PreToolUse' ? before(call, read.hook) : after(call, read.hook)
    },
  },
]

async function before(call: Call, hook: ClaudeCodeHook): Promise<Result<JsonObject>> {
  const admitted = await hookedTask(call.app, bearerOf(call))
  if (!admitted.ok) return admitted
  const translated = toContractCalls(hook, admitted.value.state.workspace)
  if (translated.kind === 'unreadable') return refuse('invalid_request', translated.detail)
  if (translated.kind === 'bookkeeping') return ok(decision('allow', `${hook.tool} only keeps books.`))
  const decided = await decideHook(call.app, admitted.value, translated.calls)
  return decided.ok ? ok(decision(decided.value.allowed ? 'allow' : 'deny', decided.value.reason)) : decided
}

async function after(call: Call, hook: ClaudeCodeHook): Promise<Result<JsonObject>> {
  const admitted = await hookedTask(call.app, bearerOf(call))
  if (!admitted.ok) return admitted
  const recorded = await recordHook(call.app, admitted.value, {
    fact: { source: 'claude-code', ...toFact(hook, admitted.value.state.workspace) },
    transcripts: transcriptsOf(hook),
  })
  return recorded.ok ? ok(afterwards(hook.event, recorded.value)) : recorded
}

// Agents inside the harness keep transcripts of their own, beside that of the session.
function transcriptsOf({ transcript, subagent }: ClaudeCodeHook): readonly string[] {
  if (transcript === null) return []
  if (subagent === null) return [transcript]
  return [transcript, `${transcript.replace(/\.jsonl$/, '')}/subagents/agent-${subagent}.jsonl`]
}

// A refusal with another status than 200 would let the tool run where the harness was not told to block then.
function denied({ code, detail, extra }: Problem, body: unknown): JsonObject | null {
  if (!asksForDecision(body)) return null
  const { next_step } = extra
  return decision('deny', `${detail} [${code}]${typeof next_step === 'string' ? `\n${next_step}` : ''}`)
}
