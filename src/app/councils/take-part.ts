import { countChars } from '../../core/councils/code-points.js'
import type { ResponseCall, RunCommand, RunOutcome } from '../../core/councils/command.js'
import { type CoordinationRun, isAwaited, isPresenting } from '../../core/councils/council.js'
import { extractPresentation } from '../../core/councils/judge-response.js'
import { buildParticipantView } from '../../core/councils/view.js'
import type { ParticipantBearer } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import type { App } from '../app.js'
import { keepUnder, type Once } from '../kept-answer.js'
import { ok, type Result, refuse } from '../result.js'
import { refuseUnknownRun } from './operate-councils.js'
import { toParticipantView } from './show-council.js'

export const WAIT_SECONDS_MAX = 55

interface RemoteResponse {
  readonly text: string
  readonly toolCalls: readonly ResponseCall[]
}

/**
 * What a participant sees of its council. Each view is recorded, because votes are checked against what their voter was
 * shown.
 */
export async function lookAtRun(
  app: App,
  bearer: ParticipantBearer,
  asked: { readonly id: string; readonly waitSeconds: number },
): Promise<Result<JsonObject>> {
  const admitted = await admitRemote(app, bearer, asked.id)
  if (!admitted.ok) return admitted
  if (asked.waitSeconds > 0) await waitUntilAsked(app, bearer, asked.waitSeconds * 1000)
  return ok(await handOutTurn(app, bearer))
}

/** Takes one response of a remote agent and judges it like a model's. */
export async function respondToRun(
  app: App,
  bearer: ParticipantBearer,
  given: { readonly id: string; readonly response: RemoteResponse; readonly once: Once | undefined },
): Promise<Result<JsonObject>> {
  const admitted = await admitRemote(app, bearer, given.id)
  if (!admitted.ok) return admitted
  const { paused } = app.ledger.registry
  if (paused !== null) return refuse('agents_paused', `All agents are paused: ${paused}`)
  const key = formatParticipantKey(bearer)
  const { responding } = app.coordinations
  // Two identical concurrent requests are one response: the second would count as another attempt.
  if (responding.has(key)) return refuse('conflict', 'Another response of this agent is being judged.')
  responding.add(key)
  try {
    return await applyResponse(app, { run: admitted.value, agent: bearer.agentId }, given)
  } finally {
    responding.delete(key)
  }
}

async function applyResponse(
  app: App,
  { run, agent }: { readonly run: CoordinationRun; readonly agent: string },
  given: { readonly response: RemoteResponse; readonly once: Once | undefined },
): Promise<Result<JsonObject>> {
  const { text, toolCalls } = given.response
  const isPresenter = isPresenting(run) && run.result?.winner === agent
  const { once } = given
  const applied = await app.coordinations.apply(
    run.id,
    isPresenter
      ? { type: 'final_presented', agent, text: extractPresentation(text, toolCalls) }
      : {
          ...{ type: 'responded', agent, text, toolCalls, handled: 'restart', knownTools: [] },
          ...{ buffer: text, bufferChars: countChars(text) },
        },
    `participant:${agent}`,
    {
      // The answer contains the next view, so that the view is recorded with the response or not at all.
      followedBy: (after) => turnOf(after, agent),
      remember: ({ outcome, run: after }) =>
        outcome.kind === 'refused'
          ? undefined
          : keepUnder(once, 200, () => ({ body: buildResponseAnswer(outcome, after, agent) })),
    },
  )
  if (applied === null) return refuseUnknownRun(run.id)
  const { outcome } = applied
  if (outcome.kind === 'refused')
    return refuse('conflict', outcome.detail, { view: toParticipantView(applied.run, agent) })
  return ok(buildResponseAnswer(outcome, applied.run, agent))
}

type JudgedOutcome = Exclude<RunOutcome, { kind: 'refused' }>

function buildResponseAnswer(outcome: JudgedOutcome, run: CoordinationRun, agent: string): JsonObject {
  return { ...buildOutcomeAnswer(outcome, run, agent), view: toParticipantView(run, agent) }
}

/** The turn that starts when the agent is shown its view; null when it has nothing to do. */
function turnOf(run: CoordinationRun, agentId: string): RunCommand | null {
  const agent = run.agents.get(agentId)
  if (agent === undefined || !isAwaited(run, agent)) return null
  const shown = (buildParticipantView(run, agentId)?.answers ?? []).map(({ label }) => label)
  return { type: 'turn_began', agent: agentId, shown }
}

