import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/json.js'
import { CODEX_HOOKS } from '../../src/hooks/codex.js'
import { COPILOT_HOOKS } from '../../src/hooks/copilot.js'
import { CURSOR_HOOKS } from '../../src/hooks/cursor.js'
import { GEMINI_HOOKS } from '../../src/hooks/gemini.js'
import type { HookDialect, ToolHook } from '../../src/hooks/hook-message.js'
import { OPENCODE_HOOKS } from '../../src/hooks/opencode.js'

const TREE = '/tree'
const EVENTS: Readonly<Record<string, readonly [before: string, after: string]>> = {
  codex: ['PreToolUse', 'PostToolUse'],
  gemini: ['BeforeTool', 'AfterTool'],
  cursor: ['preToolUse', 'postToolUse'],
  copilot: ['PreToolUse', 'PostToolUse'],
  opencode: ['tool.execute.before', 'tool.execute.after'],
}
const ALL = [CODEX_HOOKS, GEMINI_HOOKS, CURSOR_HOOKS, COPILOT_HOOKS, OPENCODE_HOOKS]

function readTool(dialect: HookDialect, body: JsonObject): ToolHook {
  const [event = ''] = EVENTS[dialect.agentCli] ?? []
  const read = dialect.read({ hook_event_name: event, session_id: 's', conversation_id: 's', cwd: TREE, ...body })
  if (!read.ok) throw new Error(read.detail)
  if (read.hook.kind !== 'before_tool' && read.hook.kind !== 'after_tool') throw new Error(read.hook.kind)
  return read.hook
}

const translate = (dialect: HookDialect, tool_name: string, tool_input: JsonObject) =>
  dialect.translate(readTool(dialect, { tool_name, tool_input }), TREE)

const bash = (command: string, more: JsonObject = {}) => ({ tool: 'bash', args: { command, ...more }, opens: [] })
const file = (tool: string, path: string, args: JsonObject = {}) => ({ tool, args: { ...args, path }, opens: [path] })
const edit = (path: string) => file('edit_files', path, { edits: [{ old: 'a', new: 'b' }] })
const PATCH = '*** Begin Patch\n*** Add File: src/a.js\n+x\n*** End Patch\n'

describe.each([
  [CODEX_HOOKS, 'Bash', { command: 'ls' }, bash('ls')],
  [CODEX_HOOKS, 'apply_patch', { command: PATCH }, file('edit_files', 'src/a.js', { edits: [{ old: '', new: '' }] })],
  [CODEX_HOOKS, 'mcp__other__find', { q: 1 }, { tool: 'other.find', args: { q: 1 }, opens: [] }],
  [GEMINI_HOOKS, 'run_shell_command', { command: 'ls', dir_path: 'src', description: 'x' }, bash('ls', { cwd: 'src' })],
  [GEMINI_HOOKS, 'run_shell_command', { command: 'ls', is_background: true }, bash('ls', { run_in_background: true })],
  [GEMINI_HOOKS, 'write_file', { file_path: '/tree/a', content: 'x' }, file('write_files', 'a', { content: 'x' })],
  [GEMINI_HOOKS, 'replace', { file_path: 'a', old_string: 'a', new_string: 'b', instruction: 'x' }, edit('a')],
  [GEMINI_HOOKS, 'read_file', { file_path: 'a', start_line: 3 }, file('read_files', 'a')],
  [GEMINI_HOOKS, 'list_directory', { dir_path: 'src' }, file('glob', 'src', { pattern: '*' })],
  [GEMINI_HOOKS, 'google_web_search', { query: 'x' }, { tool: 'web_search', args: { query: 'x' }, opens: [] }],
  [CURSOR_HOOKS, 'Shell', { command: 'ls', working_directory: '/tree/src' }, bash('ls', { cwd: 'src' })],
  [CURSOR_HOOKS, 'Write', { path: '/tree/a', contents: 'x' }, file('write_files', 'a', { content: 'x' })],
  [CURSOR_HOOKS, 'StrReplace', { path: 'a', old_string: 'a', new_string: 'b' }, edit('a')],
  [CURSOR_HOOKS, 'Delete', { path: 'a' }, file('write_files', 'a', { content: '' })],
  [COPILOT_HOOKS, 'Bash', { command: 'ls', description: 'x' }, bash('ls')],
  [COPILOT_HOOKS, 'Bash', { command: 'ls', mode: 'async' }, bash('ls', { run_in_background: true })],
  [COPILOT_HOOKS, 'Bash', { command: 'ls', detach: true }, bash('ls', { run_in_background: true })],
  [COPILOT_HOOKS, 'Write', { path: '/tree/a', file_text: 'x' }, file('write_files', 'a', { content: 'x' })],
  [COPILOT_HOOKS, 'Edit', { path: 'a', old_str: 'a', new_str: 'b' }, edit('a')],
  [COPILOT_HOOKS, 'Read', { path: 'a', view_range: [1, 2] }, file('read_files', 'a')],
  [OPENCODE_HOOKS, 'bash', { command: 'ls', description: 'x', workdir: 'src' }, bash('ls', { cwd: 'src' })],
  [OPENCODE_HOOKS, 'write', { filePath: '/tree/a', content: 'x' }, file('write_files', 'a', { content: 'x' })],
  [OPENCODE_HOOKS, 'edit', { filePath: 'a', oldString: 'a', newString: 'b' }, edit('a')],
  [
    OPENCODE_HOOKS,
    'apply_patch',
    { patchText: PATCH },
    file('edit_files', 'src/a.js', { edits: [{ old: '', new: '' }] }),
  ],
  [OPENCODE_HOOKS, 'webfetch', { url: 'x', format: 'text' }, { tool: 'web_fetch', args: { url: 'x' }, opens: [] }],
])('$0.title', (dialect, name, input, wanted) => {
  it(`[REQ-HOOK-30] ${name} ${JSON.stringify(input).slice(0, 60)} is decided as ${wanted.tool}`, () => {
    expect(translate(dialect, name, input)).toEqual({ kind: 'calls', calls: [wanted] })
  })
})

