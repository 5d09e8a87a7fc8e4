import { findAskedQuestion, OPTIONS_MAX, QUESTION_CHARS_MAX } from '../../core/approvals/question.js'
import type { Bearer } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import type { Question, TaskState } from '../../core/task/state.js'
import { failTool, type ToolOutcome } from '../../tools/tool-place.js'
import { type App, StoreUnavailable } from '../app.js'
import { applyTo } from '../find-task.js'
import { type AgentCall, admitCall, applyAs, refuseForeign } from '../identity/agent-call.js'
import { formatActor, type Party } from '../identity/identity.js'
import { keepBody, type Once } from '../kept-answer.js'
import { ok, type Result, refuse } from '../result.js'
import { toQuestionView } from '../tasks/views.js'

const QUESTION_ID = /^qst-\d+-(.+)$/
const TRIES_MAX = 5

/** Runs `ask_user_question` after the call was allowed: opens the question, or returns its status. */
export async function askQuestion(app: App, allowed: AgentCall<Bearer>, args: JsonObject): Promise<ToolOutcome> {
  const { bearer } = allowed
  if (bearer.kind === 'review') return failTool('A reviewer cannot ask questions.', 'not_permitted')
  const call = bindToPhase({ ...allowed, bearer })
  const asked = readAsked(app, args)
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const handled = await applyAs(app, call, { type: 'ask_question', ...asked })
    if (!handled.ok) return failTool(handled.problem.detail, handled.problem.code, handled.problem.extra)
    const { refusal, events, state } = handled.value
    if (refusal !== null)
      return failTool(refusal.detail, refusal.code, refusal.retry === undefined ? {} : { retry: { ...refusal.retry } })
    const opened = events.find((event) => event.type === 'question_asked')
    const question =
      opened === undefined ? await readAskedQuestion(app, call, asked) : state.questions.get(opened.questionId)
    if (question !== undefined) return { ok: true, result: toOutcome(question), changes: [] }
    // Another call just asked the same question and it is not on disk yet. Writes are ordered, so ours waits for it.
    const waited = await applyAs(app, call, { type: 'extend_lease' })
    if (!waited.ok) return failTool(waited.problem.detail, waited.problem.code, waited.problem.extra)
  }
  throw new StoreUnavailable(`a question of task ${call.state.id} could not be read back`)
}

// An agent token is valid in every phase, but the call was allowed in one phase only. Refuse it if the task has moved
// on since.
function bindToPhase(call: AgentCall): AgentCall {
  const { id: taskId, phase, epoch, contract } = call.state
  const { agentId } = call.bearer
  return { ...call, bearer: { kind: 'phase', agentId, taskId, phase, epoch, contract: contract.hash } }
}

interface AskedQuestion {
  readonly question: string
  readonly options: readonly string[]
}

function readAsked(app: App, args: JsonObject): AskedQuestion {
  const options = Array.isArray(args.options) ? args.options.slice(0, OPTIONS_MAX + 1) : []
  return {
    question: cleanText(app, String(args.question ?? '')),
    options: options.map((option) => cleanText(app, String(option))),
  }
}

async function readAskedQuestion(app: App, call: AgentCall, asked: AskedQuestion): Promise<Question | undefined> {
  const state = await app.ledger.read(call.state.id)
  return state === null ? undefined : findAskedQuestion(state, asked)
}

function toOutcome({ id, question, options, answer }: Question): JsonObject {
  return answer === null
    ? { status: 'open', question_id: id, question, options }
    : { status: 'answered', question_id: id, answer: answer.text, answered_by: answer.by }
}

// Remove control characters: people read this text, and each one takes six bytes in the ledger, where the text would be
// truncated. Secrets are removed too, so that the stored text is the compared text. Overlong texts are refused before
// this.
const CONTROLS = /[^\P{Cc}\t\n\r]/gu

function cleanText(app: App, text: string): string {
  if (text.length > 2 * QUESTION_CHARS_MAX) return text
  return app.redact(text.toWellFormed().replace(CONTROLS, '\uFFFD')) as string
}

/** One question; an agent sees only the questions of its task. */
export async function showQuestion(app: App, principal: Party, id: string): Promise<Result<JsonObject>> {
  const state = await readTaskOfQuestion(app, id)
  // An agent must not learn whether other tasks have such a question.
  if (principal.kind === 'agent' && !isOwn(principal, state))
    return refuseForeign(app, principal.bearer, { taskId: QUESTION_ID.exec(id)?.[1], what: 'questions' })
  const question = state?.questions.get(id)
  if (state === null || question === undefined) return refuseUnknownQuestion(id)
  if (principal.kind === 'agent') {
    const admitted = await admitCall(app, principal.bearer, state.id)
    if (!admitted.ok) return admitted
  }
  return ok(toQuestionView(state, question))
}

/** Takes the answer of an operator. An agent's attempt is refused and recorded with its task. */
export async function answerQuestion(
  app: App,
  principal: Party,
  given: {
    readonly id: string
    readonly answer: string
    readonly other: boolean
    readonly once: Once | undefined
  },
): Promise<Result<JsonObject>> {
  const state = await readTaskOfQuestion(app, given.id)
  if (principal.kind === 'agent' && !isOwn(principal, state))
    return refuse('not_permitted', 'An agent may not answer a question.')
  const question = state?.questions.get(given.id)
  if (state === null || question === undefined) return refuseUnknownQuestion(given.id)
  if (principal.kind === 'agent') {
    const admitted = await admitCall(app, principal.bearer, state.id)
    if (!admitted.ok) return admitted
  }
  const by =
    principal.kind === 'operator'
      ? { kind: 'operator' as const, name: principal.name, role: principal.role }
      : { kind: 'agent' as const, name: principal.bearer.agentId }
  const contract = await app.contracts.get(state.contract.hash)
  const { once, other } = given
  const answer = cleanText(app, given.answer)
  const answerOf = (done: TaskState): JsonObject => toQuestionView(done, done.questions.get(question.id) ?? question)
  const command = { type: 'answer_question', questionId: question.id, answer, other, by } as const
  const handled = await applyTo(app, { state, contract }, command, {
    actor: formatActor(principal),
    remember: keepBody(once, 200, answerOf),
  })
  return handled.ok ? ok(answerOf(handled.value.state)) : handled
}

function refuseUnknownQuestion(id: string) {
  return refuse('not_found', `There is no question ${JSON.stringify(id)}.`)
}

function isOwn(principal: Party & { kind: 'agent' }, state: TaskState | null): boolean {
  return state?.held?.agentId === principal.bearer.agentId
}

async function readTaskOfQuestion(app: App, id: string): Promise<TaskState | null> {
  const taskId = QUESTION_ID.exec(id)?.[1]
  return taskId === undefined ? null : app.ledger.read(taskId)
}
