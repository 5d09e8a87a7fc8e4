import { join } from 'node:path'
import type { Json } from '../../core/json.js'
import { SERVER_NAME } from '../launch/agent-cli-kind.js'
import type { ConfigEntry } from './config-entry.js'
import { type ConnectKind, type ConnectPlace, listSessionWords } from './connect-kind.js'

const DAY_MS = 24 * 3600 * 1000
const HOOK_MS_MAX = 10_000
const REFUSAL =
  'Phaselock: this tool is off in this repository. Use the tools of the MCP server phaselock; begin with claim_task.'

const OWN_TOOLS = [
  ...['run_shell_command', 'write_file', 'replace', 'read_file', 'read_many_files', 'list_directory', 'glob'],
  ...['grep_search', 'search_file_content', 'web_fetch', 'google_web_search', 'save_memory', 'activate_skill'],
]

/** Gemini CLI by the settings of the project: its own tools are left out, and a hook refuses what is new. */
export const GEMINI_CONNECTION: ConnectKind = {
  name: 'gemini',
  title: 'Gemini CLI',
  agentCli: 'gemini',
  program: 'gemini',
  npmPackage: '@google/gemini-cli',
  least: { 'tools-only': '0.60.0', native: '0.60.0' },
  modes: ['tools-only'],
  managedFolder: null,
  canary: {
    args: () => [
      ...['-p', 'Phaselock tries whether its binding holds.', '-m', 'gemini-2.5-flash', '--approval-mode', 'yolo'],
      ...['--allowed-mcp-server-names', 'none'],
    ],
    // A home for this run: the login of the person would ask their own model.
    files: { '.gemini/settings.json': '{"security": {"auth": {"selectedType": "gemini-api-key"}}}' },
    env: (url, folder) => ({
      GEMINI_CLI_HOME: folder,
      ...{ GEMINI_API_KEY: 'canary', GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    }),
    call: (file) => ({ tool: 'run_shell_command', input: { command: `touch '${file}'` } }),
  },
  plan: (place) => [
    { file: join(place.workspace, '.gemini/settings.json'), format: 'jsonc', entries: buildEntries(place) },
  ],
  notes: () => ['Gemini CLI reads these settings in folders that you trust: answer its question, or run /permissions.'],
}

function buildEntries(place: ConnectPlace): readonly ConfigEntry[] {
  const server: Json = {
    ...{ command: place.program, args: listSessionWords('gemini', place) },
    ...{ trust: true, timeout: DAY_MS },
  }
  const hook: Json = {
    matcher: `^(?!mcp_${SERVER_NAME}_).*$`,
    hooks: [{ type: 'command', command: `echo '${REFUSAL}' >&2; exit 2`, timeout: HOOK_MS_MAX, name: 'phaselock' }],
  }
  return [
    { kind: 'set', path: ['mcpServers', SERVER_NAME], value: server },
    { kind: 'set', path: ['hooksConfig', 'enabled'], value: true },
    { kind: 'add', path: ['tools', 'exclude'], items: OWN_TOOLS, mark: null },
    { kind: 'add', path: ['hooks', 'BeforeTool'], items: [hook], mark: 'Phaselock: this tool is off' },
  ]
}
