import { admitHookCall, decideHook } from '../../app/hooks/decide-hook.js'
import { beginNativeCall, type NativeCall } from '../../app/hooks/native-changes.js'
import { followOwnTool, type HookRecorded, parkForImpostor, recordHook } from '../../app/hooks/record-hook.js'
import type { OwnCall } from '../../app/mcp-arrivals.js'
import { ok, type Result, refuse } from '../../app/result.js'
import { formatBearerName } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import { BUILT_IN_TOOLS } from '../../core/tool-calls/built-in-tools.js'
import type { HookDialect, ToolHook, TranslatedCall } from '../../hooks/hook-message.js'
import { ownMcpTool } from '../../hooks/own-mcp-tool.js'
import { rewordForHooks } from '../../mcp/mcp-text.js'
import { type Call, requireBearer } from '../route.js'

/** Tools with which an agent gets a task or leaves a phase: not for its subagents. */
const FOR_THE_SESSION: ReadonlySet<string> = new Set([
  ...['claim_task', 'start_workflow', 'request_transition', 'complete_phase', 'next'],
])
/** Tools that change no file, or whose calls come to the hooks one by one. */
const CHANGE_NOTHING: ReadonlySet<string> = new Set([
  ...['read_files', 'search_codebase', 'grep', 'glob', 'git_status', 'git_diff', 'git_log'],
  ...['web_fetch', 'web_search', 'ask_user_question', 'spawn_agent'],
])

/** Decides a call before it is made. */
export async function decideBeforeTool(call: Call, dialect: HookDialect, hook: ToolHook): Promise<Result<JsonObject>> {
  const own = await findOwnCall(call, hook)
  if (!own.ok) return own
  if (own.value !== null) {
    if (hook.subagent !== null && FOR_THE_SESSION.has(own.value.tool))
      return refuse('not_permitted', `${hook.tool}: a subagent leaves no phase and gets no task. ${REPORT}`)
    call.app.mcpArrivals.expect(own.value)
    return ok(dialect.answers.decide('allow', `${hook.tool} is decided when the call reaches Phaselock over MCP.`))
  }
  const admitted = await admitHookCall(call.app, requireBearer(call))
  if (!admitted.ok) return admitted
  const translated = dialect.translate(hook, admitted.value.state.workspace)
  if (translated.kind === 'unreadable') return refuse('invalid_request', translated.detail)
  if (translated.kind === 'bookkeeping')
    return ok(dialect.answers.decide('allow', `${hook.tool} only keeps the agent's own notes.`))
  const decided = await decideHook(call.app, admitted.value, translated.calls)
  if (!decided.ok) return decided
  const { allowed, reason } = decided.value
  if (allowed) await beginNativeCall(call.app, admitted.value, toNativeCall(hook, translated))
  return ok(dialect.answers.decide(allowed ? 'allow' : 'deny', rewordForHooks(reason)))
}

const REPORT = 'Report to the conversation that started you: it goes on.'

// Also before a claim: with these tools an agent gets a task. The call itself is decided once, when it arrives.
async function findOwnCall(call: Call, { tool: name, toolUseId }: ToolHook): Promise<Result<OwnCall | null>> {
  const tool = ownMcpTool(name)
  if (tool === null) return ok(null)
  // Loaded by the first session with such tools, like MCP.
  const { isToolOffered: offersTool } = await import('../../mcp/tool-list.js')
  const bearer = requireBearer(call)
  const offers = await offersTool(call.app, bearer, tool)
  return offers.ok ? ok(offers.value ? { agentId: bearer.agentId, tool, toolUseId } : null) : offers
}

function toNativeCall(hook: ToolHook, translated: TranslatedCall, command: string | null = null): NativeCall {
  const calls = translated.kind === 'calls' ? translated.calls : []
  const changing = calls.filter(({ tool }) => !CHANGE_NOTHING.has(tool))
  const isWrite = (tool: string): boolean => BUILT_IN_TOOLS.get(tool)?.paths === 'write'
  const line = calls.find(({ tool }) => tool === 'bash')?.args.command
  return {
    id: hook.toolUseId,
    tool: hook.tool,
    command: command ?? (typeof line === 'string' ? line : null),
    reach:
      changing.length === 0
        ? 'none'
        : changing.every(({ tool }) => isWrite(tool))
          ? changing.flatMap(({ opens }) => opens)
          : 'any',
  }
}

/** Records a call that was made. */
export async function recordAfterTool(call: Call, dialect: HookDialect, hook: ToolHook): Promise<Result<JsonObject>> {
  const own = await recordAfterOwnTool(call, dialect, hook)
  if (own !== null) return own.ok ? ok(toHookAnswer(dialect, hook, own.value)) : own
  const admitted = await admitHookCall(call.app, requireBearer(call))
  if (!admitted.ok) return admitted
  const tree = admitted.value.state.workspace
  const fact = dialect.describe(hook, tree)
  const recorded = await recordHook(call.app, admitted.value, {
    fact: { source: dialect.agentCli, ...fact },
    native: toNativeCall(hook, dialect.translate(hook, tree), fact.command),
    transcripts: listTranscripts(hook),
  })
  return recorded.ok ? ok(toHookAnswer(dialect, hook, recorded.value)) : recorded
}

// Null: not a call of one of Phaselock's tools that a hook of this server allowed.
async function recordAfterOwnTool(
  call: Call,
  { agentCli }: HookDialect,
  hook: ToolHook,
): Promise<Result<HookRecorded> | null> {
  if (ownMcpTool(hook.tool) === null) return null
  const bearer = requireBearer(call)
  const hasArrived = call.app.mcpArrivals.hasArrived({ agentId: bearer.agentId, toolUseId: hook.toolUseId })
  if (hasArrived === null) return null
  // A failed call may have failed on its way.
  if (hasArrived || !hook.success) return followOwnTool(call.app, bearer, listTranscripts(hook))
  const found = await parkForImpostor(call.app, bearer, hook.tool)
  const about = { code: 'enforcement_not_live', detail: found.note ?? '', actor: formatBearerName(bearer) } as const
  if (!found.isParked) await call.app.refusals.record({ ...about, method: 'POST', path: `/hooks/${agentCli}` })
  return ok(found)
}

function toHookAnswer({ answers }: HookDialect, hook: ToolHook, { interrupt, note }: HookRecorded): JsonObject {
  return answers.tellAfter(hook.event, { interrupt: interrupt === null ? null : rewordForHooks(interrupt), note })
}

// Subagents of the agent CLI write separate transcripts, next to that of the session.
function listTranscripts({ transcript, subagent }: ToolHook): readonly string[] {
  if (transcript === null) return []
  if (subagent === null) return [transcript]
  return [transcript, `${transcript.replace(/\.jsonl$/, '')}/subagents/agent-${subagent}.jsonl`]
}
