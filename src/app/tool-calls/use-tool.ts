import type { Bearer } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import { REVIEW_TOOLS } from '../../core/reviews/review-tool.js'
import type { TaskEvent } from '../../core/task/event.js'
import { describeCall } from '../../tools/describe-call.js'
import type { App, Once } from '../app.js'
import {
  type AgentCall,
  admitCall,
  applyAs,
  buildAgentHelp,
  buildReviewerHelp,
  getReviewerField,
} from '../identity/agent-call.js'
import { makeGrant } from '../identity/grant.js'
import { ok, type Problem, type Result, refuse } from '../result.js'
import { toInterruptView } from '../tasks/interrupts.js'
import { listAllowedTools } from '../tasks/views.js'
import { advanceAfterCall, wantAdvance } from '../transitions/auto-advance.js'
import { isChecking } from '../transitions/long-gates.js'
import { findDroppedOutcome } from './dropped-changes.js'
import { runSoon } from './long-tools.js'
import { type RememberAs, runTool, type ToolRunResult } from './run-tool.js'
import { readPins } from './upstream.js'

export interface ToolRequest {
  readonly bearer: Bearer
  readonly taskId: string | undefined
  readonly tool: string
  readonly args: JsonObject
  readonly once?: Once | undefined
  /** One of several calls: whether the phase is left is asked after the last of them. */
  readonly isPart?: boolean
}

/** Decides and records a tool call exactly as an execution does, without running it. A refusal is a normal answer here. */
export async function checkTool(app: App, request: ToolRequest): Promise<Result<JsonObject>> {
  const call = await admitCall(app, request.bearer, request.taskId)
  if (!call.ok) return call
  return (
    refuseWhileChecking(app, call.value, request.tool) ?? decideCall(app, call.value, { ...request, execute: false })
  )
}

/** Decides a tool call, records the decision, runs the tool and records what came of it. */
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
  // Running from here on: a transition that begins now waits for it.
  const work = () => app.running.run(call.state.id, (signal) => decideAndRun(app, call, { ...request, signal }))
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
  if (decided.value.allowed !== true) return { ok: false, problem: toDenial(call, decided.value) }
  const violation = decided.value.violation as JsonObject | undefined
  const untold = takeUntoldInterrupt(app, call)
  const { once } = request
  const ran = call.bearer.kind === 'review' ? null : { ...makeGrant(call.state, call.bearer.agentId) }
  const answerAs: RememberAs = (outcome, about) =>
    once === undefined
      ? undefined
      : (done) => {
          const answer = buildAnswer(app, call, {
            outcome: findDroppedOutcome(done) ?? outcome,
            ...about,
            events: done.events,
            ...{ violation, untold },
          })
          return {
            ...once,
            status: 200,
            answer: answer.ok
              ? { body: answer.value, ...(ran === null ? {} : { ran }) }
              : { problem: { ...answer.problem } },
          }
        }
  const done = await runTool(app, call, { ...request, remember: answerAs })
  if (!done.ok) return done
  if (done.value.events.some((event) => event.type === 'tool_finished' && (event.changeCount ?? 0) > 0)) {
    app.longTools.forget(call.state.id)
    wantAdvance(app, call)
  }
  return buildAnswer(app, call, { ...done.value, violation, untold })
}

// What is being checked must not change meanwhile.
function refuseWhileChecking(app: App, call: AgentCall<Bearer>, tool: string): Result<never> | null {
  if (!app.checking.has(call.state.id) || call.bearer.kind === 'review' || !isChangingTool(call, tool)) return null
  return refuse('conflict', `The gates of task ${call.state.id} are being checked.`, {
    next_step: 'Wait for the answer of the running transition request.',
  })
}

// What only looks at the tree may go on while gates are checked.
function isChangingTool(call: AgentCall<Bearer>, tool: string): boolean {
  return !READERS.has(tool) || call.contract.tools.has(tool)
}

const READERS: ReadonlySet<string> = new Set([
  ...['read_files', 'glob', 'grep', 'search_codebase', 'git_status', 'git_diff', 'git_log', 'web_fetch'],
])

