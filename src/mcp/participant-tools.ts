import type { CallToolResult } from '@modelcontextprotocol/server'
import type { App } from '../app/app.js'
import { toParticipantView } from '../app/councils/show-council.js'
import { admitParticipant, lookAtRun, respondToRun } from '../app/councils/take-part.js'
import { listReadTools } from '../app/councils/turn-prompts.js'
import { ok, type Problem, type Result, refuse } from '../app/result.js'
import { type CoordinationRun, isAwaited, isPresenting, listUnseen } from '../core/councils/council.js'
import type { ParticipantBearer } from '../core/identity/admit.js'
import type { Json, JsonObject } from '../core/json.js'
import { findNameProblem } from './call-tool.js'
import type { ParticipantCalls } from './participant-server.js'
import { toRefusalError, toRefusalResult } from './results.js'

interface Call {
  readonly name: string
  readonly arguments: Json
}

/**
 * The operations of a participant's token on its own council, depending on its kind of agent. Throws when the token is
 * not valid.
 */
export async function openParticipantDoor(
  app: App,
  bearer: ParticipantBearer,
  record: (problem: Problem, what: string) => Promise<void>,
): Promise<ParticipantCalls> {
  const admitted = await admitParticipant(app, bearer, bearer.runId)
  if (!admitted.ok) {
    await record(admitted.problem, 'coordination')
    throw toRefusalError(admitted.problem)
  }
  const run = admitted.value
  const { agents, tools } = await app.coordinations.loadCouncil(run)
  const isRemote = agents.some(({ id, kind }) => id === bearer.agentId && kind === 'remote')
  const way = isRemote ? REMOTE : PROGRAM
  const told = async (what: string, answer: Result<JsonObject>): Promise<CallToolResult> => {
    if (!answer.ok) await record(answer.problem, what)
    return answer.ok ? toResponseResult(answer.value) : toRefusalResult(answer.problem)
  }
  return {
    needsVerdict: run.isConsensus,
    // Remote agents read with their own tools: a call of theirs is a response, and nothing would run it.
    looks: isRemote ? [] : listReadTools(tools),
    view: async () => told('coordination_view', await way.view(app, bearer)),
    call: async (call, gone) => {
      const problem = refuseCall(run, call)
      return told(call.name, problem ?? (await way.call({ app, bearer, run, gone }, call)))
    },
  }
}

function refuseCall(run: CoordinationRun, { name }: Call): Result<never> | null {
  const unreadable = findNameProblem(name)
  if (unreadable !== null) return refuse('invalid_request', unreadable)
  if (run.endedAt === null) return null
  const next = 'Nothing is left to do: coordination_view shows how it ended.'
  return refuse('conflict', 'The council is over.', { next_step: next })
}

interface At {
  readonly app: App
  readonly bearer: ParticipantBearer
  readonly run: CoordinationRun
  readonly gone: AbortSignal
}

interface Way {
  readonly view: (app: App, bearer: ParticipantBearer) => Promise<Result<JsonObject>>
  readonly call: (at: At, call: Call) => Promise<Result<JsonObject>>
}

/** A remote agent: each call is a separate response, as over REST. */
const REMOTE: Way = {
  view: (app, bearer) => lookAtRun(app, bearer, { id: bearer.runId, waitSeconds: 0 }),
  call: async ({ app, bearer, run }, call) => {
    const isPresenter = isPresenting(run) && run.result?.winner === bearer.agentId
    const content = call.name === 'new_answer' ? getContent(call.arguments) : ''
    if (isPresenter && content.trim() === '')
      return refuse('conflict', 'Your answer was chosen.', {
        next_step: 'Present it: call new_answer with its content.',
      })
    const text = isPresenter ? content : ''
    return respondToRun(app, bearer, { id: bearer.runId, response: { text, toolCalls: [call] }, once: undefined })
  },
}

function getContent(args: Json): string {
  const given = typeof args === 'object' && args !== null && 'content' in args ? args.content : ''
  return typeof given === 'string' ? given : ''
}

/** A program that Phaselock started: a call is part of its stream, and counts only in its turn. */
const PROGRAM: Way = {
  // It is in the middle of its turn: what it reads there is shown to it, and begins no other turn.
  view: async (app, { runId, agentId }) => {
    const run = await app.coordinations.read(runId)
    const agent = run?.agents.get(agentId)
    if (run === null || agent === undefined) throw new Error(`run ${runId} is gone`)
    const shown = listUnseen(run, agent).map(({ label }) => label)
    if (!isAwaited(run, agent) || shown.length === 0) return ok(toParticipantView(run, agentId))
    const told = await app.coordinations.apply(runId, { type: 'injected', agent: agentId, shown }, 'system')
    return ok(toParticipantView(told?.run ?? run, agentId))
  },
  call: async ({ app, bearer, gone }, { name, arguments: args }) => {
    const program = app.coordinations.findProgramCalls(bearer.runId, bearer.agentId)
    // A call of an ended process must not count as a call of the next one.
    if (program === null || gone.aborted)
      return refuse('conflict', 'It is not your turn.', { next_step: 'End here; you are started when it is.' })
    const { text, isError } = await program.offer({ name, arguments: args })
    return ok({ accepted: !isError, message: text })
  },
}

/** The answer to a call, as text and as structure. A rejection is an error with exactly its message. */
function toResponseResult(answer: JsonObject): CallToolResult {
  const { message, asked_again: isAsked, stopped } = answer
  if (answer.accepted !== false || typeof message !== 'string') return makeResult(answer, formatAnswer(answer), false)
  const more = isAsked === true ? [JSON.stringify(answer.view)] : typeof stopped === 'string' ? [stopped] : []
  return makeResult(answer, [message, ...more].join('\n'), true)
}

function formatAnswer(answer: JsonObject): string {
  const { accepted, message } = answer
  return accepted === true && typeof message === 'string' ? message : JSON.stringify(answer)
}

function makeResult(structured: JsonObject, text: string, isError: boolean): CallToolResult {
  const result = { content: [{ type: 'text' as const, text }], structuredContent: structured }
  return isError ? { ...result, isError } : result
}
