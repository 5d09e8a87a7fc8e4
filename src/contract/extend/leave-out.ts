import type { Report } from '../diagnostic.js'
import type { ListNode, MapNode, SourceNode } from '../load/yaml.js'
import { formatDidYouMean } from '../nearest.js'
import { findField, findScalar, formatTransition } from './entry-names.js'

const PHASE = /^phases\.(.+)$/

/** The base of a contract without the parts that `without` names: `phases.REVIEW`, `transitions.REVIEW->COMPLETE`. */
export function leaveOut(base: MapNode, without: ListNode, report: (report: Report) => void): MapNode {
  let left: MapNode = base
  for (const item of without.items) {
    const path = findScalar(item)
    if (path === null || path === '') continue
    const found = removePath(left, path)
    if (found?.kind === 'map') left = found
    else {
      const message = `The extended contracts have nothing at '${path.slice(0, 200)}'.`
      const near = formatDidYouMean(path, listPaths(left, path))
      const remedy = `${near}Write the path of a value, such as phases.REVIEW or transitions.REVIEW->COMPLETE.`
      report({ code: 'contract.invalid_value', at: item.at, message, remedy })
    }
    // Leaving out a phase also leaves out the transitions to and from it.
    const phase = found === null ? undefined : PHASE.exec(path)?.[1]
    if (phase !== undefined && isGone(left, phase)) left = removeTransitions(left, phase)
  }
  return left
}

/** The node without the named part; null if the path names nothing. */
function removePath(node: SourceNode, path: string): SourceNode | null {
  if (node.kind === 'scalar') return null
  const named = listNamed(node)
  const left = named.filter(([name]) => name !== path)
  if (left.length < named.length) return rebuild(node, left)
  for (const [at, [name, value]] of named.entries()) {
    const inner = path.startsWith(`${name}.`) ? removePath(value, path.slice(name.length + 1)) : null
    if (inner !== null) return rebuild(node, named.toSpliced(at, 1, [name, inner]))
  }
  return null
}

type Named = readonly (readonly [name: string, value: SourceNode])[]

function listNamed(node: MapNode | ListNode): Named {
  if (node.kind === 'map') return [...node.entries].map(([key, { value }]) => [key, value])
  return node.items.map((item) => [nameEntry(item), item])
}

// The field that names an entry: ids for phases and gates, types for artifacts, checks for blockers. Other entries
// cannot be named.
function nameEntry(item: SourceNode): string {
  const fields = ['id', 'type', 'check'].map((key) => findField(item, key))
  return findScalar(item) ?? formatTransition(item) ?? fields.find((name) => name !== null) ?? ''
}

function rebuild(node: MapNode | ListNode, named: Named): SourceNode {
  if (node.kind === 'list') return { ...node, items: named.map(([, value]) => value) }
  const entries = named.flatMap(([key, value]) => {
    const entry = node.entries.get(key)
    return entry === undefined ? [] : [[key, { ...entry, value }] as const]
  })
  return { ...node, entries: new Map(entries) }
}

function isGone(base: MapNode, id: string): boolean {
  const phases = base.entries.get('phases')?.value
  return phases === undefined || phases.kind === 'scalar' || !listNamed(phases).some(([name]) => name === id)
}

function removeTransitions(base: MapNode, phase: string): MapNode {
  const entry = base.entries.get('transitions')
  if (entry?.value.kind !== 'list') return base
  const items = entry.value.items.filter((item) => findField(item, 'from') !== phase && findField(item, 'to') !== phase)
  return {
    ...base,
    entries: new Map([...base.entries, ['transitions', { ...entry, value: { ...entry.value, items } }]]),
  }
}

/** Existing paths next to the written one, to suggest what was meant. */
function listPaths(node: SourceNode, path: string, prefix = ''): readonly string[] {
  if (node.kind === 'scalar') return []
  return listNamed(node).flatMap(([name, value]) => {
    const here = `${prefix}${name}`
    return [here, ...(path.startsWith(`${here}.`) ? listPaths(value, path, `${here}.`) : [])]
  })
}
