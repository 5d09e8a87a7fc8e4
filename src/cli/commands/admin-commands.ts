import type { AgentRow } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { formatDuration } from '../../core/text.js'
import { type CliCommand, serverCommand } from '../cli-command.js'
import { compact, formatTime } from '../client/answer-values.js'
import type { ClientOptions } from '../client/connection.js'
import type { RotateOptions } from '../keeping/rotate-ledger.js'
import { collect } from '../options.js'
import { findProgramName } from '../program-name.js'
import { type Column, formatTable } from '../terminal/table.js'
import { paintText, show } from '../terminal/terminal.js'
import { addOperatorCommands } from './operator-commands.js'
import { addRevoke } from './revoke-command.js'

/** Who may act: agents, operators, and the signing secret. */
export function addAdminCommands(program: CliCommand): void {
  addAgents(program)
  addOperatorCommands(program)
  const secret = program
    .command('secret')
    .description('replace the secret that signs tokens, or the keys of the ledger')
    .examples('phaselock secret rotate')
  serverCommand(secret, 'rotate', 'sign new tokens with a new secret; existing tokens stay valid')
    .examples('phaselock secret rotate')
    .asks(async (client, options) => {
      const made = await client.rotateSecret()
      show(options, made, `New tokens are signed with the key ${made.kid}. Older tokens stay valid until they expire.`)
    })
  secret
    .command('rotate-ledger')
    .description('replace the chain key and the signing key of the ledger of a stopped server')
    .option('--reason <text>', 'why; kept in the ledger', '')
    .option('--state-dir <dir>', 'state directory with the ledger ($PHASELOCK_STATE_DIR)')
    .option('--store <url>', 'PostgreSQL database with the ledger ($PHASELOCK_STORE)')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .examples([
      'phaselock secret rotate-ledger --reason "a backup with keys was lost"',
      'what was written before still verifies',
    ])
    .action(async (options: RotateOptions) =>
      (await import('../keeping/rotate-ledger.js')).rotateLedgerCommand(options),
    )
  addPauses(program)
}

function addAgents(program: CliCommand): void {
  const agent = program
    .command('agent')
    .alias('agents')
    .description('add, list and revoke agents')
    .examples(['phaselock agents', 'what each agent works on'], ['phaselock agent add coder', 'let one in'])
  serverCommand(agent, 'add <id>', 'register an agent and print its token once')
    .option('--capability <name>', 'capability of the agent; repeatable', collect)
    .examples('phaselock agent add coder --capability python')
    .asks(async (client, options: ClientOptions & { readonly capability?: readonly string[] }, id: string) => {
      const added = await client.addAgent(compact({ agent_id: id, capabilities: options.capability }))
      const name = plainLine(added.agent_id)
      show(
        options,
        added,
        `Agent ${name} may claim tasks until ${formatTime(added.expires_at)}.\nIt needs PHASELOCK_URL=${client.url}, PHASELOCK_AGENT_ID=${name}\nand PHASELOCK_TOKEN: its token, shown only once; an older one no longer works:\n\n${added.agent_token}`,
      )
    })
  serverCommand(agent, 'list', 'list agents and what they work on', true)
    .alias('ls')
    .examples('phaselock agent list')
    .asks(async (client, options) => {
      const found = await client.agents()
      show(options, found, formatAgentTable(found.agents))
    })
  addRevoke(agent, 'agent')
}

function formatAgentTable(agents: readonly AgentRow[]): string {
  const program = findProgramName()
  if (agents.length === 0)
    return `No agents. Start one with \`${program} run AGENT "task"\`, or register one\nthat you start yourself with \`${program} agent add NAME\`.`
  return formatTable(agents, [
    { title: 'AGENT', text: (row) => row.agent_id },
    // The state of agents that the server started.
    { title: 'STATE', text: ({ spawn, status }) => spawn?.outcome ?? spawn?.state ?? status },
    { title: 'RESTARTS', text: (row) => row.spawn?.restarts ?? '-' },
    { title: 'TASK', text: (row) => taskOf(row) ?? '-', isFlexible: true },
    { title: 'PHASE', text: (row) => row.phase ?? '-', isFlexible: true },
    { title: 'BINDING', text: (row) => row.binding.kind.replaceAll('_', '-') },
    { title: 'ACTIVE', text: (row) => formatAgo(row.last_activity) },
    ...(agents.some((one) => one.capabilities.length > 0) ? [CAPABILITIES] : []),
  ])
}

const CAPABILITIES: Column<AgentRow> = {
  title: 'CAPABLE OF',
  text: (row) => row.capabilities.join(', ') || '-',
  isFlexible: true,
}

// An agent that waits to be restarted holds nothing, but still has its task.
function taskOf({ task_id, spawn }: AgentRow): string | null {
  return task_id ?? (spawn?.outcome === null ? spawn.task_id : null)
}

function formatAgo(time: string | null): string {
  const seconds = Math.round((Date.now() - Date.parse(time ?? '')) / 1000)
  return Number.isFinite(seconds) ? `${formatDuration(Math.max(0, seconds))} ago` : '-'
}

function addPauses(program: CliCommand): void {
  const texts = {
    pause: ['pause all agents: refuse their calls until unpause', 'All agents are paused.'],
    unpause: ['resume all agents', 'Agents go on.'],
  } as const
  for (const name of ['pause', 'unpause'] as const)
    serverCommand(program, name, texts[name][0])
      .option('--reason <text>', 'why; kept in the ledger')
      .examples(`phaselock ${name} --reason "looking at a leak"`)
      .asks(async (client, options: ClientOptions & { readonly reason?: string }) =>
        show(options, await client[name](compact({ reason: options.reason })), paintText('bold', texts[name][1])),
      )
}
