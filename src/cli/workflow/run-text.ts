import type { Step } from 'phaselock/sdk'
import { plainLine, plainText } from '../../core/plain-text.js'
import { formatDuration } from '../../core/text.js'
import { countColumns } from '../terminal/table.js'
import { getWidth, paintText } from '../terminal/terminal.js'
import type { RunShown } from './run-status.js'

const BLOCKERS_MAX = 50
const OVER_REST = '  - Run: POST /api/v1/prompt/continue'
const HERE = '  - Run: phaselock continue'

/** The answer on the command line: the next step is a command here, not a call. */
export function rewordForCommandLine(answer: Step): Step {
  if (!isInterrupt(answer)) return answer
  const lines = answer.text.split('\n')
  return { ...answer, text: lines.map((line) => (line === OVER_REST ? HERE : line)).join('\n') }
}

/** The text for the agent: the prompt, the interrupt, or all blockers. */
export function formatAnswer(answer: Step): string {
  if (isBlocked(answer)) return formatBlocked(answer)
  const text = plainText(answer.text)
  return text.trim() === '' ? `${plainLine(answer.phase)} has no prompt.` : text
}

export function isInterrupt(answer: Step): boolean {
  return answer.kind === 'interrupt'
}

export function isBlocked(answer: Step): boolean {
  return answer.allowed === false && !isInterrupt(answer)
}

function formatBlocked({ phase, blockers = [], pending_approval: pending, next_step = '' }: Step): string {
  const left = blockers.length - BLOCKERS_MAX
  return [
    paintText('bold', `Still in ${plainLine(phase)}. In the way:`),
    ...blockers.slice(0, BLOCKERS_MAX).flatMap(formatBlockerLines),
    ...(left > 0 ? [`  and ${left} more; --json shows them`] : []),
    ...(pending === undefined ? [] : ['', `An operator decides: phaselock approve ${plainLine(pending.id)}`]),
    ...(next_step === '' ? [] : ['', ...wrapText(next_step, '')]),
  ].join('\n')
}

function formatBlockerLines({
  code,
  artifact,
  message,
  remedy,
  run,
}: NonNullable<Step['blockers']>[number]): readonly string[] {
  const isMissing = code === 'missing_artifact' && artifact !== null
  const advice = isMissing ? `Hand it in: phaselock next --artifact ${artifact}=FILE` : remedy
  return [
    ...wrapText(`${message} [${code}]`, '  '),
    ...(advice === '' ? [] : wrapText(advice, '      ')),
    ...(run?.last_lines ?? []).map((line) => `      | ${plainLine(line)}`),
  ]
}

/** Warnings of a passed gate, one per line. */
export function formatWarningLines({ warnings = [] }: Step): readonly string[] {
  return warnings.slice(0, BLOCKERS_MAX).flatMap(({ message, code }) => wrapText(`Warning: ${message} [${code}]`, ''))
}

/** Wraps words to the terminal's width with an indent. A word that is too long stays whole. */
export function wrapText(text: string, indent: string, room: number = getWidth()): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of plainLine(text).split(' ')) {
    if (line !== '' && countColumns(`${indent}${line} ${word}`) > room) {
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
    const [first = '', ...more] = wrapText(text, ' '.repeat(LABEL))
    return text === '' ? [] : [`  ${label.padEnd(LABEL - 2)}${first.trimStart()}`, ...more]
  }
  const since = seconds === null ? '' : `, for ${formatDuration(seconds)}`
  return [
    ...line('Task', `${run.task_id} ${run.title ?? ''}`),
    ...line('Status', [run.status, run.parked_reason].filter((one) => (one ?? '') !== '').join(': ')),
    ...line('Phase', `${run.phase ?? ''}, visit ${run.visit ?? ''}${since}`),
    ...line('Violation', open === null ? '' : `${open.rule}: ${open.diagnostic}`),
    ...line('Continued', acknowledged.join(', ')),
    ...line('No metrics', formatUnavailable(unavailable)),
    ...line('Next', run.next_step ?? ''),
  ]
}

export function formatUnavailable(rules: readonly string[]): string {
  return rules.length === 0 ? '' : `${rules.join(', ')} [metric_unavailable]`
}
