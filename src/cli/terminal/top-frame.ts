import type { ActiveTask, Activity } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { formatCount, formatDuration, formatThousands } from '../../core/text.js'
import { type Column, cut, formatTableLines } from './table.js'
import { paintText } from './terminal.js'

const MILLION = 1_000_000

export interface Size {
  readonly columns: number
  readonly rows: number
}

const COLUMNS: readonly Column<ActiveTask>[] = [
  { title: 'TASK', text: (task) => task.id, isFlexible: 8 },
  { title: 'PHASE', text: (task) => task.phase, isFlexible: 6 },
  { title: 'AGENT', text: (task) => task.agent_id ?? '-', isFlexible: 5 },
  { title: 'STATUS', text: (task) => (task.checking ? 'checking' : (STATUS[task.status] ?? task.status)) },
  { title: 'IN PHASE', text: (task) => timeIn(task.phase_seconds), isNumber: true },
  { title: 'TOKENS', text: formatShortTokens, isNumber: true },
  { title: 'CALLS/M', text: (task) => formatThousands(task.calls_per_minute), isNumber: true },
  { title: 'REFUSED', text: (task) => formatThousands(task.refusals), isNumber: true },
]

const STATUS: Readonly<Record<string, string>> = { awaiting_approval: 'waiting', interrupted: 'no agent' }

/** One frame of current activity, within the given lines and columns. Everything in it is safe to print. */
export function renderFrame(activity: Activity, { columns, rows }: Size, note = ''): readonly string[] {
  const { tasks } = activity
  const head = [formatTitleLine(activity, columns), cut(formatCountsLine(activity), columns), '']
  const notes = note === '' ? [] : [cut(plainLine(note), columns)]
  if (tasks.length === 0) return [...head, 'No task is waiting or worked on.', ...notes].slice(0, rows)
  const [titles = '', ...lines] = formatTableLines(tasks, COLUMNS, { room: columns, gaps: [1], isAiry: true })
  const body = tasks.map((task, at) => [lines[at] ?? '', ...listWaits(task, columns)])
  const room = rows - head.length - 1 - notes.length
  const shown: string[] = []
  let count = 0
  for (const [at, block] of body.entries()) {
    // The last line says how many did not fit.
    const isLast = at === body.length - 1
    if (shown.length + block.length > room - (isLast ? 0 : 1)) break
    shown.push(...block)
    count += 1
  }
  const left = body.length - count
  return [
    ...head,
    paintText('bold', cut(titles, columns)),
    ...shown,
    ...(left > 0 ? [cut(`… and ${formatThousands(left)} more`, columns)] : []),
    ...notes,
  ].slice(0, rows)
}

function formatTitleLine({ at, paused }: Activity, columns: number): string {
  const time = /T(\d\d:\d\d:\d\d)/.exec(at)?.[1] ?? ''
  return paintText(
    'bold',
    cut(`phaselock top  ${time} UTC${paused === null ? '' : '  ALL AGENTS ARE PAUSED'}`, columns),
  )
}

function formatCountsLine({ counts }: Activity): string {
  const parts = Object.entries(counts).map(
    ([status, count]) => `${formatThousands(count)} ${plainLine(status).replaceAll('_', ' ')}`,
  )
  return parts.length === 0 ? 'no tasks' : parts.join(', ')
}

// Things that need a person's action are below their task.
function listWaits(task: ActiveTask, columns: number): readonly string[] {
  const { violation, pending_approval: approval, open_questions: questions, parked_reason: parked } = task
  const lines = [
    ...(violation === null ? [] : [`! ${violation.diagnostic} (${violation.rule})`]),
    ...(approval === null ? [] : [`? approval ${approval.id} waits for an operator`]),
    ...(questions === 0 ? [] : [`? ${formatCount(questions, 'open question')}`]),
    ...(parked === null || parked === '' ? [] : [`! parked: ${parked}`]),
  ]
  return lines.map((line) => paintText('yellow', cut(`    ${plainLine(line)}`, columns)))
}

function timeIn(seconds: number | null): string {
  return seconds === null ? '-' : formatDuration(seconds, 'short')
}

function formatShortTokens({ tokens, tokens_grade }: ActiveTask): string {
  if (tokens_grade === 'none') return '-'
  return tokens < MILLION ? formatThousands(tokens) : `${(tokens / MILLION).toFixed(1)}M`
}
