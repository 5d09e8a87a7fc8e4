import { isObject, type JsonObject } from '../core/json.js'
import type { HookAnswers, HookDialect, HookRead } from './hook-message.js'
import { readHook } from './read-hook.js'
import { shortenText } from './shorten-text.js'
import {
  describeByTable,
  listRow,
  readInput,
  renameRow,
  shellRow,
  type ToolTable,
  translateByTable,
} from './tool-table.js'

const KINDS = {
  preToolUse: 'before_tool',
  beforeShellExecution: 'before_tool',
  beforeMCPExecution: 'before_tool',
  beforeReadFile: 'before_tool',
  postToolUse: 'after_tool',
  postToolUseFailure: 'after_tool',
  afterShellExecution: 'after_tool',
  afterFileEdit: 'after_tool',
  beforeSubmitPrompt: 'prompt',
  sessionStart: 'session_start',
  subagentStart: 'subagent_start',
  subagentStop: 'subagent_stop',
  stop: 'stop',
  sessionEnd: 'session_end',
  preCompact: 'before_compact',
} as const
export const CURSOR_EVENTS: readonly string[] = Object.keys(KINDS)

const PATHS = { path: 'file_path', target_file: 'file_path', contents: 'content' }

const TABLE: ToolTable = {
  agentCli: 'cursor',
  bookkeeping: new Set(['TodoWrite', 'TodoRead', 'ReadLints', 'SwitchMode', 'UpdateCurrentStep']),
  rows: {
    Shell: (input) => {
      const { is_background, ...rest } = input
      const background = is_background === true ? { run_in_background: true } : {}
      return shellRow({ cwd: 'working_directory', drops: ['description', 'timeout', 'block_until_ms'] })({
        ...rest,
        ...background,
      })
    },
    Write: renameRow('Write', PATHS, ['explanation']),
    Edit: renameRow('Edit', PATHS, ['explanation', 'instructions']),
    StrReplace: renameRow('Edit', PATHS, ['explanation']),
    Delete: (input) => {
      const path = input.file_path ?? input.path ?? input.target_file
      if (typeof path !== 'string') return { problem: 'path must be a path' }
      return { tool: 'Write', input: { file_path: path, content: '' } }
    },
    Read: renameRow('Read', PATHS, ['explanation']),
    LS: listRow('path', ['ignore', 'explanation']),
    Glob: renameRow('Glob', { glob_pattern: 'pattern', target_directory: 'path' }),
    Grep: renameRow('Grep', {}),
    WebFetch: renameRow('WebFetch', {}),
    WebSearch: renameRow('WebSearch', { search_term: 'query' }, ['explanation']),
    Task: renameRow('Task', {}),
    AskQuestion: renameRow('AskUserQuestion', { prompt: 'question' }),
  },
}

const ANSWERS: HookAnswers = {
  // `decision` and `reason` are the older names; an unknown field is ignored.
  decide: (permission, reason) => ({
    ...{ permission, decision: permission, reason: shortenText(reason) },
    ...(permission === 'allow' ? {} : { user_message: shortenText(reason), agent_message: shortenText(reason) }),
  }),
  tellAfter: (_event, { interrupt, note }) => {
    const text = [interrupt, note].filter((one) => one !== null).join('\n')
    return text === '' ? {} : { additional_context: shortenText(text) }
  },
  addContext: (event, text) =>
    event === 'beforeSubmitPrompt' ? { continue: true } : { ...go(event), additional_context: shortenText(text) },
  keepGoing: (_event, reason) => ({ followup_message: shortenText(reason) }),
  pass: () => ({}),
  block: (event, reason) =>
    event === 'beforeSubmitPrompt'
      ? { continue: false, user_message: shortenText(reason) }
      : ANSWERS.decide('deny', reason),
  refuse,
}

function go(event: string): JsonObject {
  return event === 'subagentStart' ? { permission: 'allow' } : {}
}

/** Events that cannot be kept from happening, or would begin again. */
const ENDS: ReadonlySet<unknown> = new Set(['stop', 'subagentStop', 'sessionEnd'])

function refuse(body: unknown, reason: string): JsonObject {
  const event = isObject(body) ? body.hook_event_name : undefined
  if (ENDS.has(event)) return {}
  if (event === 'sessionStart') return { additional_context: shortenText(`Phaselock: ${reason}`) }
  return ANSWERS.block(typeof event === 'string' ? event : '', reason)
}

/** Fields of Cursor under the names that all hooks are read with. */
function read(body: JsonObject): HookRead {
  const { workspace_roots: roots, conversation_id, hook_event_name: event } = body
  const first = Array.isArray(roots) ? roots[0] : undefined
  const cwd = typeof body.cwd === 'string' && body.cwd !== '' ? body.cwd : first
  const origin = {
    ...{ hook_event_name: event ?? null, session_id: conversation_id ?? null, cwd: cwd ?? null },
    ...{ transcript_path: body.transcript_path ?? null, agent_id: body.subagent_id ?? null },
  }
  const rest = { reason: body.reason ?? null, duration_ms: body.duration ?? null, ...nameTool(body) }
  // A prompt that is kept back is one that the person has to type again; its answer carries no context.
  return readHook({ kinds: KINDS, isSuccess: (name) => name !== 'postToolUseFailure' }, { ...origin, ...rest })
}

function nameTool(body: JsonObject): JsonObject {
  const about = { tool_use_id: body.tool_use_id ?? null, tool_response: body.tool_output ?? body.output ?? null }
  switch (body.hook_event_name) {
    case 'beforeShellExecution':
    case 'afterShellExecution':
      return { ...about, tool_name: 'Shell', tool_input: { command: body.command ?? null } }
    case 'beforeReadFile':
      return { ...about, tool_name: 'Read', tool_input: { file_path: body.file_path ?? null } }
    case 'afterFileEdit':
      return { ...about, tool_name: 'Write', tool_input: { file_path: body.file_path ?? null } }
    case 'beforeMCPExecution':
      return { ...about, tool_name: nameMcpTool(body.tool_name), tool_input: readInput(body.tool_input) }
    default:
      return { ...about, tool_name: nameMcpTool(body.tool_name, 'MCP:'), tool_input: readInput(body.tool_input) }
  }
}

// Cursor does not say which server a tool belongs to. So only tools of Phaselock pass; what another server offers under
// the same name never reaches Phaselock, which is noticed.
function nameMcpTool(name: JsonObject[string] | undefined, prefix = ''): JsonObject[string] {
  if (typeof name !== 'string' || !name.startsWith(prefix)) return name ?? null
  return `mcp__phaselock__${name.slice(prefix.length)}`
}

/** The hooks of Cursor, as its documentation describes them. */
export const CURSOR_HOOKS: HookDialect = {
  agentCli: 'cursor',
  title: 'Cursor',
  read,
  translate: (hook, tree) => translateByTable(TABLE, hook, tree),
  describe: (hook, tree) => describeByTable(TABLE, hook, tree),
  answers: ANSWERS,
}
