import { type AgentCliKind, SECRET_VARIABLE, SERVER_NAME, type SessionPlan } from './agent-cli-kind.js'
import { readProjectInstructions } from './project-instructions.js'

/** A call may wait for a person for a day. */
const CALL_MS_MAX = 24 * 3600 * 1000
const START_MS_MAX = 60_000

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
  prepare: (plan) => ({
    files: {
      'mcp.json': JSON.stringify(buildMcpConfig(plan)),
      'instructions.md': [plan.instructions, readProjectInstructions(plan.workspace, MEMORY)].join('\n\n'),
    },
    args: [
      ...plan.own,
      // Only what the person set for all projects: a repository could bring hooks, status lines and key helpers.
      ...['--setting-sources', 'user', '--settings', JSON.stringify(buildSettings(plan))],
      ...['--strict-mcp-config', '--mcp-config', `${plan.folder}/mcp.json`],
      ...['--allowedTools', `mcp__${SERVER_NAME}`, '--tools', ''],
      ...['--append-system-prompt-file', `${plan.folder}/instructions.md`],
      ...(plan.prompt === null ? [] : [plan.prompt]),
    ],
    env: {
      // Otherwise the tools of MCP servers hide behind a search, and the first message does not wait for them.
      ENABLE_TOOL_SEARCH: 'false',
      MCP_CONNECTION_NONBLOCKING: 'false',
      MCP_TIMEOUT: String(START_MS_MAX),
      MCP_TOOL_TIMEOUT: String(CALL_MS_MAX),
      CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT: '0',
    },
  }),
}

/** Files that Claude Code reads only together with the settings of the project. */
const MEMORY = ['CLAUDE.md', '.claude/CLAUDE.md', 'CLAUDE.local.md']

// Commands and skills of a repository can start programs before any tool is asked for. The first message is sent before
// Claude Code has read the list of tools, unless a hook holds it back.
function buildSettings({ url }: SessionPlan) {
  const ready = { type: 'http', url: `${url}/ready`, headers: AUTHORIZATION, allowedEnvVars: [SECRET_VARIABLE] }
  return { disableSkillShellExecution: true, hooks: { UserPromptSubmit: [{ hooks: [ready] }] } }
}

const AUTHORIZATION = { Authorization: `Bearer \${${SECRET_VARIABLE}}` }

function buildMcpConfig({ url }: SessionPlan) {
  return {
    mcpServers: { [SERVER_NAME]: { type: 'http', url: `${url}/mcp`, headers: AUTHORIZATION, alwaysLoad: true } },
  }
}
