import { AGENT_CLIS } from '../../core/contract/agent-programs.js'
import type { JsonObject } from '../../core/json.js'
import type { CommandAgent } from '../read-agents.js'

export type HarnessName = CommandAgent['harness']

/** The address of Phaselock for an agent, and its identity. */
export interface McpAddress {
  /** The MCP endpoint: `http://127.0.0.1:8700/mcp`. */
  readonly url: string
  readonly token: string
}

interface RecipePlan {
  /** The home folder of the agent, absolute. */
  readonly home: string
  readonly mcp: McpAddress
  readonly model: string | null
  /** The variables that are passed on, and nothing else of the server's environment. */
  readonly passed: Readonly<Record<string, string>>
  /**
   * Whether it follows the instructions of the project (`AGENTS.md` and the like). A judging agent does not: the
   * implementer may have written them.
   */
  readonly readsProject: boolean
}

/** How an agent is set up: files in its home, its command line, its environment. */
export interface PreparedHome {
  /** By their path below the home; only the agent can read them. */
  readonly files: Readonly<Record<string, string>>
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** How one kind of agent is run without a terminal, with only the tools of Phaselock. */
export interface Recipe {
  /** The program, if the council names none. */
  readonly program: string | null
  /** The server's variables that this kind of agent gets: its key and the address of its model. */
  readonly passes: readonly string[]
  /** Those of them that are secrets. */
  readonly secrets: readonly string[]
  prepare(plan: RecipePlan): PreparedHome
}

/** The name that agents know Phaselock's MCP server by. */
export const SERVER = 'phaselock'
const CALL_SECONDS_MAX = 3600
const START_SECONDS_MAX = 120
const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']

const CLAUDE_CODE: Recipe = {
  program: AGENT_CLIS['claude-code'].program,
  passes: [
    ...['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN', 'ANTHROPIC_BASE_URL'],
    ...['ANTHROPIC_MODEL', ...PROXIES],
  ],
  secrets: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
  prepare: ({ home, mcp, model, readsProject }) => ({
    files: { 'mcp.json': JSON.stringify(buildMcpServers(mcp)) },
    args: [
      ...['-p', '--output-format', 'stream-json', '--include-partial-messages', '--verbose'],
      ...['--tools', '', '--setting-sources', '', '--strict-mcp-config', '--mcp-config', `${home}/mcp.json`],
      ...['--disable-slash-commands', '--no-session-persistence', '--dangerously-skip-permissions'],
      ...(model === null ? [] : ['--model', model]),
    ],
    env: {
      CLAUDE_CONFIG_DIR: `${home}/.claude`,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      // Without the first, tools of MCP servers hide behind a search; without the second, it refuses to run as root.
      ENABLE_TOOL_SEARCH: 'false',
      IS_SANDBOX: '1',
      MCP_TOOL_TIMEOUT: String(CALL_SECONDS_MAX * 1000),
      ...(readsProject ? {} : { CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1', CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1' }),
    },
  }),
}

// Features that use the network at the start, and every tool that can be switched off.
const CODEX_OFF = [
  ...['plugins', 'apps', 'remote_plugin', 'plugin_discovery_prefetch', 'plugin_sharing', 'daemon_auto_start'],
  ...['shell_tool', 'unified_exec', 'multi_agent', 'view_image', 'goals', 'hooks'],
]
const OPENAI_URL = 'https://api.openai.com/v1'

const CODEX: Recipe = {
  program: AGENT_CLIS.codex.program,
  passes: ['OPENAI_API_KEY', 'OPENAI_BASE_URL', ...PROXIES],
  secrets: ['OPENAI_API_KEY'],
  prepare: ({ home, ...plan }) => ({
    files: { '.codex/config.toml': buildCodexConfig(plan) },
    // Its own sandbox does not work inside another one; the sandbox around the whole process replaces it.
    args: [
      ...['exec', '--json', '--skip-git-repo-check', '--ephemeral', '--dangerously-bypass-approvals-and-sandbox', '-'],
    ],
    env: { CODEX_HOME: `${home}/.codex`, MCP_BEARER: plan.mcp.token },
  }),
}

function buildCodexConfig({ mcp, model, passed, readsProject }: Omit<RecipePlan, 'home'>): string {
  const baseUrl = passed.OPENAI_BASE_URL ?? OPENAI_URL
  const text = (value: string): string => JSON.stringify(value)
  return [
    ...(model === null ? [] : [`model = ${text(model)}`]),
    ...['model_provider = "endpoint"', 'check_for_update_on_startup = false', 'web_search = "disabled"'],
    ...(readsProject ? [] : ['project_doc_max_bytes = 0']),
    ...['[features]', ...CODEX_OFF.map((name) => `${name} = false`)],
    ...['[analytics]', 'enabled = false'],
    ...['[model_providers.endpoint]', 'name = "endpoint"', `base_url = ${text(baseUrl)}`],
    ...['env_key = "OPENAI_API_KEY"', 'wire_api = "responses"', 'supports_websockets = false'],
    ...[`[mcp_servers.${SERVER}]`, `url = ${text(mcp.url)}`, 'bearer_token_env_var = "MCP_BEARER"'],
    // An optional server has one second to answer; after that its model is asked without any tools.
    ...['required = true', `startup_timeout_sec = ${START_SECONDS_MAX}`],
    ...[`tool_timeout_sec = ${CALL_SECONDS_MAX}`, 'default_tools_approval_mode = "approve"', ''],
  ].join('\n')
}

const GEMINI_POLICY = `
[[rule]]
toolName = "*"
decision = "deny"
priority = 900

[[rule]]
mcpName = "${SERVER}"
toolName = "*"
decision = "allow"
priority = 950
`

const GEMINI: Recipe = {
  program: AGENT_CLIS.gemini.program,
  passes: ['GEMINI_API_KEY', 'GOOGLE_GEMINI_BASE_URL', ...PROXIES],
  secrets: ['GEMINI_API_KEY'],
  prepare: ({ home, mcp, model, readsProject }) => ({
    files: {
      'policy.toml': GEMINI_POLICY,
      '.gemini/settings.json': JSON.stringify({
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        security: { auth: { selectedType: 'gemini-api-key' } },
        ...(model === null ? {} : { model: { name: model } }),
        // Other file names would be added to GEMINI.md. Without markers it does not look into parent folders.
        ...(readsProject ? {} : { context: { memoryBoundaryMarkers: [], discoveryMaxDirs: 0 } }),
        mcpServers: {
          [SERVER]: {
            httpUrl: mcp.url,
            headers: buildAuthHeader(mcp),
            trust: true,
            timeout: CALL_SECONDS_MAX * 1000,
          },
        },
      }),
    },
    args: [
      ...['-o', 'stream-json', '--skip-trust', '--approval-mode', 'yolo', '--admin-policy', `${home}/policy.toml`],
    ],
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true', GEMINI_TELEMETRY_ENABLED: 'false', NO_COLOR: '1' },
  }),
}

// Without the flag it would install a package into each of its folders at every start, and hang if it cannot.
const OPENCODE: Recipe = {
  program: AGENT_CLIS.opencode.program,
  passes: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENAI_BASE_URL', ...PROXIES],
  secrets: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY'],
  prepare: ({ mcp, model, passed, readsProject }) => ({
    files: {},
    args: ['run', '--format', 'json', '--auto', '--pure'],
    env: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify(buildOpencodeConfig(mcp, model, passed.OPENAI_BASE_URL)),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      OPENCODE_DISABLE_SHARE: '1',
      ...(readsProject ? {} : { OPENCODE_DISABLE_PROJECT_CONFIG: '1', OPENCODE_DISABLE_CLAUDE_CODE: '1' }),
    },
  }),
}

