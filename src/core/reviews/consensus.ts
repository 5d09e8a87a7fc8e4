import type { ConsensusPlan } from '../contract/contract-parts.js'
import { takeFirstChars } from '../councils/code-points.js'
import { judgeConsensus } from '../councils/consensus.js'
import type { CoordinationRun } from '../councils/council.js'
import { makeBlocker } from '../gates/blockers.js'
import type { GateFacts } from '../task/command.js'
import type { TaskFact } from '../task/event.js'
import type { BlockerFound } from '../task/fact-parts.js'
import type { TaskState } from '../task/state.js'
import type { ConsensusProof, ConsensusSeen } from './consensus-event.js'
import { formatWorkKey } from './consensus-plan.js'
import { buildConsensusProgress } from './consensus-progress.js'
import { HOLDERS_MAX } from './review.js'

/** How often reviewers may be asked in one visit, and on one task at all: every run is work of theirs. */
const CONSENSUS_RUNS_MAX = 20
const CONSENSUS_RUNS_TASK_MAX = 200
const ANSWER_SHOWN_CHARS = 1000

/** The voting reviewers' decision on leaving a phase. */
type ConsensusAnswer =
  | { readonly kind: 'holds'; readonly proof: ConsensusProof | null }
  | {
      readonly kind: 'blocked'
      readonly blocker: BlockerFound
      readonly facts: readonly TaskFact[]
      /** The work changed while they were reviewing it, so this is more than waiting. */
      readonly isReplaced: boolean
    }

/** True while artifacts derived from the reviews cannot exist: nothing counts against the agent, and nothing passes. */
export function isVoting(plan: ConsensusPlan | null, seen: ConsensusSeen | null | undefined): boolean {
  const run = seen?.run ?? null
  return plan !== null && (run === null || run.endedAt === null)
}

/** Finds an approving council on exactly this work from this visit; requests one if there is none. */
export function decideConsensus(
  state: TaskState,
  asked: { readonly plan: ConsensusPlan | null; readonly facts: GateFacts; readonly to: string },
): ConsensusAnswer {
  const { plan, facts } = asked
  if (plan === null) return { kind: 'holds', proof: null }
  const own = ownVoters(state, plan)
  if (own !== null) return makeBlockedAnswer(own)
  const seen = facts.consensus ?? null
  if (seen === null)
    return makeBlockedAnswer(makeBlocker('check_error', { check: CHECK, message: 'The reviewers were not asked' }))
  const runs = state.consensus?.visit === state.visit ? state.consensus.runs : []
  const known = runs.find((run) => run.id === seen.runId)
  if (known === undefined) {
    const often = blockTooManyRuns(state, runs.length)
    return often === null ? request(plan, seen, asked.to) : makeBlockedAnswer(often)
  }
  const { run } = seen
  if (known.subject !== seen.subject || (run !== null && !isOf(plan, seen.runId, run)))
    return makeBlockedAnswer(
      makeBlocker('check_error', { check: CHECK, message: `Council ${seen.runId} is about other work` }),
    )
  if (run === null) return makeBlockedAnswer(blockPendingRun(`Council ${seen.runId} is being opened`))
  const answer = judgeRun(run, seen)
  // A tool call allowed since then may have changed what they approved.
  const isStale = answer.kind === 'holds' && seen.workKey !== formatWorkKey(state)
  return isStale ? makeBlockedAnswer(makeBlocker('check_error', { check: CHECK, message: CHANGED })) : answer
}

/** Its name in gates and messages. */
const CHECK = 'consensus'
const CHANGED = 'The work may have changed while the gates were checked. Request the transition again'

function judgeRun(run: CoordinationRun, seen: ConsensusSeen): ConsensusAnswer {
  const { status, message } = judgeConsensus(run)
  if (status === 'pending')
    return makeBlockedAnswer(blockPendingRun(`Council ${run.id} goes on: ${formatProgress(run)}`))
  const { result } = run
  const label = result?.label ?? null
  if (status === 'fails' || result === null || result.winner === null || label === null)
    return makeBlockedAnswer(blockFailedRun(run, message))
  if (seen.last === null)
    return makeBlockedAnswer(
      makeBlocker('check_error', { check: CHECK, message: `The end of council ${run.id} is not in the ledger` }),
    )
  const { winner, votes } = result
  const { quorum } = run.options
  const { subject, last } = seen
  return { kind: 'holds', proof: { run: run.id, subject, winner, label, votes, quorum, ...last, grade: 'observed' } }
}

