import type { Json, JsonObject } from '../core/json.js'
import { type ClaudeCodeHook, isObject } from './claude-code.js'
import { patchPaths } from './patch-paths.js'
import { type PathRead, treePath } from './tree-path.js'

/** A patch that names more files is refused. */
const PATCH_FILES_MAX = 100
/** What a contract cannot name: a tool that maps to nothing is asked for under this, so that it is never another tool. */
const UNKNOWN_PREFIX = 'claude-code:'

interface ContractCall {
  readonly tool: string
  readonly args: JsonObject
  /** Paths of the work tree that the harness will open by name. */
  readonly opens: readonly string[]
}

type Translated =
  | { readonly kind: 'bookkeeping' }
  | { readonly kind: 'calls'; readonly calls: readonly ContractCall[] }
  | { readonly kind: 'unreadable'; readonly detail: string }

/** Tools with which the harness keeps its own books: they touch neither files nor commands nor the network. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  ...['TodoWrite', 'TodoRead', 'TaskCreate', 'TaskGet', 'TaskList', 'TaskUpdate'],
  ...['ToolSearch', 'EnterPlanMode', 'ExitPlanMode', 'StructuredOutput'],
  ...['BashOutput', 'TaskOutput', 'KillShell', 'KillBash', 'TaskStop'],
])

/** What a call of Claude Code is in the words of a contract. */
export function toContractCalls(hook: ClaudeCodeHook, tree: string): Translated {
  if (BOOKKEEPING.has(hook.tool)) return { kind: 'bookkeeping' }
  const place = { cwd: hook.cwd, tree }
  const read = (path: string): PathRead => treePath(path, place)
  const translate = TRANSLATORS.get(hook.tool)
  if (translate !== undefined) return translate(hook.input, read)
  return calls([{ tool: otherTool(hook.tool), args: hook.input, opens: [] }])
}

const MCP = /^mcp__(.+?)__(.+)$/

function otherTool(name: string): string {
  const mcp = MCP.exec(name)
  return mcp === null ? `${UNKNOWN_PREFIX}${name}` : `${mcp[1]}.${mcp[2]}`
}

type Reader = (path: string) => PathRead
type Translator = (input: JsonObject, read: Reader) => Translated

const TRANSLATORS: ReadonlyMap<string, Translator> = new Map<string, Translator>([
  ['Bash', bash],
  ['Write', (input, read) => onFile(input, read, { tool: 'write_files', path: 'file_path' })],
  ['Read', reading],
  ['Edit', (input, read) => onFile(edited(input), read, { tool: 'edit_files', path: 'file_path' })],
  ['MultiEdit', (input, read) => onFile(multiEdited(input), read, { tool: 'edit_files', path: 'file_path' })],
  ['NotebookEdit', (input, read) => onFile(notebook(input), read, { tool: 'edit_files', path: 'notebook_path' })],
  ['apply_patch', patch],
  ['Grep', grep],
  ['Glob', (input, read) => searched('glob', input, read)],
  ['WebFetch', ({ prompt: _prompt, ...args }) => calls([{ tool: 'web_fetch', args, opens: [] }])],
  ['WebSearch', (args) => calls([{ tool: 'web_search', args, opens: [] }])],
  ['Task', (args) => calls([{ tool: 'spawn_agent', args, opens: [] }])],
  ['Agent', (args) => calls([{ tool: 'spawn_agent', args, opens: [] }])],
  ['AskUserQuestion', question],
])

// What is not named here goes on as it is and is refused as an argument that the tool does not have: a new argument of the
// harness may mean anything.
function bash(input: JsonObject, read: Reader): Translated {
  const { description: _description, timeout, run_in_background, dangerouslyDisableSandbox, ...rest } = input
  const cwd = read('.')
  if (!cwd.ok) return unreadable('cwd', cwd.problem)
  return calls([
    {
      tool: 'bash',
      args: {
        ...rest,
        ...(typeof timeout === 'number' ? { timeout: Math.ceil(timeout / 1000) } : given({ timeout })),
        ...(cwd.path === '.' ? {} : { cwd: cwd.path }),
        ...unlessOff({ run_in_background, dangerouslyDisableSandbox }),
      },
      opens: [],
    },
  ])
}

