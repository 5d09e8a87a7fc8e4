import { spawnSync } from 'node:child_process'
import { isObject } from '../../core/json.js'
import { CODEX_HOOKS } from '../../hooks/codex.js'
import { EXIT, Stop } from '../exit.js'
import {
  type AgentCliKind,
  type PreparedSession,
  SECRET_VARIABLE,
  SERVER_NAME,
  type SessionPlan,
} from './agent-cli-kind.js'
import { buildCodexHooks, buildCodexHookVariables, trustCodexHooks } from './codex-hooks.js'
import { readProjectInstructions } from './project-instructions.js'

/** A call may wait for a person for a day. */
const CALL_SECONDS_MAX = 24 * 3600
const START_SECONDS_MAX = 60
const LIST_MS_MAX = 20_000
const PLAIN_NAME = /^[A-Za-z0-9_-]+$/

// Every feature that runs, reads, writes or fetches something without Phaselock.
export const CODEX_OFF = [
  ...['shell_tool', 'unified_exec', 'multi_agent', 'multi_agent_v2', 'view_image', 'goals', 'hooks', 'memories'],
  ...['plugins', 'apps', 'remote_plugin', 'plugin_discovery_prefetch', 'plugin_sharing', 'daemon_auto_start'],
  ...['browser_use', 'browser_use_external', 'computer_use', 'image_generation', 'in_app_browser', 'js_repl'],
]

const ASKED =
  'sandbox_approval = false, rules = false, skill_approval = false, request_permissions = false, mcp_elicitations = true'
const MEMORY = ['AGENTS.md', 'AGENTS.override.md']

/** Codex in the terminal. */
export const CODEX: AgentCliKind = {
  name: 'codex',
  title: 'Codex',
  runName: 'codex',
  program: 'codex',
  npmPackage: '@openai/codex',
  least: '0.160.0',
  asksInChat: true,
  allowed: {
    '-m': 'value',
    '--model': 'value',
    '-i': 'value',
    '--image': 'value',
    '--no-alt-screen': 'flag',
  },
  // What a model can still call of its own writes nothing: the sandbox of Codex forbids it, and nobody is asked.
  prepare: (plan) => prepare(plan, { sandbox: 'read-only', env: {}, overrides: CODEX_OFF.map(switchOff) }),
  native: {
    kind: 'held',
    least: '0.166.0',
    answers: CODEX_HOOKS.answers,
    path: '/hooks/codex',
    endsUndecided: true,
    hint: 'Look for `hooks = false` in your configuration',
    dropped: [],
    // Commands stay in the sandbox of Codex: no network, and no writes outside the work tree.
    prepare: (plan) =>
      prepare(plan, {
        ...{ sandbox: 'workspace-write', env: buildCodexHookVariables(plan) },
        overrides: [
          ...[...CODEX_OFF.filter((name) => !NATIVE_ON.includes(name)), ...NATIVE_OFF].map(switchOff),
          ...NATIVE_ON.map((name) => `features.${name}=true`),
          'sandbox_workspace_write.network_access=false',
          ...buildCodexHooks(),
        ],
      }),
    complete: trustCodexHooks,
  },
}

const NATIVE_ON = ['shell_tool', 'hooks']
// Text that is written into an open shell reaches no hook; without a terminal a command has no open input.
const NATIVE_OFF = ['unified_exec_tty']

function switchOff(feature: string): string {
  return `features.${feature}=false`
}

interface Bound {
  readonly sandbox: 'read-only' | 'workspace-write'
  readonly env: Readonly<Record<string, string>>
  readonly overrides: readonly string[]
}

function prepare(plan: SessionPlan, { sandbox, env, overrides }: Bound): PreparedSession {
  return {
    files: {},
    args: [
      ...plan.own,
      ...['-s', sandbox],
      ...[...overrides, ...buildOverrides(plan)].flatMap((override) => ['-c', override]),
      '--',
      ...(plan.prompt === null ? [] : [plan.prompt]),
    ],
    env,
  }
}

function buildOverrides(plan: SessionPlan): readonly string[] {
  const server = `mcp_servers.${SERVER_NAME}`
  return [
    ...listOtherServers(plan).map((name) => `mcp_servers.${name}.enabled=false`),
    ...['web_search="disabled"', 'check_for_update_on_startup=false'],
    // Forms of Phaselock are shown; everything else that would ask the person is refused.
    `approval_policy={ granular = { ${ASKED} } }`,
    // Settings of the repository could bring servers and commands. Its instructions are added here instead.
    `projects={ ${quote(plan.workspace)} = { trust_level = "untrusted" } }`,
    `developer_instructions=${quote([plan.instructions, readProjectInstructions(plan.workspace, MEMORY)].join('\n\n'))}`,
    `${server}.url=${quote(`${plan.url}/mcp`)}`,
    `${server}.bearer_token_env_var=${quote(SECRET_VARIABLE)}`,
    ...[`${server}.required=true`, `${server}.default_tools_approval_mode="approve"`],
    ...[`${server}.startup_timeout_sec=${START_SECONDS_MAX}`, `${server}.tool_timeout_sec=${CALL_SECONDS_MAX}`],
  ]
}

/** The MCP servers of the person, which Codex would start beside Phaselock. They are off in this session. */
function listOtherServers({ program, workspace, environment }: SessionPlan): readonly string[] {
  const asked = spawnSync(program, ['mcp', 'list', '--json'], {
    ...{ cwd: workspace, env: environment, encoding: 'utf8', timeout: LIST_MS_MAX, stdio: 'pipe' },
  })
  const listed = parseList(asked.stdout)
  if (asked.status !== 0 || listed === null)
    throw new Stop(EXIT.refused, 'Codex does not say which MCP servers it starts, so that they cannot be switched off.')
  const odd = listed.find((name) => !PLAIN_NAME.test(name) || name === SERVER_NAME)
  if (odd !== undefined)
    throw new Stop(
      EXIT.refused,
      `The MCP server ${JSON.stringify(odd)} of your Codex configuration is in the way of this session.\nRemove or rename it: codex mcp remove ${odd}`,
    )
  return listed
}

function parseList(text: string): readonly string[] | null {
  try {
    const list: unknown = JSON.parse(text)
    if (!Array.isArray(list)) return null
    const names = list.map((one: unknown) => (isObject(one) ? one.name : null))
    return names.every((name) => typeof name === 'string') ? (names as readonly string[]) : null
  } catch {
    return null
  }
}

// A string of TOML; JSON's is one, except for characters that JSON leaves as they are.
function quote(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f')
}