function buildAnswer(
  app: App,
  call: AgentCall<Bearer>,
  ran: ToolRunResult & { readonly violation: JsonObject | undefined; readonly untold: JsonObject },
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
  const finished = ran.events.find((event) => event.type === 'tool_finished')
  const violation = (finished?.type === 'tool_finished' ? finished.violation : null) ?? ran.violation
  return ok({
    result: app.redact(outcome.result),
    logged: true,
    decision: 'allowed',
    duration_ms: ran.durationMs,
    ...(violation === undefined || violation === null ? {} : { violation: { ...violation } }),
    ...unenforced,
    ...interrupt,
  })
}

// Once for each violation: with the answer of the call that led to it.
function interruptIn(call: AgentCall<Bearer>, events: readonly TaskEvent[]): JsonObject {
  const violated = events.find((event) => event.type === 'rule_violated' && !event.shadow)
  if (violated?.type !== 'rule_violated') return {}
  return { interrupt: toInterruptView(call.state, violated.violation) }
}

// A budget that was passed by what a model took was noticed when nobody was there to be told.
function takeUntoldInterrupt(app: App, { bearer, state }: AgentCall<Bearer>): JsonObject {
  const { open } = state.watch
  if (bearer.kind === 'review' || open === null || !app.transcripts.takeUntold(state.id, open.rule)) return {}
  return { interrupt: toInterruptView(state, open.violation) }
}

function toDenial(call: AgentCall<Bearer>, answer: JsonObject): Problem {
  const { code, detail, retry } = answer as { code: Problem['code']; detail: string; retry: JsonObject }
  return { code, detail, extra: { ...buildHelp(call), retry }, recorded: true }
}

function buildHelp(call: AgentCall<Bearer>): JsonObject {
  return call.bearer.kind === 'review' ? buildReviewerHelp(call.state) : buildAgentHelp(call.contract, call.state)
}

/**
 * Up to 32 calls, each decided on its own, in order; each has its own place under the key of the whole. After one that is answered
 * with `checking` none is made: the client sends it and the rest again.
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

export interface BatchRequest {
  readonly bearer: Bearer
  readonly taskId: string | undefined
  readonly calls: readonly { readonly tool: string; readonly args: JsonObject }[]
  readonly once: Once | undefined
  /** The answer a call got before, when the batch is sent again. */
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

async function decideCall(
  app: App,
  call: AgentCall<Bearer>,
  request: ToolRequest & { readonly execute: boolean },
): Promise<Result<JsonObject>> {
  const pins = call.state.upstream === null ? {} : await readPins(app, call.state)
  const facts = describeCall(call.contract, request.tool, request.args, pins)
  const { once } = request
  const handled = await applyAs(
    app,
    call,
    {
      type: 'use_tool',
      tool: request.tool,
      args: request.args,
      call: facts,
      execute: request.execute,
      ...getReviewerField(call),
    },
    {
      remember: (done) => {
        const answer = checkAnswer(call, done.events)
        if (once === undefined || (request.execute && answer.allowed === true)) return undefined
        return {
          ...once,
          status: 200,
          answer: request.execute ? { problem: { ...toDenial(call, answer) } } : { body: answer },
        }
      },
    },
  )
  return handled.ok ? ok(checkAnswer(call, handled.value.events)) : handled
}

function checkAnswer(call: AgentCall<Bearer>, events: readonly TaskEvent[]): JsonObject {
  const allowed_tools = call.bearer.kind === 'review' ? REVIEW_TOOLS : listAllowedTools(call.contract, call.state)
  const denied = events.find((event) => event.type === 'tool_denied')
  if (denied?.type === 'tool_denied')
    return { allowed: false, code: denied.code, detail: denied.detail, allowed_tools, retry: { ...denied.retry } }
  const allowed = events.find((event) => event.type === 'tool_allowed')
  if (allowed?.type !== 'tool_allowed') throw new Error('a tool call was neither allowed nor denied')
  return allowed.violation === null
    ? { allowed: true, allowed_tools }
    : { allowed: true, allowed_tools, violation: { ...allowed.violation } }
}
