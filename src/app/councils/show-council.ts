import type { CoordinationRun, Participant } from '../../core/councils/council.js'
import { buildRunStatus } from '../../core/councils/status.js'
import { buildParticipantView } from '../../core/councils/view.js'
import type { JsonObject } from '../../core/json.js'
import { toIsoTime, toIsoTimeOrNull } from '../wire.js'
import { type CouncilFile, toOptionsView } from './council-file.js'

/** A council in the list. */
export function runRow(run: CoordinationRun): JsonObject {
  return {
    id: run.id,
    question: run.question.slice(0, QUESTION_SHOWN_CHARS).toWellFormed(),
    started_at: toIsoTime(run.startedAt),
    ended_at: toIsoTimeOrNull(run.endedAt),
    finish_reason: run.finishReason ?? 'in_progress',
    winner: run.result?.winner ?? null,
    agents: run.agents.size,
    answers: run.answers.length,
  }
}

const QUESTION_SHOWN_CHARS = 200

/** Everything about a council, for an operator. */
export function toRunView(run: CoordinationRun, council: CouncilFile, now: number): JsonObject {
  const kinds = new Map(council.agents.map((agent) => [agent.id, agent.kind]))
  return {
    id: run.id,
    question: run.question,
    is_consensus: run.isConsensus,
    options: toOptionsView(run.options),
    tools: council.tools,
    agents: [...run.agents.values()].map((agent) => toAgentView(agent, kinds.get(agent.id) ?? 'remote')),
    answers: run.answers.map(({ agent, label, content, verdict, at }) => ({
      ...{ label, agent_id: agent, anonymous_id: label.slice(0, label.indexOf('.')), content, verdict },
      at: toIsoTime(at),
    })),
    final_presentation: run.presentation,
    status: buildRunStatus(run, now),
  }
}

function toAgentView(agent: Participant, kind: string): JsonObject {
  const { input, output, cacheRead, cacheWrite } = agent.tokens
  return {
    id: agent.id,
    anonymous_id: agent.anonymousId,
    kind,
    status: agent.status,
    round: agent.round,
    turns: agent.turns,
    tokens: { input, output, cache_read: cacheRead, cache_write: cacheWrite },
    vote:
      agent.vote === null
        ? null
        : { voted_for: agent.vote.votedFor, label: agent.vote.label, reason: agent.vote.reason },
  }
}

/** A participant's view: the other participants appear only under their anonymous names. */
export function toParticipantView(run: CoordinationRun, agentId: string): JsonObject {
  const view = buildParticipantView(run, agentId)
  if (view === null) throw new Error(`the council has no agent ${agentId}`)
  const winner = run.result?.winner ?? null
  return {
    id: run.id,
    ...view,
    is_complete: run.endedAt !== null,
    finish_reason: run.finishReason ?? 'in_progress',
    winner: winner === null ? null : (run.agents.get(winner)?.anonymousId ?? null),
  }
}
