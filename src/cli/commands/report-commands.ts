import { randomUUID } from 'node:crypto'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { JsonObject } from '../../core/json.js'
import { listOf, toObject, toText } from '../client/answer-values.js'
import { Client, encodeSegment } from '../client/client.js'
import { addClientOptions, type ClientOptions } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { formatExamples } from '../options.js'
import { reportText } from '../report/report-text.js'
import { print, printJson } from '../terminal/terminal.js'

const NAME_CHARS_MAX = 80

interface ReportOptions extends ClientOptions {
  readonly html?: string | true
}

/** `phaselock report` */
export function addReportCommand(program: Command): void {
  addClientOptions(
    program
      .command('report')
      .argument('[run]', 'id of a task or a council (default: the newest)')
      .description('report on a run: refusals, time, tokens, gates, answers and votes'),
  )
    .option(
      '--html [file]',
      'write an HTML page with plots (default: phaselock-report-RUN.html; - for standard output)',
    )
    .addHelpText(
      'after',
      formatExamples([
        ['phaselock report', 'the newest run'],
        ['phaselock report task-1 --html report.html', 'one file, to look at or to send'],
        ['phaselock report --json', 'for programs'],
      ]),
    )
    .action(showReport)
}

async function showReport(run: string | undefined, options: ReportOptions): Promise<void> {
  // A run is over, and often so is its server: one is started to read the ledger.
  const { openDoor } = await import('../councils/council-server.js')
  const door = await openDoor(options)
  try {
    const client = new Client(door.client)
    const report = await client.get(`/runs/${encodeSegment(run ?? (await findNewestRun(client)))}/report`)
    if (options.html !== undefined) await writePage(report, options)
    else if (options.json === true) printJson(report)
    else print(reportText(report))
  } finally {
    await door.close()
  }
}

async function writePage(report: JsonObject, options: ReportOptions): Promise<void> {
  const { reportPage } = await import('../report/report-html.js')
  const page = reportPage(report)
  if (options.html === '-') return print(page)
  const file = typeof options.html === 'string' ? options.html : formatDefaultFile(toText(toObject(report.run).id))
  replaceFile(file, page)
  if (options.json === true) printJson({ file })
  else print(`Written: ${file}`)
}

function formatDefaultFile(run: string): string {
  return `phaselock-report-${run.replace(/[^A-Za-z0-9_.-]+/g, '-').slice(0, NAME_CHARS_MAX)}.html`
}

/** Whatever stands there under that name is replaced, and a link is not followed: agents can put one into their work tree. */
function replaceFile(file: string, text: string): void {
  const fresh = `${file}.${randomUUID()}.new`
  try {
    writeFileSync(fresh, text, { flag: 'wx' })
    renameSync(fresh, file)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw new Stop(EXIT.refused, `${file} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'fault'}).`)
  }
}

async function findNewestRun(client: Client): Promise<string> {
  const [tasks, coordinations] = await Promise.all([
    client.get('/tasks', { limit: 1 }),
    client.get('/coordinations', { limit: 1 }),
  ])
  const found = [
    ...listOf(tasks.tasks).map((one) => ({ id: toText(one.id), at: toText(one.created_at) })),
    ...listOf(coordinations.coordinations).map((one) => ({ id: toText(one.id), at: toText(one.started_at) })),
  ]
  const [newest] = found.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
  if (newest !== undefined) return newest.id
  throw new Stop(
    EXIT.refused,
    'There is no run to report on. Add a task with phaselock task add "…", or ask a council with phaselock coordinate.',
  )
}