/** The council of the token, with the agent in it. */
export async function admitParticipant(
  app: App,
  bearer: ParticipantBearer,
  id: string,
): Promise<Result<CoordinationRun>> {
  if (bearer.runId !== id)
    return refuse('token_mismatch', `The token was issued for council ${bearer.runId}, not for ${id.slice(0, 100)}.`)
  const run = await app.coordinations.read(id)
  return run === null || !run.agents.has(bearer.agentId) ? refuseUnknownRun(id) : ok(run)
}

/** An agent that Phaselock prompts must not answer outside its turns. */
async function admitRemote(app: App, bearer: ParticipantBearer, id: string): Promise<Result<CoordinationRun>> {
  const admitted = await admitParticipant(app, bearer, id)
  if (!admitted.ok || (await isRemote(app, admitted.value, bearer.agentId))) return admitted
  return refuse('not_permitted', 'An agent that Phaselock started takes part through MCP, in its turn.')
}

async function isRemote(app: App, run: CoordinationRun, agentId: string): Promise<boolean> {
  const { agents } = await app.coordinations.loadCouncil(run)
  return agents.some(({ id, kind }) => id === agentId && kind === 'remote')
}

function buildOutcomeAnswer(outcome: JudgedOutcome, run: CoordinationRun, agentId: string): JsonObject {
  if (outcome.kind === 'done') {
    const agent = run.agents.get(agentId)
    const about = { attempt: 1, max_attempts: run.options.maxAttempts, round: agent?.round ?? 1 }
    return {
      accepted: run.presentation !== null,
      action: 'final_presentation',
      label: `${agent?.anonymousId}.final`,
      ...about,
    }
  }
  const { attempt, maxAttempts, round } = outcome
  const about = { attempt, max_attempts: maxAttempts, round }
  if (outcome.kind === 'accepted') return { accepted: true, action: outcome.action, label: outcome.label, ...about }
  if (outcome.kind === 'asked_again') return { accepted: false, asked_again: true, message: outcome.message, ...about }
  const stopped = outcome.stopped === null ? {} : { stopped: outcome.stopped }
  return { accepted: false, reason: outcome.reason, message: outcome.message, ...stopped, ...about }
}

async function handOutTurn(app: App, { runId, agentId }: ParticipantBearer): Promise<JsonObject> {
  const run = await app.coordinations.read(runId)
  const agent = run?.agents.get(agentId)
  if (run === null || agent === undefined) throw new Error(`run ${runId} is gone`)
  const turn = app.ledger.registry.paused === null ? turnOf(run, agentId) : null
  if (turn === null) return toParticipantView(run, agentId)
  const applied = await app.coordinations.apply(runId, turn, `participant:${agentId}`)
  // The agent has nothing to do: its time is over, or the council just ended.
  if (applied?.outcome.kind === 'refused') return toParticipantView(applied.run, agentId)
  // Show only what was recorded as shown: an answer that arrived in between is in the next view.
  const after = applied?.run.agents.get(agentId)
  return {
    ...toParticipantView(run, agentId),
    round: after?.round ?? agent.round,
    attempt: Math.min((after?.attempts ?? 0) + 1, run.options.maxAttempts),
  }
}

async function waitUntilAsked(app: App, { runId, agentId }: ParticipantBearer, ms: number): Promise<void> {
  const isAsked = async (): Promise<boolean> => {
    const run = await app.coordinations.read(runId)
    const agent = run?.agents.get(agentId)
    if (run === null || agent === undefined || run.endedAt !== null || agent.status !== 'live') return true
    return isAwaited(run, agent) || (isPresenting(run) && run.result?.winner === agentId)
  }
  let wake: () => void = () => undefined
  let isReplaced = false
  // One wait per agent: many waits would take the places of other clients that follow the council.
  const key = formatParticipantKey({ runId, agentId })
  const { waiting } = app.coordinations
  waiting.get(key)?.()
  const replace = (): void => {
    isReplaced = true
    wake()
  }
  waiting.set(key, replace)
  const stop = app.coordinations.watch(runId, { happened: () => wake(), streamed: () => undefined })
  const deadline = Date.now() + ms
  try {
    while (stop !== null && !isReplaced && Date.now() < deadline) {
      const changed = new Promise<void>((resolve) => {
        wake = resolve
      })
      if (await isAsked()) return
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, deadline - Date.now())
      })
      await Promise.race([changed, late])
      clearTimeout(timer)
    }
  } finally {
    stop?.()
    if (waiting.get(key) === replace) waiting.delete(key)
  }
}

function formatParticipantKey({ runId, agentId }: Pick<ParticipantBearer, 'runId' | 'agentId'>): string {
  return JSON.stringify([runId, agentId])
}