describe.each(ALL)('$title', (dialect) => {
  const [before = '', after = ''] = EVENTS[dialect.agentCli] ?? []
  const { answers } = dialect

  it.each([
    // The names of other agent CLIs are not its own.
    'constructor',
    'rm',
    'Monitor',
    dialect.agentCli === 'opencode' ? 'Bash' : 'write_stdin',
    dialect.agentCli === 'gemini' ? 'Write' : 'write_file',
  ])('[REQ-HOOK-30] a tool that it does not have is never taken for another: %s', (name) => {
    const found = translate(dialect, name, { command: 'ls' })
    expect(found).toMatchObject({ kind: 'calls', calls: [{ tool: `${dialect.agentCli}:${name}` }] })
  })

  it.each<[string, JsonObject]>([
    ['an unknown event', { hook_event_name: 'FromTheFuture' }],
    ['no event', { hook_event_name: 7 }],
    ['a missing tool', { tool_input: {} }],
    ['arguments that are a list', { tool_name: 'x', tool_input: ['rm'] }],
    ['arguments that are text without JSON', { tool_name: 'x', tool_input: '{"command": "rm' }],
    ['a folder that is a number', { tool_name: 'x', tool_input: {}, cwd: 7, workspace_roots: [7] }],
    ['a session with a path in it', { tool_name: 'x', tool_input: {}, session_id: '../x', conversation_id: '../x' }],
    ['a name with a control character', { tool_name: 'x\u0000', tool_input: {} }],
  ])('[REQ-HOOK-31] cannot be read, and the refusal keeps the tool from running: %s', (_name, change) => {
    const body = { hook_event_name: before, session_id: 's', conversation_id: 's', cwd: TREE, ...change }
    const read = dialect.read(body)
    expect(read.ok).toBe(false)
    expect(JSON.stringify(answers.refuse(body, 'no'))).toMatch(/"deny"/)
  })

  it.each([null, 7, 'x', [], {}, { hook_event_name: 'constructor' }])(
    '[REQ-HOOK-31] %j is refused in its words, whatever it was meant to be',
    (body) => {
      expect(JSON.stringify(answers.refuse(body, 'because'))).toMatch(/"deny".*because|because.*"deny"/)
    },
  )

  it('[REQ-HOOK-31] a refusal carries its reason, cut to what can be shown', () => {
    const said = JSON.stringify(answers.decide('deny', 'x'.repeat(20_000)))
    expect(said).toMatch(/deny/)
    expect(said.length).toBeLessThan(30_000)
    expect(said).toMatch(/x{8000}/)
  })

  it('[REQ-HOOK-32] what it did is counted with the paths that it changed', () => {
    const edits: Readonly<Record<string, readonly [string, JsonObject]>> = {
      codex: ['apply_patch', { command: PATCH }],
      gemini: ['write_file', { file_path: 'src/a.js', content: 'x' }],
      cursor: ['Write', { path: 'src/a.js', contents: 'x' }],
      copilot: ['Write', { path: 'src/a.js', file_text: 'x' }],
      opencode: ['write', { filePath: 'src/a.js', content: 'x' }],
    }
    const [tool_name = '', tool_input = {}] = edits[dialect.agentCli] ?? []
    const hook = readTool(dialect, { hook_event_name: after, tool_name, tool_input })
    expect(dialect.describe(hook, TREE)).toMatchObject({ tool: tool_name, paths: ['src/a.js'], success: true })
    const odd = readTool(dialect, { hook_event_name: after, tool_name: 'odd', tool_input: { file_path: 'a' } })
    expect(dialect.describe(odd, TREE)).toMatchObject({ command: null, paths: [] })
  })
})

