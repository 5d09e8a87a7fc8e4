import { findAskedQuestion, OPTIONS_MAX, QUESTION_CHARS_MAX } from '../../core/approvals/question.js'
import type { Bearer } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import type { Question, TaskState } from '../../core/task/state.js'
import { failTool, type ToolOutcome } from '../../tools/tool-place.js'
import { type App, makeContext, type Once, StoreUnavailable } from '../app.js'
import { type AgentCall, admitCall, applyAs, refuseForeign } from '../identity/agent-call.js'
import { formatActor, type Party } from '../identity/identity.js'
import { ok, type Result, refuse, toProblem } from '../result.js'
import { toQuestionView } from '../tasks/views.js'

const QUESTION_ID = /^qst-\d+-(.+)$/
const TRIES_MAX = 5

/** Runs `ask_user_question`, once the call was allowed: opens the question, or tells what became of it. */
export async function askQuestion(app: App, allowed: AgentCall<Bearer>, args: JsonObject): Promise<ToolOutcome> {
  const { bearer } = allowed
  if (bearer.kind === 'review') return failTool('A reviewer asks nothing.', 'not_permitted')
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
    // Another call asked the same a moment ago and its question is not on disk yet: what is written after it waits for it.
    const waited = await applyAs(app, call, { type: 'extend_lease' })
    if (!waited.ok) return failTool(waited.problem.detail, waited.problem.code, waited.problem.extra)
  }
  throw new StoreUnavailable(`a question of task ${call.state.id} could not be read back`)
}

// An agent token holds in every phase, but the call was allowed in one: it must not ask in another that it came into since.
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

// Control characters have no place in what people read, and take six bytes each in the ledger, which then would cut
// the text. It is kept exactly as it is compared: without secrets. What is far too long is refused unread.
const CONTROLS = /[^\P{Cc}\t\n\r]/gu

function cleanText(app: App, text: string): string {
  if (text.length > 2 * QUESTION_CHARS_MAX) return text
  return app.redact(text.toWellFormed().replace(CONTROLS, '\uFFFD')) as string
}

/** One question; an agent sees those of its own task. */
export async function showQuestion(app: App, principal: Party, id: string): Promise<Result<JsonObject>> {
  const state = await readTaskOfQuestion(app, id)
  // Whether other tasks have such a question is nothing an agent learns.
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
  const handled = await app.ledger.apply(
    { taskId: state.id, contract },
    { type: 'answer_question', questionId: question.id, answer, other, by },
    makeContext(app, formatActor(principal)),
    {
      remember: (done) => {
        const answered = done.state.questions.get(question.id)
        return once === undefined || answered === undefined || done.refusal !== null
          ? undefined
          : { ...once, status: 200, answer: { body: toQuestionView(done.state, answered) } }
      },
    },
  )
  if (handled === null) return refuse('not_found', `There is no task ${state.id}.`)
  if (handled.refusal !== null) return toProblem(handled.refusal, {}, handled.events.length > 0)
  return ok(toQuestionView(handled.state, handled.state.questions.get(question.id) ?? question))
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
