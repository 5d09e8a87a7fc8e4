import type { Json, JsonObject } from '../../core/json.js'
import { thousands } from '../../core/text.js'
import { listOf, objectOf, textOf } from '../client/answer-values.js'
import { numberOf } from '../report/analyze-text.js'
import { plainLine } from './plain-text.js'
import { columnsOf, cut } from './table.js'
import { paint } from './terminal.js'

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
  { title: 'TASK', text: (one) => textOf(one.id), least: 8 },
  { title: 'PHASE', text: (one) => textOf(one.phase), least: 6 },
  { title: 'AGENT', text: (one) => textOf(one.agent_id) || '-', least: 5 },
  { title: 'STATUS', text: (one) => statusOf(one) },
  { title: 'IN PHASE', text: (one) => shortTime(one.phase_seconds), isNumber: true },
  { title: 'TOKENS', text: (one) => shortTokens(one), isNumber: true },
  { title: 'CALLS/M', text: (one) => thousands(numberOf(one.calls_per_minute)), isNumber: true },
  { title: 'REFUSED', text: (one) => thousands(numberOf(one.refusals)), isNumber: true },
]

const STATUS: Readonly<Record<string, string>> = { awaiting_approval: 'waiting', interrupted: 'no agent' }

function statusOf(task: JsonObject): string {
  if (task.checking === true) return 'checking'
  return STATUS[textOf(task.status)] ?? textOf(task.status)
}

/** One picture of what goes on, in at most so many lines of at most so many columns. Everything in it is safe to print. */
export function frameOf(activity: JsonObject, { columns, rows }: Size, note = ''): readonly string[] {
  const tasks = listOf(activity.tasks)
  const head = [titleLine(activity, columns), cut(countsLine(activity), columns), '']
  if (tasks.length === 0)
    return [...head, 'No task is waiting or worked on.', ...noteLines(note, columns)].slice(0, rows)
  const widths = widthsOf(tasks, columns)
  const line = (texts: readonly string[]): string => cut(row(texts, widths), columns)
  const body = tasks.map((task) => [
    row(
      COLUMNS.map((column) => column.text(task)),
      widths,
    ),
    ...waits(task, columns),
  ])
  const room = rows - head.length - 1 - noteLines(note, columns).length
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
    paint('bold', line(COLUMNS.map(({ title }) => title))),
    ...shown,
    ...(left > 0 ? [cut(`… and ${thousands(left)} more`, columns)] : []),
    ...noteLines(note, columns),
  ].slice(0, rows)
}

function titleLine(activity: JsonObject, columns: number): string {
  const time = /T(\d\d:\d\d:\d\d)/.exec(textOf(activity.at))?.[1] ?? ''
  const paused = activity.paused === null || activity.paused === undefined ? '' : '  ALL AGENTS ARE PAUSED'
  return paint('bold', cut(`phaselock top  ${time} UTC${paused}`, columns))
}

function countsLine(activity: JsonObject): string {
  const parts = Object.entries(objectOf(activity.counts)).map(
    ([status, count]) => `${thousands(numberOf(count))} ${plainLine(status).replaceAll('_', ' ')}`,
  )
  return parts.length === 0 ? 'no tasks' : parts.join(', ')
}

function noteLines(note: string, columns: number): readonly string[] {
  return note === '' ? [] : [cut(plainLine(note), columns)]
}

// What somebody has to do something about stands below its task.
function waits(task: JsonObject, columns: number): readonly string[] {
  const violation = objectOf(task.violation)
  const approval = objectOf(task.pending_approval)
  const questions = numberOf(task.open_questions)
  const lines = [
    ...(violation.rule === undefined ? [] : [`! ${textOf(violation.diagnostic)} (${textOf(violation.rule)})`]),
    ...(approval.id === undefined ? [] : [`? approval ${textOf(approval.id)} waits for an operator`]),
    ...(questions === 0 ? [] : [`? ${thousands(questions)} open question${questions === 1 ? '' : 's'}`]),
    ...(textOf(task.parked_reason) === '' ? [] : [`! parked: ${textOf(task.parked_reason)}`]),
  ]
  return lines.map((line) => paint('yellow', cut(`    ${plainLine(line)}`, columns)))
}

function widthsOf(tasks: readonly JsonObject[], columns: number): readonly number[] {
  const widths = COLUMNS.map(({ title, text }) =>
    Math.max(columnsOf(title), ...tasks.map((task) => columnsOf(plainLine(text(task))))),
  )
  let excess = widths.reduce((sum, one) => sum + one, 0) + widths.length - 1 - columns
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
  return widths.map((one) => one + spare)
}

function row(texts: readonly string[], widths: readonly number[]): string {
  const cells = texts.map((text, at) => {
    const room = widths[at] ?? 0
    const fitted = cut(plainLine(text), room)
    const space = ' '.repeat(Math.max(0, room - columnsOf(fitted)))
    return COLUMNS[at]?.isNumber === true ? space + fitted : fitted + space
  })
  return cells.join(' ').trimEnd()
}

/** The two largest parts: `2d 3h`, `1h 5m`, `5m 3s`, `3s`. */
function shortTime(value: Json | undefined): string {
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

function shortTokens(task: JsonObject): string {
  if (task.tokens_grade === 'none') return '-'
  const tokens = numberOf(task.tokens)
  return tokens < MILLION ? thousands(tokens) : `${(tokens / MILLION).toFixed(1)}M`
}
