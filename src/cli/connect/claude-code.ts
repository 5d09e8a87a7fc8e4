import { join } from 'node:path'
import type { Json } from '../../core/json.js'
import { SERVER_NAME } from '../launch/agent-cli-kind.js'
import { CLAUDE_CODE_HOOKS_LEAST } from '../launch/claude-code-hooks.js'
import { findHookProgram, findHookScript, quoteShellWord } from '../program-name.js'
import type { ConfigEntry } from './config-entry.js'
import { type ConnectKind, type ConnectPlace, listSessionWords } from './connect-kind.js'

const DAY_MS = 24 * 3600 * 1000
const HOOK_SECONDS_MAX = 60

/** Own tools that read, write, run, fetch or start something. `Read` stays listed: without it CLAUDE.md is not read. */
const OWN_TOOLS = [
  ...['Bash', 'Edit', 'Write', 'NotebookEdit', 'Glob', 'Grep', 'WebFetch', 'WebSearch', 'Monitor'],
  ...['Agent', 'Task', 'Workflow', 'Skill', 'CronCreate', 'ScheduleWakeup', 'EnterWorktree', 'SendMessage'],
]

/** Tools that only keep the notes of Claude Code itself. */
const NOTES = ['TodoWrite', 'TodoRead', 'ToolSearch', 'EnterPlanMode', 'ExitPlanMode', 'AskUserQuestion']

/** All tools but those of Phaselock and the notes. */
const OTHERS = `^(?!(mcp__${SERVER_NAME}__.*|${NOTES.join('|')})$).*$`

const REFUSAL =
  'Phaselock: this tool is off in this repository. Use the tools of the MCP server phaselock; begin with claim_task.'

const MANAGED = '/etc/claude-code/managed-settings.json'
// The first message can be sent before the MCP server is there: then the model would have no tools at all.
const READY = '.sessions/$CLAUDE_PID.ready'
const WAIT_HOOK = {
  type: 'command',
  command: `i=0; while [ -z "$PHASELOCK_CANARY" ] && [ $i -lt 40 ] && [ ! -e "$HOME/.local/state/phaselock/${READY}" ]; do sleep 0.5; i=$((i+1)); done; exit 0`,
  timeout: 30,
}
const NO_SERVERS = '{"mcpServers":{}}'