function onFile(input: JsonObject, read: Reader, as: { readonly tool: string; readonly path: string }): Translated {
  const { [as.path]: path, ...rest } = input
  if (typeof path !== 'string') return unreadable(as.path, 'must be a path')
  const found = read(path)
  if (!found.ok) return unreadable(as.path, found.problem)
  return calls([{ tool: as.tool, args: { ...rest, path: found.path }, opens: [found.path] }])
}

function reading(input: JsonObject, read: Reader): Translated {
  const { offset, pages: _pages, ...rest } = input
  const skipped = typeof offset === 'number' ? { offset: Math.max(0, offset - 1) } : given({ offset })
  return onFile({ ...rest, ...skipped }, read, { tool: 'read_files', path: 'file_path' })
}

function edited(input: JsonObject): JsonObject {
  const { old_string, new_string, replace_all, ...rest } = input
  return { ...rest, edits: [editOf({ old_string, new_string, replace_all })] }
}

function multiEdited(input: JsonObject): JsonObject {
  const { edits, ...rest } = input
  if (!Array.isArray(edits)) return { ...rest, ...given({ edits }) }
  return { ...rest, edits: edits.map((one: Json) => (isObject(one) ? editOf(one) : one)) }
}

function editOf({ old_string, new_string, ...rest }: Loose): JsonObject {
  return { ...given(rest), ...given({ old: old_string, new: new_string }) }
}

function notebook(input: JsonObject): JsonObject {
  const { new_source, cell_id: _id, cell_type: _type, edit_mode: _mode, ...rest } = input
  return { ...rest, edits: [{ old: '', new: new_source ?? '' }] }
}

function patch(input: JsonObject, read: Reader): Translated {
  const { command, ...rest } = input
  const paths = typeof command === 'string' ? patchPaths(command) : []
  if (paths.length === 0 || paths.length > PATCH_FILES_MAX)
    return unreadable('command', `must be a patch of 1 to ${PATCH_FILES_MAX} files`)
  const found: ContractCall[] = []
  for (const path of paths) {
    const one = read(path)
    if (!one.ok) return unreadable('command', `names a path that ${one.problem}`)
    found.push({
      tool: 'edit_files',
      args: { ...rest, path: one.path, edits: [{ old: '', new: '' }] },
      opens: [one.path],
    })
  }
  return calls(found)
}

const GREP_OUTPUT = ['output_mode', '-A', '-B', '-C', '-n', '-o', 'context', 'type', 'offset', 'multiline'] as const

function grep(input: JsonObject, read: Reader): Translated {
  const { '-i': ignoreCase, head_limit, ...rest } = without(input, GREP_OUTPUT)
  return searched('grep', { ...rest, ...given({ ignore_case: ignoreCase, limit: head_limit }) }, read)
}

function searched(tool: string, input: JsonObject, read: Reader): Translated {
  const { path = '.', ...rest } = input
  if (typeof path !== 'string') return unreadable('path', 'must be a path')
  const found = read(path)
  if (!found.ok) return unreadable('path', found.problem)
  const where = found.path === '.' ? {} : { path: found.path }
  return calls([{ tool, args: { ...rest, ...where }, opens: [found.path] }])
}

// The harness asks several questions at once and shows each with its answers: here one text stands for them.
function question(input: JsonObject): Translated {
  const { questions, answers: _answers, ...rest } = input
  const texts = Array.isArray(questions)
    ? questions.map((one: Json) => (isObject(one) && typeof one.question === 'string' ? one.question : null))
    : []
  if (texts.length === 0 || texts.includes(null)) return unreadable('questions', 'must be a list of {question, …}')
  return calls([{ tool: 'ask_user_question', args: { ...rest, question: texts.join('\n') }, opens: [] }])
}

type Loose = Readonly<Record<string, Json | undefined>>

function given(args: Loose): JsonObject {
  return Object.fromEntries(Object.entries(args).filter((one): one is [string, Json] => one[1] !== undefined))
}

function unlessOff(flags: Loose): JsonObject {
  return given(Object.fromEntries(Object.entries(flags).map(([name, on]) => [name, on === false ? undefined : on])))
}

function without(input: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name)))
}

function calls(list: readonly ContractCall[]): Translated {
  return { kind: 'calls', calls: list }
}

function unreadable(name: string, problem: string): Translated {
  return { kind: 'unreadable', detail: `tool_input.${name} ${problem}` }
}
