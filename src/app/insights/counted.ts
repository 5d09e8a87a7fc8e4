import type { JsonObject } from '../../core/json.js'

const KEYS_MAX = 500
const IDS_MAX = 50

/** Counts by key, each with the first tasks behind it. Keys beyond the maximum are not kept apart. */
export class Counted {
  readonly #rows = new Map<string, { count: number; readonly ids: Set<string> }>()
  #isCut = false

  get isCut(): boolean {
    return this.#isCut
  }

  add(key: string, id: string): void {
    const row = this.#rows.get(key) ?? { count: 0, ids: new Set<string>() }
    if (!this.#rows.has(key) && this.#rows.size >= KEYS_MAX) {
      this.#isCut = true
      return
    }
    this.#rows.set(key, row)
    row.count += 1
    if (row.ids.size < IDS_MAX) row.ids.add(id)
  }

  /** Most frequent first; ties by key. */
  list(): readonly { readonly key: string; readonly count: number; readonly ids: readonly string[] }[] {
    return [...this.#rows]
      .map(([key, { count, ids }]) => ({ key, count, ids: [...ids] }))
      .sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1))
  }

  view(): readonly JsonObject[] {
    return this.list().map(({ key, count, ids }) => ({ key, count, task_ids: ids }))
  }
}

/** The first ids, up to a maximum. */
export function takeIds(ids: Iterable<string>): readonly string[] {
  return [...new Set(ids)].slice(0, IDS_MAX)
}
