import type { NodeRow } from 'phaselock/sdk'
import { type CliCommand, serverCommand } from '../cli-command.js'
import { compact, formatTime } from '../client/answer-values.js'
import type { ClientOptions } from '../client/connection.js'
import { formatTable } from '../terminal/table.js'
import { show } from '../terminal/terminal.js'
import type { CheckOptions } from './check-cluster-command.js'

type AdoptOptions = ClientOptions & { readonly reason?: string; readonly withoutTrees?: boolean }

/** Several servers on one PostgreSQL database. */
export function addNodeCommands(program: CliCommand): void {
  const nodes = program
    .command('nodes')
    .description('the servers that share a ledger in PostgreSQL')
    .examples('phaselock nodes list', ['phaselock nodes prepare /tmp/node-b', 'the keys for a further one'])
  serverCommand(nodes, 'list', 'list the nodes and whether they are alive')
    .examples('phaselock nodes list')
    .asks(async (client, options) => {
      const found = await client.nodes()
      const none = 'This server is alone: its ledger is in SQLite.'
      show(options, found, found.nodes.length === 0 ? none : formatNodes(found.nodes))
    })
  serverCommand(nodes, 'adopt <node>', 'take over the tasks of a node that has gone for good')
    .option('--reason <text>', 'kept in the ledger')
    .option('--without-trees', 'the folder of its shared trees is lost: they count as they are at the next claim')
    .examples('phaselock nodes adopt node-1f2e3d4c5b6a --reason "its disk is lost"')
    .asks(async (client, options: AdoptOptions, node: string) => {
      const { reason, withoutTrees } = options
      const done = await client.adoptNode(node, compact({ reason, without_trees: withoutTrees }))
      show(options, done, `${done.adopted_by} now decides on the ${done.streams} streams of ${done.node}.`)
    })
  nodes
    .command('prepare <dir>')
    .description('make the state directory of a further node')
    .option('--state-dir <dir>', 'state directory of an existing node ($PHASELOCK_STATE_DIR)')
    .examples('phaselock nodes prepare /tmp/node-b')
    .action(async (dir: string, options: { readonly stateDir?: string }) =>
      (await import('./prepare-node-command.js')).prepareNodeCommand(dir, options),
    )
  program
    .command('cluster-check')
    .description('check the ledger of several nodes in its database, while they go on')
    .option('--state-dir <dir>', 'state directory of a node ($PHASELOCK_STATE_DIR)')
    .option('--store <url>', 'PostgreSQL database of the ledger ($PHASELOCK_STORE)')
    .option('--json', 'print JSON')
    .examples('phaselock cluster-check')
    .action(async (options: CheckOptions) => (await import('./check-cluster-command.js')).checkClusterCommand(options))
}

const SHARED_TREES = {
  title: 'SHARED TREES',
  text: (row: NodeRow) => (row.shared_trees === null ? '-' : `${row.shared_trees.folder} (${row.shared_trees.id})`),
}

function formatNodes(nodes: readonly NodeRow[]): string {
  return formatTable(nodes, [
    { title: 'NODE', text: (row) => (row.own ? `${row.id} (asked)` : row.id) },
    { title: 'STATE', text: (row) => (row.alive ? 'alive' : 'away') },
    { title: 'ADDRESS', text: (row) => row.url ?? '-', isFlexible: true },
    ...(nodes.some((row) => row.shared_trees !== null) ? [SHARED_TREES] : []),
    { title: 'LAST SEEN', text: (row) => formatTime(row.seen_at) },
    { title: 'VERSION', text: (row) => row.program_version },
  ])
}
