import type { Command } from 'commander'
import type { ExportOptions } from '../audit/audit-export.js'
import type { VerifyOptions } from '../audit/audit-verify.js'
import { formatTime, listOf, toObject, toText } from '../client/answer-values.js'
import { Client } from '../client/client.js'
import { addClientOptions, type ClientOptions } from '../client/connection.js'
import { formatExamples, parsePositiveNumber } from '../options.js'
import { formatEventTable } from '../terminal/event-lines.js'
import { toPlainLine } from '../terminal/plain-text.js'
import { formatTable } from '../terminal/table.js'
import { print, printJson } from '../terminal/terminal.js'

/** `phaselock audit …` */
export function addAuditCommands(program: Command): void {
  const audit = program
    .command('audit')
    .description('search, verify and export the ledger')
    .addHelpText(
      'after',
      formatExamples([
        ['phaselock audit recent', ''],
        ['phaselock audit verify', ''],
      ]),
    )
  addQuery(audit)
  addClientOptions(audit.command('recent').description('the newest events'))
    .option('--count <number>', 'number to print', parsePositiveNumber, 20)
    .addHelpText('after', formatExamples([['phaselock audit recent --count 100', '']]))
    .action(async (options: ClientOptions & { readonly count: number }) => {
      const answer = await new Client(options).get('/audit/recent', { count: options.count })
      if (options.json === true) return printJson(answer)
      print(formatEventTable(listOf(answer.events)))
    })
  addClientOptions(audit.command('stats').description('count events by type and refusals by reason'))
    .addHelpText('after', formatExamples([['phaselock audit stats', '']]))
    .action(showStats)
  addClientOptions(
    audit
      .command('verify')
      .argument('[export-file]', 'export file to verify (default: the ledger itself)')
      .description('verify that no event was changed, removed or reordered'),
  )
    .option('--public-key <file>', 'for an export: public key of the signer (ledger.ed25519.pub)')
    .addHelpText(
      'after',
      formatExamples([
        ['phaselock audit verify', 'through the server, or on its files when none runs'],
        ['phaselock audit verify ledger.jsonl --public-key k.pub', 'on any machine'],
      ]),
    )
    .action(async (file: string | undefined, options: VerifyOptions) =>
      (await import('../audit/audit-verify.js')).verifyLedgerCommand(file, options),
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
    .addHelpText('after', formatExamples([['phaselock audit export -o ledger.jsonl', '']]))
    .action(async (options: ExportOptions) => (await import('../audit/audit-export.js')).exportCommand(options))
}

interface QueryOptions extends ClientOptions {
  readonly task?: string
  readonly agent?: string
  readonly phase?: string
  readonly tool?: string
  readonly code?: string
  readonly type?: string
  readonly refused?: boolean
  readonly since?: string
  readonly until?: string
  readonly limit: number
  readonly cursor?: string
}

function addQuery(audit: Command): void {
  addClientOptions(audit.command('query').description('search events, newest first'))
    .option('--task <id>')
    .option('--agent <id>')
    .option('--phase <id>')
    .option('--tool <name>')
    .option('--code <code>', 'refusal code, such as forbidden_tool')
    .option('--type <type>', 'event type, such as tool_denied')
    .option('--refused', 'only refusals')
    .option('--since <time>', 'RFC 3339, such as 2026-01-31T09:00:00Z')
    .option('--until <time>', 'RFC 3339')
    .option('--limit <number>', 'maximum number to print', parsePositiveNumber, 50)
    .option('--cursor <cursor>', 'continue after the previous page')
    .addHelpText(
      'after',
      formatExamples([['phaselock audit query --task task-1 --refused', 'what the agent was denied']]),
    )
    .action(async (options: QueryOptions) => {
      const { task, agent, phase, tool, code, type, since, until, limit, cursor } = options
      const answer = await new Client(options).get('/audit/query', {
        ...{ task_id: task, agent_id: agent, tool_name: tool },
        ...{ phase, code, type, since, until, limit, cursor },
        success: options.refused === true ? 'false' : undefined,
      })
      if (options.json === true) return printJson(answer)
      const events = listOf(answer.events)
      print(events.length === 0 ? 'No events.' : formatEventTable(events))
      if (answer.next_cursor !== null) print(`There are more: add --cursor ${toPlainLine(toText(answer.next_cursor))}`)
    })
}

async function showStats(options: ClientOptions): Promise<void> {
  const answer = await new Client(options).get('/audit/stats')
  if (options.json === true) return printJson(answer)
  print(`${toText(answer.events)} events in ${toText(answer.streams)} streams`)
  print(`from ${formatTime(answer.first_at)} to ${formatTime(answer.last_at)}`)
  const counts = (title: string, of: Readonly<Record<string, unknown>>): void => {
    const rows = Object.entries(of).sort(([, a], [, b]) => Number(b) - Number(a))
    if (rows.length === 0) return
    const columns = [
      { title, text: ([name]: readonly [string, unknown]) => name },
      { title: 'COUNT', text: ([, count]: readonly [string, unknown]) => String(count) },
    ]
    print(`\n${formatTable(rows, columns)}`)
  }
  counts('EVENT', toObject(answer.by_type))
  counts('REFUSED FOR', toObject(answer.by_code))
}
