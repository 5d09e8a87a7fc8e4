import type { Json, JsonObject } from '../../core/json.js'
import { listOf, objectOf, textOf } from '../client/answer-values.js'
import { plainLine, plainText } from '../terminal/plain-text.js'
import { columnsOf } from '../terminal/table.js'
import { paint, width } from '../terminal/terminal.js'

const BLOCKERS_MAX = 50
const OVER_REST = '  - Run: POST /api/v1/prompt/continue'
const HERE = '  - Run: phaselock continue'

/** The answer as the command line gives it: the way on is a command here, not a call. */
export function asCommandLine(answer: JsonObject): JsonObject {
  if (answer.kind !== 'interrupt') return answer
  const lines = textOf(answer.text).split('\n')
  return { ...answer, text: lines.map((line) => (line === OVER_REST ? HERE : line)).join('\n') }
}

/** What the agent is told: the prompt, the interrupt, or everything that is in the way. */
export function answerText(answer: JsonObject): string {
  if (isBlocked(answer)) return blockedText(answer)
  const text = plainText(textOf(answer.text))
  return text.trim() === '' ? `${plainLine(textOf(answer.phase))} has no prompt.` : text
}

export function isInterrupt(answer: JsonObject): boolean {
  return answer.kind === 'interrupt'
}

export function isBlocked(answer: JsonObject): boolean {
  return answer.allowed === false && !isInterrupt(answer)
}

function blockedText(answer: JsonObject): string {
  const blockers = listOf(answer.blockers)
  const left = blockers.length - BLOCKERS_MAX
  const pending = objectOf(answer.pending_approval)
  return [
    paint('bold', `Still in ${plainLine(textOf(answer.phase))}. In the way:`),
    ...blockers.slice(0, BLOCKERS_MAX).flatMap(blockerLines),
    ...(left > 0 ? [`  and ${left} more; --json shows them`] : []),
    ...(pending.id === undefined
      ? []
      : ['', `An operator decides: phaselock approve ${plainLine(textOf(pending.id))}`]),
    ...(textOf(answer.next_step) === '' ? [] : ['', ...wrapped(textOf(answer.next_step), '')]),
  ].join('\n')
}

function blockerLines(blocker: JsonObject): readonly string[] {
  const { code, artifact } = blocker
  const isMissing = code === 'missing_artifact' && typeof artifact === 'string'
  const remedy = isMissing ? `Hand it in: phaselock next --artifact ${artifact}=FILE` : textOf(blocker.remedy)
  return [
    ...wrapped(`${textOf(blocker.message)} [${textOf(blocker.code)}]`, '  '),
    ...(remedy === '' ? [] : wrapped(remedy, '      ')),
    ...lastLines(objectOf(blocker.run)),
  ]
}

function lastLines(run: JsonObject): readonly string[] {
  const lines = Array.isArray(run.last_lines) ? run.last_lines : []
  return lines.map((line) => `      | ${plainLine(textOf(line))}`)
}

/** Warnings of a gate that was passed, one a line. */
export function warningLines(answer: JsonObject): readonly string[] {
  return listOf(answer.warnings)
    .slice(0, BLOCKERS_MAX)
    .flatMap((one) => wrapped(`Warning: ${textOf(one.message)} [${textOf(one.code)}]`, ''))
}

/** Words in as many lines as the terminal needs, each with the same indent. A word that is too long stays whole. */
export function wrapped(text: string, indent: string, room: number = width()): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of plainLine(text).split(' ')) {
    if (line !== '' && columnsOf(`${indent}${line} ${word}`) > room) {
      lines.push(indent + line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return line === '' ? lines : [...lines, indent + line]
}

/** The active run in `status`. */
export function runLines(run: JsonObject): readonly string[] {
  const rules = objectOf(run.rules)
  const open = objectOf(rules.open)
  const line = (label: string, text: string): readonly string[] => {
    const [first = '', ...more] = wrapped(text, ' '.repeat(LABEL))
    return text === '' ? [] : [`  ${label.padEnd(LABEL - 2)}${first.trimStart()}`, ...more]
  }
  return [
    ...line('Task', `${textOf(run.task_id)} ${textOf(run.title)}`),
    ...line('Status', [textOf(run.status), textOf(run.parked_reason)].filter((one) => one !== '').join(': ')),
    ...line('Phase', `${textOf(run.phase)}, visit ${textOf(run.visit)}${sinceText(run.phase_seconds)}`),
    ...line('Violation', open.diagnostic === undefined ? '' : `${textOf(open.rule)}: ${textOf(open.diagnostic)}`),
    ...line('Continued', textOf(rules.acknowledged)),
    ...line('No metrics', unavailableText(rules.unavailable)),
    ...line('Next', textOf(run.next_step)),
  ]
}

const LABEL = 14

export function unavailableText(rules: Json | undefined): string {
  const names = textOf(rules)
  return names === '' ? '' : `${names} [metric_unavailable]`
}

function sinceText(seconds: Json | undefined): string {
  return typeof seconds === 'number' ? `, for ${durationText(seconds)}` : ''
}

/** `1h 5m 3s` without zero parts. */
export function durationText(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const
  const said = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count}${unit}`)
  return said.length === 0 ? '0s' : said.join(' ')
}
