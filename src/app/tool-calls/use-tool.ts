import type { Bearer } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import { REVIEW_TOOLS } from '../../core/reviews/review-tool.js'
import type { TaskEvent } from '../../core/task/event.js'
import type { Violation } from '../../core/task/fact-parts.js'
import { isCommandTool } from '../../tools/commands/command-tools.js'
import { describeCall } from '../../tools/describe-call.js'
import type { App } from '../app.js'
import {
  type AgentCall,
  admitCall,
  applyAs,
  buildAgentHelp,
  buildReviewerHelp,
  getReviewerField,
} from '../identity/agent-call.js'
import { makeGrant } from '../identity/grant.js'
import { keepUnder, type Once } from '../kept-answer.js'
import { ok, type Problem, type Result, refuse } from '../result.js'
import { toInterruptView } from '../tasks/interrupts.js'
import { listAllowedTools } from '../tasks/views.js'
import { advanceAfterCall, wantAdvance } from '../transitions/auto-advance.js'
import { isChecking } from '../transitions/long-gates.js'
import { openSandbox } from './contract-sandbox.js'
import { findDroppedOutcome } from './dropped-changes.js'
import { runSoon } from './run-soon.js'
import { type RememberAs, runTool, type ToolRunResult } from './run-tool.js'
import { isUpstreamTool, readPins } from './upstream.js'

interface ToolRequest {
  readonly bearer: Bearer
  readonly taskId: string | undefined
  readonly tool: string
  readonly args: JsonObject
  readonly once?: Once | undefined
  /** One of several calls: automatic advance is tried after the last one. */
  readonly isPart?: boolean
}

/** Decides and records a tool call exactly like an execution, without running it. A refusal is a normal answer here. */
export async function checkTool(app: App, request: ToolRequest): Promise<Result<JsonObject>> {
  const call = await admitCall(app, request.bearer, request.taskId)
  if (!call.ok) return call
  const decided = await decideTool(app, call.value, request)
  return decided.ok ? ok(checkAnswer(call.value, decided.value)) : decided
}

export function decideTool(
  app: App,
  call: AgentCall<Bearer>,
  request: Pick<ToolRequest, 'tool' | 'args' | 'once'>,
): Promise<Result<ToolVerdict>> {
  const refused = refuseWhileChecking(app, call, request.tool)
  return refused === null ? decideCall(app, call, { ...request, execute: false }) : Promise.resolve(refused)
}

/** Decides a tool call, records the decision, runs the tool and records its result. */
export async function executeTool(
  app: App,
  request: ToolRequest,
  since = performance.now(),
): Promise<Result<JsonObject>> {
  const admitted = await admitCall(app, request.bearer, request.taskId)
  if (!admitted.ok) return admitted
  const call = admitted.value
  const refused = refuseWhileChecking(app, call, request.tool)
  if (refused !== null) return refused
  // Counted as running from here on: a transition that starts now waits for it.
  const work = () =>
    app.running.runCall(request.once, () =>
      app.running.run(call.state.id, (signal) => decideAndRun(app, call, { ...request, signal })),
    )
  const answer = await runSoon(app, { ...request, call }, { work, since })
  return request.isPart === true || isLater(answer) ? answer : advanceAfterCall(app, call, { answer, since })
}

function isLater(answer: Result<JsonObject>): boolean {
  return answer.ok && isChecking(answer.value)
}

async function decideAndRun(
  app: App,
  call: AgentCall<Bearer>,
  request: ToolRequest & { readonly signal: AbortSignal },
): Promise<Result<JsonObject>> {
  const decided = await decideCall(app, call, { ...request, execute: true })
  if (!decided.ok) return decided
  if (decided.value.kind === 'denied') return { ok: false, problem: toDenial(call, decided.value) }
  const { violation } = decided.value.event
  const untold = takeUntoldInterrupt(app, call)
  const once = request.once === undefined ? undefined : { ...request.once, ...(await findReplaced(app, call, request)) }
  const ran = call.bearer.kind === 'review' ? null : makeGrant(call.state, call.bearer.agentId)
  const answerAs: RememberAs = (outcome, about) => (done) =>
    keepUnder(once, 200, () => {
      const seen = { outcome: findDroppedOutcome(done) ?? outcome, ...about, events: done.events }
      const answer = buildAnswer(app, call, { ...seen, violation, untold })
      if (!answer.ok) return { problem: answer.problem }
      return ran === null ? { body: answer.value } : { body: answer.value, ran }
    })
  const done = await runTool(app, call, { ...request, remember: answerAs })
  if (!done.ok) return done
  if (done.value.events.some((event) => event.type === 'tool_finished' && (event.changeCount ?? 0) > 0)) {
    app.longTools.forget(call.state.id)
    wantAdvance(app, call)
  }
  return buildAnswer(app, call, { ...done.value, violation, untold })
}

