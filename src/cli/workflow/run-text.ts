import type { Step } from 'phaselock/sdk'
import { plainLine, plainText } from '../../core/plain-text.js'
import { duration } from '../../core/text.js'
import { columnsOf } from '../terminal/table.js'
import { paint, width } from '../terminal/terminal.js'
import type { RunShown } from './run-status.js'

const BLOCKERS_MAX = 50
const OVER_REST = '  - Run: POST /api/v1/prompt/continue'
const HERE = '  - Run: phaselock continue'

/** The answer as the command line gives it: the way on is a command here, not a call. */
export function asCommandLine(answer: Step): Step {
  if (!isInterrupt(answer)) return answer
  const lines = answer.text.split('\n')
  return { ...answer, text: lines.map((line) => (line === OVER_REST ? HERE : line)).join('\n') }
}

/** What the agent is told: the prompt, the interrupt, or everything that is in the way. */
export function answerText(answer: Step): string {
  if (isBlocked(answer)) return blockedText(answer)
  const text = plainText(answer.text)
  return text.trim() === '' ? `${plainLine(answer.phase)} has no prompt.` : text
}

export function isInterrupt(answer: Step): boolean {
  return answer.kind === 'interrupt'
}

export function isBlocked(answer: Step): boolean {
  return answer.allowed === false && !isInterrupt(answer)
}

function blockedText({ phase, blockers = [], pending_approval: pending, next_step = '' }: Step): string {
  const left = blockers.length - BLOCKERS_MAX
  return [
    paint('bold', `Still in ${plainLine(phase)}. In the way:`),
    ...blockers.slice(0, BLOCKERS_MAX).flatMap(blockerLines),
    ...(left > 0 ? [`  and ${left} more; --json shows them`] : []),
    ...(pending === undefined ? [] : ['', `An operator decides: phaselock approve ${plainLine(pending.id)}`]),
    ...(next_step === '' ? [] : ['', ...wrapped(next_step, '')]),
  ].join('\n')
}

function blockerLines({
  code,
  artifact,
  message,
  remedy,
  run,
}: NonNullable<Step['blockers']>[number]): readonly string[] {
  const isMissing = code === 'missing_artifact' && artifact !== null
  const advice = isMissing ? `Hand it in: phaselock next --artifact ${artifact}=FILE` : remedy
  return [
    ...wrapped(`${message} [${code}]`, '  '),
    ...(advice === '' ? [] : wrapped(advice, '      ')),
    ...(run?.last_lines ?? []).map((line) => `      | ${plainLine(line)}`),
  ]
}

/** Warnings of a gate that was passed, one a line. */
export function warningLines({ warnings = [] }: Step): readonly string[] {
  return warnings.slice(0, BLOCKERS_MAX).flatMap(({ message, code }) => wrapped(`Warning: ${message} [${code}]`, ''))
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

const LABEL = 14

/** The active run in `status`. */
export function runLines(run: RunShown): readonly string[] {
  const { rules, phase_seconds: seconds = null } = run
  const { open = null, acknowledged = [], unavailable = [] } = rules ?? {}
  const line = (label: string, text: string): readonly string[] => {
    const [first = '', ...more] = wrapped(text, ' '.repeat(LABEL))
    return text === '' ? [] : [`  ${label.padEnd(LABEL - 2)}${first.trimStart()}`, ...more]
  }
  const since = seconds === null ? '' : `, for ${duration(seconds)}`
  return [
    ...line('Task', `${run.task_id} ${run.title ?? ''}`),
    ...line('Status', [run.status, run.parked_reason].filter((one) => (one ?? '') !== '').join(': ')),
    ...line('Phase', `${run.phase ?? ''}, visit ${run.visit ?? ''}${since}`),
    ...line('Violation', open === null ? '' : `${open.rule}: ${open.diagnostic}`),
    ...line('Continued', acknowledged.join(', ')),
    ...line('No metrics', unavailableText(unavailable)),
    ...line('Next', run.next_step ?? ''),
  ]
}

export function unavailableText(rules: readonly string[]): string {
  return rules.length === 0 ? '' : `${rules.join(', ')} [metric_unavailable]`
}
