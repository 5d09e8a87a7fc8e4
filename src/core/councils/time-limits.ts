import type { CoordinationRun, Participant } from './council.js'
import { isAwaited } from './council.js'
import { decideTimeLimit, makeEndFact } from './ending.js'
import type { RunFact } from './event.js'
import { formatTimedOut } from './messages.js'

/** Effects of the time that has passed. */
export function decideDue(run: CoordinationRun, now: number): readonly RunFact[] {
  if (run.endedAt !== null) return []
  if (run.result !== null) return now >= computePresentationDeadline(run) ? [makeEndFact(run.result)] : []
  const awaited = [...run.agents.values()].filter((agent) => isAwaited(run, agent))
  const isTimeUp = now >= run.startedAt + run.options.timeoutSeconds * 1000
  const late = awaited.filter((agent) => isTimeUp || now >= roundDeadline(run, agent))
  const message = isTimeUp
    ? 'The run reached its time limit before the agent finished'
    : formatTimedOut(run.options.roundTimeoutSeconds)
  const gone: readonly RunFact[] = late.map((agent) => ({ type: 'agent_timed_out', agent: agent.id, message }))
  // The valid votes decide; late agents do not count.
  return isTimeUp ? [...gone, ...decideTimeLimit(run)] : gone
}

/** When to send the next `tick`; null when the council is over. */
export function nextDeadline(run: CoordinationRun): number | null {
  if (run.endedAt !== null) return null
  if (run.result !== null) return computePresentationDeadline(run)
  const awaited = [...run.agents.values()].filter((agent) => isAwaited(run, agent))
  const rounds = awaited.map((agent) => roundDeadline(run, agent))
  return Math.min(run.startedAt + run.options.timeoutSeconds * 1000, ...rounds)
}

function roundDeadline(run: CoordinationRun, agent: Participant): number {
  return agent.dueSince + run.options.roundTimeoutSeconds * 1000
}

/** The winner has one round for it, even beyond the time limit of the council. */
function computePresentationDeadline(run: CoordinationRun): number {
  return (run.decidedAt ?? run.startedAt) + run.options.roundTimeoutSeconds * 1000
}
