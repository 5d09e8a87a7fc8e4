import { isObject, type Json, type JsonObject } from '../core/json.js'
import { toFact } from './claude-code-facts.js'
import { toContractCalls } from './claude-code-tools.js'
import type { HookFact, ToolHook, TranslatedCall } from './hook-message.js'

/** A tool call as Claude Code would make it: what it means is written down once, for that CLI. */
interface StandardCall {
  readonly tool: string
  readonly input: JsonObject
  /** Where it runs, if not in the working directory of the session. */
  readonly cwd?: string
}

export type ToolRow = (input: JsonObject) => StandardCall | { readonly problem: string }

/** The tools of an agent CLI. A tool that is in neither part is unknown and refused. */
export interface ToolTable {
  readonly agentCli: string
  /** Tools for the CLI's own notes: they touch neither files nor commands nor the network. */
  readonly bookkeeping: ReadonlySet<string>
  readonly rows: Readonly<Record<string, ToolRow>>
}

export function translateByTable(table: ToolTable, hook: ToolHook, tree: string): TranslatedCall {
  if (table.bookkeeping.has(hook.tool)) return { kind: 'bookkeeping' }
  if (MCP.test(hook.tool)) return toContractCalls(hook, tree)
  const row = Object.hasOwn(table.rows, hook.tool) ? table.rows[hook.tool] : undefined
  // No contract can use names with such a prefix, so it can never be mistaken for another tool.
  if (row === undefined)
    return { kind: 'calls', calls: [{ tool: `${table.agentCli}:${hook.tool}`, args: hook.input, opens: [] }] }
  const read = row(hook.input)
  if ('problem' in read) return { kind: 'unreadable', detail: `${hook.tool}: ${read.problem}` }
  return toContractCalls(toStandardHook(hook, read), tree)
}

export function describeByTable(table: ToolTable, hook: ToolHook, tree: string): HookFact {
  const row = Object.hasOwn(table.rows, hook.tool) ? table.rows[hook.tool] : undefined
  const read = row?.(hook.input)
  // The name of Claude Code's tool must not be read off an unknown one.
  if (read === undefined || 'problem' in read) return toFact({ ...hook, tool: `${table.agentCli}:${hook.tool}` }, tree)
  return { ...toFact(toStandardHook(hook, read), tree), tool: hook.tool }
}

const MCP = /^mcp__.+?__.+$/

function toStandardHook(hook: ToolHook, { tool, input, cwd }: StandardCall): ToolHook {
  const where = cwd === undefined ? hook.cwd : cwd.startsWith('/') ? cwd : `${hook.cwd}/${cwd}`
  return { ...hook, tool, input, cwd: where }
}

/** A command in a shell. `cwd` names the argument with its folder, `drops` those that change nothing. */
export function shellRow(names: { readonly cwd?: string; readonly drops?: readonly string[] } = {}): ToolRow {
  return (input) => {
    const { [names.cwd ?? '']: cwd, ...rest } = input
    if (cwd !== undefined && cwd !== null && typeof cwd !== 'string') return { problem: `${names.cwd} must be a path` }
    const own = omitFields(rest, names.drops ?? [])
    return { tool: 'Bash', input: own, ...(typeof cwd === 'string' && cwd !== '' ? { cwd } : {}) }
  }
}

/** A row that gives arguments other names, and leaves out those that change nothing. */
export function renameRow(
  tool: string,
  names: Readonly<Record<string, string>>,
  drops: readonly string[] = [],
): ToolRow {
  return (input) => {
    const entries = Object.entries(omitFields(input, drops))
    return { tool, input: Object.fromEntries(entries.map(([name, value]) => [names[name] ?? name, value])) }
  }
}

/** Lists a folder, which is what searching for every file in it does. */
export function listRow(path: string, drops: readonly string[]): ToolRow {
  return (input) => {
    const { [path]: folder, ...rest } = omitFields(input, drops)
    return { tool: 'Glob', input: { ...rest, pattern: '*', ...(folder === undefined ? {} : { path: folder }) } }
  }
}

/** Fields that an agent CLI sends as a text with JSON in it; null: it is no such text. */
export function readInput(value: Json | undefined): JsonObject | null {
  if (isObject(value)) return value
  if (typeof value !== 'string') return null
  try {
    const read: unknown = JSON.parse(value)
    return isObject(read) ? read : null
  } catch {
    return null
  }
}

function omitFields(input: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name)))
}
