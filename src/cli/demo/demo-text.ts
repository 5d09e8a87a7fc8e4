import { cut, padText } from '../terminal/table.js'
import { paintText } from '../terminal/terminal.js'
import { wrapText } from '../workflow/run-text.js'
import type { Step } from './demo-honest.js'
import type { Attempt } from './demo-judge.js'
import type { FoundSandbox } from './demo-stage.js'

const WIDTH = 79
const INDENT = '    '
const DID = 45
const PHASE = 10
const WHY_LINES_MAX = 2

export function formatHeadLines(sandbox: FoundSandbox, folder: string, link: string): readonly string[] {
  const confined =
    sandbox.missing.length === 0
      ? `Commands run in a sandbox: ${sandbox.provider}.`
      : `There is no sandbox here (${sandbox.provider}): unenforced ${sandbox.missing.join(', ')}.`
  return [
    paintText('bold', 'Two agents, one contract: PLAN, TDD, IMPL, REVIEW, COMPLETE.'),
    ...wrapText(`Everything is real and happens in ${folder}.`, '', WIDTH),
    ...wrapText(confined, '', WIDTH),
    `Watch it in a browser while it runs:\n  ${link}`,
  ]
}

export function formatTitleLine(text: string): string {
  return `\n${paintText('bold', text)}`
}

export function formatDemoStepLines(step: Step): readonly string[] {
  const waits = step.code !== ''
  const mark = waits ? paintText('yellow', `waits    ${step.code}`) : paintText('green', 'ok')
  const note = step.note === '' ? '' : `  ${step.note}`
  return [
    `${INDENT}${step.phase.padEnd(PHASE)}${padText(step.did, DID - PHASE)}  ${mark}${note}`.trimEnd(),
    ...formatReasonLines(step.why, INDENT + ' '.repeat(PHASE)),
  ]
}

/** A step of another person between the phases of an agent. */
export function formatActLine(did: string): string {
  return `${INDENT}${padText(did, DID)}  ${paintText('green', 'ok')}`
}

export function formatAttemptLines(attempt: Attempt, number: number): readonly string[] {
  const { outcome, code, tries, why } = attempt
  const mark =
    outcome === 'refused'
      ? `${paintText('red', 'refused')}  ${paintText('bold', code)}`
      : paintText('yellow', outcome === 'unenforced' ? outcome : `${outcome.toUpperCase()}  ${code}`.trimEnd())
  return [`${String(number).padStart(2)}  ${padText(tries, DID)}  ${mark}`, ...formatReasonLines(why)]
}

function formatReasonLines(why: string, indent = INDENT): readonly string[] {
  const lines = why === '' ? [] : wrapText(why, indent, WIDTH)
  const shown = lines.slice(0, WHY_LINES_MAX)
  const last = shown.length - 1
  return shown.map((line, at) =>
    paintText('dim', at === last && lines.length > WHY_LINES_MAX ? `${cut(line, WIDTH - 2)} …` : cut(line, WIDTH)),
  )
}
