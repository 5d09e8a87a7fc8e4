import {
  type CoordinationRun,
  isAwaited,
  isPresenting,
  listVotable,
  type Participant,
  type Verdict,
} from './council.js'

/** What an agent must do now. `wait`: nothing, unless another answer comes. */
type Duty = 'new_answer' | 'vote' | 'new_answer_or_vote' | 'present' | 'wait' | 'none'

/** All that a participant may see: only anonymous ids, no votes, no refusals of others. */
export type ParticipantView = {
  readonly question: string
  readonly anonymous_id: string
  readonly round: number
  /** The number of its next response. */
  readonly attempt: number
  readonly max_attempts: number
  /** The newest answer of each agent that has one; its own comes last. */
  readonly answers: readonly ShownAnswer[]
  readonly must: Duty
  /** Anonymous ids it may vote for. */
  readonly valid_agents: readonly string[]
  /** Its answer must say whether it approves. */
  readonly needs_verdict: boolean
}

export type ShownAnswer = {
  readonly agent_id: string
  readonly label: string
  readonly content: string
  readonly verdict: Verdict | null
}

/**
 * The view of one participant; null when the council has no such agent. `turn_began` must record its labels as shown.
 */
export function buildParticipantView(run: CoordinationRun, agentId: string): ParticipantView | null {
  const agent = run.agents.get(agentId)
  if (agent === undefined) return null
  return {
    question: run.question,
    anonymous_id: agent.anonymousId,
    round: agent.round,
    attempt: Math.min(agent.attempts + 1, run.options.maxAttempts),
    max_attempts: run.options.maxAttempts,
    answers: listShownAnswers(run, agent),
    must: computeDuty(run, agent),
    valid_agents: listVotable(run, agent),
    needs_verdict: run.isConsensus,
  }
}

/** In order of numbers, rotated so that the agent's own comes last. */
function listShownAnswers(run: CoordinationRun, agent: Participant): readonly ShownAnswer[] {
  const all = [...run.ids]
  const next = all.findIndex(([, id]) => id === agent.id) + 1
  return [...all.slice(next), ...all.slice(0, next)].flatMap(([anonymousId, id]) => {
    const answer = run.newest.get(id)
    if (answer === undefined) return []
    return [{ agent_id: anonymousId, label: answer.label, content: answer.content, verdict: answer.verdict }]
  })
}

function computeDuty(run: CoordinationRun, agent: Participant): Duty {
  if (isPresenting(run) && run.result?.winner === agent.id) return 'present'
  if (run.endedAt !== null || agent.status !== 'live') return 'none'
  if (!isAwaited(run, agent)) return 'wait'
  if (listVotable(run, agent).length === 0) return 'new_answer'
  const { maxNewAnswersPerAgent, maxNewAnswersGlobal } = run.options
  const own = run.newest.get(agent.id)?.revision ?? 0
  const isAtLimit =
    own >= maxNewAnswersPerAgent || run.answers.length >= (maxNewAnswersGlobal ?? Number.POSITIVE_INFINITY)
  if (isAtLimit) return 'vote'
  return run.options.skipVoting ? 'new_answer' : 'new_answer_or_vote'
}
