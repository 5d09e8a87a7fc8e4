import { isObject, type JsonObject } from '../core/json.js'
import type { HookAnswers, HookDialect } from './hook-message.js'
import { readHook } from './read-hook.js'
import { shortenText } from './shorten-text.js'
import { describeByTable, listRow, renameRow, shellRow, type ToolTable, translateByTable } from './tool-table.js'

/** As the plugin in `runtime/agent-hooks/opencode.js` sends them. */
const KINDS = {
  'tool.execute.before': 'before_tool',
  'tool.execute.after': 'after_tool',
} as const
export const OPENCODE_EVENTS: readonly string[] = Object.keys(KINDS)

const PATH = { filePath: 'file_path' }

const TABLE: ToolTable = {
  agentCli: 'opencode',
  bookkeeping: new Set(['todowrite', 'todoread', 'invalid', 'plan_enter', 'plan_exit']),
  rows: {
    bash: shellRow({ cwd: 'workdir' }),
    write: renameRow('Write', PATH),
    edit: renameRow('Edit', {
      ...PATH,
      ...{ oldString: 'old_string', newString: 'new_string', replaceAll: 'replace_all' },
    }),
    patch: renameRow('apply_patch', { patchText: 'command' }),
    apply_patch: renameRow('apply_patch', { patchText: 'command' }),
    read: renameRow('Read', PATH),
    list: listRow('path', ['ignore']),
    glob: renameRow('Glob', {}),
    grep: renameRow('Grep', {}, ['include']),
    webfetch: renameRow('WebFetch', {}, ['format', 'timeout']),
    websearch: renameRow('WebSearch', {}, ['numResults', 'livecrawl', 'type', 'contextMaxCharacters']),
    task: renameRow('Task', {}),
    question: renameRow('AskUserQuestion', {}),
  },
}

// The plugin is Phaselock's own: it throws unless it reads "allow", and a throw keeps the tool from running.
const ANSWERS: HookAnswers = {
  decide: (permission, reason) => ({ decision: permission, reason: shortenText(reason) }),
  tellAfter: (_event, { interrupt, note }) => ({
    decision: 'allow',
    ...(interrupt === null ? {} : { context: shortenText(interrupt) }),
    ...(note === null ? {} : { note: shortenText(note) }),
  }),
  addContext: (_event, text) => ({ decision: 'allow', context: shortenText(text) }),
  keepGoing: (_event, reason) => ({ decision: 'deny', reason: shortenText(reason) }),
  pass: (note) => ({ decision: 'allow', ...(note === null ? {} : { note: shortenText(note) }) }),
  block: (_event, reason) => ({ decision: 'deny', reason: shortenText(reason) }),
  refuse: (_body, reason) => ({ decision: 'deny', reason: shortenText(reason) }),
}

// Tools of MCP servers are called `SERVER_TOOL`. Only Phaselock's own server can be told apart by its name; what
// another server offers under such a name never reaches Phaselock, which is noticed.
const OWN = /^phaselock_(.+)$/

function nameMcpTool(body: JsonObject): JsonObject {
  const own = typeof body.tool_name === 'string' ? OWN.exec(body.tool_name)?.[1] : undefined
  return own === undefined ? body : { ...body, tool_name: `mcp__phaselock__${own}` }
}

function isSuccess(_event: string, { tool_response: response }: JsonObject): boolean {
  return !(isObject(response) && response.error !== undefined && response.error !== null)
}

/** The plugin for OpenCode. */
export const OPENCODE_HOOKS: HookDialect = {
  agentCli: 'opencode',
  title: 'OpenCode',
  read: (body) => readHook({ kinds: KINDS, isSuccess }, nameMcpTool(body)),
  translate: (hook, tree) => translateByTable(TABLE, hook, tree),
  describe: (hook, tree) => describeByTable(TABLE, hook, tree),
  answers: ANSWERS,
}
