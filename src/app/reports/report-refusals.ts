import type { JsonObject } from '../../core/json.js'

const ROWS_MAX = 2000
const NAMES_MAX = 500

interface RefusalSeen {
  readonly agent: string
  readonly reason: string
  readonly phase: string
  /** The round of a council, or the visit of a task. */
  readonly round: number
}

/**
 * Refusals counted by agent, reason, phase and round, separately and in total. Those beyond the maximum are still
 * counted in total.
 */
export class Refusals {
  #count = 0
  #isCut = false
  readonly #rows = new Map<string, { readonly seen: RefusalSeen; count: number }>()
  readonly #by = { agent: new Map(), reason: new Map(), phase: new Map(), round: new Map() } as const satisfies Record<
    keyof RefusalSeen,
    Map<string | number, number>
  >

  get isCut(): boolean {
    return this.#isCut
  }

  add(seen: RefusalSeen): void {
    this.#count += 1
    for (const name of ['agent', 'reason', 'phase', 'round'] as const) this.#addTo(this.#by[name], seen[name])
    const key = JSON.stringify([seen.agent, seen.reason, seen.phase, seen.round])
    const row = this.#rows.get(key)
    if (row !== undefined) row.count += 1
    else if (this.#rows.size < ROWS_MAX) this.#rows.set(key, { seen, count: 1 })
    else this.#isCut = true
  }

  countForAgent(agent: string): number {
    return this.#by.agent.get(agent) ?? 0
  }

  countInPhase(phase: string): number {
    return this.#by.phase.get(phase) ?? 0
  }

  view(): JsonObject {
    const counts = (name: keyof RefusalSeen): readonly JsonObject[] =>
      [...(this.#by[name] as Map<string | number, number>)].map(([value, count]) => ({ [name]: value, count }))
    const most = (list: readonly JsonObject[]): readonly JsonObject[] =>
      list.toSorted((a, b) => Number(b.count) - Number(a.count))
    return {
      count: this.#count,
      by_agent: most(counts('agent')),
      by_reason: most(counts('reason')),
      by_phase: counts('phase'),
      by_round: counts('round').toSorted((a, b) => Number(a.round) - Number(b.round)),
      rows: [...this.#rows.values()].map(({ seen, count }) => ({ ...seen, count })),
    }
  }

  #addTo(counts: Map<string | number, number>, name: string | number): void {
    if (!counts.has(name) && counts.size >= NAMES_MAX) {
      this.#isCut = true
      return
    }
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
}
