import type { CoordinationRun } from '../../core/councils/council.js'
import type { RunEvent } from '../../core/councils/event.js'
import { evolveRun } from '../../core/councils/evolve-council.js'
import type { Json, JsonObject } from '../../core/json.js'
import { toObject, toText } from '../client/answer-values.js'

const TAIL_CHARS_MAX = 2000

/** What an agent's stream last held. */
export interface Lane {
  readonly tail: string
  readonly doing: 'writing' | 'reasoning' | 'calling' | null
}

export interface NewestAnswer {
  readonly agent: string
  readonly label: string
  readonly content: string
}

/** What is known of a run while it is watched: its state without the contents of answers, and the newest ones of those. */
export interface Live {
  readonly run: CoordinationRun | null
  readonly newest: ReadonlyMap<string, NewestAnswer>
  readonly presentation: NewestAnswer | null
  readonly lanes: ReadonlyMap<string, Lane>
}

export const NOTHING_YET: Live = { run: null, newest: new Map(), presentation: null, lanes: new Map() }
const NO_LANE: Lane = { tail: '', doing: null }

const RUN_EVENTS: ReadonlySet<string> = new Set<RunEvent['type']>([
  'run_started',
  'turn_began',
  'answers_injected',
  'answer_accepted',
  'vote_cast',
  'vote_asked_again',
  'response_rejected',
  'agent_stopped',
  'agent_failed',
  'agent_timed_out',
  'usage_recorded',
  'run_decided',
  'final_presented',
  'run_ended',
])

/** An event of a run as the server shows it, in the words of the core; null for those of a newer server. */
export function runEventOf(view: JsonObject): RunEvent | null {
  const type = toText(view.type)
  if (!RUN_EVENTS.has(type)) return null
  const fact = renameKeys(toObject(view.data)) as JsonObject
  return { ...fact, type, at: Date.parse(toText(view.at)) } as unknown as RunEvent
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

/** After a piece of an agent's stream; pieces are for looking at and are kept nowhere. */
export function applyPart(live: Live, part: JsonObject): Live {
  const agent = toText(part.agent)
  const type = toText(part.type)
  if (live.run?.agents.has(agent) !== true || !(type in DOING)) return live
  const before = live.lanes.get(agent) ?? NO_LANE
  const said = type === 'tool_call' ? `\n${toText(part.name)}` : toText(part.text)
  const lane: Lane = { tail: (before.tail + said).slice(-TAIL_CHARS_MAX), doing: DOING[type] ?? null }
  return { ...live, lanes: new Map(live.lanes).set(agent, lane) }
}

/** Contents can be large and many; what the state needs of them is that they are there. */
function stripContent(event: RunEvent): RunEvent {
  if (event.type === 'answer_accepted') return { ...event, content: '' }
  return event.type === 'final_presented' ? { ...event, text: '' } : event
}

function clearLane(lanes: Live['lanes'], agent: string): Live['lanes'] {
  return new Map(lanes).set(agent, NO_LANE)
}

// Agents write texts, and those have no keys.
function renameKeys(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one: Json) => renameKeys(one))
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [toCamelCase(key), renameKeys(one)]))
}

function toCamelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
