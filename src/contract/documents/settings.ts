import { COMMON_KEYS } from '../contract-fields.js'
import type { MapNode, SourceEntry, SourceNode } from '../load/yaml.js'
import { findNearest, formatDidYouMean } from '../nearest.js'
import { PHASE } from '../read/read-phases.js'
import { getNumber, getText, makeEntry, makeScalarNode } from './nodes.js'
import type { Sink } from './source.js'

/** Settings of a phase in metadata or front matter, in addition to its document. */
const PHASE_SETTINGS = PHASE.keys.filter((key) => !['id', 'checkpoint', 'document'].includes(key))
/** Settings of a phase that metadata can give to all phases. */
const SHARED_SETTINGS = ['allowed_tools', 'forbidden_tools', 'tool_constraints', 'writable']
/** Keys of a contract that metadata can contain unchanged. */
const CONTRACT_KEYS = ['version', 'description', ...COMMON_KEYS]
const OWN_KEYS = ['workflow_type', 'name', 'phases', 'total_phases', 'start_phase']
/** For people and for search; they have no effect here. */
const NOTES = ['title', 'tags', 'phase', 'workflow', 'author', 'authors', 'created', 'updated', 'license']
const PHASE_NOTES = ['phase_number', 'number', 'id', 'phase_name', 'purpose', 'checkpoint', ...NOTES]

/** The settings of a workflow, grouped by what they apply to. */
export interface Settings {
  readonly at: SourceNode['at']
  /** Entries of the contract. */
  readonly root: ReadonlyMap<string, SourceEntry>
  /** For every phase that does not override them. */
  readonly shared: ReadonlyMap<string, SourceEntry>
  readonly phases: ReadonlyMap<number, MapNode>
  readonly totalPhases: { readonly number: number; readonly at: SourceNode['at'] } | null
}

export function readSettings(node: MapNode, fallback: { readonly name: string }, report: Sink): Settings {
  refuseUnknown(node, [...CONTRACT_KEYS, ...OWN_KEYS, ...SHARED_SETTINGS, ...NOTES], report)
  const root = new Map<string, SourceEntry>()
  for (const key of CONTRACT_KEYS) {
    const found = node.entries.get(key)
    if (found !== undefined) root.set(key, found)
  }
  const type = node.entries.get('workflow_type')
  const name = node.entries.get('name')
  root.set('name', type ?? name ?? makeEntry(makeScalarNode(fallback.name, node.at)))
  if (!root.has('description') && type !== undefined && name !== undefined) root.set('description', name)
  const total = getNumber(node, 'total_phases')
  return {
    at: node.at,
    root,
    shared: pickKeys(node, SHARED_SETTINGS),
    phases: readPhaseSettings(node.entries.get('phases')?.value, report),
    totalPhases: total === null ? null : { number: total, at: node.entries.get('total_phases')?.keyAt ?? node.at },
  }
}

function readPhaseSettings(node: SourceNode | undefined, report: Sink): ReadonlyMap<number, MapNode> {
  const found = new Map<number, MapNode>()
  if (node === undefined) return found
  const items: readonly (readonly [number | null, SourceNode])[] =
    node.kind === 'list'
      ? node.items.map((item) => [item.kind === 'map' ? readPhaseNumber(item) : null, item])
      : node.kind === 'map'
        ? [...node.entries].map(([key, { value }]) => [/^\d{1,4}$/.test(key) ? Number(key) : null, value])
        : []
  if (node.kind === 'scalar')
    report({ code: 'contract.wrong_type', at: node.at, message: 'Expected a list or a map of phases.' })
  for (const [number, item] of items) {
    if (item.kind !== 'map' || number === null || found.has(number)) {
      const message = 'A phase here is a map with its own phase_number.'
      report({ code: 'contract.invalid_value', at: item.at, message })
      continue
    }
    refuseUnknown(item, [...PHASE_SETTINGS, ...PHASE_NOTES], report)
    found.set(number, item)
  }
  return found
}

function readPhaseNumber(node: MapNode): number | null {
  const number =
    getNumber(node, 'phase_number') ?? getNumber(node, 'number') ?? Number(getText(node, 'id') ?? Number.NaN)
  return Number.isSafeInteger(number) ? number : null
}

/** The settings of one phase: its own override the workflow's. */
export function mergePhaseEntries(
  settings: Settings,
  number: number,
  head: MapNode | null,
): { readonly entries: Map<string, SourceEntry>; readonly isNone: boolean } {
  const about = settings.phases.get(number) ?? null
  const entries = new Map(settings.shared)
  const named = about?.entries.get('phase_name')
  const purpose = about?.entries.get('purpose')
  if (named !== undefined) entries.set('name', named)
  if (purpose !== undefined) entries.set('description', purpose)
  for (const node of [about, head]) {
    if (node === null) continue
    for (const [key, found] of pickKeys(node, PHASE_SETTINGS)) entries.set(key, found)
  }
  return { entries, isNone: [about, head].some((node) => getText(node, 'checkpoint') === 'none') }
}

/** The known parts of a phase document's front matter. */
export function readHead(node: SourceNode | null, report: Sink): MapNode | null {
  if (node === null) return null
  if (node.kind !== 'map') {
    report({ code: 'bad_yaml', at: node.at, message: 'Expected a map of settings between the --- lines.' })
    return null
  }
  refuseUnknown(node, [...PHASE_SETTINGS, ...PHASE_NOTES], report)
  return node
}

function pickKeys(node: MapNode, keys: readonly string[]): ReadonlyMap<string, SourceEntry> {
  return new Map([...node.entries].filter(([key]) => keys.includes(key)))
}

// A misspelled key would silently lose a limit; a key that resembles none is the author's own note.
function refuseUnknown(node: MapNode, keys: readonly string[], report: Sink): void {
  for (const [key, { keyAt, value }] of node.entries) {
    if (key === 'checkpoint' && !(value.kind === 'scalar' && value.value === 'none')) {
      const message = 'Only `checkpoint: none` can stand here; evidence is demanded in the document.'
      report({ code: 'contract.invalid_value', at: keyAt, message })
    }
    if (keys.includes(key) || key.startsWith('x-')) continue
    const isClose = findNearest(key, keys) !== null
    const remedy = isClose
      ? `${formatDidYouMean(key, keys)}Keys of your own start with x-.`
      : 'Remove it, or let it start with x-.'
    const message = isClose ? `The key '${key}' is not known here.` : `The key '${key}' has no effect.`
    report({ code: isClose ? 'contract.unknown_key' : 'contract.effect_differs', at: keyAt, message, remedy })
  }
}
