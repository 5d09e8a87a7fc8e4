import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../../core/json.js'
import { CLAUDE_CODE_ANSWERS } from '../../hooks/claude-code-answers.js'
import { EXIT, Stop } from '../exit.js'
import { quoteShellWord } from '../program-name.js'
import {
  type AgentCliKind,
  type PreparedSession,
  SECRET_VARIABLE,
  SERVER_NAME,
  type SessionPlan,
} from './agent-cli-kind.js'
import { buildClaudeCodeHooks, CLAUDE_CODE_CLOSED_WAYS, CLAUDE_CODE_HOOKS_LEAST } from './claude-code-hooks.js'
import { readProjectInstructions } from './project-instructions.js'
import { STATUS_FILE } from './session-status.js'

/** A call may wait for a person for a day. */
const CALL_MS_MAX = 24 * 3600 * 1000
const START_MS_MAX = 60_000
/** Otherwise the status line changes only with the conversation. */
const STATUS_SECONDS = 2
const HOOK_PATH = '/hooks/claude-code'

/** Claude Code in the terminal. */
export const CLAUDE_CODE: AgentCliKind = {
  name: 'claude',
  title: 'Claude Code',
  runName: 'claude-code',
  program: 'claude',
  npmPackage: '@anthropic-ai/claude-code',
  least: '2.1.0',
  asksInChat: true,
  allowed: {
    '--model': 'value',
    '--fallback-model': 'value',
    '--effort': 'value',
    '--permission-mode': 'value',
    '-c': 'flag',
    '--continue': 'flag',
    '-r': 'optional',
    '--resume': 'optional',
    '--fork-session': 'flag',
    '--session-id': 'value',
    '-n': 'value',
    '--name': 'value',
    '--autocompact': 'value',
    '--ax-screen-reader': 'flag',
    '--verbose': 'flag',
    '-d': 'flag',
    '--debug': 'flag',
    '--debug-file': 'value',
  },
  prepare: (plan) => prepare(plan, { settings: buildSettings(plan), tools: [], env: {} }),
  native: {
    kind: 'held',
    least: CLAUDE_CODE_HOOKS_LEAST,
    answers: CLAUDE_CODE_ANSWERS,
    path: HOOK_PATH,
    endsUndecided: false,
    hint: 'Look for `disableAllHooks` in your settings',
    // Each leaves the hooks of the settings out.
    dropped: ['CLAUDE_CODE_SIMPLE', 'CLAUDE_CODE_SAFE_MODE', 'CLAUDE_CODE_BARE'],
    prepare: (plan) =>
      prepare(plan, {
        settings: buildNativeSettings(plan),
        tools: NATIVE_TOOLS,
        // A command that runs on in the background changes files when no call is there to explain them.
        env: { CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1' },
      }),
  },
}

/** The own tools that hooks translate. Others run commands, wake up later or leave the work tree, and are off. */
const NATIVE_TOOLS = [
  ...['Bash', 'Read', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'Glob', 'Grep', 'WebFetch', 'WebSearch'],
  ...['Agent', 'Task', 'TodoWrite', 'TaskCreate', 'TaskGet', 'TaskList', 'TaskUpdate'],
]

interface Bound {
  readonly settings: JsonObject
  readonly tools: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

function prepare(plan: SessionPlan, { settings, tools, env }: Bound): PreparedSession {
  return {
    files: {
      'settings.json': JSON.stringify(settings),
      'mcp.json': JSON.stringify(buildMcpConfig(plan)),
      'instructions.md': [plan.instructions, readProjectInstructions(plan.workspace, MEMORY)].join('\n\n'),
    },
    args: [
      ...plan.own,
      // Only what the person set for all projects: a repository could bring hooks, status lines and key helpers.
      ...['--setting-sources', 'user', '--settings', `${plan.folder}/settings.json`],
      ...['--strict-mcp-config', '--mcp-config', `${plan.folder}/mcp.json`],
      ...['--allowedTools', `mcp__${SERVER_NAME}`, '--tools', tools.join(',')],
      ...['--append-system-prompt-file', `${plan.folder}/instructions.md`],
      ...(plan.prompt === null ? [] : [plan.prompt]),
    ],
    env: {
      // Otherwise the tools of MCP servers hide behind a search, and the first message does not wait for them.
      ENABLE_TOOL_SEARCH: 'false',
      MCP_CONNECTION_NONBLOCKING: 'false',
      MCP_TIMEOUT: String(START_MS_MAX),
      MCP_TOOL_TIMEOUT: String(CALL_MS_MAX),
      // A long call would be moved to the background, where neither its progress nor its form is shown.
      CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS: String(CALL_MS_MAX),
      CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT: '0',
      ...env,
    },
  }
}

/** Files that Claude Code reads only together with the settings of the project. */
const MEMORY = ['CLAUDE.md', '.claude/CLAUDE.md', 'CLAUDE.local.md']

// Commands and skills of a repository can start programs before any tool is asked for. The first message is sent before
// Claude Code has read the list of tools, unless a hook holds it back.
function buildSettings(plan: SessionPlan): JsonObject {
  const ready = { type: 'http', url: `${plan.url}/ready`, headers: AUTHORIZATION, allowedEnvVars: [SECRET_VARIABLE] }
  return {
    ...buildStatusLine(plan),
    disableSkillShellExecution: true,
    hooks: { UserPromptSubmit: [{ hooks: [ready] }] },
  }
}

// A status line of the person stays: settings of the session would replace it.
function buildStatusLine(plan: SessionPlan): JsonObject {
  if (/"statusLine"\s*:/.test(readOwnSettings(plan).text)) return {}
  const command = `cat ${quoteShellWord(join(plan.folder, STATUS_FILE))}`
  return { statusLine: { type: 'command', command, refreshInterval: STATUS_SECONDS } }
}

function readOwnSettings({ environment }: SessionPlan): { readonly folder: string; readonly text: string } {
  const folder = environment.CLAUDE_CONFIG_DIR ?? join(environment.HOME ?? homedir(), '.claude')
  return { folder, text: readIfThere(join(folder, 'settings.json')) }
}

// Whether settings of the session win over such a setting of the person is not documented.
function refuseDisabledHooks(plan: SessionPlan): void {
  const { folder, text } = readOwnSettings(plan)
  if (!/"disableAllHooks"\s*:\s*true/.test(text)) return
  throw new Stop(
    EXIT.refused,
    `Your settings of Claude Code have "disableAllHooks": true, so that hooks cannot hold its own tools (${folder}/settings.json).\nRemove it, or leave --native out.`,
  )
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // Nothing is set.
    return ''
  }
}

function buildNativeSettings(plan: SessionPlan): JsonObject {
  refuseDisabledHooks(plan)
  const { url } = plan
  const target = { url: `${url}${HOOK_PATH}`, secretVariable: SECRET_VARIABLE, reportsEnd: false }
  return { ...buildStatusLine(plan), ...CLAUDE_CODE_CLOSED_WAYS, hooks: buildClaudeCodeHooks(target) }
}

const AUTHORIZATION = { Authorization: `Bearer \${${SECRET_VARIABLE}}` }

function buildMcpConfig({ url }: SessionPlan) {
  return {
    mcpServers: { [SERVER_NAME]: { type: 'http', url: `${url}/mcp`, headers: AUTHORIZATION, alwaysLoad: true } },
  }
}
