import type { Report } from '../diagnostic.js'
import { ENTRIES_MAX, type ListNode, type MapNode, type SourceEntry, type SourceNode } from '../load/yaml.js'
import { emptyAsMap } from '../schema/kinds.js'
import { findField, findScalar, formatTransition } from './entry-names.js'

/** In a list: the entries of the base. At the start of a text: the text of the base. */
const BASE_ENTRIES = '...'
const BASE_TEXT = /^\.\.\.\n/

type Keyed<T> = readonly [key: string | null, value: T]
type Merge = (merger: Merger, base: SourceNode, own: SourceNode) => SourceNode
/** Fields of a map that are merged in a special way. */
type Rules = ReadonlyMap<string, Merge>

const NO_RULES: Rules = new Map()
const PHASE_RULES: Rules = new Map<string, Merge>([
  [
    'gates',
    (merger, base, own) => merger.mergeListById(base, own, (gate) => findScalar(gate) ?? findField(gate, 'id')),
  ],
  ['required_artifacts', (merger, base, own) => merger.mergeListById(base, own, (item) => findField(item, 'type'))],
])
const CONTRACT_RULES: Rules = new Map<string, Merge>([
  ['phases', (merger, base, own) => merger.mergePhases(base, own)],
  ['nodes', (merger, base, own) => merger.mergePhases(base, own)],
  ['transitions', (merger, base, own) => merger.mergeListById(base, own, nameTransition)],
])

/** Merges the contract `own` into its base. Every value keeps its position in its own file. */
export function mergeContracts(base: MapNode, own: MapNode, report: (report: Report) => void): MapNode {
  return new Merger(report).mergeMaps(base, own, CONTRACT_RULES)
}

class Merger {
  private readonly report: (report: Report) => void

  constructor(report: (report: Report) => void) {
    this.report = report
  }

  mergeMaps(base: MapNode, own: MapNode, rules: Rules): MapNode {
    const merged = mergeKeyed(keepEntries(base), keepEntries(own), ([key, before], [, entry]) => {
      const rule = rules.get(key)
      const value =
        rule === undefined ? this.mergeValues(before.value, entry.value) : rule(this, before.value, entry.value)
      return [key, { keyAt: entry.keyAt, value }]
    })
    // Schemas are free-form, so `...` may be ordinary content there.
    for (const [key, entry] of own.entries)
      if (!base.entries.has(key) && key !== 'schemas') this.refuseWithoutBase(entry.value)
    return { ...own, entries: new Map(merged) }
  }

  mergePhases(base: SourceNode, own: SourceNode): SourceNode {
    if (base.kind === 'map' && own.kind === 'map') {
      return this.mergeMaps(base, own, new Map([...base.entries.keys()].map((id) => [id, mergePhase])))
    }
    const [before, after] = [listPhases(base), listPhases(own)]
    if (before === null || after === null) return own
    return this.mergeEntries(before, after, { at: own.at, merge: (one, other) => mergePhase(this, one, other) })
  }

  mergeListById(base: SourceNode, own: SourceNode, nameOf: (item: SourceNode) => string | null): SourceNode {
    if (base.kind !== 'list' || own.kind !== 'list') return own
    const name = (item: SourceNode): Keyed<SourceNode> => [nameOf(item), item]
    const written = own.items.filter((item) => {
      if (findScalar(item) !== BASE_ENTRIES) return true
      const message = `These entries are merged with those of the base by their names; '...' is not needed.`
      this.report({ code: 'contract.invalid_value', at: item.at, message, remedy: 'Remove it.' })
      return false
    })
    const merge = (one: SourceNode, other: SourceNode): SourceNode => this.mergeValues(one, other)
    return this.mergeEntries(base.items.map(name), written.map(name), { at: own.at, merge })
  }

  private mergeValues(base: SourceNode, own: SourceNode): SourceNode {
    if (base.kind === 'map' && own.kind === 'map') return this.mergeMaps(base, own, NO_RULES)
    if (base.kind === 'list' && own.kind === 'list') return this.mergeLists(base, own)
    const [before, after] = [findScalar(base), findScalar(own)]
    if (before !== null && after !== null && BASE_TEXT.test(after)) {
      const joint = before === '' || before.endsWith('\n') ? '' : '\n'
      return { kind: 'scalar', at: own.at, value: `${before}${joint}${after.replace(BASE_TEXT, '')}` }
    }
    if (base.kind !== own.kind) this.refuseWithoutBase(own)
    return own
  }