function request(plan: ConsensusPlan, seen: ConsensusSeen, to: string): ConsensusAnswer {
  const { runId, subject } = seen
  const agents = plan.voters.map((voter) => voter.id)
  return {
    kind: 'blocked',
    blocker: blockPendingRun(`Council ${runId} has begun: ${agents.join(', ')} have not answered`),
    facts: [{ type: 'consensus_requested', runId, to, subject, agents, quorum: plan.options.quorum }],
    isReplaced: seen.replaces !== null,
  }
}

// Agents that work or worked on the task do not vote on it. (REQ-CONSENSUS-6)
function ownVoters(state: TaskState, plan: ConsensusPlan): BlockerFound | null {
  const own = plan.voters.filter(({ id }) => state.holders.includes(id) || state.reservedFor === id)
  const names = own.map(({ id }) => id).join(', ')
  const remedy = 'Ask an operator: another agent must have done the work, or others must review it.'
  if (own.length > 0) {
    const message = `consensus: ${names} ${own.length === 1 ? 'works' : 'work'} on task ${state.id} or did, and cannot review it`
    return makeBlocker('check_failed', { check: CHECK, message, remedy })
  }
  if (state.holders.length < HOLDERS_MAX) return null
  const message = `consensus: more than ${HOLDERS_MAX} agents have held task ${state.id}, so Phaselock does not know every one of them`
  return makeBlocker('check_failed', { check: CHECK, message, remedy })
}

// An agent that goes in circles begins a new visit each time.
function blockTooManyRuns(state: TaskState, inVisit: number): BlockerFound | null {
  const isOften = inVisit >= CONSENSUS_RUNS_MAX
  if (!isOften && (state.consensus?.asked ?? 0) < CONSENSUS_RUNS_TASK_MAX) return null
  const times = isOften
    ? `of ${state.phase} were asked ${inVisit} times in this visit`
    : `of task ${state.id} were asked ${state.consensus?.asked} times`
  return makeBlocker('check_failed', {
    check: CHECK,
    message: `consensus: the reviewers ${times}, and are not asked again`,
    remedy: 'Ask an operator to rewind the task.',
  })
}

function isOf(plan: ConsensusPlan, runId: string, run: CoordinationRun): boolean {
  const ids = [...run.agents.keys()]
  const isSame = ids.length === plan.voters.length && plan.voters.every(({ id }, index) => ids[index] === id)
  const { quorum, skipVoting, allowSelfVote } = plan.options
  const { options } = run
  const isLike =
    options.quorum === quorum && options.skipVoting === skipVoting && options.allowSelfVote === allowSelfVote
  return run.isConsensus && run.id === runId && isSame && isLike
}

// Names only: contents stay with the reviewers until all have voted.
function formatProgress(run: CoordinationRun): string {
  const { voters, voted, answered, gone } = buildConsensusProgress(run)
  if (run.options.skipVoting)
    return `${run.newest.size} of ${voters.length} answered${formatNames([...run.newest.keys()])}`
  const open = voters.filter((id) => !voted.includes(id) && !gone.includes(id))
  const waiting = open.filter((id) => answered.includes(id))
  const silent = open.filter((id) => !answered.includes(id))
  const parts = [
    `${voted.length} of ${voters.length} voted${formatNames(voted)}`,
    ...(waiting.length === 0 ? [] : [`answered but not voted: ${waiting.join(', ')}`]),
    ...(silent.length === 0 ? [] : [`not answered: ${silent.join(', ')}`]),
    ...(gone.length === 0 ? [] : [`no longer taking part: ${gone.join(', ')}`]),
  ]
  return parts.join('; ')
}

function formatNames(ids: readonly string[]): string {
  return ids.length === 0 ? '' : ` (${ids.join(', ')})`
}

function blockFailedRun(run: CoordinationRun, why: string): BlockerFound {
  const answer = run.answers.find((one) => one.label === run.result?.label)
  const said = answer === undefined ? '' : ` ${answer.agent} says: ${cut(answer.content)}`
  return makeBlocker('check_failed', {
    check: CHECK,
    message: `consensus failed: ${why}${said} (council ${run.id})`,
    remedy:
      'Change the work as the reviewers ask, then send the request again: changed work is reviewed again. The result for unchanged work stands until an operator rewinds the task.',
    grade: 'observed',
  })
}

function cut(text: string): string {
  const shown = takeFirstChars(text, ANSWER_SHOWN_CHARS)
  return shown.length < text.length ? `${shown}…` : shown
}

function blockPendingRun(message: string): BlockerFound {
  return makeBlocker('consensus_pending', {
    check: CHECK,
    message,
    remedy: 'Wait for the reviewers to vote, then send the same request again.',
  })
}

function makeBlockedAnswer(found: BlockerFound): ConsensusAnswer {
  return { kind: 'blocked', blocker: found, facts: [], isReplaced: false }
}
