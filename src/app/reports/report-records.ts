import { countChars, takeFirstChars } from '../../core/councils/code-points.js'
import type { CoordinationRun } from '../../core/councils/council.js'
import type { RunEvent } from '../../core/councils/event.js'
import type { JsonObject } from '../../core/json.js'
import { toIsoTime } from '../wire.js'

const ANSWERS_MAX = 500
const VOTES_MAX = 1000
const TIMELINE_MAX = 2000
const ANSWER_CHARS_MAX = 20_000
const ANSWERS_CHARS_MAX = 2_000_000
const REASON_CHARS_MAX = 500

interface VoteKept {
  readonly agent: string
  readonly votedFor: string
  readonly label: string
  readonly round: number
  readonly reason: string
  readonly at: number
}

/** The answers, votes and moments of a council, up to a maximum. */
export class RunRecords {
  #room = ANSWERS_CHARS_MAX
  #isCut = false
  #presentation: JsonObject | null = null
  readonly #answers: JsonObject[] = []
  readonly #votes: VoteKept[] = []
  readonly #timeline: JsonObject[] = []

  get isCut(): boolean {
    return this.#isCut
  }

  /** `run` is the state after the event. */
  add(run: CoordinationRun, event: RunEvent): void {
    const round = 'agent' in event ? (run.agents.get(event.agent)?.round ?? 1) : 0
    if (event.type === 'answer_accepted') {
      const { agent, label, verdict } = event
      this.#keep(this.#answers, ANSWERS_MAX, {
        ...{ agent, label, round, verdict, at: toIsoTime(event.at) },
        ...this.#content(event.content),
      })
    }
    if (event.type === 'final_presented')
      this.#presentation = { agent: event.agent, label: event.label, ...this.#content(event.text) }
    if (event.type === 'vote_cast') {
      const { agent, votedFor, label, at } = event
      this.#keep(this.#votes, VOTES_MAX, {
        ...{ agent, votedFor, label, round, at },
        reason: takeFirstChars(event.reason, REASON_CHARS_MAX),
      })
    }
    const what = describeMoment(event)
    if (what !== null)
      this.#keep(this.#timeline, TIMELINE_MAX, {
        seconds: Math.max(0, event.at - run.startedAt) / 1000,
        agent: 'agent' in event ? event.agent : null,
        round: round === 0 ? null : round,
        type: event.type,
        what: takeFirstChars(what, REASON_CHARS_MAX),
      })
  }

  view(run: CoordinationRun): JsonObject {
    return {
      answers: this.#answers,
      presentation: this.#presentation,
      votes: this.#votes.map(({ agent, votedFor, label, round, reason, at }) => ({
        ...{ agent, voted_for: votedFor, label, round, reason, at: toIsoTime(at) },
        // A vote voided by an answer is no longer in the state; a vote cast again is a new one.
        stands: run.agents.get(agent)?.vote?.at === at && run.agents.get(agent)?.vote?.label === label,
      })),
      timeline: this.#timeline,
    }
  }

  #content(text: string): JsonObject {
    const content = takeFirstChars(text, Math.min(ANSWER_CHARS_MAX, this.#room))
    this.#room -= content.length
    const isCut = content.length < text.length
    this.#isCut ||= isCut
    return { chars: countChars(text), content, is_cut: isCut }
  }

  #keep<T>(list: T[], max: number, one: T): void {
    if (list.length < max) list.push(one)
    else this.#isCut = true
  }
}

/** A short description of a moment; null for events counted elsewhere. */
function describeMoment(event: RunEvent): string | null {
  switch (event.type) {
    case 'run_started':
    case 'usage_recorded':
      return null
    case 'turn_began':
    case 'answers_injected':
      return event.shown.join(', ')
    case 'answer_accepted':
    case 'vote_cast':
    case 'final_presented':
      return event.label
    case 'vote_asked_again':
      return event.votedFor
    case 'response_rejected':
      return event.reason
    case 'agent_stopped':
    case 'agent_failed':
    case 'agent_timed_out':
      return event.message
    case 'run_decided':
    case 'run_ended':
      return event.details
    default:
      return null
  }
}
