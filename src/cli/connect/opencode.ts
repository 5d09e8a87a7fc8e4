import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SERVER_NAME } from '../launch/agent-cli-kind.js'
import type { ConfigEntry } from './config-entry.js'
import { type ConnectKind, type ConnectPlace, listSessionWords } from './connect-kind.js'

const DAY_MS = 24 * 3600 * 1000

/** OpenCode by the configuration of the project: permissions deny everything but Phaselock. */
export const OPENCODE_CONNECTION: ConnectKind = {
  name: 'opencode',
  title: 'OpenCode',
  agentCli: 'opencode',
  program: 'opencode',
  npmPackage: 'opencode-ai',
  least: { 'tools-only': '1.18.0', native: '1.18.0' },
  modes: ['tools-only'],
  // Its managed configuration counts in every folder of the machine, where nobody may want it.
  managedFolder: null,
  canary: {
    args: () => [
      'run',
      '--format',
      'json',
      '--auto',
      '-m',
      'canary/canary',
      'Phaselock tries whether its binding holds.',
    ],
    // Merged over the configuration of the project: only the model and the MCP server are others.
    env: (url) => ({
      ...{ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        mcp: { [SERVER_NAME]: { enabled: false } },
        provider: {
          canary: {
            ...{
              npm: '@ai-sdk/openai-compatible',
              name: 'canary',
              models: { canary: { name: 'canary', tool_call: true } },
            },
            options: { baseURL: `${url}/v1`, apiKey: 'canary' },
          },
        },
      }),
    }),
    call: (file) => ({ tool: 'bash', input: { command: `touch '${file}'`, description: 'canary' } }),
  },
  plan: (place) => [{ file: findConfig(place), format: 'jsonc', entries: buildEntries(place) }],
  notes: () => [],
}

// Both names are read and merged: the one that is there is extended.
function findConfig({ workspace }: ConnectPlace): string {
  const commented = join(workspace, 'opencode.jsonc')
  return existsSync(commented) ? commented : join(workspace, 'opencode.json')
}

function buildEntries(place: ConnectPlace): readonly ConfigEntry[] {
  const command = [place.program, ...listSessionWords('opencode', place)]
  return [
    // OpenCode writes it itself otherwise, and the file would look changed.
    { kind: 'set', path: ['$schema'], value: 'https://opencode.ai/config.json' },
    { kind: 'set', path: ['permission'], value: { '*': 'deny', [`${SERVER_NAME}_*`]: 'allow' } },
    {
      kind: 'set',
      path: ['mcp', SERVER_NAME],
      value: { type: 'local', command, enabled: true, timeout: DAY_MS },
    },
  ]
}
