import { cut, pad } from '../terminal/table.js'
import { paint } from '../terminal/terminal.js'
import { wrapped } from '../workflow/run-text.js'
import type { Step } from './demo-honest.js'
import type { Attempt } from './demo-judge.js'
import type { Wall } from './demo-stage.js'

const WIDTH = 79
const INDENT = '    '
const DID = 45
const PHASE = 10
const WHY_LINES_MAX = 2

export function headLines(wall: Wall, folder: string): readonly string[] {
  const confined =
    wall.missing.length === 0
      ? `Commands run in a sandbox: ${wall.provider}.`
      : `No wall holds here (${wall.provider}): unenforced ${wall.missing.join(', ')}.`
  return [
    paint('bold', 'Two agents, one contract: PLAN, TDD, IMPL, REVIEW, COMPLETE.'),
    ...wrapped(`Everything is real and happens in ${folder}.`, '', WIDTH),
    ...wrapped(confined, '', WIDTH),
  ]
}

export function titleLine(text: string): string {
  return `\n${paint('bold', text)}`
}

export function stepLines(step: Step): readonly string[] {
  const waits = step.code !== ''
  const mark = waits ? paint('yellow', `waits    ${step.code}`) : paint('green', 'ok')
  const note = step.note === '' ? '' : `  ${step.note}`
  return [
    `${INDENT}${step.phase.padEnd(PHASE)}${pad(step.did, DID - PHASE)}  ${mark}${note}`.trimEnd(),
    ...whyLines(step.why, INDENT + ' '.repeat(PHASE)),
  ]
}

/** A step of somebody else between the phases of an agent. */
export function actLine(did: string): string {
  return `${INDENT}${pad(did, DID)}  ${paint('green', 'ok')}`
}

export function attemptLines(attempt: Attempt, number: number): readonly string[] {
  const { outcome, code, tries, why } = attempt
  const mark =
    outcome === 'refused'
      ? `${paint('red', 'refused')}  ${paint('bold', code)}`
      : paint('yellow', outcome === 'unenforced' ? outcome : `${outcome.toUpperCase()}  ${code}`.trimEnd())
  return [`${String(number).padStart(2)}  ${pad(tries, DID)}  ${mark}`, ...whyLines(why)]
}

function whyLines(why: string, indent = INDENT): readonly string[] {
  const lines = why === '' ? [] : wrapped(why, indent, WIDTH)
  const shown = lines.slice(0, WHY_LINES_MAX)
  const last = shown.length - 1
  return shown.map((line, at) =>
    paint('dim', at === last && lines.length > WHY_LINES_MAX ? `${cut(line, WIDTH - 2)} …` : cut(line, WIDTH)),
  )
}
