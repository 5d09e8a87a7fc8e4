import type { JsonObject } from '../json.js'
import { addCommand, addEdit, addUsage, type Facts } from '../rules/facts.js'
import type { TaskEvent } from '../task/event.js'
import type { TaskState, Watch } from '../task/state.js'
import { BUILT_IN_TOOLS } from '../tool-calls/built-in-tools.js'
import { NOTHING_WATCHED } from './watch.js'

const VISIT_STARTS_MAX = 64
const SEEN_MAX = 1000
/** As many as one call can name. */
const EDITS_OF_A_CALL_MAX = 1000

/** A visit starts with no counts and no open violations. */
export function startVisit(
  state: TaskState,
  at: number,
): Pick<TaskState, 'visitStartedAt' | 'visitStarts' | 'watch' | 'tasksDone'> {
  return {
    tasksDone: [],
    visitStartedAt: at,
    visitStarts: [...state.visitStarts, at].slice(-VISIT_STARTS_MAX),
    watch: NOTHING_WATCHED,
  }
}

/** A tool about to run is a fact: a command, or an edit of each file it names. */
export function recordCall(state: TaskState, event: TaskEvent & { type: 'tool_allowed' }): TaskState {
  if (!event.execute) return state
  const { command, edits } = extractTouched(event)
  if (command === null && edits.length === 0) return state
  const call = { at: event.at, tool: event.toolName, command, edits }
  return { ...state, watch: { ...state.watch, facts: addCallFacts(state.watch, call) } }
}

/** The command line that an allowed call runs, and the paths it edits. */
export function extractTouched(event: TaskEvent & { type: 'tool_allowed' }): Pick<Call, 'command' | 'edits'> {
  const command = event.runs ?? (event.toolName === 'bash' ? event.args.command : undefined)
  const edits = BUILT_IN_TOOLS.get(event.toolName)?.paths === 'write' ? listPaths(event.args) : []
  return { command: typeof command === 'string' ? command : null, edits }
}

function listPaths(args: JsonObject): readonly string[] {
  const files = Array.isArray(args.files) ? args.files : []
  return [args.path, ...files.map((file) => (file as JsonObject | null)?.path)]
    .filter((path): path is string => typeof path === 'string')
    .map(normalizePath)
}

// Normalizes the path, so that `.` and `..` do not make one file look like several.
function normalizePath(path: string): string {
  const names: string[] = []
  for (const name of path.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return names.join('/')
}

interface Call {
  readonly at: number
  readonly tool: string
  readonly command: string | null
  readonly edits: readonly string[]
}

function addCallFacts(watch: Watch, call: Call): Facts {
  const { at, tool, command } = call
  const { mark } = watch
  let { facts } = watch
  if (command !== null) facts = addCommand(facts, { at, command, mark })
  for (const path of call.edits.slice(0, EDITS_OF_A_CALL_MAX)) facts = addEdit(facts, { at, path, tool, mark })
  return facts
}

/** A changed tree or a different set of failing tests is progress. */
export function recordProgress(state: TaskState, event: TaskEvent & { type: 'tool_finished' }): TaskState {
  const { watch } = state
  const failing = event.failing ?? watch.failing
  const mark = markAfter(watch, event)
  return mark === watch.mark && failing === watch.failing ? state : { ...state, watch: { ...watch, mark, failing } }
}

export function markAfter(
  watch: Watch,
  ended: { readonly changeCount?: number; readonly failing?: string | undefined },
): number {
  const isOther = ended.failing !== undefined && watch.failing !== null && ended.failing !== watch.failing
  return watch.mark + ((ended.changeCount ?? 0) > 0 || isOther ? 1 : 0)
}

/** An acknowledgement lets one request pass the rules, whether or not the gate opens. */
export function consumeBypass(state: TaskState): TaskState {
  return state.watch.acknowledged.size === 0 ? state : { ...state, watch: { ...state.watch, acknowledged: new Map() } }
}

type WatchEvent = TaskEvent & {
  type: 'rule_violated' | 'rule_acknowledged' | 'rule_cleared' | 'usage_recorded' | 'fact_recorded'
}

export function applyWatchEvent(state: TaskState, event: WatchEvent): TaskState {
  switch (event.type) {
    case 'rule_violated':
      return applyRuleViolated(state, event)
    case 'rule_acknowledged': {
      const acknowledged = new Map(state.watch.acknowledged).set(event.rule, event.at)
      const continues = new Map(state.watch.continues).set(event.rule, event.count)
      const reported = dropRule(state.watch.reported, event.rule)
      return { ...state, watch: { ...state.watch, open: null, reported, acknowledged, continues } }
    }
    case 'rule_cleared':
      return applyRuleCleared(state, event.rule)
    case 'usage_recorded': {
      const { input, output, cacheRead, cacheWrite, grade, usageId: id, occurredAt: at } = event
      const facts = addUsage(state.watch.facts, { at, id, input, output, cacheRead, cacheWrite, grade })
      return { ...state, watch: { ...state.watch, facts } }
    }
    case 'fact_recorded':
      return recordFact(state, event)
  }
}

function applyRuleViolated(state: TaskState, event: TaskEvent & { type: 'rule_violated' }): TaskState {
  const { watch } = state
  const { rule, action, violation, at } = event
  if (event.shadow) return { ...state, watch: { ...watch, shadowed: new Set(watch.shadowed).add(rule) } }
  return {
    ...state,
    refusals: new Map(state.refusals).set(event.code, (state.refusals.get(event.code) ?? 0) + 1),
    refusalsTotal: state.refusalsTotal + 1,
    watch: {
      ...watch,
      open: { rule, action, violation, at },
      reported: new Set(watch.reported).add(rule),
      acknowledged: dropKey(watch.acknowledged, rule),
    },
  }
}

// The open violation is cleared only when no other rule is violated: after that each violation is new.
function applyRuleCleared(state: TaskState, rule: string): TaskState {
  const { watch } = state
  const isOpen = watch.open?.rule === rule
  return {
    ...state,
    watch: {
      ...watch,
      open: isOpen ? null : watch.open,
      reported: isOpen ? NOTHING_WATCHED.reported : dropRule(watch.reported, rule),
      acknowledged: dropKey(watch.acknowledged, rule),
    },
  }
}

function recordFact(state: TaskState, event: TaskEvent & { type: 'fact_recorded' }): TaskState {
  const { watch } = state
  const facts = addCallFacts(watch, { at: event.at, tool: event.toolName, command: event.command, edits: event.paths })
  // An agent CLI does not report which of its calls changed the tree; an edit counts as a change.
  const mark = event.paths.length > 0 && event.success ? watch.mark + 1 : watch.mark
  const seen = new Set(watch.seen)
  if (event.factId !== null) seen.add(event.factId)
  for (const id of seen) {
    if (seen.size <= SEEN_MAX) break
    seen.delete(id)
  }
  const denialsInARow = (event.changeCount ?? 0) > 0 ? 0 : state.denialsInARow
  return { ...state, denialsInARow, watch: { ...watch, facts, mark, seen } }
}

function dropRule(rules: ReadonlySet<string>, rule: string): ReadonlySet<string> {
  if (!rules.has(rule)) return rules
  const next = new Set(rules)
  next.delete(rule)
  return next
}

function dropKey(map: ReadonlyMap<string, number>, rule: string): ReadonlyMap<string, number> {
  if (!map.has(rule)) return map
  const next = new Map(map)
  next.delete(rule)
  return next
}
