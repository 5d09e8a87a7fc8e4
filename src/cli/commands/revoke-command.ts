import { plainLine } from '../../core/plain-text.js'
import { type CliCommand, serverCommand } from '../cli-command.js'
import { compact } from '../client/answer-values.js'
import type { Client } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { print, show } from '../terminal/terminal.js'

/** `phaselock agent revoke` and `phaselock operator revoke`. */
export function addRevoke(parent: CliCommand, kind: 'agent' | 'operator'): void {
  serverCommand(parent, kind === 'agent' ? 'revoke <id>' : 'revoke <name>', 'revoke its tokens immediately')
    .option('--reason <text>', 'why')
    .examples(`phaselock ${kind} revoke ${kind === 'agent' ? 'coder' : 'ada'}`)
    .asks(async (client, options: ClientOptions & { readonly reason?: string }, id: string) => {
      const body = compact({ reason: options.reason })
      const revoked = await (kind === 'agent' ? client.revokeAgent(id, body) : client.revokeOperator(id, body))
      show(options, revoked, `The tokens of ${kind} ${plainLine(id)} are refused from now on.`)
      if (kind === 'agent' && options.json !== true) await tellHeld(client, id)
    })
}

// It keeps its task until the lease lapses; agents that the server started are ended and release theirs.
async function tellHeld(client: Client, id: string): Promise<void> {
  const agent = (await client.agents()).agents.find((one) => one.agent_id === id)
  const task = plainLine(agent?.task_id)
  if (task === '' || agent?.spawn !== null) return
  print(`It holds task ${task} until its lease lapses. To free it now: phaselock task reassign ${task} --reason TEXT`)
}
