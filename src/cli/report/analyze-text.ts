import type { Json, JsonObject } from '../../core/json.js'
import { thousands } from '../../core/text.js'
import { listOf, objectOf, textOf } from '../client/answer-values.js'
import { plainLine } from '../terminal/plain-text.js'
import { columnsOf, cut } from '../terminal/table.js'
import { paint, width } from '../terminal/terminal.js'
import { durationText } from '../workflow/run-text.js'

const ROOM_MAX = 100
const GAP = '  '
const NAME_MIN = 6
const LABEL = 10
const TOP_MAX = 5

/** What a run took, for people: by visit, by phase, and in all. */
export function analyzeText(metrics: JsonObject): string {
  const task = objectOf(metrics.task)
  const totals = objectOf(metrics.totals)
  const visits = listOf(metrics.visits)
  const room = Math.min(width(), ROOM_MAX)
  const field = (label: string, text: string): string => cut(`${label.padEnd(LABEL)}${plainLine(text)}`, room)
  const agent = textOf(metrics.agent_id)
  const head = [
    field('Task', `${textOf(task.id)}  ${textOf(task.title)}`),
    field('Status', `${textOf(task.status)} in ${textOf(task.phase)}${agent === '' ? '' : `, agent ${agent}`}`),
    field('Time', `${durationText(numberOf(totals.duration_seconds))} in ${counted(totals.visits, 'visit')}`),
    field('Tokens', tokensText(objectOf(totals.tokens))),
  ]
  if (visits.length === 0) return [...head, '', 'Nobody has begun with it.'].join('\n')
  return [
    ...head,
    '',
    sheet(visits, { first: '#', name: (one) => textOf(one.phase), lead: (one) => textOf(one.visit), room }),
    '',
    sheet([...listOf(metrics.phases), { ...totals, phase: 'TOTAL' }], {
      first: 'VISITS',
      name: (one) => textOf(one.phase),
      lead: (one) => textOf(one.visits),
      room,
    }),
    ...topLines('Commands', listOf(objectOf(totals.commands).by_command), { name: 'command', room }),
    ...topLines('Edits', listOf(objectOf(totals.edits).by_path), { name: 'path', room }),
    ...refusalLines(objectOf(objectOf(totals.refusals).by_code), room),
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
function sheet(rows: readonly JsonObject[], { first, lead, name, room }: Sheet): string {
  const titles = [first, 'PHASE', 'TIME', 'TOKENS', 'CALLS', 'CMDS', 'EDITS', 'REFUSED', 'STOPS', 'COMMITS']
  const cells = rows.map((one) => [
    lead(one),
    `${plainLine(name(one))}${LOOPS[textOf(one.entered_by)] ?? ''}`,
    durationText(numberOf(one.duration_seconds)),
    thousands(usedTokens(objectOf(one.tokens))),
    ...[
      one.tool_calls,
      countOf(one.commands),
      countOf(one.edits),
      countOf(one.refusals),
      one.interrupts,
      one.commits,
    ].map((value) => thousands(numberOf(value))),
  ])
  const widths = titles.map((title, at) =>
    Math.max(columnsOf(title), ...cells.map((line) => columnsOf(line[at] ?? ''))),
  )
  const wide = widths.reduce((sum, one) => sum + one, 0)
  const gaps = titles.length - 1
  const gap = wide + GAP.length * gaps > room ? ' ' : GAP
  const excess = wide + gap.length * gaps - room
  if (excess > 0) widths[NAME] = Math.max(NAME_MIN, (widths[NAME] ?? 0) - excess)
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, at) => placed(cut(text, widths[at] ?? 0), widths[at] ?? 0, at === NAME))
      .join(gap)
      .trimEnd()
  return [paint('bold', line(titles)), ...cells.map(line)].join('\n')
}

const NAME = 1
const LOOPS: Readonly<Record<string, string>> = { back: ' (back)', rewind: ' (rewound)' }

function placed(text: string, room: number, isLeft: boolean): string {
  const space = ' '.repeat(Math.max(0, room - columnsOf(text)))
  return isLeft ? text + space : space + text
}

function topLines(
  title: string,
  list: readonly JsonObject[],
  { name, room }: { readonly name: string; readonly room: number },
): readonly string[] {
  if (list.length === 0) return []
  const counts = list.slice(0, TOP_MAX).map((one) => [thousands(numberOf(one.count)), textOf(one[name])] as const)
  const wide = Math.max(...counts.map(([count]) => count.length))
  return [
    '',
    paint('bold', title),
    ...counts.map(([count, text]) => cut(`  ${count.padStart(wide)}  ${plainLine(text)}`, room)),
  ]
}

function refusalLines(byCode: JsonObject, room: number): readonly string[] {
  const list = Object.entries(byCode).map(([code, count]) => ({ code, count }))
  return topLines('Refusals', list, { name: 'code', room })
}

export function tokensText(tokens: JsonObject): string {
  if (tokens.grade === 'none') return 'not known'
  const cached = numberOf(tokens.cache_read) + numberOf(tokens.cache_write)
  const said = tokens.grade === 'reported' ? ', as the agent says' : ''
  const cache = cached > 0 ? `, ${thousands(cached)} cached` : ''
  return `${thousands(numberOf(tokens.input))} in, ${thousands(numberOf(tokens.output))} out${cache}${said}`
}

/** What counts toward a budget: cached tokens do not. */
export function usedTokens(tokens: JsonObject): number {
  return numberOf(tokens.input) + numberOf(tokens.output)
}

export function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0
}

function countOf(value: Json | undefined): number {
  return numberOf(objectOf(value).count)
}

function counted(value: Json | undefined, word: string): string {
  const count = numberOf(value)
  return `${thousands(count)} ${word}${count === 1 ? '' : 's'}`
}
