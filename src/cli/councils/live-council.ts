import type { LedgerEvent } from 'phaselock/sdk'
import type { CoordinationRun } from '../../core/councils/council.js'
import type { RunEvent } from '../../core/councils/event.js'
import { evolveRun } from '../../core/councils/evolve-council.js'
import type { Json, JsonObject } from '../../core/json.js'

const TAIL_CHARS_MAX = 2000

/** The last part of an agent's stream. */
export interface Lane {
  readonly tail: string
  readonly doing: 'writing' | 'reasoning' | 'calling' | null
}

export interface NewestAnswer {
  readonly agent: string
  readonly label: string
  readonly content: string
}

/**
 * What is known about a council while it is watched: its state without the contents of answers, and the newest
 * contents.
 */
export interface Live {
  readonly run: CoordinationRun | null
  readonly newest: ReadonlyMap<string, NewestAnswer>
  readonly presentation: NewestAnswer | null
  readonly lanes: ReadonlyMap<string, Lane>
}

export const NOTHING_YET: Live = { run: null, newest: new Map(), presentation: null, lanes: new Map() }
const NO_LANE: Lane = { tail: '', doing: null }

const RUN_EVENTS: ReadonlySet<string> = new Set<RunEvent['type']>([
  ...(['run_started', 'turn_began', 'answers_injected', 'answer_accepted', 'vote_cast', 'vote_asked_again'] as const),
  ...(['response_rejected', 'agent_stopped', 'agent_failed', 'agent_timed_out', 'usage_recorded'] as const),
  ...(['run_decided', 'final_presented', 'run_ended'] as const),
])

/** An event of a council from the server, in the core's form; null for those of a newer server. */
export function runEventOf({ type, at, data }: Pick<LedgerEvent, 'type' | 'at' | 'data'>): RunEvent | null {
  if (!RUN_EVENTS.has(type)) return null
  return { ...(renameKeys(data as JsonObject) as JsonObject), type, at: Date.parse(at) } as unknown as RunEvent
}

/** A piece of what an agent streams. */
export interface Part {
  readonly agent: string
  readonly type: string
  readonly text?: string
  readonly name?: string
}

/** After one more event. */
export function applyEvent(live: Live, event: RunEvent): Live {
  const run = evolveRun(live.run, stripContent(event))
  switch (event.type) {
    case 'answer_accepted': {
      const { agent, label, content } = event
      const newest = new Map(live.newest).set(agent, { agent, label, content })
      return { ...live, run, newest, lanes: clearLane(live.lanes, agent) }
    }
    case 'final_presented': {
      const { agent, label, text } = event
      return { ...live, run, presentation: { agent, label, content: text }, lanes: clearLane(live.lanes, agent) }
    }
    case 'turn_began':
    case 'vote_cast':
    case 'agent_stopped':
    case 'agent_failed':
    case 'agent_timed_out':
      return { ...live, run, lanes: clearLane(live.lanes, event.agent) }
    default:
      return { ...live, run }
  }
}

const DOING: Readonly<Record<string, Lane['doing']>> = { text: 'writing', reasoning: 'reasoning', tool_call: 'calling' }

/** The state after a piece of an agent's stream; pieces are only displayed. */
export function applyPart(live: Live, { agent, type, text = '', name = '' }: Part): Live {
  if (live.run?.agents.has(agent) !== true || !(type in DOING)) return live
  const before = live.lanes.get(agent) ?? NO_LANE
  const said = type === 'tool_call' ? `\n${name}` : text
  const lane: Lane = { tail: (before.tail + said).slice(-TAIL_CHARS_MAX), doing: DOING[type] ?? null }
  return { ...live, lanes: new Map(live.lanes).set(agent, lane) }
}

/** Contents can be large and many; the state only needs to know that they exist. */
function stripContent(event: RunEvent): RunEvent {
  if (event.type === 'answer_accepted') return { ...event, content: '' }
  return event.type === 'final_presented' ? { ...event, text: '' } : event
}

function clearLane(lanes: Live['lanes'], agent: string): Live['lanes'] {
  return new Map(lanes).set(agent, NO_LANE)
}

// Agents write texts, which have no keys.
function renameKeys(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one: Json) => renameKeys(one))
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [toCamelCase(key), renameKeys(one)]))
}

function toCamelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