// Files must not change while they are being checked.
function refuseWhileChecking(app: App, call: AgentCall<Bearer>, tool: string): ReturnType<typeof refuse> | null {
  if (!app.checking.has(call.state.id) || call.bearer.kind === 'review' || !isChangingTool(call, tool)) return null
  return refuse('conflict', `The gates of task ${call.state.id} are being checked.`, {
    next_step: 'Wait for the answer of the running transition request.',
  })
}

// Read-only tools may run while gates are checked.
function isChangingTool(call: AgentCall<Bearer>, tool: string): boolean {
  return !READERS.has(tool) || call.contract.tools.has(tool)
}

const READERS: ReadonlySet<string> = new Set([
  ...['read_files', 'glob', 'grep', 'search_codebase', 'git_status', 'git_diff', 'git_log', 'web_fetch'],
])

function buildAnswer(
  app: App,
  call: AgentCall<Bearer>,
  ran: ToolRunResult & { readonly violation: Violation | null; readonly untold: JsonObject },
): Result<JsonObject> {
  const interrupt = { ...ran.untold, ...interruptIn(call, ran.events) }
  const unenforced = ran.unenforced.length === 0 ? {} : { unenforced: ran.unenforced }
  const { outcome } = ran
  if (!outcome.ok)
    return {
      ok: false,
      problem: {
        code: outcome.code,
        detail: app.redact(outcome.detail) as string,
        extra: {
          ...buildHelp(call),
          ...unenforced,
          ...interrupt,
          ...(app.redact(outcome.extra ?? {}) as JsonObject),
        },
        recorded: true,
      },
    }
  const violation = ran.events.find((event) => event.type === 'tool_finished')?.violation ?? ran.violation
  return ok({
    result: app.redact(outcome.result),
    logged: true,
    decision: 'allowed',
    duration_ms: ran.durationMs,
    ...(violation === null ? {} : { violation: { ...violation } }),
    ...unenforced,
    ...interrupt,
  })
}

// Shown once per violation, with the answer of the call that caused it.
function interruptIn(call: AgentCall<Bearer>, events: readonly TaskEvent[]): JsonObject {
  const violated = events.find((event) => event.type === 'rule_violated' && !event.shadow)
  return violated?.type === 'rule_violated' ? { interrupt: toInterruptView(call.state, violated.violation) } : {}
}

// A budget exceeded by model usage was detected while no call was open to report it.
function takeUntoldInterrupt(app: App, { bearer, state }: AgentCall<Bearer>): JsonObject {
  const { open } = state.watch
  if (bearer.kind === 'review' || open === null || !app.transcripts.takeUntold(state.id, open.rule)) return {}
  return { interrupt: toInterruptView(state, open.violation) }
}

function toDenial(call: AgentCall<Bearer>, { event }: Extract<ToolVerdict, { readonly kind: 'denied' }>): Problem {
  const { code, detail, retry } = event
  return { code, detail, extra: { ...buildHelp(call), retry: { ...retry } }, recorded: true }
}

function buildHelp(call: AgentCall<Bearer>): JsonObject {
  return call.bearer.kind === 'review' ? buildReviewerHelp(call.state) : buildAgentHelp(call.contract, call.state)
}

/**
 * Up to 32 calls, each decided separately and in order, each with its own slot under the key of the batch. After a call
 * answered with `checking` the rest is not run: the client sends it and the rest again.
 */
