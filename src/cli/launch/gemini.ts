import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AgentCliKind, SECRET_VARIABLE, SERVER_NAME, type SessionPlan } from './agent-cli-kind.js'
import { planOpenedFolder } from './opened-folder.js'
import { readProjectInstructions } from './project-instructions.js'

/** A call may wait for a person for a day. */
const CALL_MS_MAX = 24 * 3600 * 1000
const MEMORY = ['GEMINI.md', 'AGENTS.md']

// Of the highest tier: no policy of the person, an extension or a repository comes before it.
const POLICY = `
[[rule]]
toolName = "*"
decision = "deny"
priority = 900

[[rule]]
mcpName = "${SERVER_NAME}"
toolName = "*"
decision = "allow"
priority = 950
`

/**
 * Gemini CLI in the terminal. It is opened in a private folder and not in the work tree: it reads settings, hooks,
 * commands, policies and variables of the folder in which it is opened, and connects to no MCP server in one that it
 * does not trust.
 */
export const GEMINI: AgentCliKind = {
  name: 'gemini',
  title: 'Gemini CLI',
  runName: 'gemini',
  program: 'gemini',
  npmPackage: '@google/gemini-cli',
  least: '0.60.0',
  native: {
    kind: 'refused',
    reason:
      'Gemini CLI runs a tool when its hook fails, and its hooks have no ids by which such a call could be noticed.',
  },
  asksInChat: false,
  allowed: {
    '-m': 'value',
    '--model': 'value',
    '-d': 'flag',
    '--debug': 'flag',
    '--screen-reader': 'flag',
  },
  prepare: (plan) => {
    const opened = planOpenedFolder(plan, {
      '.gemini/settings.json': JSON.stringify(buildSettings(plan)),
      '.gemini/.env': readOwnVariables(plan.environment),
      'GEMINI.md': [plan.instructions, readProjectInstructions(plan.workspace, MEMORY)].join('\n\n'),
    })
    return {
      files: { ...opened.files, 'policy.toml': POLICY },
      args: [
        ...plan.own,
        ...['--skip-trust', '--admin-policy', `${plan.folder}/policy.toml`],
        ...['--allowed-mcp-server-names', SERVER_NAME, '--extensions', 'none'],
        ...(plan.prompt === null ? [] : ['--prompt-interactive', plan.prompt]),
      ],
      env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
      cwd: opened.cwd,
    }
  },
}

// These win over the settings of the person. The secret is filled in by Gemini CLI, from its environment.
function buildSettings({ url }: SessionPlan) {
  return {
    general: { enableAutoUpdate: false, checkpointing: { enabled: false } },
    hooksConfig: { enabled: false },
    skills: { enabled: false },
    experimental: { enableAgents: false },
    ide: { enabled: false },
    context: { fileName: MEMORY, loadMemoryFromIncludeDirectories: false },
    mcpServers: {
      [SERVER_NAME]: {
        httpUrl: `${url}/mcp`,
        headers: { Authorization: `Bearer $${SECRET_VARIABLE}` },
        ...{ trust: true, timeout: CALL_MS_MAX },
      },
    },
  }
}

/**
 * The person's own variables. Gemini CLI reads the first such file that it finds on the way up to the root, and the
 * folders above the private one belong to everybody.
 */
function readOwnVariables({ HOME = '' }: NodeJS.ProcessEnv): string {
  for (const path of [join(HOME, '.gemini/.env'), join(HOME, '.env')]) {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      // There is none: the next one counts.
    }
  }
  return ''
}
