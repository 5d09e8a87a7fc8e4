import type { Tally, TaskMetrics, Tokens } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { formatCount, formatDuration, formatThousands } from '../../core/text.js'
import { cut, formatTable } from '../terminal/table.js'
import { getWidth, paintText } from '../terminal/terminal.js'

const ROOM_MAX = 100
const NAME_MIN = 6
const LABEL = 10
const TOP_MAX = 5
const LOOPS: Readonly<Record<string, string>> = { back: ' (back)', rewind: ' (rewound)' }

/** The cost of a run for people: by visit, by phase, and in total. */
export function formatAnalysis({ task, agent_id, totals, visits, phases, truncated }: TaskMetrics): string {
  const room = Math.min(getWidth(), ROOM_MAX)
  const field = (label: string, text: string): string => cut(`${label.padEnd(LABEL)}${plainLine(text)}`, room)
  const head = [
    field('Task', `${task.id}  ${task.title}`),
    field('Status', `${task.status} in ${task.phase}${agent_id === null ? '' : `, agent ${agent_id}`}`),
    field('Time', `${formatDuration(totals.duration_seconds)} in ${formatCount(totals.visits, 'visit')}`),
    field('Tokens', formatTokens(totals.tokens)),
  ]
  if (visits.length === 0) return [...head, '', 'Work has not started.'].join('\n')
  const byVisit = visits.map((visit) => ({ ...visit, lead: visit.visit }))
  const byPhase = [...phases, { ...totals, phase: 'TOTAL' }].map((one) => ({ ...one, lead: one.visits }))
  const codes = Object.entries(totals.refusals.by_code)
  return [
    ...head,
    '',
    formatSheet('#', byVisit, room),
    '',
    formatSheet('VISITS', byPhase, room),
    ...formatTopLines(
      'Commands',
      totals.commands.by_command.map(({ command, count }) => [command, count] as const),
      room,
    ),
    ...formatTopLines(
      'Edits',
      totals.edits.by_path.map(({ path, count }) => [path, count] as const),
      room,
    ),
    ...formatTopLines('Refusals', codes, room),
    ...(truncated ? ['', 'The lists and counts are cut: there was too much.'] : []),
  ].join('\n')
}

type Row = Tally & { readonly phase: string; readonly lead: number; readonly entered_by?: string }

// Numbers are right-aligned; names are shortened when there is no room.
function formatSheet(first: string, rows: readonly Row[], room: number): string {
  const number = (title: string, of: (row: Row) => number) => ({
    ...{ title, text: (row: Row) => formatThousands(of(row)), isNumber: true },
  })
  const columns = [
    { title: first, text: (row: Row) => row.lead, isNumber: true },
    { title: 'PHASE', text: (row: Row) => `${row.phase}${LOOPS[row.entered_by ?? ''] ?? ''}`, isFlexible: NAME_MIN },
    { title: 'TIME', text: (row: Row) => formatDuration(row.duration_seconds), isNumber: true },
    number('TOKENS', ({ tokens }) => countUsedTokens(tokens)),
    number('CALLS', ({ tool_calls }) => tool_calls),
    number('CMDS', ({ commands }) => commands.count),
    number('EDITS', ({ edits }) => edits.count),
    number('REFUSED', ({ refusals }) => refusals.count),
    number('STOPS', ({ interrupts }) => interrupts),
    number('COMMITS', ({ commits }) => commits),
  ]
  return formatTable(rows, columns, { room, gaps: [2, 1] })
}

function formatTopLines(title: string, list: readonly (readonly [string, number])[], room: number): readonly string[] {
  if (list.length === 0) return []
  const top = list.slice(0, TOP_MAX).map(([name, count]) => [formatThousands(count), name] as const)
  const wide = Math.max(...top.map(([count]) => count.length))
  const lines = top.map(([count, name]) => cut(`  ${count.padStart(wide)}  ${plainLine(name)}`, room))
  return ['', paintText('bold', title), ...lines]
}

export function formatTokens(tokens: Tokens | null): string {
  if (tokens === null || tokens.grade === 'none') return 'not known'
  const cached = tokens.cache_read + tokens.cache_write
  const said = tokens.grade === 'reported' ? ', as the agent says' : ''
  const cache = cached > 0 ? `, ${formatThousands(cached)} cached` : ''
  return `${formatThousands(tokens.input)} in, ${formatThousands(tokens.output)} out${cache}${said}`
}

/** What counts toward a budget: cached tokens do not. */
export function countUsedTokens(tokens: Tokens | null): number {
  return tokens === null ? 0 : tokens.input + tokens.output
}
