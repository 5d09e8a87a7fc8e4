import type { Report } from '../diagnostic.js'
import type { ListNode, MapNode, SourceEntry, SourceNode } from '../load/yaml.js'
import { formatDidYouMean } from '../nearest.js'
import { findScalar } from './entry-names.js'

/** Group names for several tools in `allowed_tools` and `forbidden_tools`. */
export const TOOL_GROUPS: ReadonlyMap<string, readonly string[]> = new Map([
  ['@read', ['read_files', 'search_codebase', 'grep', 'glob']],
  ['@write', ['write_files', 'edit_files']],
  ['@shell', ['bash', 'run_tests']],
  ['@git', ['git_status', 'git_diff', 'git_log', 'git_commit']],
  ['@ask', ['ask_user_question']],
])

/** Groups for `tool_constraints`: `run_tests` and most git tools have nothing to limit. */
const CONSTRAINT_GROUPS: ReadonlyMap<string, readonly string[]> = new Map([
  ...[...TOOL_GROUPS].filter(([name]) => name === '@read' || name === '@write'),
  ['@shell', ['bash']],
])

type Tell = (report: Report) => void

/** Replaces each group by its tools. Reports unknown groups. */
export function expandToolGroups(root: SourceNode, report: Tell): SourceNode {
  if (root.kind !== 'map') return root
  return mapEntries(root, ['phases', 'nodes'], (phases) => {
    const expand = (phase: SourceNode): SourceNode => expandPhase(phase, report)
    if (phases.kind === 'list') return { ...phases, items: phases.items.map(expand) }
    return phases.kind === 'map' ? mapEntries(phases, [...phases.entries.keys()], expand) : phases
  })
}

function expandPhase(phase: SourceNode, report: Tell): SourceNode {
  if (phase.kind !== 'map') return phase
  const forbidden = phase.entries.get('forbidden_tools')?.value
  // `["@git"]` with git_commit forbidden beside it: the group without that tool.
  const named = new Set(forbidden?.kind === 'list' ? forbidden.items.flatMap((item) => findScalar(item) ?? []) : [])
  const listed = mapEntries(phase, ['allowed_tools', 'forbidden_tools'], (tools) =>
    tools.kind === 'list' ? expandList(tools, tools === forbidden ? new Set() : named, report) : tools,
  )
  return mapEntries(listed, ['tool_constraints'], (limits) =>
    limits.kind === 'map' ? expandConstraints(limits, report) : limits,
  )
}

function expandList(tools: ListNode, except: ReadonlySet<string>, report: Tell): ListNode {
  const seen = new Set<string>()
  const items = tools.items.flatMap((item): readonly SourceNode[] => {
    if (item.kind !== 'scalar' || typeof item.value !== 'string' || !item.value.startsWith('@')) return [item]
    const group = findGroup(item.value, TOOL_GROUPS, { at: item.at, report })
    return group.filter((tool) => !except.has(tool)).map((value) => ({ kind: 'scalar', at: item.at, value }))
  })
  // `["@read", grep]` names grep once.
  const isNew = (item: SourceNode): boolean => {
    if (item.kind !== 'scalar' || typeof item.value !== 'string') return true
    return !seen.has(item.value) && seen.add(item.value) !== undefined
  }
  const hasGroup = items.length !== tools.items.length || items.some((item, index) => item !== tools.items[index])
  return { ...tools, items: hasGroup ? items.filter(isNew) : items }
}

function expandConstraints(limits: MapNode, report: Tell): MapNode {
  const entries = new Map<string, SourceEntry>()
  const namedBy = new Map<string, string>()
  for (const [key, entry] of limits.entries) {
    const tools = key.startsWith('@') ? findGroup(key, CONSTRAINT_GROUPS, { at: entry.keyAt, report }) : [key]
    for (const tool of tools) {
      const other = namedBy.get(tool)
      if (other !== undefined) {
        const message = `'${other}' and '${key}' both limit ${tool}.`
        report({ code: 'contract.duplicate_key', at: entry.keyAt, message, remedy: 'Limit each tool once.' })
      }
      namedBy.set(tool, key)
      entries.set(tool, entry)
    }
  }
  return { ...limits, entries }
}

function findGroup(
  name: string,
  groups: typeof TOOL_GROUPS,
  { at, report }: { readonly at: Report['at']; readonly report: Tell },
): readonly string[] {
  const found = groups.get(name)
  if (found !== undefined) return found
  const message = TOOL_GROUPS.has(name)
    ? `The tools of '${name}' cannot be limited together.`
    : `'${name}' is not a group of tools.`
  const remedy = `${formatDidYouMean(name, groups.keys())}Known here: ${[...groups.keys()].join(', ')}.`
  report({ code: 'contract.unknown_tool_group', at, message, remedy })
  return []
}

function mapEntries(map: MapNode, keys: readonly string[], change: (value: SourceNode) => SourceNode): MapNode {
  const entries = [...map.entries].map(([key, entry]): [string, SourceEntry] =>
    keys.includes(key) ? [key, { ...entry, value: change(entry.value) }] : [key, entry],
  )
  return { ...map, entries: new Map(entries) }
}
