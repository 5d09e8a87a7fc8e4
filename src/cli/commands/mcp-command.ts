import type { CliCommand } from '../cli-command.js'
import { connect } from '../client/connection.js'
import type { SessionBinding } from '../connected/serve-session.js'
import { EXIT, Stop } from '../exit.js'
import { tell } from '../terminal/terminal.js'

interface McpOptions {
  readonly url?: string
  readonly stateDir?: string
  readonly session?: string
  readonly binding?: string
}

/** `phaselock mcp` */
export function addMcpCommand(program: CliCommand): void {
  program
    .command('mcp')
    .description('serve MCP over standard input and output, for agent CLIs that start their own servers')
    .option('--url <address>', 'server address ($PHASELOCK_URL; default: the server of this work tree)')
    .option('--state-dir <dir>', 'state directory of the server ($PHASELOCK_STATE_DIR)')
    .option('--session <cli>', 'for a session of this agent CLI that you opened: register an agent with your own token')
    .option('--binding <place:mode>', 'with --session: how the configuration binds it, as `connect` wrote it')
    .examples(['PHASELOCK_TOKEN=… phaselock mcp', 'in the name of the agent whose token it is'])
    .notes(
      "\nWithout --session the token is read from PHASELOCK_TOKEN only: an agent's or a\nreviewer's. `phaselock connect` writes the entry with --session.",
    )
    .action(async (options: McpOptions) => runMcp(options))
}

async function runMcp(options: McpOptions): Promise<void> {
  if (options.session !== undefined) return serve(options.session, options)
  const token = process.env.PHASELOCK_TOKEN?.trim() ?? ''
  if (token === '')
    throw new Stop(EXIT.usage, "Set PHASELOCK_TOKEN to an agent's token: `phaselock agent add NAME` prints one.")
  if (token.startsWith('plop_'))
    throw new Stop(EXIT.usage, "PHASELOCK_TOKEN is an operator's token. MCP is for agents: set it to an agent's token.")
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Stop(EXIT.usage, 'PHASELOCK_TOKEN is not a token.')
  const { url, stateDir } = connect({ ...options, token })
  const { requireProof } = await import('../client/prove-server.js')
  const prove = async (): Promise<void> => (stateDir === null ? undefined : requireProof(stateDir, url))
  const { McpBridge } = await import('../mcp-bridge/mcp-bridge.js')
  const bridge = new McpBridge({ url, token, output: process.stdout, prove, onTrouble: tell })
  await bridge.run(process.stdin)
}

const BINDING = /^(?:(project|managed):(tools-only|native)|(plugin):(tools-only))$/

async function serve(cli: string, options: McpOptions): Promise<void> {
  const { findConnectKind } = await import('../connect/connect-kinds.js')
  const kind = findConnectKind(cli)
  const [place, mode] = (BINDING.exec(options.binding ?? '') ?? []).slice(1).filter((part) => part !== undefined)
  if (place === undefined || mode === undefined)
    throw new Stop(
      EXIT.usage,
      '--binding must be project or managed, a colon, and tools-only or native; or plugin:tools-only.',
    )
  const { serveSession } = await import('../connected/serve-session.js')
  const { url, stateDir } = options
  await serveSession(
    {
      ...{ cli: kind.name, agentCli: kind.agentCli },
      place: place as SessionBinding['place'],
      mode: mode === 'native' ? 'native' : 'tools_only',
    },
    { ...(url === undefined ? {} : { url }), ...(stateDir === undefined ? {} : { stateDir }) },
  )
}