  private mergeLists(base: ListNode, own: ListNode): ListNode {
    const [at, second] = own.items.filter((item) => findScalar(item) === BASE_ENTRIES)
    if (second !== undefined) {
      const message = "The entries of the base can be put in once; '...' stands here a second time."
      this.report({ code: 'contract.invalid_value', at: second.at, message, remedy: 'Remove it.' })
    }
    if (at === undefined) return own
    return this.limit({ ...own, items: own.items.flatMap((item) => (item === at ? base.items : [item])) })
  }

  private mergeEntries(
    base: readonly Keyed<SourceNode>[],
    own: readonly Keyed<SourceNode>[],
    {
      at,
      merge,
    }: { readonly at: SourceNode['at']; readonly merge: (one: SourceNode, other: SourceNode) => SourceNode },
  ): ListNode {
    const merged = mergeKeyed(base, own, ([key, one], [, other]) => [key, merge(one, other)])
    const known = new Set(base.map(([key]) => key))
    for (const [key, value] of own) if (!known.has(key)) this.refuseWithoutBase(value)
    return this.limit({ kind: 'list', at, items: merged.map(([, value]) => value) })
  }

  private limit(list: ListNode): ListNode {
    if (list.items.length <= ENTRIES_MAX) return list
    const message = `More than ${ENTRIES_MAX} entries in one list, with those of the base.`
    this.report({ code: 'contract.too_many', at: list.at, message })
    return { ...list, items: list.items.slice(0, ENTRIES_MAX) }
  }

  private refuseWithoutBase(node: SourceNode): void {
    if (node.kind === 'map') for (const entry of node.entries.values()) this.refuseWithoutBase(entry.value)
    if (node.kind !== 'list') return
    for (const item of node.items) {
      this.refuseWithoutBase(item)
      if (findScalar(item) !== BASE_ENTRIES) continue
      const message = "The extended contract has no such list, so '...' has nothing to stand for."
      this.report({ code: 'contract.invalid_value', at: item.at, message, remedy: 'Remove it.' })
    }
  }
}

const mergePhase: Merge = (merger, base, own) => {
  const [before, after] = [emptyAsMap(base), emptyAsMap(own)]
  return before.kind === 'map' && after.kind === 'map' ? merger.mergeMaps(before, after, PHASE_RULES) : own
}

/** A merged entry keeps its place in the base; a new one comes after the entry before it, or at the end. */
function mergeKeyed<K extends string | null, T>(
  base: readonly (readonly [K, T])[],
  own: readonly (readonly [K, T])[],
  merge: (base: readonly [K, T], own: readonly [K, T]) => readonly [K, T],
): readonly (readonly [K, T])[] {
  const result = [...base]
  const seen = new Set<K>()
  let at = result.length - 1
  for (const entry of own) {
    const [key] = entry
    const found = key === null || seen.has(key) ? -1 : result.findIndex(([other]) => other === key)
    const before = result[found]
    seen.add(key)
    at = before === undefined ? at + 1 : found
    if (before === undefined) result.splice(at, 0, entry)
    else result[at] = merge(before, entry)
  }
  return result
}

function keepEntries(map: MapNode): readonly (readonly [string, SourceEntry])[] {
  return [...map.entries]
}

/** Phases of a list or a map, by id. In a map, the key is the id. */
function listPhases(phases: SourceNode): readonly Keyed<SourceNode>[] | null {
  if (phases.kind === 'list') return phases.items.map((phase) => [findField(phase, 'id'), phase])
  if (phases.kind !== 'map') return null
  return [...phases.entries].map(([id, { keyAt, value }]) => {
    const phase = emptyAsMap(value, keyAt, keyAt)
    if (phase.kind !== 'map' || phase.entries.has('id')) return [id, phase]
    const named: SourceEntry = { keyAt, value: { kind: 'scalar', at: keyAt, value: id } }
    return [id, { ...phase, entries: new Map([['id', named], ...phase.entries]) }]
  })
}

function nameTransition(item: SourceNode): string | null {
  const name = formatTransition(item)
  const claim = findField(item, 'when')
  return name === null || claim === null ? name : `${name} ${claim}`
}