/** Where a hook that cannot run must stop what it is about. A Stop that is blocked then would never end. */
const CLOSED: ReadonlySet<string> = new Set(['PreToolUse', 'ConfigChange'])
const ABOUT_TOOLS: ReadonlySet<string> = new Set(['PreToolUse', 'PostToolUse', 'PostToolUseFailure'])
const EVENTS = [
  ...['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'UserPromptSubmit', 'SessionStart', 'SubagentStart'],
  ...['Stop', 'SubagentStop', 'SessionEnd', 'ConfigChange', 'PreCompact'],
]

/** Claude Code by its settings. */
export const CLAUDE_CODE_CONNECTION: ConnectKind = {
  name: 'claude',
  title: 'Claude Code',
  agentCli: 'claude-code',
  program: 'claude',
  npmPackage: '@anthropic-ai/claude-code',
  // Older ones ignore `onFailure`: a hook that cannot run would let the tool run.
  least: { 'tools-only': CLAUDE_CODE_HOOKS_LEAST, native: CLAUDE_CODE_HOOKS_LEAST },
  modes: ['tools-only', 'native'],
  managedFolder: '/etc/claude-code',
  plan: (place) => {
    const hooks = buildHooks(place).map(([event, group]) => addTo(['hooks', event], [group], findMark(place)))
    const settings = { file: join(place.workspace, '.claude/settings.json'), format: 'json' } as const
    return [
      ...(place.isManaged
        ? [
            { ...settings, entries: buildSettings(place) },
            { file: MANAGED, format: 'json' as const, entries: hooks },
          ]
        : [{ ...settings, entries: [...buildSettings(place), ...hooks] }]),
      { file: join(place.workspace, '.mcp.json'), format: 'json', entries: [buildServer(place)] },
    ]
  },
  canary: {
    // Without its MCP servers, so that no session begins; all permissions, so that only the binding is in the way.
    args: () => [
      ...['-p', 'Phaselock tries whether its binding holds.', '--strict-mcp-config', '--mcp-config', NO_SERVERS],
      ...['--permission-mode', 'bypassPermissions', '--no-session-persistence'],
    ],
    env: (url) => ({
      ...{ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'canary', IS_SANDBOX: '1', CLAUDE_CODE_MAX_RETRIES: '1' },
      PHASELOCK_CANARY: '1',
      ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1', DISABLE_TELEMETRY: '1' },
    }),
    call: (file) => ({ tool: 'Bash', input: { command: `touch '${file}'`, description: 'canary' } }),
  },
  notes: () => ['Claude Code asks once whether you trust this folder; its settings count from then on.'],
}

function buildServer(place: ConnectPlace): ConfigEntry {
  const value = { type: 'stdio', command: place.program, args: listSessionWords('claude', place) }
  return { kind: 'set', path: ['mcpServers', SERVER_NAME], value }
}

function buildSettings(place: ConnectPlace): readonly ConfigEntry[] {
  const set = (path: readonly string[], value: Json): ConfigEntry => ({ kind: 'set', path, value })
  return [
    // Otherwise the tools of MCP servers hide behind a search, and calls that wait for a person end too early.
    set(['env', 'ENABLE_TOOL_SEARCH'], 'false'),
    set(['env', 'MCP_CONNECTION_NONBLOCKING'], 'false'),
    set(['env', 'MCP_TOOL_TIMEOUT'], String(DAY_MS)),
    set(['env', 'CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT'], '0'),
    // Commands in slash commands and skills run without a hook.
    set(['disableSkillShellExecution'], true),
    addTo(['enabledMcpjsonServers'], [SERVER_NAME], null),
    addTo(['hooks', 'UserPromptSubmit'], [{ hooks: [WAIT_HOOK] }], READY),
    addTo(['permissions', 'allow'], [`mcp__${SERVER_NAME}`], null),
    ...(place.mode === 'tools-only' ? [addTo(['permissions', 'deny'], OWN_TOOLS, null)] : []),
  ]
}

function addTo(path: readonly string[], items: readonly Json[], mark: string | null): ConfigEntry {
  return { kind: 'add', path, items, mark }
}

function buildHooks(place: ConnectPlace): readonly (readonly [string, Json])[] {
  const guard = place.isManaged ? buildGuard(place.workspace) : ''
  const toHook = (command: string, event: string): Json => ({
    ...{ type: 'command', command: `${guard}${command}`, timeout: HOOK_SECONDS_MAX },
    ...(CLOSED.has(event) ? { onFailure: 'block' } : {}),
  })
  if (place.mode === 'tools-only')
    return [['PreToolUse', { matcher: OTHERS, hooks: [toHook(`echo '${REFUSAL}' >&2; exit 2`, 'PreToolUse')] }]]
  // Managed settings name the program by its full path: the person who opens a session decides what is on the PATH.
  const program = place.isManaged ? quoteShellWord(findHookScript()) : findHookProgram()
  const command = `${program} claude-code`
  return EVENTS.map((event) => [
    event,
    { ...(ABOUT_TOOLS.has(event) ? { matcher: '*' } : {}), hooks: [toHook(command, event)] },
  ])
}

// Recognises the hook also where somebody has changed its time limit.
function findMark({ mode }: ConnectPlace): string {
  return mode === 'tools-only' ? 'Phaselock: this tool is off' : 'phaselock-hook'
}

// Managed settings count in every folder of the machine: elsewhere the hook lets everything pass.
function buildGuard(workspace: string): string {
  const folder = workspace.replaceAll("'", "'\\''")
  return `case "$CLAUDE_PROJECT_DIR/" in '${folder}'/*) ;; *) exit 0;; esac; `
}