describe('what each agent CLI makes of an answer', () => {
  it('[REQ-HOOK-31] Codex runs the tool after anything but a refusal, so nothing else is said', () => {
    expect(CODEX_HOOKS.answers.decide('allow', 'fine')).toEqual({})
    expect(CODEX_HOOKS.answers.decide('deny', 'no')).toEqual({
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'no' },
    })
  })

  it('[REQ-HOOK-31] Gemini CLI, Cursor, Copilot CLI and OpenCode are told in their own words', () => {
    expect(GEMINI_HOOKS.answers.decide('deny', 'no')).toEqual({ decision: 'deny', reason: 'no' })
    expect(CURSOR_HOOKS.answers.decide('deny', 'no')).toMatchObject({ permission: 'deny', agent_message: 'no' })
    expect(COPILOT_HOOKS.answers.decide('deny', 'no')).toEqual({
      permissionDecision: 'deny',
      permissionDecisionReason: 'no',
    })
    expect(OPENCODE_HOOKS.answers.decide('deny', 'no')).toEqual({ decision: 'deny', reason: 'no' })
  })

  it.each([
    [GEMINI_HOOKS, 'AfterAgent'],
    [CODEX_HOOKS, 'Stop'],
    [COPILOT_HOOKS, 'Stop'],
    [CURSOR_HOOKS, 'stop'],
  ])('[REQ-HOOK-31] a refusal never keeps a turn from ending: %j', (dialect, hook_event_name) => {
    expect(JSON.stringify(dialect.answers.refuse({ hook_event_name }, 'no'))).not.toMatch(/deny|block|followup/)
  })

  it('[REQ-HOOK-30] tools of Phaselock are known by the name that each gives them', () => {
    const name = (dialect: HookDialect, body: JsonObject) => readTool(dialect, { tool_input: {}, ...body }).tool
    const own = 'mcp__phaselock__claim_task'
    expect(name(CODEX_HOOKS, { tool_name: own })).toBe(own)
    const context = { server_name: 'phaselock', tool_name: 'claim_task' }
    expect(name(GEMINI_HOOKS, { tool_name: 'mcp_phaselock_claim_task', mcp_context: context })).toBe(own)
    const other = { server_name: 'other', tool_name: 'phaselock_claim_task' }
    expect(name(GEMINI_HOOKS, { tool_name: 'mcp_phaselock_claim_task', mcp_context: other })).toBe(
      'mcp__other__phaselock_claim_task',
    )
    expect(name(OPENCODE_HOOKS, { tool_name: 'phaselock_claim_task' })).toBe(own)
    expect(name(COPILOT_HOOKS, { tool_name: 'phaselock-claim_task' })).toBe(own)
    expect(name(CURSOR_HOOKS, { tool_name: 'MCP:claim_task' })).toBe(own)
    expect(
      name(CURSOR_HOOKS, { hook_event_name: 'beforeMCPExecution', tool_name: 'claim_task', tool_input: '{}' }),
    ).toBe(own)
  })

  it('[REQ-HOOK-30] older hooks of Cursor are read as the tools that they are about', () => {
    const read = (body: JsonObject) => CURSOR_HOOKS.translate(readTool(CURSOR_HOOKS, body), TREE)
    expect(read({ hook_event_name: 'beforeShellExecution', command: 'ls' })).toMatchObject({
      calls: [{ tool: 'bash', args: { command: 'ls' } }],
    })
    expect(read({ hook_event_name: 'beforeReadFile', file_path: '/tree/a', content: 'x' })).toMatchObject({
      calls: [{ tool: 'read_files', args: { path: 'a' } }],
    })
    expect(read({ hook_event_name: 'beforeShellExecution' })).toMatchObject({ calls: [{ args: { command: null } }] })
  })
})

it.each([
  [OPENCODE_HOOKS, 'other_find'],
  [COPILOT_HOOKS, 'other-find'],
])('[REQ-HOOK-30] a tool of another MCP server is unknown: $title', (dialect, name) => {
  expect(translate(dialect, name, {})).toMatchObject({ calls: [{ tool: `${dialect.agentCli}:${name}` }] })
})
