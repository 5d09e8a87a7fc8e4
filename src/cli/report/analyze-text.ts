import type { Json, JsonObject } from '../../core/json.js'
import { formatThousands } from '../../core/text.js'
import { listOf, toObject, toText } from '../client/answer-values.js'
import { toPlainLine } from '../terminal/plain-text.js'
import { countColumns, cut } from '../terminal/table.js'
import { getWidth, paintText } from '../terminal/terminal.js'
import { formatDuration } from '../workflow/run-text.js'

const ROOM_MAX = 100
const GAP = '  '
const NAME_MIN = 6
const LABEL = 10
const TOP_MAX = 5

/** What a run took, for people: by visit, by phase, and in all. */
export function formatAnalysis(metrics: JsonObject): string {
  const task = toObject(metrics.task)
  const totals = toObject(metrics.totals)
  const visits = listOf(metrics.visits)
  const room = Math.min(getWidth(), ROOM_MAX)
  const field = (label: string, text: string): string => cut(`${label.padEnd(LABEL)}${toPlainLine(text)}`, room)
  const agent = toText(metrics.agent_id)
  const head = [
    field('Task', `${toText(task.id)}  ${toText(task.title)}`),
    field('Status', `${toText(task.status)} in ${toText(task.phase)}${agent === '' ? '' : `, agent ${agent}`}`),
    field('Time', `${formatDuration(toNumber(totals.duration_seconds))} in ${formatCount(totals.visits, 'visit')}`),
    field('Tokens', formatTokens(toObject(totals.tokens))),
  ]
  if (visits.length === 0) return [...head, '', 'Nobody has begun with it.'].join('\n')
  return [
    ...head,
    '',
    formatSheet(visits, { first: '#', name: (one) => toText(one.phase), lead: (one) => toText(one.visit), room }),
    '',
    formatSheet([...listOf(metrics.phases), { ...totals, phase: 'TOTAL' }], {
      first: 'VISITS',
      name: (one) => toText(one.phase),
      lead: (one) => toText(one.visits),
      room,
    }),
    ...formatTopLines('Commands', listOf(toObject(totals.commands).by_command), { name: 'command', room }),
    ...formatTopLines('Edits', listOf(toObject(totals.edits).by_path), { name: 'path', room }),
    ...formatRefusalLines(toObject(toObject(totals.refusals).by_code), room),
    ...(metrics.truncated === true ? ['', 'There was more than is counted or listed here.'] : []),
  ].join('\n')
}

interface Sheet {
  readonly first: string
  readonly lead: (one: JsonObject) => string
  readonly name: (one: JsonObject) => string
  readonly room: number
}

// Numbers stand right, under each other; the names give way when there is no room.
function formatSheet(rows: readonly JsonObject[], { first, lead, name, room }: Sheet): string {
  const titles = [first, 'PHASE', 'TIME', 'TOKENS', 'CALLS', 'CMDS', 'EDITS', 'REFUSED', 'STOPS', 'COMMITS']
  const cells = rows.map((row) => [
    lead(row),
    `${toPlainLine(name(row))}${LOOPS[toText(row.entered_by)] ?? ''}`,
    formatDuration(toNumber(row.duration_seconds)),
    formatThousands(countUsedTokens(toObject(row.tokens))),
    ...[
      row.tool_calls,
      countOf(row.commands),
      countOf(row.edits),
      countOf(row.refusals),
      row.interrupts,
      row.commits,
    ].map((value) => formatThousands(toNumber(value))),
  ])
  const widths = titles.map((title, at) =>
    Math.max(countColumns(title), ...cells.map((line) => countColumns(line[at] ?? ''))),
  )
  const wide = widths.reduce((sum, width) => sum + width, 0)
  const gaps = titles.length - 1
  const gap = wide + GAP.length * gaps > room ? ' ' : GAP
  const excess = wide + gap.length * gaps - room
  if (excess > 0) widths[NAME] = Math.max(NAME_MIN, (widths[NAME] ?? 0) - excess)
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, at) => alignText(cut(text, widths[at] ?? 0), widths[at] ?? 0, at === NAME))
      .join(gap)
      .trimEnd()
  return [paintText('bold', line(titles)), ...cells.map(line)].join('\n')
}

const NAME = 1
const LOOPS: Readonly<Record<string, string>> = { back: ' (back)', rewind: ' (rewound)' }

function alignText(text: string, room: number, isLeft: boolean): string {
  const space = ' '.repeat(Math.max(0, room - countColumns(text)))
  return isLeft ? text + space : space + text
}

function formatTopLines(
  title: string,
  list: readonly JsonObject[],
  { name, room }: { readonly name: string; readonly room: number },
): readonly string[] {
  if (list.length === 0) return []
  const counts = list.slice(0, TOP_MAX).map((one) => [formatThousands(toNumber(one.count)), toText(one[name])] as const)
  const wide = Math.max(...counts.map(([count]) => count.length))
  return [
    '',
    paintText('bold', title),
    ...counts.map(([count, text]) => cut(`  ${count.padStart(wide)}  ${toPlainLine(text)}`, room)),
  ]
}

function formatRefusalLines(byCode: JsonObject, room: number): readonly string[] {
  const list = Object.entries(byCode).map(([code, count]) => ({ code, count }))
  return formatTopLines('Refusals', list, { name: 'code', room })
}

export function formatTokens(tokens: JsonObject): string {
  if (tokens.grade === 'none') return 'not known'
  const cached = toNumber(tokens.cache_read) + toNumber(tokens.cache_write)
  const said = tokens.grade === 'reported' ? ', as the agent says' : ''
  const cache = cached > 0 ? `, ${formatThousands(cached)} cached` : ''
  return `${formatThousands(toNumber(tokens.input))} in, ${formatThousands(toNumber(tokens.output))} out${cache}${said}`
}

/** What counts toward a budget: cached tokens do not. */
export function countUsedTokens(tokens: JsonObject): number {
  return toNumber(tokens.input) + toNumber(tokens.output)
}

export function toNumber(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0
}

function countOf(value: Json | undefined): number {
  return toNumber(toObject(value).count)
}

function formatCount(value: Json | undefined, word: string): string {
  const count = toNumber(value)
  return `${formatThousands(count)} ${word}${count === 1 ? '' : 's'}`
}
