import type { Json, JsonObject } from '../../core/json.js'
import { listOf, toObject, toText } from '../client/answer-values.js'
import { toPlainLine, toPlainText } from '../terminal/plain-text.js'
import { countColumns } from '../terminal/table.js'
import { getWidth, paintText } from '../terminal/terminal.js'

const BLOCKERS_MAX = 50
const OVER_REST = '  - Run: POST /api/v1/prompt/continue'
const HERE = '  - Run: phaselock continue'

/** The answer as the command line gives it: the way on is a command here, not a call. */
export function rewordForCommandLine(answer: JsonObject): JsonObject {
  if (answer.kind !== 'interrupt') return answer
  const lines = toText(answer.text).split('\n')
  return { ...answer, text: lines.map((line) => (line === OVER_REST ? HERE : line)).join('\n') }
}

/** What the agent is told: the prompt, the interrupt, or everything that is in the way. */
export function formatAnswer(answer: JsonObject): string {
  if (isBlocked(answer)) return formatBlocked(answer)
  const text = toPlainText(toText(answer.text))
  return text.trim() === '' ? `${toPlainLine(toText(answer.phase))} has no prompt.` : text
}

export function isInterrupt(answer: JsonObject): boolean {
  return answer.kind === 'interrupt'
}

export function isBlocked(answer: JsonObject): boolean {
  return answer.allowed === false && !isInterrupt(answer)
}

function formatBlocked(answer: JsonObject): string {
  const blockers = listOf(answer.blockers)
  const left = blockers.length - BLOCKERS_MAX
  const pending = toObject(answer.pending_approval)
  return [
    paintText('bold', `Still in ${toPlainLine(toText(answer.phase))}. In the way:`),
    ...blockers.slice(0, BLOCKERS_MAX).flatMap(formatBlockerLines),
    ...(left > 0 ? [`  and ${left} more; --json shows them`] : []),
    ...(pending.id === undefined
      ? []
      : ['', `An operator decides: phaselock approve ${toPlainLine(toText(pending.id))}`]),
    ...(toText(answer.next_step) === '' ? [] : ['', ...wrapText(toText(answer.next_step), '')]),
  ].join('\n')
}

function formatBlockerLines(blocker: JsonObject): readonly string[] {
  const { code, artifact } = blocker
  const isMissing = code === 'missing_artifact' && typeof artifact === 'string'
  const remedy = isMissing ? `Hand it in: phaselock next --artifact ${artifact}=FILE` : toText(blocker.remedy)
  return [
    ...wrapText(`${toText(blocker.message)} [${toText(blocker.code)}]`, '  '),
    ...(remedy === '' ? [] : wrapText(remedy, '      ')),
    ...formatLastLines(toObject(blocker.run)),
  ]
}

function formatLastLines(run: JsonObject): readonly string[] {
  const lines = Array.isArray(run.last_lines) ? run.last_lines : []
  return lines.map((line) => `      | ${toPlainLine(toText(line))}`)
}

/** Warnings of a gate that was passed, one a line. */
export function formatWarningLines(answer: JsonObject): readonly string[] {
  return listOf(answer.warnings)
    .slice(0, BLOCKERS_MAX)
    .flatMap((one) => wrapText(`Warning: ${toText(one.message)} [${toText(one.code)}]`, ''))
}

/** Words in as many lines as the terminal needs, each with the same indent. A word that is too long stays whole. */
export function wrapText(text: string, indent: string, room: number = getWidth()): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of toPlainLine(text).split(' ')) {
    if (line !== '' && countColumns(`${indent}${line} ${word}`) > room) {
      lines.push(indent + line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return line === '' ? lines : [...lines, indent + line]
}

/** The active run in `status`. */
export function runLines(run: JsonObject): readonly string[] {
  const rules = toObject(run.rules)
  const open = toObject(rules.open)
  const line = (label: string, text: string): readonly string[] => {
    const [first = '', ...more] = wrapText(text, ' '.repeat(LABEL))
    return text === '' ? [] : [`  ${label.padEnd(LABEL - 2)}${first.trimStart()}`, ...more]
  }
  return [
    ...line('Task', `${toText(run.task_id)} ${toText(run.title)}`),
    ...line('Status', [toText(run.status), toText(run.parked_reason)].filter((one) => one !== '').join(': ')),
    ...line('Phase', `${toText(run.phase)}, visit ${toText(run.visit)}${formatSince(run.phase_seconds)}`),
    ...line('Violation', open.diagnostic === undefined ? '' : `${toText(open.rule)}: ${toText(open.diagnostic)}`),
    ...line('Continued', toText(rules.acknowledged)),
    ...line('No metrics', formatUnavailable(rules.unavailable)),
    ...line('Next', toText(run.next_step)),
  ]
}

const LABEL = 14

export function formatUnavailable(rules: Json | undefined): string {
  const names = toText(rules)
  return names === '' ? '' : `${names} [metric_unavailable]`
}

function formatSince(seconds: Json | undefined): string {
  return typeof seconds === 'number' ? `, for ${formatDuration(seconds)}` : ''
}

/** `1h 5m 3s` without zero parts. */
export function formatDuration(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const
  const said = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count}${unit}`)
  return said.length === 0 ? '0s' : said.join(' ')
}
