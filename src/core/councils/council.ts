import type { RunOptions } from './options.js'
import type { Reliability } from './reliability.js'

export type Verdict = 'approve' | 'request_changes'

export type FinishReason = 'completed' | 'timeout' | 'error' | 'cancelled'

/** The k-th answer of an agent; its label is `agentN.k` and never changes. */
export interface Answer {
  /** The id of its author. */
  readonly agent: string
  readonly label: string
  readonly revision: number
  readonly content: string
  /** Only in a consensus vote of a phase. */
  readonly verdict: Verdict | null
  readonly at: number
}

/** A valid vote. A new answer removes it. */
export interface Vote {
  readonly votedFor: string
  /** The newest answer of that agent that the voter had seen. */
  readonly label: string
  readonly reason: string
  readonly at: number
}

export interface AgentError {
  readonly type: 'non_compliant' | 'crash' | 'timeout'
  readonly message: string
  readonly at: number
}

/** Tokens of one or more turns. */
export interface TokensUsed {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

export interface Participant {
  readonly id: string
  /** The only name that peers ever see. */
  readonly anonymousId: string
  /** Its working directory; paths that differ between agents do not make an answer new. */
  readonly workTree: string | null
  /** `stopped`: out of attempts. `failed`: crashed. Only live agents take part. */
  readonly status: 'live' | 'stopped' | 'failed' | 'timed_out'
  readonly error: AgentError | null
  readonly turn: 'none' | 'running' | 'restarting'
  /** Number of turns begun. */
  readonly turns: number
  readonly round: number
  /** Rejected responses of this round. */
  readonly attempts: number
  /** The newest revision shown of each agent, by anonymous id; its own only if a prompt showed it. */
  readonly shown: ReadonlyMap<string, number>
  readonly vote: Vote | null
  /** Since when the others wait for it in this round. */
  readonly dueSince: number
  readonly lastActivity: number | null
  readonly tokens: TokensUsed
  readonly reliability: Reliability
}

/** The winner and the reason. `winner` is null when there is no answer, or when a required quorum was missed. */
export interface RunResult {
  readonly winner: string | null
  readonly label: string | null
  readonly isTie: boolean
  /** Valid votes for the winner, or for the answer that missed the quorum. */
  readonly votes: number
  readonly finishReason: FinishReason
  readonly details: string
}

/** The state of a council, folded from its events. */
export interface CoordinationRun {
  readonly id: string
  readonly question: string
  /** Answers carry a verdict. */
  readonly isConsensus: boolean
  /** Where the participants are stored. */
  readonly council: string | null
  readonly options: RunOptions
  readonly startedAt: number
  readonly updatedAt: number
  /** By id, in the order of registration. */
  readonly agents: ReadonlyMap<string, Participant>
  /** Ids by anonymous id, `agent1` first. */
  readonly ids: ReadonlyMap<string, string>
  /** All answers, in the order of their acceptance. */
  readonly answers: readonly Answer[]
  /** The newest answer of each agent that has one, by id. */
  readonly newest: ReadonlyMap<string, Answer>
  readonly decidedAt: number | null
  readonly result: RunResult | null
  readonly presentation: string | null
  readonly endedAt: number | null
  readonly finishReason: FinishReason | null
  readonly finishDetails: string | null
}

/** `agentN` for each id: ids sorted by code units, fixed for the whole council. */
export function assignAnonymousIds(ids: readonly string[]): ReadonlyMap<string, string> {
  const sorted = [...ids].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return new Map(sorted.map((id, index) => [id, `agent${index + 1}`]))
}

/** The winner is known and its final presentation is pending. */
export function isPresenting(run: CoordinationRun): boolean {
  return run.result !== null && run.endedAt === null
}

export function answerCountOf(run: CoordinationRun, id: string): number {
  return run.newest.get(id)?.revision ?? 0
}

/** The anonymous ids this agent may vote for, in order: those with answers. */
export function listVotable(run: CoordinationRun, agent: Participant): readonly string[] {
  return [...run.ids]
    .filter(([, id]) => run.newest.has(id) && (run.options.allowSelfVote || id !== agent.id))
    .map(([anonymousId]) => anonymousId)
}

/** It has nothing to do unless another answer comes. */
export function isDone(run: CoordinationRun, agent: Participant): boolean {
  if (agent.vote !== null) return true
  if (!run.newest.has(agent.id)) return false
  // Without self-votes, the author of the only answer has nobody to vote for: waiting for it would block the council.
  return run.options.skipVoting || listVotable(run, agent).length === 0
}

/** Its response counts now. */
export function isAwaited(run: CoordinationRun, agent: Participant): boolean {
  return run.result === null && run.endedAt === null && agent.status === 'live' && !isDone(run, agent)
}

/** The newest answers of others that the agent has not been shown, in order. */
export function listUnseen(run: CoordinationRun, agent: Participant): readonly Answer[] {
  return [...run.ids].flatMap(([anonymousId, id]) => {
    const answer = run.newest.get(id)
    const isNew = answer !== undefined && id !== agent.id && answer.revision > (agent.shown.get(anonymousId) ?? 0)
    return isNew ? [answer] : []
  })
}

/** Valid votes by the id they are for, in the order of registration. */
export function tally(run: CoordinationRun): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { vote } of run.agents.values())
    if (vote !== null) counts.set(vote.votedFor, (counts.get(vote.votedFor) ?? 0) + 1)
  return new Map([...run.agents.keys()].flatMap((id) => (counts.has(id) ? [[id, counts.get(id) ?? 0]] : [])))
}
