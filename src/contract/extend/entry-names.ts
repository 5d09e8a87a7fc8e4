import type { SourceNode } from '../load/yaml.js'

/** The text of a scalar; null for everything else. */
export function findScalar(node: SourceNode): string | null {
  return node.kind === 'scalar' && typeof node.value === 'string' ? node.value : null
}

/** The text of a field of a map. */
export function findField(node: SourceNode, key: string): string | null {
  const entry = node.kind === 'map' ? node.entries.get(key) : undefined
  return entry === undefined ? null : findScalar(entry.value)
}

/** The name of a transition, such as `PLAN->TDD`; null if the entry is not a transition. */
export function formatTransition(item: SourceNode): string | null {
  const [from, to] = [findField(item, 'from'), findField(item, 'to')]
  return from === null || to === null ? null : `${from}->${to}`
}
