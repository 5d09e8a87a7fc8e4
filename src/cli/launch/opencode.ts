import { spawnSync } from 'node:child_process'
import { isObject, type JsonObject } from '../../core/json.js'
import { EXIT, Stop } from '../exit.js'
import { type AgentCliKind, SECRET_VARIABLE, SERVER_NAME, type SessionPlan } from './agent-cli-kind.js'
import { planOpenedFolder } from './opened-folder.js'
import { readProjectInstructions } from './project-instructions.js'

/** A call may wait for a person for a day. */
const CALL_MS_MAX = 24 * 3600 * 1000
const ASK_MS_MAX = 60_000
const CONFIG_CHARS_MAX = 16 * 1024 * 1024
const MEMORY = ['AGENTS.md', 'CLAUDE.md']
/** The agent of OpenCode that the session uses. Every other one may have permissions of its own. */
const AGENT = 'phaselock'
const BUILT_IN_AGENTS = ['build', 'plan', 'general', 'explore']

const OFF = {
  OPENCODE_DISABLE_PROJECT_CONFIG: '1',
  OPENCODE_DISABLE_EXTERNAL_SKILLS: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_SHARE: '1',
}

/**
 * OpenCode in the terminal. It is opened in a private folder: it runs plugins of the repository in which it is opened,
 * also when it is told not to.
 */
export const OPENCODE: AgentCliKind = {
  name: 'opencode',
  title: 'OpenCode',
  runName: 'opencode',
  program: 'opencode',
  npmPackage: 'opencode-ai',
  least: '1.18.0',
  native: {
    kind: 'refused',
    reason: 'OpenCode runs plugins of the repository beside the hook, and they can change a call after it was decided.',
  },
  asksInChat: false,
  allowed: {
    '-m': 'value',
    '--model': 'value',
    '--mini': 'flag',
    '--log-level': 'value',
  },
  prepare: (plan) => {
    const opened = planOpenedFolder(plan, {
      'AGENTS.md': [plan.instructions, readProjectInstructions(plan.workspace, MEMORY)].join('\n\n'),
    })
    return {
      files: opened.files,
      args: [...plan.own, ...['--pure', '--agent', AGENT], ...(plan.prompt === null ? [] : ['--prompt', plan.prompt])],
      env: { ...OFF, OPENCODE_CONFIG_CONTENT: JSON.stringify(buildConfig(plan, `${opened.cwd}/AGENTS.md`)) },
      cwd: opened.cwd,
    }
  },
}

// Merged over the person's own configuration. The secret is filled in by OpenCode, from its environment.
function buildConfig(plan: SessionPlan, instructions: string): JsonObject {
  const own = readOwnConfig(plan)
  const others = [...listNames(own.agent), ...listNames(own.mode), ...BUILT_IN_AGENTS]
  const servers = listNames(own.mcp)
  for (const [what, names, name] of [
    ['agent', others, AGENT],
    ['MCP server', servers, SERVER_NAME],
  ] as const)
    if (names.includes(name))
      throw new Stop(
        EXIT.refused,
        `The ${what} "${name}" of your OpenCode configuration is in the way of this session.\nRemove or rename it: opencode debug config shows where it stands.`,
      )
  return {
    ...{ autoupdate: false, share: 'disabled', snapshot: false, lsp: false, formatter: false },
    instructions: [instructions],
    permission: { ...ONLY_PHASELOCK },
    default_agent: AGENT,
    agent: {
      ...Object.fromEntries(others.map((name) => [name, { disable: true }])),
      [AGENT]: { mode: 'primary', description: 'Works with the tools of Phaselock', permission: ONLY_PHASELOCK },
    },
    mcp: {
      ...Object.fromEntries(servers.map((name) => [name, { enabled: false }])),
      [SERVER_NAME]: {
        ...{ type: 'remote', url: `${plan.url}/mcp`, enabled: true, oauth: false, timeout: CALL_MS_MAX },
        headers: { Authorization: `Bearer {env:${SECRET_VARIABLE}}` },
      },
    },
  }
}

const ONLY_PHASELOCK = { '*': 'deny', [`${SERVER_NAME}_*`]: 'allow' }

/** What the person has set for all projects: their agents and MCP servers are off in this session. */
function readOwnConfig({ program, environment }: SessionPlan): JsonObject {
  const asked = spawnSync(program, ['debug', 'config', '--pure'], {
    ...{ cwd: '/', env: { ...environment, ...OFF }, encoding: 'utf8', stdio: 'pipe' },
    ...{ timeout: ASK_MS_MAX, maxBuffer: CONFIG_CHARS_MAX },
  })
  const config = asked.status === 0 ? parseObject(asked.stdout) : null
  if (config === null)
    throw new Stop(
      EXIT.refused,
      'OpenCode does not say how it is configured (opencode debug config), so that its own agents and servers cannot be switched off.',
    )
  return config
}

function listNames(value: unknown): readonly string[] {
  return isObject(value) ? Object.keys(value) : []
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
