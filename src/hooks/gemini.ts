import { isObject, type JsonObject } from '../core/json.js'
import type { HookAnswers, HookDialect } from './hook-message.js'
import { readHook } from './read-hook.js'
import { shortenText } from './shorten-text.js'
import { describeByTable, listRow, renameRow, shellRow, type ToolTable, translateByTable } from './tool-table.js'

const KINDS = {
  BeforeTool: 'before_tool',
  AfterTool: 'after_tool',
  BeforeAgent: 'prompt',
  AfterAgent: 'stop',
  SessionStart: 'session_start',
  SessionEnd: 'session_end',
  PreCompress: 'before_compact',
} as const
export const GEMINI_EVENTS: readonly string[] = Object.keys(KINDS)

const SEARCH_OPTIONS = [
  ...['case_sensitive', 'respect_git_ignore', 'respect_gemini_ignore', 'file_filtering_options', 'fixed_strings'],
  ...['context', 'after', 'before', 'names_only', 'max_matches_per_file', 'total_max_matches', 'no_ignore'],
  ...['include_pattern', 'exclude_pattern', 'include'],
]

const TABLE: ToolTable = {
  agentCli: 'gemini',
  bookkeeping: new Set([
    ...['write_todos', 'enter_plan_mode', 'exit_plan_mode', 'complete_task', 'get_internal_docs', 'update_topic'],
    ...['tracker_create_task', 'tracker_update_task', 'tracker_get_task', 'tracker_list_tasks'],
    ...['tracker_add_dependency', 'tracker_visualize', 'list_mcp_resources'],
  ]),
  rows: {
    run_shell_command: (input) => {
      const { is_background, ...rest } = input
      const background = is_background === true ? { run_in_background: true } : {}
      return shellRow({ cwd: 'dir_path', drops: ['description'] })({ ...rest, ...background })
    },
    write_file: renameRow('Write', {}),
    replace: renameRow('Edit', { allow_multiple: 'replace_all' }, ['instruction', 'expected_replacements']),
    read_file: renameRow('Read', {}, ['start_line', 'end_line']),
    list_directory: listRow('dir_path', ['ignore', ...SEARCH_OPTIONS]),
    glob: renameRow('Glob', { dir_path: 'path' }, SEARCH_OPTIONS),
    grep_search: renameRow('Grep', { dir_path: 'path' }, SEARCH_OPTIONS),
    search_file_content: renameRow('Grep', { dir_path: 'path' }, SEARCH_OPTIONS),
    google_web_search: renameRow('WebSearch', {}),
    ask_user: renameRow('AskUserQuestion', {}),
    invoke_agent: renameRow('Task', {}),
  },
}

const deny = (reason: string): JsonObject => ({ decision: 'deny', reason: shortenText(reason) })

// Its own words: the decision of Claude Code's format is ignored, and the tool runs.
const ANSWERS: HookAnswers = {
  decide: (permission, reason) =>
    permission === 'allow' ? { decision: 'allow', reason: shortenText(reason) } : deny(reason),
  tellAfter: (event, { interrupt, note }) => ({
    decision: 'allow',
    ...(interrupt === null ? {} : addContext(event, interrupt)),
    ...(note === null ? {} : { systemMessage: shortenText(note) }),
  }),
  addContext,
  keepGoing: (_event, reason) => deny(reason),
  pass: (note) => ({ decision: 'allow', ...(note === null ? {} : { systemMessage: shortenText(note) }) }),
  block: (_event, reason) => deny(reason),
  refuse,
}

function addContext(event: string, text: string): JsonObject {
  return { hookSpecificOutput: { hookEventName: event, additionalContext: shortenText(text) } }
}

// A turn that is kept from ending begins again, without a limit.
const ENDS: ReadonlySet<unknown> = new Set(['AfterAgent', 'SessionEnd'])

function refuse(body: unknown, reason: string): JsonObject {
  const event = isObject(body) ? body.hook_event_name : undefined
  if (ENDS.has(event)) return ANSWERS.pass(reason)
  if (event === 'SessionStart') return addContext(event, `Phaselock: ${reason}`)
  return deny(reason)
}

// Names of MCP tools are `mcp_SERVER_TOOL`; which part is which is said beside them.
function nameMcpTool(body: JsonObject): JsonObject {
  const { mcp_context: context } = body
  if (!isObject(context) || typeof context.server_name !== 'string' || typeof context.tool_name !== 'string')
    return body
  return { ...body, tool_name: `mcp__${context.server_name}__${context.tool_name}` }
}

function isSuccess(_event: string, { tool_response: response }: JsonObject): boolean {
  return !(isObject(response) && response.error !== undefined && response.error !== null)
}

/** The hooks of Gemini CLI. */
export const GEMINI_HOOKS: HookDialect = {
  agentCli: 'gemini',
  title: 'Gemini CLI',
  read: (body) => readHook({ kinds: KINDS, isSuccess }, nameMcpTool(body)),
  translate: (hook, tree) => translateByTable(TABLE, hook, tree),
  describe: (hook, tree) => describeByTable(TABLE, hook, tree),
  answers: ANSWERS,
}