function buildOpencodeConfig(mcp: McpAddress, model: string | null, baseUrl: string | undefined): JsonObject {
  const name = model ?? 'default'
  const endpoint = {
    npm: '@ai-sdk/openai-compatible',
    options: { baseURL: baseUrl ?? '', apiKey: '{env:OPENAI_API_KEY}' },
    models: { [name]: { tool_call: true } },
  }
  const used = baseUrl === undefined ? model : `endpoint/${name}`
  return {
    autoupdate: false,
    share: 'disabled',
    permission: { '*': 'deny', [`${SERVER}_*`]: 'allow' },
    ...(baseUrl === undefined ? {} : { provider: { endpoint }, enabled_providers: ['endpoint'] }),
    ...(used === null ? {} : { model: used, small_model: used }),
    mcp: {
      [SERVER]: {
        ...{ type: 'remote', url: mcp.url, enabled: true, oauth: false, headers: buildAuthHeader(mcp) },
        timeout: CALL_SECONDS_MAX * 1000,
      },
    },
  }
}

/** Any other program: it finds the server in the file that MCP_CONFIG names, and its prompt on standard input. */
const COMMAND: Recipe = {
  program: null,
  passes: PROXIES,
  secrets: [],
  prepare: ({ home, mcp }) => ({
    files: { 'mcp.json': JSON.stringify(buildMcpServers(mcp)) },
    args: [],
    env: { MCP_CONFIG: `${home}/mcp.json` },
  }),
}

export const RECIPES: Readonly<Record<HarnessName, Recipe>> = {
  'claude-code': CLAUDE_CODE,
  codex: CODEX,
  gemini: GEMINI,
  opencode: OPENCODE,
  command: COMMAND,
}

function buildMcpServers(mcp: McpAddress): JsonObject {
  return { mcpServers: { [SERVER]: { type: 'http', url: mcp.url, headers: buildAuthHeader(mcp) } } }
}

function buildAuthHeader(mcp: McpAddress): JsonObject {
  return { Authorization: `Bearer ${mcp.token}` }
}
