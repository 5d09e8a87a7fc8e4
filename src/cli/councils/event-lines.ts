import { charCount } from '../../core/councils/code-points.js'
import type { CoordinationRun } from '../../core/councils/council.js'
import type { RunEvent } from '../../core/councils/event.js'
import { plainLine } from '../../core/plain-text.js'
import { counted } from '../../core/text.js'
import { unreachable } from '../../core/unreachable.js'

const REASON_CHARS_MAX = 300

/** What an event says, on one line that a terminal can show; null for what is only counted. `run` is the state after it. */
export function lineOf(run: CoordinationRun, event: RunEvent): string | null {
  const text = textOf(run, event)
  return text === null ? null : plainLine(text)
}

function textOf(run: CoordinationRun, event: RunEvent): string | null {
  switch (event.type) {
    case 'run_started':
      return `Coordination ${event.id}: ${counted(event.agents.length, 'agent')}`
    case 'run_decided':
      return `decided: ${event.details}`
    case 'run_ended':
      return `ended: ${event.finishReason}${event.details === '' ? '' : ` (${event.details})`}`
    case 'usage_recorded':
      return null
    default:
      return `${nameOf(run, event.agent)} ${ofAgent(run, event)}`
  }
}

type AgentEvent = Exclude<
  Extract<RunEvent, { readonly agent: string }>,
  { readonly type: 'usage_recorded' | 'run_started' | 'run_decided' | 'run_ended' }
>

function ofAgent(run: CoordinationRun, event: AgentEvent): string {
  const round = `round ${run.agents.get(event.agent)?.round ?? 1}`
  switch (event.type) {
    case 'turn_began':
      return `${round} began${event.shown.length === 0 ? '' : `, shown ${event.shown.join(', ')}`}`
    case 'answers_injected':
      return `${round} was shown ${event.shown.join(', ')} in the middle of its turn`
    case 'answer_accepted':
      return `${round} answered ${event.label} (${counted(charCount(event.content), 'char')})${verdict(event)}${voided(event)}`
    case 'vote_cast':
      return `${round} voted for ${event.label}${because(event.reason)}`
    case 'vote_asked_again':
      return `${round} asked again: the vote for ${anonymous(run, event.votedFor)} was not counted, ${event.shown.join(', ')} came in the meantime`
    case 'response_rejected':
      return `round ${event.round} ${event.message}`
    case 'agent_stopped':
      return `stopped: ${event.message}`
    case 'agent_failed':
      return `failed: ${event.message}`
    case 'agent_timed_out':
      return `timed out: ${event.message}`
    case 'final_presented':
      return `presented ${event.label} (${counted(charCount(event.text), 'char')})`
    default:
      return unreachable(event)
  }
}

/** `[agent1 a]` */
export function nameOf(run: CoordinationRun, id: string): string {
  return `[${anonymous(run, id)} ${id}]`
}

function anonymous(run: CoordinationRun, id: string): string {
  return run.agents.get(id)?.anonymousId ?? id
}

function verdict({ verdict: said }: { readonly verdict: string | null }): string {
  return said === null ? '' : `: ${said}`
}

function voided({ voided: voters }: { readonly voided: readonly string[] }): string {
  return voters.length === 0 ? '' : `, voids the votes of ${voters.join(', ')}`
}

function because(reason: string): string {
  const line = plainLine(reason)
  if (line === '') return ''
  return `: ${line.length > REASON_CHARS_MAX ? `${line.slice(0, REASON_CHARS_MAX - 1).toWellFormed()}…` : line}`
}
