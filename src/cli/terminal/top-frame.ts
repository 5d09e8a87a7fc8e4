import type { Json, JsonObject } from '../../core/json.js'
import { formatThousands } from '../../core/text.js'
import { listOf, toObject, toText } from '../client/answer-values.js'
import { toNumber } from '../report/analyze-text.js'
import { toPlainLine } from './plain-text.js'
import { countColumns, cut } from './table.js'
import { paintText } from './terminal.js'

const MILLION = 1_000_000

export interface Size {
  readonly columns: number
  readonly rows: number
}

interface Column {
  readonly title: string
  readonly text: (task: JsonObject) => string
  readonly isNumber?: boolean
  /** Gives way down to this when the screen is narrow. */
  readonly least?: number
}

const COLUMNS: readonly Column[] = [
  { title: 'TASK', text: (one) => toText(one.id), least: 8 },
  { title: 'PHASE', text: (one) => toText(one.phase), least: 6 },
  { title: 'AGENT', text: (one) => toText(one.agent_id) || '-', least: 5 },
  { title: 'STATUS', text: (one) => formatStatus(one) },
  { title: 'IN PHASE', text: (one) => formatShortTime(one.phase_seconds), isNumber: true },
  { title: 'TOKENS', text: (one) => formatShortTokens(one), isNumber: true },
  { title: 'CALLS/M', text: (one) => formatThousands(toNumber(one.calls_per_minute)), isNumber: true },
  { title: 'REFUSED', text: (one) => formatThousands(toNumber(one.refusals)), isNumber: true },
]

const STATUS: Readonly<Record<string, string>> = { awaiting_approval: 'waiting', interrupted: 'no agent' }

function formatStatus(task: JsonObject): string {
  if (task.checking === true) return 'checking'
  return STATUS[toText(task.status)] ?? toText(task.status)
}

/** One picture of what goes on, in at most so many lines of at most so many columns. Everything in it is safe to print. */
export function renderFrame(activity: JsonObject, { columns, rows }: Size, note = ''): readonly string[] {
  const tasks = listOf(activity.tasks)
  const head = [formatTitleLine(activity, columns), cut(formatCountsLine(activity), columns), '']
  if (tasks.length === 0)
    return [...head, 'No task is waiting or worked on.', ...formatNoteLines(note, columns)].slice(0, rows)
  const widths = computeWidths(tasks, columns)
  const line = (texts: readonly string[]): string => cut(formatRow(texts, widths), columns)
  const body = tasks.map((task) => [
    formatRow(
      COLUMNS.map((column) => column.text(task)),
      widths,
    ),
    ...listWaits(task, columns),
  ])
  const room = rows - head.length - 1 - formatNoteLines(note, columns).length
  const shown: string[] = []
  let count = 0
  for (const [at, lines] of body.entries()) {
    // The last line says how many did not fit.
    const isLast = at === body.length - 1
    if (shown.length + lines.length > room - (isLast ? 0 : 1)) break
    shown.push(...lines)
    count += 1
  }
  const left = body.length - count
  return [
    ...head,
    paintText('bold', line(COLUMNS.map(({ title }) => title))),
    ...shown,
    ...(left > 0 ? [cut(`… and ${formatThousands(left)} more`, columns)] : []),
    ...formatNoteLines(note, columns),
  ].slice(0, rows)
}

function formatTitleLine(activity: JsonObject, columns: number): string {
  const time = /T(\d\d:\d\d:\d\d)/.exec(toText(activity.at))?.[1] ?? ''
  const paused = activity.paused === null || activity.paused === undefined ? '' : '  ALL AGENTS ARE PAUSED'
  return paintText('bold', cut(`phaselock top  ${time} UTC${paused}`, columns))
}

function formatCountsLine(activity: JsonObject): string {
  const parts = Object.entries(toObject(activity.counts)).map(
    ([status, count]) => `${formatThousands(toNumber(count))} ${toPlainLine(status).replaceAll('_', ' ')}`,
  )
  return parts.length === 0 ? 'no tasks' : parts.join(', ')
}

function formatNoteLines(note: string, columns: number): readonly string[] {
  return note === '' ? [] : [cut(toPlainLine(note), columns)]
}

// What somebody has to do something about stands below its task.
function listWaits(task: JsonObject, columns: number): readonly string[] {
  const violation = toObject(task.violation)
  const approval = toObject(task.pending_approval)
  const questions = toNumber(task.open_questions)
  const lines = [
    ...(violation.rule === undefined ? [] : [`! ${toText(violation.diagnostic)} (${toText(violation.rule)})`]),
    ...(approval.id === undefined ? [] : [`? approval ${toText(approval.id)} waits for an operator`]),
    ...(questions === 0 ? [] : [`? ${formatThousands(questions)} open question${questions === 1 ? '' : 's'}`]),
    ...(toText(task.parked_reason) === '' ? [] : [`! parked: ${toText(task.parked_reason)}`]),
  ]
  return lines.map((line) => paintText('yellow', cut(`    ${toPlainLine(line)}`, columns)))
}

function computeWidths(tasks: readonly JsonObject[], columns: number): readonly number[] {
  const widths = COLUMNS.map(({ title, text }) =>
    Math.max(countColumns(title), ...tasks.map((task) => countColumns(toPlainLine(text(task))))),
  )
  let excess = widths.reduce((sum, width) => sum + width, 0) + widths.length - 1 - columns
  while (excess > 0) {
    const [widest] = COLUMNS.flatMap(({ least }, at) =>
      least !== undefined && (widths[at] ?? 0) > least ? [at] : [],
    ).sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))
    if (widest === undefined) break
    widths[widest] = (widths[widest] ?? 0) - 1
    excess -= 1
  }
  // What is left over makes it airier.
  const spare = Math.min(1, Math.max(0, Math.floor(-excess / widths.length)))
  return widths.map((width) => width + spare)
}

function formatRow(texts: readonly string[], widths: readonly number[]): string {
  const cells = texts.map((text, at) => {
    const room = widths[at] ?? 0
    const fitted = cut(toPlainLine(text), room)
    const space = ' '.repeat(Math.max(0, room - countColumns(fitted)))
    return COLUMNS[at]?.isNumber === true ? space + fitted : fitted + space
  })
  return cells.join(' ').trimEnd()
}

/** The two largest parts: `2d 3h`, `1h 5m`, `5m 3s`, `3s`. */
function formatShortTime(value: Json | undefined): string {
  if (typeof value !== 'number') return '-'
  const parts = [
    [Math.floor(value / 86_400), 'd'],
    [Math.floor(value / 3600) % 24, 'h'],
    [Math.floor(value / 60) % 60, 'm'],
    [Math.floor(value) % 60, 's'],
  ] as const
  const first = parts.findIndex(([count]) => count > 0)
  if (first === -1) return '0s'
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count}${unit}`)
    .join(' ')
}

function formatShortTokens(task: JsonObject): string {
  if (task.tokens_grade === 'none') return '-'
  const tokens = toNumber(task.tokens)
  return tokens < MILLION ? formatThousands(tokens) : `${(tokens / MILLION).toFixed(1)}M`
}
