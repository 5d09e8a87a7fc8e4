import { isObject, type JsonObject } from '../core/json.js'
import type { HookAnswers, HookDialect } from './hook-message.js'
import { readHook } from './read-hook.js'
import { shortenText } from './shorten-text.js'
import { describeByTable, readInput, renameRow, shellRow, type ToolTable, translateByTable } from './tool-table.js'

const KINDS = {
  PreToolUse: 'before_tool',
  PostToolUse: 'after_tool',
  PostToolUseFailure: 'after_tool',
  UserPromptSubmit: 'prompt',
  SessionStart: 'session_start',
  SubagentStart: 'subagent_start',
  SubagentStop: 'subagent_stop',
  Stop: 'stop',
  SessionEnd: 'session_end',
  PreCompact: 'before_compact',
} as const
export const COPILOT_EVENTS: readonly string[] = Object.keys(KINDS)

// Its own tools under the names of Claude Code, with arguments of its own.
const TABLE: ToolTable = {
  agentCli: 'copilot',
  bookkeeping: new Set([
    ...['read_bash', 'stop_bash', 'list_bash', 'read_agent', 'list_agents', 'report_intent', 'update_todo'],
    ...['fetch_copilot_cli_documentation', 'task_complete'],
  ]),
  rows: {
    Bash: (input) => {
      const { mode, detach, ...rest } = input
      const isLeft = (mode !== undefined && mode !== 'sync') || detach === true
      return shellRow({ drops: ['description', 'shellId', 'initial_wait', 'timeout'] })({
        ...rest,
        ...(isLeft ? { run_in_background: true } : {}),
      })
    },
    Write: renameRow('Write', { path: 'file_path', file_text: 'content' }),
    Edit: renameRow('Edit', { path: 'file_path', old_str: 'old_string', new_str: 'new_string' }),
    apply_patch: renameRow('apply_patch', { input: 'command', patch: 'command' }),
    Read: renameRow('Read', { path: 'file_path' }, ['view_range', 'forceReadLargeFiles']),
    Glob: renameRow('Glob', { paths: 'path' }),
    Grep: renameRow('Grep', { paths: 'path' }, ['glob']),
    WebFetch: renameRow('WebFetch', {}, ['max_length', 'raw', 'start_index']),
    WebSearch: renameRow('WebSearch', {}),
    Agent: renameRow('Task', {}),
    ask_user: renameRow('AskUserQuestion', {}),
  },
}

const ANSWERS: HookAnswers = {
  decide: (permission, reason) => ({
    ...{ permissionDecision: permission, permissionDecisionReason: shortenText(reason) },
  }),
  tellAfter: (_event, { interrupt, note }) => {
    const text = [interrupt, note].filter((one) => one !== null).join('\n')
    return text === '' ? {} : { additionalContext: shortenText(text) }
  },
  addContext: (_event, text) => ({ additionalContext: shortenText(text) }),
  keepGoing: (_event, reason) => ({ decision: 'block', reason: shortenText(reason) }),
  pass: () => ({}),
  block: (_event, reason) => ({ decision: 'block', reason: shortenText(reason) }),
  refuse,
}

/** Events that would begin again if they were kept from happening. */
const ENDS: ReadonlySet<unknown> = new Set(['Stop', 'SubagentStop', 'SessionEnd'])
const STARTS: ReadonlySet<unknown> = new Set(['SessionStart', 'SubagentStart', 'UserPromptSubmit'])

function refuse(body: unknown, reason: string): JsonObject {
  const event = isObject(body) ? body.hook_event_name : undefined
  if (ENDS.has(event)) return {}
  if (STARTS.has(event)) return { additionalContext: shortenText(`Phaselock: ${reason}`) }
  return ANSWERS.decide('deny', reason)
}

// Tools of MCP servers are called `SERVER-TOOL`. Only Phaselock's own server can be told apart by its name; what
// another server offers under such a name never reaches Phaselock, which is noticed.
const OWN = /^phaselock-(.+)$/

/** Fields of Copilot CLI under the names that all hooks are read with. A subagent has a session of its own. */
function rename(body: JsonObject): JsonObject {
  const own = typeof body.tool_name === 'string' ? OWN.exec(body.tool_name)?.[1] : undefined
  return {
    ...body,
    session_id: body.parent_agent_id ?? body.session_id ?? null,
    tool_response: body.tool_result ?? null,
    ...(own === undefined ? {} : { tool_name: `mcp__phaselock__${own}` }),
    ...(typeof body.tool_input === 'string' ? { tool_input: readInput(body.tool_input) } : {}),
  }
}

/** The hooks of Copilot CLI, configured under event names that begin with a capital letter. */
export const COPILOT_HOOKS: HookDialect = {
  agentCli: 'copilot',
  title: 'Copilot CLI',
  read: (body) => readHook({ kinds: KINDS, isSuccess: (event) => event === 'PostToolUse' }, rename(body)),
  translate: (hook, tree) => translateByTable(TABLE, hook, tree),
  describe: (hook, tree) => describeByTable(TABLE, hook, tree),
  answers: ANSWERS,
}
