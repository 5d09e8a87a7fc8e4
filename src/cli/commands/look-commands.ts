import type { LedgerEvent } from 'phaselock/sdk'
import { plainJson, plainLine } from '../../core/plain-text.js'
import { type CliCommand, serverCommand } from '../cli-command.js'
import { type Client, followEvents, openClient } from '../client/client.js'
import { type ClientOptions, pinServer } from '../client/connection.js'
import { parsePositiveNumber, parseSequence } from '../options.js'
import { formatEventLine, formatEventTable } from '../terminal/event-lines.js'
import { formatStatus, type Status } from '../terminal/status-text.js'
import { print, show } from '../terminal/terminal.js'
import { runStatus } from '../workflow/run-status.js'

const PENDING_MAX = 20
const WAITING_MAX = 5

/** `status` and `events`. */
export function addLookCommands(program: CliCommand): void {
  serverCommand(program, 'status', 'show the server, its tasks and what waits for you')
    .examples(['phaselock status --json', 'for programs'])
    .asks(showStatus)
  serverCommand(program, 'events', 'print events, past or live')
    .option('-f, --follow', 'keep printing new events until Ctrl-C')
    .option('--since <seq>', 'with --follow: start after this sequence number', parseSequence)
    .option('--limit <number>', 'without --follow: number of recent events', parsePositiveNumber, 20)
    .examples(['phaselock events --follow', 'survives restarts of the server'])
    .action(async (options: EventOptions) => {
      if (options.follow === true) return follow(options)
      const recent = await (await openClient(options)).recentEvents(options.limit)
      show(options, recent, formatEventTable(recent.events.toReversed()))
    })
}

interface EventOptions extends ClientOptions {
  readonly follow?: boolean
  readonly since?: string
  readonly limit: number
}

async function showStatus(client: Client, options: ClientOptions): Promise<void> {
  const overview = await client.overview()
  const [{ contracts }, health, { approvals }, { questions }, parked, waiting, inbox] = await Promise.all([
    client.contracts(),
    client.health(),
    client.approvals({ limit: PENDING_MAX }),
    client.questions({ limit: PENDING_MAX, status: 'open' }),
    listParkedTasks(client),
    listWaitingTasks(client),
    client.inbox(),
  ])
  const status: Status = {
    server: { url: client.url, status: health.status },
    contract: contracts.find((contract) => contract.default) ?? {},
    mode: health.enforcement_mode,
    paused: overview.paused,
    tasks: overview.counts,
    active: overview.agents,
    alerts: overview.alerts,
    approvals,
    questions,
    parked,
    missing_trees: inbox.items.filter(({ kind }) => kind === 'tree_missing'),
    waiting,
    run: await runStatus(client, options),
  }
  show(options, status, formatStatus(status))
}

/** Tasks that only an operator can resume, with the reason. */
/** Tasks that nobody works on and an agent can take up. */
async function listWaitingTasks(client: Client): Promise<Status['waiting']> {
  const found = await Promise.all(
    ['queued', 'interrupted'].map((status) => client.tasks({ status, limit: WAITING_MAX })),
  )
  return found.flatMap(({ tasks }) => tasks).slice(0, WAITING_MAX)
}

async function listParkedTasks(client: Client): Promise<Status['parked']> {
  const { tasks } = await client.tasks({ status: 'parked', limit: PENDING_MAX })
  return Promise.all(tasks.map(({ id }) => client.task(id)))
}

/** Prints events as they arrive. */
async function follow(options: EventOptions): Promise<void> {
  const meant = pinServer(options)
  const after = options.since ?? (await findNewest(await openClient(meant)))
  for await (const { data } of followEvents(meant, { after })) {
    const event = JSON.parse(data) as LedgerEvent
    print(options.json === true ? plainJson(event) : plainLine(formatEventLine(event)))
  }
}

async function findNewest(client: Client): Promise<string> {
  const [event] = (await client.recentEvents(1)).events
  return String(event?.seq ?? 0)
}
