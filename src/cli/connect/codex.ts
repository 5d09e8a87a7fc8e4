import { join } from 'node:path'
import type { Json } from '../../core/json.js'
import { SERVER_NAME } from '../launch/agent-cli-kind.js'
import { CODEX_OFF } from '../launch/codex.js'
import type { ConfigEntry } from './config-entry.js'
import { type ConnectKind, type ConnectPlace, listSessionWords } from './connect-kind.js'

const DAY_SECONDS = 24 * 3600
const START_SECONDS_MAX = 60

/** Codex by the configuration of the project: features off, and its own sandbox read-only. */
export const CODEX_CONNECTION: ConnectKind = {
  name: 'codex',
  title: 'Codex',
  agentCli: 'codex',
  program: 'codex',
  npmPackage: '@openai/codex',
  least: { 'tools-only': '0.160.0', native: '0.160.0' },
  modes: ['tools-only'],
  managedFolder: null,
  canary: {
    args: (url) => [
      ...['exec', '--skip-git-repo-check', '-m', 'canary', '-c', 'model_provider="canary"'],
      ...[
        '-c',
        `model_providers.canary={ name="canary", base_url="${url}/v1", env_key="CANARY_KEY", wire_api="responses" }`,
      ],
      // Complete, so that Codex also starts where the entries are gone.
      ...['-c', `mcp_servers.${SERVER_NAME}={ command="true", enabled=false }`],
      'Phaselock tries whether its binding holds.',
    ],
    env: () => ({ CANARY_KEY: 'canary' }),
    call: (file) => ({ tool: 'exec_command', input: { cmd: `touch '${file}'` } }),
  },
  plan: (place) => [
    { file: join(place.workspace, '.codex/config.toml'), format: 'toml', entries: buildEntries(place) },
  ],
  notes: () => ['Codex reads this configuration in projects that you trust: answer its question when it starts.'],
}

function buildEntries(place: ConnectPlace): readonly ConfigEntry[] {
  const set = (path: readonly string[], value: Json): ConfigEntry => ({ kind: 'set', path, value })
  const server = ['mcp_servers', SERVER_NAME]
  return [
    set(['sandbox_mode'], 'read-only'),
    set(['web_search'], 'disabled'),
    ...CODEX_OFF.map((name) => set(['features', name], false)),
    set([...server, 'command'], place.program),
    set([...server, 'args'], listSessionWords('codex', place)),
    set([...server, 'env_vars'], ['XDG_STATE_HOME', 'PHASELOCK_STATE_DIR']),
    set([...server, 'required'], true),
    set([...server, 'default_tools_approval_mode'], 'approve'),
    set([...server, 'startup_timeout_sec'], START_SECONDS_MAX),
    set([...server, 'tool_timeout_sec'], DAY_SECONDS),
  ]
}
