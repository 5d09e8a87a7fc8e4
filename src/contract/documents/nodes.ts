import type { Place } from '../diagnostic.js'
import type { MapNode, SourceEntry, SourceNode } from '../load/yaml.js'

/** A value that a document writes differently from a contract. */
export function makeScalarNode(value: string | number | boolean | null, at: Place): SourceNode {
  return { kind: 'scalar', at, value }
}

export function mapNode(entries: ReadonlyMap<string, SourceEntry>, at: Place): MapNode {
  return { kind: 'map', at, keyAt: at, entries }
}

export function makeEntry(value: SourceNode): SourceEntry {
  return { keyAt: value.at, value }
}

export function getText(node: MapNode | null, key: string): string | null {
  const value = node?.entries.get(key)?.value
  return value?.kind === 'scalar' && typeof value.value === 'string' ? value.value : null
}

export function getNumber(node: MapNode, key: string): number | null {
  const value = node.entries.get(key)?.value
  return value?.kind === 'scalar' && typeof value.value === 'number' ? value.value : null
}
