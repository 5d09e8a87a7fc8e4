import { isObject, type Json, type JsonObject } from '../core/json.js'
import type { ContractCall, ToolHook, TranslatedCall } from './hook-message.js'
import { listPatchPaths } from './patch-paths.js'
import { type PathRead, resolveTreePath } from './tree-path.js'

/** A patch that names more files is refused. */
const PATCH_FILES_MAX = 100
/**
 * No contract can use names with this prefix: an unmapped tool gets one, so it can never be mistaken for another tool.
 */
const UNKNOWN_PREFIX = 'claude-code:'

/** Tools for Claude Code's own notes: they touch neither files nor commands nor the network. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  ...['TodoWrite', 'TodoRead', 'TaskCreate', 'TaskGet', 'TaskList', 'TaskUpdate'],
  ...['ToolSearch', 'EnterPlanMode', 'ExitPlanMode', 'StructuredOutput'],
  ...['BashOutput', 'TaskOutput', 'KillShell', 'KillBash', 'TaskStop'],
])

/** A call of Claude Code as calls of the contract's tools. */
export function toContractCalls(hook: ToolHook, tree: string): TranslatedCall {
  if (BOOKKEEPING.has(hook.tool)) return { kind: 'bookkeeping' }
  const place = { cwd: hook.cwd, tree }
  const read = (path: string): PathRead => resolveTreePath(path, place)
  const translate = TRANSLATORS.get(hook.tool)
  if (translate !== undefined) return translate(hook.input, read)
  return makeCalls([{ tool: formatOtherTool(hook.tool), args: hook.input, opens: [] }])
}

const MCP = /^mcp__(.+?)__(.+)$/

function formatOtherTool(name: string): string {
  const mcp = MCP.exec(name)
  return mcp === null ? `${UNKNOWN_PREFIX}${name}` : `${mcp[1]}.${mcp[2]}`
}

type Reader = (path: string) => PathRead
type Translator = (input: JsonObject, read: Reader) => TranslatedCall

const TRANSLATORS: ReadonlyMap<string, Translator> = new Map<string, Translator>([
  ['Bash', translateBash],
  ['Write', (input, read) => translateFileTool(input, read, { tool: 'write_files', path: 'file_path' })],
  ['Read', translateRead],
  ['Edit', (input, read) => translateFileTool(translateEdit(input), read, { tool: 'edit_files', path: 'file_path' })],
  [
    'MultiEdit',
    (input, read) => translateFileTool(translateMultiEdit(input), read, { tool: 'edit_files', path: 'file_path' }),
  ],
  [
    'NotebookEdit',
    (input, read) => translateFileTool(translateNotebook(input), read, { tool: 'edit_files', path: 'notebook_path' }),
  ],
  ['apply_patch', patch],
  ['Grep', translateGrep],
  ['Glob', (input, read) => translateSearch('glob', input, read)],
  ['WebFetch', ({ prompt: _prompt, ...args }) => makeCalls([{ tool: 'web_fetch', args, opens: [] }])],
  ['WebSearch', (args) => makeCalls([{ tool: 'web_search', args, opens: [] }])],
  ['Task', (args) => makeCalls([{ tool: 'spawn_agent', args, opens: [] }])],
  ['Agent', (args) => makeCalls([{ tool: 'spawn_agent', args, opens: [] }])],
  ['AskUserQuestion', translateQuestion],
])

// Other arguments are passed on and refused as unknown: a new argument of Claude Code may mean anything.
function translateBash(input: JsonObject, read: Reader): TranslatedCall {
  const { description: _description, timeout, run_in_background, dangerouslyDisableSandbox, ...rest } = input
  const cwd = read('.')
  if (!cwd.ok) return refuseUnreadable('cwd', cwd.problem)
  return makeCalls([
    {
      tool: 'bash',
      args: {
        ...rest,
        ...(typeof timeout === 'number' ? { timeout: Math.ceil(timeout / 1000) } : compact({ timeout })),
        ...(cwd.path === '.' ? {} : { cwd: cwd.path }),
        ...omitDisabled({ run_in_background, dangerouslyDisableSandbox }),
      },
      opens: [],
    },
  ])
}

function translateFileTool(
  input: JsonObject,
  read: Reader,
  as: { readonly tool: string; readonly path: string },
): TranslatedCall {
  const { [as.path]: path, ...rest } = input
  if (typeof path !== 'string') return refuseUnreadable(as.path, 'must be a path')
  const found = read(path)
  if (!found.ok) return refuseUnreadable(as.path, found.problem)
  return makeCalls([{ tool: as.tool, args: { ...rest, path: found.path }, opens: [found.path] }])
}

