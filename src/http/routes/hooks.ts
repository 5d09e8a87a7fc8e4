import {
  admitHookCall,
  decideHook,
  followOwnTool,
  type HookRecorded,
  parkForImpostor,
  recordHook,
} from '../../app/hooks.js'
import type { OwnCall } from '../../app/mcp-arrivals.js'
import { ok, type Problem, type Result, refuse } from '../../app/result.js'
import { formatBearerName } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import { type ClaudeCodeHook, needsDecision, readClaudeCodeHook } from '../../hooks/claude-code.js'
import { buildAfterAnswer, buildDecision } from '../../hooks/claude-code-answers.js'
import { toFact } from '../../hooks/claude-code-facts.js'
import { toContractCalls } from '../../hooks/claude-code-tools.js'
import { ownMcpTool } from '../../hooks/own-mcp-tool.js'
import { rewordForHooks } from '../../mcp/mcp-text.js'
import { HOOK_ANSWER } from '../answers/call-answers.js'
import { type Call, type Route, requireBearer } from '../route.js'

const PATH = '/hooks/claude-code'

/** Calls of agent CLIs whose own tools do the work. */
export const HOOK_ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: PATH,
    id: 'hookClaudeCode',
    summary: 'A hook of Claude Code: decides a call before it is made, and counts it afterwards',
    body: {
      type: 'object',
      additionalProperties: true,
      required: ['hook_event_name'],
      properties: {
        hook_event_name: { description: '`PreToolUse`, `PostToolUse` or `PostToolUseFailure`.' },
      },
    },
    answer:
      'In the format of the agent CLI: `{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision, permissionDecisionReason}}`, or `{hookSpecificOutput?: {hookEventName, additionalContext}, systemMessage?}`',
    response: HOOK_ANSWER,
    refusal: toDenial,
    handle: async (call) => {
      await recordBinding(call)
      const read = readClaudeCodeHook(call.body)
      if (!read.ok) return refuse('invalid_request', read.detail)
      return read.hook.event === 'PreToolUse' ? decideBeforeTool(call, read.hook) : recordAfterTool(call, read.hook)
    },
  },
]

// An agent whose own tools do the work has a shell, unless it runs in the sandbox. Recorded before anything is decided:
// from now on its tasks need confirmed decisions. (REQ-CONFIRM-1)
async function recordBinding(call: Call): Promise<void> {
  const { app, isConfined } = call
  const { agentId } = requireBearer(call)
  if (isConfined || app.ledger.registry.access.boundByHooks.has(agentId)) return
  const fact = { type: 'agent_bound_by_hooks', agentId, agentCli: 'claude-code' } as const
  await app.ledger.record(fact, { now: app.now(), actor: `agent:${agentId}` })
}

async function decideBeforeTool(call: Call, hook: ClaudeCodeHook): Promise<Result<JsonObject>> {
  const own = await ownCall(call, hook)
  if (!own.ok) return own
  if (own.value !== null) {
    call.app.mcpArrivals.expect(own.value)
    return ok(buildDecision('allow', `${hook.tool} is decided when the call reaches Phaselock over MCP.`))
  }
  const admitted = await admitHookCall(call.app, requireBearer(call))
  if (!admitted.ok) return admitted
  const translated = toContractCalls(hook, admitted.value.state.workspace)
  if (translated.kind === 'unreadable') return refuse('invalid_request', translated.detail)
  if (translated.kind === 'bookkeeping')
    return ok(buildDecision('allow', `${hook.tool} only keeps the agent's own notes.`))
  const decided = await decideHook(call.app, admitted.value, translated.calls)
  return decided.ok
    ? ok(buildDecision(decided.value.allowed ? 'allow' : 'deny', rewordForHooks(decided.value.reason)))
    : decided
}

// Also before a claim: with these tools an agent gets a task. The call itself is decided once, when it arrives.
async function ownCall(call: Call, { tool: name, toolUseId }: ClaudeCodeHook): Promise<Result<OwnCall | null>> {
  const tool = ownMcpTool(name)
  if (tool === null) return ok(null)
  // Loaded by the first session with such tools, like MCP.
  const { isToolOffered: offersTool } = await import('../../mcp/tool-list.js')
  const bearer = requireBearer(call)
  const offers = await offersTool(call.app, bearer, tool)
  return offers.ok ? ok(offers.value ? { agentId: bearer.agentId, tool, toolUseId } : null) : offers
}

async function recordAfterTool(call: Call, hook: ClaudeCodeHook): Promise<Result<JsonObject>> {
  const own = await recordAfterOwnTool(call, hook)
  if (own !== null) return own.ok ? ok(toHookAnswer(hook, own.value)) : own
  const admitted = await admitHookCall(call.app, requireBearer(call))
  if (!admitted.ok) return admitted
  const recorded = await recordHook(call.app, admitted.value, {
    fact: { source: 'claude-code', ...toFact(hook, admitted.value.state.workspace) },
    transcripts: listTranscripts(hook),
  })
  return recorded.ok ? ok(toHookAnswer(hook, recorded.value)) : recorded
}

// Null: not a call of one of Phaselock's tools that a hook of this server allowed.
async function recordAfterOwnTool(call: Call, hook: ClaudeCodeHook): Promise<Result<HookRecorded> | null> {
  if (ownMcpTool(hook.tool) === null) return null
  const bearer = requireBearer(call)
  const hasArrived = call.app.mcpArrivals.hasArrived({ agentId: bearer.agentId, toolUseId: hook.toolUseId })
  if (hasArrived === null) return null
  // A failed call may have failed on its way.
  if (hasArrived || hook.event === 'PostToolUseFailure') return followOwnTool(call.app, bearer, listTranscripts(hook))
  const found = await parkForImpostor(call.app, bearer, hook.tool)
  const about = { code: 'enforcement_not_live', detail: found.note ?? '', actor: formatBearerName(bearer) } as const
  if (!found.isParked) await call.app.refusals.record({ ...about, method: 'POST', path: PATH })
  return ok(found)
}

function toHookAnswer(hook: ClaudeCodeHook, { interrupt, note }: HookRecorded): JsonObject {
  return buildAfterAnswer(hook.event, { interrupt: interrupt === null ? null : rewordForHooks(interrupt), note })
}

// Subagents of the agent CLI write separate transcripts, next to that of the session.
function listTranscripts({ transcript, subagent }: ClaudeCodeHook): readonly string[] {
  if (transcript === null) return []
  if (subagent === null) return [transcript]
  return [transcript, `${transcript.replace(/\.jsonl$/, '')}/subagents/agent-${subagent}.jsonl`]
}

// A refusal with a status other than 200 would let the tool run if the agent CLI is not configured to block then.
function toDenial({ code, detail, extra }: Problem, body: unknown): JsonObject | null {
  if (!needsDecision(body)) return null
  const next = code === 'no_active_task' ? CLAIM_FIRST : extra.next_step
  return buildDecision('deny', `${detail} [${code}]${typeof next === 'string' ? `\n${next}` : ''}`)
}

const CLAIM_FIRST =
  'Claim a task: call the tool claim_task of the MCP server phaselock (without it: POST /api/v1/tasks/claim).'
