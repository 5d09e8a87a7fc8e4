import { setTimeout as wait } from 'node:timers/promises'
import type { Command } from 'commander'
import type { JsonObject } from '../../core/json.js'
import { listOf, toText } from '../client/answer-values.js'
import { Client, encodeSegment } from '../client/client.js'
import { addClientOptions, type ClientOptions, pinServer } from '../client/connection.js'
import { readEvents } from '../client/event-stream.js'
import { EXIT, Stop } from '../exit.js'
import { formatExamples, parsePositiveNumber, parseSequence } from '../options.js'
import { formatEventLine, formatEventTable } from '../terminal/event-lines.js'
import { formatPlainJson, toPlainLine } from '../terminal/plain-text.js'
import { formatStatus } from '../terminal/status-text.js'
import { print, printJson, tell } from '../terminal/terminal.js'
import { runStatus } from '../workflow/run-status.js'

const PENDING_MAX = 20
const RETRY_MS = 1000
const RETRIES_MAX = 300

/** `status` and `events`. */
export function addLookCommands(program: Command): void {
  addClientOptions(program.command('status').description('show the server, its tasks and what waits for you'))
    .addHelpText('after', formatExamples([['phaselock status --json', 'for programs']]))
    .action(showStatus)
  addClientOptions(program.command('events').description('print events, past or live'))
    .option('-f, --follow', 'keep printing new events until Ctrl-C')
    .option('--since <seq>', 'with --follow: start after this sequence number', parseSequence)
    .option('--limit <number>', 'without --follow: number of recent events', parsePositiveNumber, 20)
    .addHelpText('after', formatExamples([['phaselock events --follow', 'survives restarts of the server']]))
    .action(async (options: EventOptions) => {
      if (options.follow === true) return follow(options)
      const answer = await new Client(options).get('/audit/recent', { count: options.limit })
      if (options.json === true) return printJson(answer)
      print(formatEventTable([...listOf(answer.events)].reverse()))
    })
}

interface EventOptions extends ClientOptions {
  readonly follow?: boolean
  readonly since?: string
  readonly limit: number
}

async function showStatus(options: ClientOptions): Promise<void> {
  const client = new Client(options)
  const overview = await client.get('/state/snapshot')
  const [contracts, health, approvals, questions, parked] = await Promise.all([
    client.get('/contracts'),
    client.get('/health'),
    client.get('/approvals', { limit: PENDING_MAX }),
    client.get('/questions', { limit: PENDING_MAX, status: 'open' }),
    listParkedTasks(client),
  ])
  const contract = listOf(contracts.contracts).find((one) => one.default === true) ?? {}
  const status: JsonObject = {
    server: { url: client.url, status: health.status ?? '' },
    contract,
    mode: health.enforcement_mode ?? '',
    paused: overview.paused ?? null,
    tasks: overview.counts ?? {},
    active: overview.agents ?? [],
    alerts: overview.alerts ?? [],
    approvals: approvals.approvals ?? [],
    questions: questions.questions ?? [],
    parked,
    run: await runStatus(client, options),
  }
  if (options.json === true) printJson(status)
  else print(formatStatus(status))
}

/** Tasks that only an operator lets go on, with the reason. */
async function listParkedTasks(client: Client): Promise<readonly JsonObject[]> {
  const found = await client.get('/tasks', { status: 'parked', limit: PENDING_MAX })
  return Promise.all(listOf(found.tasks).map((one) => client.get(`/tasks/${encodeSegment(toText(one.id))}`)))
}

/** Prints events as they come. A lost connection is taken up again where it was. */
async function follow(options: EventOptions): Promise<void> {
  const meant = pinServer(options)
  let last = options.since ?? (await findNewest(new Client(meant)))
  let tries = 0
  for (;;) {
    try {
      // A restarted server may listen elsewhere: it is looked for anew each time.
      const body = await new Client(meant).stream(last, new AbortController().signal)
      if (tries > 0) tell('Connected again.')
      tries = 0
      for await (const { id, data } of readEvents(body)) {
        last = id ?? last
        const event = JSON.parse(data) as JsonObject
        print(options.json === true ? formatPlainJson(event) : toPlainLine(formatEventLine(event)))
      }
    } catch (error) {
      const isFinal = error instanceof Stop && error.exit !== EXIT.unreachable && !isStopping(error)
      if (isFinal || tries >= RETRIES_MAX) throw error
    }
    if (tries === 0) tell('The connection is lost; trying again …')
    tries += 1
    await wait(RETRY_MS)
  }
}

function isStopping(stop: Stop): boolean {
  return (stop.details.problem as JsonObject | undefined)?.code === 'shutting_down'
}

async function findNewest(client: Client): Promise<string> {
  const answer = await client.get('/audit/recent', { count: 1 })
  return toText(listOf(answer.events)[0]?.seq) || '0'
}