export async function executeToolBatch(app: App, request: BatchRequest): Promise<Result<JsonObject>> {
  const since = performance.now()
  const results: JsonObject[] = []
  for (const [index, { tool, args }] of request.calls.entries()) {
    const once = request.once === undefined ? undefined : { ...request.once, key: `${request.once.key}#${index}` }
    const before = once === undefined ? null : await request.recall(once)
    const result =
      before ??
      (await executeTool(
        app,
        { bearer: request.bearer, taskId: request.taskId, tool, args, once, isPart: true },
        since,
      ))
    if (result.ok) results.push({ tool_name: tool, ...result.value })
    if (isLater(result)) break
    if (result.ok) continue
    if (STOPS_BATCH.has(result.problem.code) && results.length === 0) return result
    results.push({
      tool_name: tool,
      error: { code: result.problem.code, detail: result.problem.detail, ...result.problem.extra },
    })
  }
  const admitted = app.advancing.size === 0 ? null : await admitCall(app, request.bearer, request.taskId)
  return admitted?.ok === true
    ? advanceAfterCall(app, admitted.value, { answer: ok({ results }), since })
    : ok({ results })
}

interface BatchRequest {
  readonly bearer: Bearer
  readonly taskId: string | undefined
  readonly calls: readonly { readonly tool: string; readonly args: JsonObject }[]
  readonly once: Once | undefined
  /** The earlier answer of a call, when the batch is sent again. */
  readonly recall: (once: Once) => Promise<Result<JsonObject> | null>
}

const STOPS_BATCH: ReadonlySet<string> = new Set([
  'token_invalid',
  'token_stale',
  'token_mismatch',
  'task_not_active',
  'no_active_task',
  'agents_paused',
])

/** What was decided of a call. */
type ToolVerdict =
  | { readonly kind: 'allowed'; readonly event: Extract<TaskEvent, { readonly type: 'tool_allowed' }> }
  | { readonly kind: 'denied'; readonly event: Extract<TaskEvent, { readonly type: 'tool_denied' }> }

async function decideCall(
  app: App,
  call: AgentCall<Bearer>,
  { tool, args, once, execute }: Pick<ToolRequest, 'tool' | 'args' | 'once'> & { readonly execute: boolean },
): Promise<Result<ToolVerdict>> {
  const pins = call.state.upstream === null ? {} : await readPins(app, call.state)
  const mayActOutside = execute && once !== undefined && (await actsOutside(app, call, tool))
  const facts = describeCall(call.contract, tool, args, pins)
  const command = { type: 'use_tool', tool, args, call: facts, execute, ...getReviewerField(call) } as const
  const handled = await applyAs(app, call, command, {
    remember: ({ events }) => {
      const verdict = readVerdict(events)
      if (!execute) return keepUnder(once, 200, () => ({ body: checkAnswer(call, verdict) }))
      if (verdict.kind === 'denied') return keepUnder(once, 200, () => ({ problem: toDenial(call, verdict) }))
      return mayActOutside ? keepUnder(once, 200, () => ({ began: { task: call.state.id, tool } })) : undefined
    },
  })
  return handled.ok ? ok(readVerdict(handled.value.events)) : handled
}

// Its answer takes the place of the note that the call has begun.
async function findReplaced(
  app: App,
  call: AgentCall<Bearer>,
  { tool }: Pick<ToolRequest, 'tool'>,
): Promise<{ readonly replaces?: true }> {
  return (await actsOutside(app, call, tool)) ? { replaces: true } : {}
}

/** Whether a tool may change something that is not the work tree: then an interrupted call is never repeated. */
async function actsOutside(app: App, { contract, state }: AgentCall<Bearer>, tool: string): Promise<boolean> {
  if (isUpstreamTool(contract, tool)) return true
  if (!isCommandTool(contract, tool)) return false
  const constraint = contract.phases.get(state.phase)?.constraints.get(tool)
  if (constraint?.network === true || contract.tools.get(tool)?.network === true) return true
  return (await openSandbox(app, contract)).provider === 'none'
}

function readVerdict(events: readonly TaskEvent[]): ToolVerdict {
  for (const event of events) {
    if (event.type === 'tool_denied') return { kind: 'denied', event }
    if (event.type === 'tool_allowed') return { kind: 'allowed', event }
  }
  throw new Error('a tool call was neither allowed nor denied')
}

function checkAnswer(call: AgentCall<Bearer>, { kind, event }: ToolVerdict): JsonObject {
  const allowed_tools = call.bearer.kind === 'review' ? REVIEW_TOOLS : listAllowedTools(call.contract, call.state)
  if (kind === 'denied')
    return { allowed: false, code: event.code, detail: event.detail, allowed_tools, retry: { ...event.retry } }
  return { allowed: true, allowed_tools, ...(event.violation === null ? {} : { violation: { ...event.violation } }) }
}
