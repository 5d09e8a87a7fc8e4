import { type EventKind, findKind, isCall, listKinds } from './event-kinds.js'
import type { TaskEvent } from './task-types.js'

/** One row of the timeline. */
export type TimelineItem =
  | { readonly kind: 'calls'; readonly events: readonly TaskEvent[]; readonly last: TaskEvent }
  /** A request to leave the phase, with what became of it. `asked` carries the checks. */
  | {
      readonly kind: 'gate'
      readonly asked: TaskEvent | null
      readonly outcome: TaskEvent
      readonly events: readonly TaskEvent[]
      readonly last: TaskEvent
    }
  | { readonly kind: 'one'; readonly events: readonly TaskEvent[]; readonly last: TaskEvent }

/** One stay in a phase, newest rows first. */
export interface TimelineVisit {
  /** The event that began it; 0 before the first. */
  readonly key: number
  readonly phase: string
  /** Counted over all phases; 0 before the first. */
  readonly visit: number
  /** Which stay in this very phase it is. */
  readonly nth: number
  readonly from: string
  /** When the next one began; null for the newest. */
  readonly to: string | null
  readonly items: readonly TimelineItem[]
  readonly eventCount: number
}

const OUTCOMES = new Set(['gate_blocked', 'gate_passed'])

/** The timeline of a task: visits newest first, consecutive calls folded, filtered by kind. */
export function buildTimeline(events: readonly TaskEvent[], only: EventKind | null): readonly TimelineVisit[] {
  const visits: TimelineVisit[] = []
  const stays = splitVisits(events)
  stays.forEach((stay, index) => {
    const first = stay.events[0]
    const items = foldItems(stay.events).filter((item) => only === null || matchesKind(item, only))
    if (first === undefined || (only !== null && items.length === 0)) return
    visits.push({
      key: first.version,
      phase: stay.phase,
      visit: stay.visit,
      nth: stays.slice(0, index + 1).filter(({ phase, visit }) => visit > 0 && phase === stay.phase).length,
      from: first.at,
      to: stays[index + 1]?.events[0]?.at ?? null,
      items: items.toReversed(),
      eventCount: stay.events.length,
    })
  })
  return visits.toReversed()
}

interface Stay {
  readonly phase: string
  readonly visit: number
  readonly events: TaskEvent[]
}

// A visit begins with the event that enters it. A rewind begins one too.
function splitVisits(events: readonly TaskEvent[]): readonly Stay[] {
  const stays: Stay[] = []
  let visit = 0
  for (const event of events) {
    const last = stays.at(-1)
    if (event.type === 'phase_entered' || event.type === 'task_rewound') {
      visit = typeof event.data.visit === 'number' ? event.data.visit : visit + 1
      stays.push({ phase: String(event.data.to ?? event.phase ?? ''), visit, events: [event] })
    } else if (last === undefined) stays.push({ phase: event.phase ?? '', visit: 0, events: [event] })
    else last.events.push(event)
  }
  return stays
}

/** Rows of one visit, oldest first. */
export function foldItems(events: readonly TaskEvent[]): readonly TimelineItem[] {
  const items: TimelineItem[] = []
  let calls: TaskEvent[] = []
  for (const event of events) {
    const last = items.at(-1)
    if (findKind(event.type) === 'call') {
      if (last?.kind !== 'calls') calls = []
      calls.push(event)
      const row = { kind: 'calls', events: calls, last: event } as const
      if (last?.kind === 'calls') items[items.length - 1] = row
      else items.push(row)
    } else if (OUTCOMES.has(event.type)) {
      const asked = last?.kind === 'one' && last.last.type === 'transition_requested' ? last.last : null
      if (asked !== null) items.pop()
      items.push({
        kind: 'gate',
        asked,
        outcome: event,
        events: asked === null ? [event] : [asked, event],
        last: event,
      })
    } else items.push({ kind: 'one', events: [event], last: event })
  }
  return items
}

function matchesKind(item: TimelineItem, only: EventKind): boolean {
  return item.events.some((event) => listKinds(event).includes(only))
}

/** How many events of each kind there are; calls are counted once each. */
export function countKinds(events: readonly TaskEvent[]): ReadonlyMap<EventKind, number> {
  const counts = new Map<EventKind, number>()
  for (const event of events)
    for (const kind of listKinds(event)) {
      if (kind === 'call' && !isCall(event.type)) continue
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
    }
  return counts
}

/** `6 calls: edit_files 3, read_files 2, grep 1`, or what else a folded row holds. */
export function summarizeCalls(events: readonly TaskEvent[]): string {
  const calls = events.filter(({ type }) => isCall(type))
  if (calls.length === 0) {
    const count = events.length
    return count === 1 ? (events[0]?.type ?? '').replaceAll('_', ' ') : `${count} records of leases and tokens`
  }
  const byTool = new Map<string, number>()
  for (const { data } of calls) byTool.set(String(data.tool_name), (byTool.get(String(data.tool_name)) ?? 0) + 1)
  const tools = [...byTool].toSorted((a, b) => b[1] - a[1])
  const shown = tools.slice(0, 5).map(([tool, count]) => (calls.length === 1 ? tool : `${tool} ${count}`))
  const more = tools.length > 5 ? `, ${tools.length - 5} other tools` : ''
  return `${calls.length === 1 ? '1 call' : `${calls.length} calls`}: ${shown.join(', ')}${more}`
}
