import type { JsonObject } from '../../core/json.js'
import { addUsage, type Facts, NO_FACTS, sumFacts, type UsageFact } from '../../core/rules/facts.js'
import { toIsoTime, toIsoTimeOrNull } from '../wire.js'

const TOP_MAX = 10
const CODES_MAX = 100
const TEXT_CHARS_MAX = 200

/** How a visit began: with the task, by a transition, by one that leads back, or by an operator's rewind. */
export type Entrance = 'start' | 'transition' | 'back' | 'rewind'

/** What was counted, for a visit or for several. */
export interface Tally {
  usage: Facts
  turns: number
  readonly commands: Counter
  readonly edits: Counter
  toolCalls: number
  readonly refusals: Counter
  interrupts: number
  commits: number
}

export interface Visit {
  readonly phase: string
  readonly visit: number
  readonly enteredAt: number
  readonly entrance: Entrance
  leftAt: number | null
  readonly tally: Tally
}

/** Maximum number of different texts that a task keeps apart; the rest is only counted in total. */
export interface Room {
  left: number
}

/** Counts texts. */
class Counter {
  #total = 0
  readonly #counts = new Map<string, number>()

  constructor(private readonly room: Room) {}

  get total(): number {
    return this.#total
  }

  add(text: string, times = 1): void {
    this.#total += times
    const key = text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX - 1).toWellFormed()}…` : text
    const before = this.#counts.get(key)
    if (before === undefined) {
      if (this.room.left === 0) return
      this.room.left -= 1
    }
    this.#counts.set(key, (before ?? 0) + times)
  }

  addAll(other: Counter): void {
    const told = other.listTop(Number.MAX_SAFE_INTEGER)
    for (const [text, count] of told) this.add(text, count)
    this.#total += other.total - told.reduce((sum, [, count]) => sum + count, 0)
  }

  /** The most frequent ones; ties in the order of their texts. */
  listTop(max: number): readonly (readonly [string, number])[] {
    return [...this.#counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, max)
  }
}

export function makeTally(room: Room): Tally {
  return {
    usage: NO_FACTS,
    turns: 0,
    commands: new Counter(room),
    edits: new Counter(room),
    toolCalls: 0,
    refusals: new Counter(room),
    interrupts: 0,
    commits: 0,
  }
}

export function countMessage(tally: Tally, message: UsageFact): void {
  tally.usage = addUsage(tally.usage, message)
  tally.turns += 1
}

/** Later reports can move a message to another visit, so messages are recounted each time. */
export function forgetMessages(tally: Tally): void {
  tally.usage = NO_FACTS
  tally.turns = 0
}

/** Adds to `into` everything but the usage, which is counted by message. */
export function addTally(into: Tally, one: Tally): void {
  for (const name of ['commands', 'edits', 'refusals'] as const) into[name].addAll(one[name])
  into.toolCalls += one.toolCalls
  into.interrupts += one.interrupts
  into.commits += one.commits
}

export function toTallyView(tally: Tally): JsonObject {
  const { tokens, usage } = sumFacts(tally.usage)
  return {
    tokens: { ...tokens, grade: usage },
    turns: tally.turns,
    commands: {
      count: tally.commands.total,
      by_command: tally.commands.listTop(TOP_MAX).map(([command, count]) => ({ command, count })),
    },
    edits: {
      count: tally.edits.total,
      by_path: tally.edits.listTop(TOP_MAX).map(([path, count]) => ({ path, count })),
    },
    tool_calls: tally.toolCalls,
    refusals: { count: tally.refusals.total, by_code: Object.fromEntries(tally.refusals.listTop(CODES_MAX)) },
    interrupts: tally.interrupts,
    commits: tally.commits,
  }
}

export function toVisitView(visit: Visit, now: number): JsonObject {
  return {
    phase: visit.phase,
    visit: visit.visit,
    entered_by: visit.entrance,
    entered_at: toIsoTime(visit.enteredAt),
    left_at: toIsoTimeOrNull(visit.leftAt),
    duration_seconds: computeSeconds(visit, now),
    ...toTallyView(visit.tally),
  }
}

/** Duration of a visit so far. Never negative, even if the clock was set back. */
export function computeSeconds({ enteredAt, leftAt }: Visit, now: number): number {
  return Math.max(0, Math.round(((leftAt ?? now) - enteredAt) / 1000))
}