function translateRead(input: JsonObject, read: Reader): TranslatedCall {
  const { offset, pages: _pages, ...rest } = input
  const skipped = typeof offset === 'number' ? { offset: Math.max(0, offset - 1) } : compact({ offset })
  return translateFileTool({ ...rest, ...skipped }, read, { tool: 'read_files', path: 'file_path' })
}

function translateEdit(input: JsonObject): JsonObject {
  const { old_string, new_string, replace_all, ...rest } = input
  return { ...rest, edits: [toEdit({ old_string, new_string, replace_all })] }
}

function translateMultiEdit(input: JsonObject): JsonObject {
  const { edits, ...rest } = input
  if (!Array.isArray(edits)) return { ...rest, ...compact({ edits }) }
  return { ...rest, edits: edits.map((edit: Json) => (isObject(edit) ? toEdit(edit) : edit)) }
}

function toEdit({ old_string, new_string, ...rest }: LooseObject): JsonObject {
  return { ...compact(rest), ...compact({ old: old_string, new: new_string }) }
}

function translateNotebook(input: JsonObject): JsonObject {
  const { new_source, cell_id: _id, cell_type: _type, edit_mode: _mode, ...rest } = input
  return { ...rest, edits: [{ old: '', new: new_source ?? '' }] }
}

function patch(input: JsonObject, read: Reader): TranslatedCall {
  const { command, ...rest } = input
  const paths = typeof command === 'string' ? listPatchPaths(command) : []
  if (paths.length === 0 || paths.length > PATCH_FILES_MAX)
    return refuseUnreadable('command', `must be a patch of 1 to ${PATCH_FILES_MAX} files`)
  const found: ContractCall[] = []
  for (const path of paths) {
    const one = read(path)
    if (!one.ok) return refuseUnreadable('command', `names a path that ${one.problem}`)
    found.push({
      tool: 'edit_files',
      args: { ...rest, path: one.path, edits: [{ old: '', new: '' }] },
      opens: [one.path],
    })
  }
  return makeCalls(found)
}

const GREP_OUTPUT = ['output_mode', '-A', '-B', '-C', '-n', '-o', 'context', 'type', 'offset', 'multiline'] as const

function translateGrep(input: JsonObject, read: Reader): TranslatedCall {
  const { '-i': ignoreCase, head_limit, ...rest } = omitNames(input, GREP_OUTPUT)
  return translateSearch('grep', { ...rest, ...compact({ ignore_case: ignoreCase, limit: head_limit }) }, read)
}

function translateSearch(tool: string, input: JsonObject, read: Reader): TranslatedCall {
  const { path = '.', ...rest } = input
  if (typeof path !== 'string') return refuseUnreadable('path', 'must be a path')
  const found = read(path)
  if (!found.ok) return refuseUnreadable('path', found.problem)
  const where = found.path === '.' ? {} : { path: found.path }
  return makeCalls([{ tool, args: { ...rest, ...where }, opens: [found.path] }])
}

// Claude Code asks several questions at once and shows each with its answers: here they are one text.
function translateQuestion(input: JsonObject): TranslatedCall {
  const { questions, answers: _answers, ...rest } = input
  const texts = Array.isArray(questions)
    ? questions.map((one: Json) => (isObject(one) && typeof one.question === 'string' ? one.question : null))
    : []
  if (texts.length === 0 || texts.includes(null))
    return refuseUnreadable('questions', 'must be a list of {question, …}')
  return makeCalls([{ tool: 'ask_user_question', args: { ...rest, question: texts.join('\n') }, opens: [] }])
}

type LooseObject = Readonly<Record<string, Json | undefined>>

function compact(args: LooseObject): JsonObject {
  return Object.fromEntries(Object.entries(args).filter((one): one is [string, Json] => one[1] !== undefined))
}

function omitDisabled(flags: LooseObject): JsonObject {
  return compact(Object.fromEntries(Object.entries(flags).map(([name, on]) => [name, on === false ? undefined : on])))
}

function omitNames(input: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name)))
}

function makeCalls(list: readonly ContractCall[]): TranslatedCall {
  return { kind: 'calls', calls: list }
}

function refuseUnreadable(name: string, problem: string): TranslatedCall {
  return { kind: 'unreadable', detail: `tool_input.${name} ${problem}` }
}
