import { EXIT, Stop } from '../exit.js'
import { CLAUDE_CODE_CONNECTION } from './claude-code.js'
import { CODEX_CONNECTION } from './codex.js'
import type { ConnectKind } from './connect-kind.js'
import { GEMINI_CONNECTION } from './gemini.js'
import { OPENCODE_CONNECTION } from './opencode.js'

/** The agent CLIs that can be bound by configuration. */
export const CONNECT_KINDS: readonly ConnectKind[] = [
  CLAUDE_CODE_CONNECTION,
  CODEX_CONNECTION,
  GEMINI_CONNECTION,
  OPENCODE_CONNECTION,
]

/** Also under the name that `phaselock run` uses. */
export function findConnectKind(name: string): ConnectKind {
  const found = CONNECT_KINDS.find((kind) => kind.name === name || kind.agentCli === name)
  if (found !== undefined) return found
  throw new Stop(
    EXIT.usage,
    `'${name}' cannot be connected. Name one of: ${CONNECT_KINDS.map((kind) => kind.name).join(', ')}.`,
  )
}
