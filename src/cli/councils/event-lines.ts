import { countChars } from '../../core/councils/code-points.js'
import type { CoordinationRun } from '../../core/councils/council.js'
import type { RunEvent } from '../../core/councils/event.js'
import { plainLine } from '../../core/plain-text.js'
import { formatCount } from '../../core/text.js'
import { assertUnreachable } from '../../core/unreachable.js'

const REASON_CHARS_MAX = 300

/** An event as one printable line; null for events that are only counted. `run` is the state after it. */
export function formatCouncilEventLine(run: CoordinationRun, event: RunEvent): string | null {
  const text = formatEvent(run, event)
  return text === null ? null : plainLine(text)
}

function formatEvent(run: CoordinationRun, event: RunEvent): string | null {
  switch (event.type) {
    case 'run_started':
      return `Council ${event.id}: ${formatCount(event.agents.length, 'agent')}`
    case 'run_decided':
      return `decided: ${event.details}`
    case 'run_ended':
      return `ended: ${event.finishReason}${event.details === '' ? '' : ` (${event.details})`}`
    case 'usage_recorded':
      return null
    default:
      return `${formatAgentName(run, event.agent)} ${formatAgentEvent(run, event)}`
  }
}

type AgentEvent = Exclude<
  Extract<RunEvent, { readonly agent: string }>,
  { readonly type: 'usage_recorded' | 'run_started' | 'run_decided' | 'run_ended' }
>

function formatAgentEvent(run: CoordinationRun, event: AgentEvent): string {
  const round = `round ${run.agents.get(event.agent)?.round ?? 1}`
  switch (event.type) {
    case 'turn_began':
      return `${round} began${event.shown.length === 0 ? '' : `, shown ${event.shown.join(', ')}`}`
    case 'answers_injected':
      return `${round} was shown ${event.shown.join(', ')} in the middle of its turn`
    case 'answer_accepted':
      return `${round} answered ${event.label} (${formatCount(countChars(event.content), 'char')})${formatVerdict(event)}${formatVoided(event)}`
    case 'vote_cast':
      return `${round} voted for ${event.label}${formatReason(event.reason)}`
    case 'vote_asked_again':
      return `${round} asked again: the vote for ${getAnonymousId(run, event.votedFor)} was not counted, ${event.shown.join(', ')} came in the meantime`
    case 'response_rejected':
      return `round ${event.round} ${event.message}`
    case 'agent_stopped':
      return `stopped: ${event.message}`
    case 'agent_failed':
      return `failed: ${event.message}`
    case 'agent_timed_out':
      return `timed out: ${event.message}`
    case 'final_presented':
      return `presented ${event.label} (${formatCount(countChars(event.text), 'char')})`
    default:
      return assertUnreachable(event)
  }
}

/** `[agent1 a]` */
export function formatAgentName(run: CoordinationRun, id: string): string {
  return `[${getAnonymousId(run, id)} ${id}]`
}

function getAnonymousId(run: CoordinationRun, id: string): string {
  return run.agents.get(id)?.anonymousId ?? id
}

function formatVerdict({ verdict: said }: { readonly verdict: string | null }): string {
  return said === null ? '' : `: ${said}`
}

function formatVoided({ voided: voters }: { readonly voided: readonly string[] }): string {
  return voters.length === 0 ? '' : `, voids the votes of ${voters.join(', ')}`
}

function formatReason(reason: string): string {
  const line = plainLine(reason)
  if (line === '') return ''
  return `: ${line.length > REASON_CHARS_MAX ? `${line.slice(0, REASON_CHARS_MAX - 1).toWellFormed()}…` : line}`
}
