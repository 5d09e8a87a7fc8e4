import type { FoundEvents, LedgerStats, OperatorClient } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import type { ConfirmationsOptions } from '../audit/audit-confirmations.js'
import type { ExportOptions } from '../audit/audit-export.js'
import type { VerifyOptions } from '../audit/audit-verify.js'
import { type CliCommand, serverCommand } from '../cli-command.js'
import { formatTime } from '../client/answer-values.js'
import type { ClientOptions } from '../client/connection.js'
import { gather, parsePositiveNumber } from '../options.js'
import { formatEventTable } from '../terminal/event-lines.js'
import { formatTable } from '../terminal/table.js'
import { print, printJson, show } from '../terminal/terminal.js'

/** `phaselock audit …` */
export function addAuditCommands(program: CliCommand): void {
  const audit = program
    .command('audit')
    .description('query, verify and export the ledger')
    .examples('phaselock audit recent', 'phaselock audit verify')
  addQuery(audit)
  serverCommand(audit, 'recent', 'the newest events')
    .option('--count <number>', 'number to print', parsePositiveNumber, 20)
    .examples('phaselock audit recent --count 100')
    .asks(async (client, options: ClientOptions & { readonly count: number }) => {
      const recent = await client.recentEvents(options.count)
      show(options, recent, formatEventTable(recent.events))
    })
  serverCommand(audit, 'stats', 'count events by type and refusals by reason')
    .examples('phaselock audit stats')
    .asks(async (client, options) => {
      const stats = await client.ledgerStats()
      show(options, stats, formatStats(stats))
    })
  serverCommand(audit, 'verify', 'verify that no event was changed, removed or reordered')
    .argument('[export-file]', 'export file to verify (default: the ledger itself)')
    .option('--public-key <file>', 'for an export: public key of the signer (ledger.ed25519.pub)')
    .option('--archive <file>', 'also read this archive back; repeatable', gather)
    .examples(
      ['phaselock audit verify', 'through the server, or on its files when none runs'],
      ['phaselock audit verify ledger.jsonl --public-key k.pub', 'on any machine'],
    )
    .action(async (file: string | undefined, options: VerifyOptions) =>
      (await import('../audit/audit-verify.js')).verifyLedgerCommand(file, options),
    )
  audit
    .command('confirmations')
    .description('verify what operators confirmed by passkey')
    .argument('[file]', 'export file to read (default: the ledger itself)')
    .option('--state-dir <dir>', 'state directory with the ledger ($PHASELOCK_STATE_DIR)')
    .option('--json', 'print JSON')
    .examples('phaselock audit confirmations', ['phaselock audit confirmations ledger.jsonl', 'on any machine'])
    .action(async (file: string | undefined, options: ConfirmationsOptions) =>
      (await import('../audit/audit-confirmations.js')).verifyConfirmationsCommand(file, options),
    )
  audit
    .command('export')
    .description('export the ledger as signed lines of JSON; the server can keep running')
    .option('-o, --output <file>', 'output file (default: standard output)')
    .option(
      '--state-dir <dir>',
      'state directory with the ledger ($PHASELOCK_STATE_DIR; default: that of this work tree)',
    )
    .option('--json', 'print the summary as JSON (with --output)')
    .examples('phaselock audit export -o ledger.jsonl')
    .action(async (options: ExportOptions) => (await import('../audit/audit-export.js')).exportCommand(options))
}

interface QueryOptions extends ClientOptions {
  readonly task?: string
  readonly agent?: string
  readonly phase?: string
  readonly tool?: string
  readonly code?: string
  readonly type?: string
  readonly text?: string
  readonly refused?: boolean
  readonly since?: string
  readonly until?: string
  readonly limit: number
  readonly cursor?: string
}

function addQuery(audit: CliCommand): void {
  serverCommand(audit, 'query', 'search events, newest first')
    .option('--task <id>', 'only events of this task')
    .option('--agent <id>', 'only events of this agent')
    .option('--phase <id>', 'only events in this phase')
    .option('--tool <name>', 'only calls of this tool')
    .option('--code <code>', 'refusal code, such as forbidden_tool')
    .option('--type <type>', 'event type, such as tool_denied')
    .option('--text <text>', 'text in the data of the event, in any case')
    .option('--refused', 'only refusals')
    .option('--since <time>', 'RFC 3339, such as 2026-01-31T09:00:00Z')
    .option('--until <time>', 'RFC 3339')
    .option('--limit <number>', 'maximum number to print', parsePositiveNumber, 50)
    .option('--cursor <cursor>', 'continue after the previous page')
    .examples(['phaselock audit query --task task-1 --refused', 'what the agent was denied'])
    .asks(async (client, options: QueryOptions) => {
      const found = await searchEvents(client, options)
      if (options.json === true) return printJson(found)
      print(found.events.length === 0 ? 'No events.' : formatEventTable(found.events))
      if (found.next_cursor !== null) print(`There are more: add --cursor ${plainLine(found.next_cursor)}`)
    })
}

/** Goes on through the ledger: a page of a rare filter may be empty although an older event matches. */
async function searchEvents(client: OperatorClient, options: QueryOptions): Promise<FoundEvents> {
  const { task, agent, phase, tool, code, type, text, since, until, limit } = options
  const filter = {
    ...{ task_id: task, agent_id: agent, tool_name: tool, q: text },
    ...{ phase, code, type, since, until },
    success: options.refused === true ? 'false' : undefined,
  }
  const first = await client.events({ ...filter, limit, cursor: options.cursor })
  const events = [...first.events]
  let last = first
  while (last.next_cursor !== null && events.length < limit) {
    last = await client.events({ ...filter, limit: limit - events.length, cursor: last.next_cursor })
    events.push(...last.events)
  }
  return { events, next_cursor: last.next_cursor, searched: { from: first.searched.from, to: last.searched.to } }
}

function formatStats({ events, streams, first_at, last_at, by_type, by_code }: LedgerStats): string {
  const counts = (title: string, of: Readonly<Record<string, number>>): string => {
    const rows = Object.entries(of).sort(([, a], [, b]) => b - a)
    const columns = [
      { title, text: ([name]: readonly [string, number]) => name },
      { title: 'COUNT', text: ([, count]: readonly [string, number]) => count },
    ]
    return rows.length === 0 ? '' : `\n\n${formatTable(rows, columns)}`
  }
  const head = `${events} events in ${streams} streams\nfrom ${formatTime(first_at)} to ${formatTime(last_at)}`
  // Waiting for people or reviewers is no refusal.
  const isWaiting = ([code]: readonly [string, number]): boolean => code.endsWith('_pending')
  const codes = Object.entries(by_code)
  const refused = Object.fromEntries(codes.filter((one) => !isWaiting(one)))
  const waited = Object.fromEntries(codes.filter(isWaiting))
  return `${head}${counts('EVENT', by_type)}${counts('REFUSED FOR', refused)}${counts('WAITED FOR', waited)}`
}
