import type { JsonObject, Report } from 'phaselock/sdk'
import { writeFileAtomically } from '../../base/atomic-file.js'
import { isObject } from '../../core/json.js'
import { plainLine } from '../../core/plain-text.js'
import { type CliCommand, serverCommand } from '../cli-command.js'
import { type Client, openClient } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { type ChangeTotals, isTask, reportText } from '../report/report-text.js'
import { printPaged } from '../terminal/pager.js'
import { print, printJson, show } from '../terminal/terminal.js'

const NAME_CHARS_MAX = 80
const EVENTS_MAX = 50
const WAITS: ReadonlySet<string> = new Set(['approval_pending', 'consensus_pending'])

interface ReportOptions extends ClientOptions {
  readonly html?: string | true
}

/** `phaselock report` */
export function addReportCommand(program: CliCommand): void {
  serverCommand(program, 'report', 'report on a task or a council: time, refusals, gates, evidence')
    .argument('[run]', 'id of a task or a council (default: the newest)')
    .option(
      '--html [file]',
      'write an HTML page with plots (default: phaselock-report-RUN.html; - for standard output)',
    )
    .examples(
      ['phaselock report', 'the newest run'],
      ['phaselock report task-1 --html report.html', 'one file, to look at or to send'],
      ['phaselock report --json', 'for programs'],
    )
    .action(showReport)
}

async function showReport(run: string | undefined, options: ReportOptions): Promise<void> {
  // When a run is over, its server often is too: start one to read the ledger.
  const { openDoor } = await import('../councils/council-server.js')
  const door = await openDoor(options)
  try {
    const client = await openClient(door.client)
    const report = await client.report(run ?? (await findNewestRun(client)))
    if (options.html !== undefined) await writePage(report, options)
    else {
      const found = { changes: await findChanges(client, report), refusals: await listRefusals(client, report) }
      if (options.json === true) printJson(report)
      else printPaged(reportText(report, found), {})
    }
  } finally {
    await door.close()
  }
}

/** What the task changed; null for a council, and where the trees were not recorded. */
async function findChanges(client: Client, report: Report): Promise<ChangeTotals | null> {
  if (!isTask(report)) return null
  const diff = await client.diff(report.run.id, { from: 'start' }).catch(() => null)
  return diff?.available === true ? diff.totals : null
}

/** What an agent was told when something was refused, newest last; none for a council. */
async function listRefusals(client: Client, report: Report): Promise<readonly string[]> {
  if (!isTask(report) || report.refusals.count === 0) return []
  const { events } = await client.events({ task_id: report.run.id, success: 'false', limit: EVENTS_MAX })
  const texts = events.toReversed().flatMap(({ phase, data }) => {
    const text = formatRefusal(data)
    return text === '' ? [] : [`${phase ?? '-'}: ${text}`]
  })
  return joinRepeated(texts)
}

/** `(3 times) IMPL: …` instead of three equal texts one after the other. */
function joinRepeated(texts: readonly string[]): readonly string[] {
  const runs: { readonly text: string; count: number }[] = []
  for (const text of texts) {
    const last = runs.at(-1)
    if (last?.text === text) last.count += 1
    else runs.push({ text, count: 1 })
  }
  return runs.map(({ text, count }) => (count === 1 ? text : `(${count} times) ${text}`))
}

function formatRefusal({ code, detail, blockers }: JsonObject): string {
  if (typeof code === 'string' && WAITS.has(code)) return ''
  const messages = Array.isArray(blockers) ? blockers.filter(isObject).map(({ message }) => String(message)) : []
  return plainLine(messages.length > 0 ? messages.join(' ') : String(detail ?? ''))
}

async function writePage(report: Report, options: ReportOptions): Promise<void> {
  const { reportPage } = await import('../report/report-html.js')
  const page = reportPage(report)
  if (options.html === '-') return print(page)
  const file = typeof options.html === 'string' ? options.html : formatDefaultFile(report.run.id)
  replaceFile(file, page)
  show(options, { file }, `Written: ${file}`)
}

function formatDefaultFile(run: string): string {
  return `phaselock-report-${run.replace(/[^A-Za-z0-9_.-]+/g, '-').slice(0, NAME_CHARS_MAX)}.html`
}

/** An existing file is replaced, and a link is not followed: agents can put one into their work tree. */
function replaceFile(file: string, text: string): void {
  try {
    writeFileAtomically(file, text, 0o666)
  } catch (error) {
    throw new Stop(EXIT.refused, `${file} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'fault'}).`)
  }
}

async function findNewestRun(client: Client): Promise<string> {
  const [{ tasks }, { coordinations }] = await Promise.all([
    client.tasks({ limit: 1 }),
    client.coordinations({ limit: 1 }),
  ])
  const found = [
    ...tasks.map(({ id, created_at }) => ({ id, at: created_at })),
    ...coordinations.map(({ id, started_at }) => ({ id, at: started_at })),
  ]
  const [newest] = found.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
  if (newest !== undefined) return newest.id
  throw new Stop(
    EXIT.refused,
    'There is no run to report on. Add a task with phaselock task add "…", or ask a council with phaselock coordinate.',
  )
}
