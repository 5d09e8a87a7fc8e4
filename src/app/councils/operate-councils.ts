import { type CoordinationRun, isPresenting } from '../../core/councils/council.js'
import type { Json, JsonObject } from '../../core/json.js'
import { readAgents } from '../../participants/read-agents.js'
import type { App } from '../app.js'
import { keepUnder, type Once } from '../kept-answer.js'
import { ok, type Result, refuse } from '../result.js'
import { readOptions } from './council-file.js'
import { makeParticipantToken } from './participant-token.js'
import { runRow, toRunView } from './show-council.js'
import { COUNCIL_TOOLS } from './turn-prompts.js'

type OperatorCall = { readonly actor: string; readonly once: Once | undefined }

/** Starts a council for an operator. */
export async function startCoordination(
  app: App,
  given: { readonly question: string; readonly agents: Json; readonly options: JsonObject },
  by: OperatorCall,
): Promise<Result<JsonObject>> {
  const read = readAgents(given.agents)
  if (!read.ok) {
    const first = read.problems[0]
    const errors = read.problems.map((problem) => ({ ...problem }))
    return refuse('invalid_request', `${first?.path}: ${first?.message}`, { errors })
  }
  const { tools = [], ...options } = given.options
  const council = {
    agents: read.agents,
    tools: (tools as readonly string[]).filter((one) => COUNCIL_TOOLS.includes(one)),
  }
  const started = await app.coordinations.start(
    { question: given.question, council, options: readOptions(options) },
    by,
  )
  return started.ok ? buildStartedAnswer(app, started.value.id) : started
}

/** The answer with the tokens; also sent again to a client that lost it. */
export async function buildStartedAnswer(app: App, id: string): Promise<Result<JsonObject>> {
  const run = await app.coordinations.read(id)
  if (run === null) return refuseUnknownRun(id)
  const council = await app.coordinations.loadCouncil(run)
  const agents = council.agents.map(({ id: agentId, kind }) => ({
    id: agentId,
    anonymous_id: run.agents.get(agentId)?.anonymousId ?? null,
    ...(kind === 'remote' ? { token: makeParticipantToken(app, run, agentId).token } : {}),
  }))
  return ok({ id, agents })
}

/** Returns a participant's token again, for an operator who has to hand it over. */
export async function issueParticipantToken(
  app: App,
  asked: { readonly id: string; readonly agent: string },
): Promise<Result<JsonObject>> {
  const run = await app.coordinations.read(asked.id)
  if (run === null) return refuseUnknownRun(asked.id)
  const council = await app.coordinations.loadCouncil(run)
  const agent = council.agents.find((one) => one.id === asked.agent)
  if (agent === undefined) return refuse('not_found', `Council ${run.id} has no agent ${JSON.stringify(asked.agent)}.`)
  if (agent.kind !== 'remote')
    return refuse('conflict', `Agent ${agent.id} needs no token: Phaselock asks it directly.`)
  if (run.endedAt !== null) return refuse('conflict', `Council ${run.id} is over.`)
  return ok({
    id: agent.id,
    anonymous_id: run.agents.get(agent.id)?.anonymousId ?? null,
    token: makeParticipantToken(app, run, agent.id).token,
  })
}

export async function listCoordinations(
  app: App,
  page: { readonly limit: number; readonly cursor: string | undefined },
): Promise<Result<JsonObject>> {
  const ids = app.coordinations.listIds()
  const from = page.cursor === undefined ? 0 : ids.indexOf(page.cursor) + 1
  if (page.cursor !== undefined && from === 0) return refuse('invalid_request', 'cursor: is not from an earlier page.')
  const shown = ids.slice(from, from + page.limit)
  const coordinations: JsonObject[] = []
  for (const id of shown) {
    const run = await app.coordinations.read(id)
    if (run !== null) coordinations.push(runRow(run))
  }
  const last = shown.at(-1)
  return ok({ coordinations, next_cursor: last === undefined || from + page.limit >= ids.length ? null : last })
}

export async function showCoordination(app: App, id: string): Promise<Result<JsonObject>> {
  const run = await app.coordinations.read(id)
  return run === null ? refuseUnknownRun(id) : ok(toRunView(run, await app.coordinations.loadCouncil(run), app.now()))
}

export async function readCouncilStatus(app: App, id: string): Promise<Result<JsonObject>> {
  const status = await app.coordinations.readStatus(id)
  return status === null ? refuseUnknownRun(id) : ok(status)
}

/** Ends a council at once, without a winner. */
export async function cancelCoordination(
  app: App,
  asked: { readonly id: string; readonly reason: string },
  by: OperatorCall,
): Promise<Result<JsonObject>> {
  const { once } = by
  const reason = app.redact(asked.reason) as string
  const applied = await app.coordinations.apply(asked.id, { type: 'cancel', reason }, by.actor, {
    remember: ({ run }) => keepUnder(once, 200, () => ({ body: buildCancelledAnswer(run) })),
  })
  if (applied === null) return refuseUnknownRun(asked.id)
  if (applied.outcome.kind === 'refused') return refuse('conflict', applied.outcome.detail)
  return ok(buildCancelledAnswer(applied.run))
}

function buildCancelledAnswer(run: CoordinationRun): JsonObject {
  return {
    id: run.id,
    finish_reason: run.finishReason ?? 'in_progress',
    is_complete: !isPresenting(run) && run.endedAt !== null,
  }
}

export function refuseUnknownRun(id: string) {
  return refuse('not_found', `There is no council ${JSON.stringify(id)}.`)
}
