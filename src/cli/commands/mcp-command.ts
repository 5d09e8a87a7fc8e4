import type { Command } from 'commander'
import { connect } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { formatExamples } from '../options.js'
import { tell } from '../terminal/terminal.js'

interface McpOptions {
  readonly url?: string
  readonly stateDir?: string
}

/** `phaselock mcp` */
export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description('serve MCP over standard input and output, for agent CLIs that start their own servers')
    .option('--url <address>', 'server address ($PHASELOCK_URL; default: the server of this work tree)')
    .option('--state-dir <dir>', 'state directory of the server ($PHASELOCK_STATE_DIR)')
    .addHelpText(
      'after',
      `${formatExamples([['PHASELOCK_TOKEN=… phaselock mcp', 'in the name of the agent whose token it is']])}

The token is read from PHASELOCK_TOKEN only: an agent's or a reviewer's.`,
    )
    .action(async (options: McpOptions) => runMcp(options))
}

async function runMcp(options: McpOptions): Promise<void> {
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
