import type { GateCheck, PassedGate } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { formatCount } from '../../core/text.js'
import { wrapText } from '../workflow/run-text.js'
import { getWidth, paintText } from './terminal.js'

/** Expressions of the contract are written for the program. */
const EXPRESSION = 'expression'

/** What each grade means, for people who see them for the first time. */
const GRADES: Readonly<Record<string, string>> = {
  reported: 'the agent says so',
  artifact: 'Phaselock read it in what the agent handed in',
  observed: 'Phaselock saw it',
  proved: 'Phaselock tried to disprove it',
}

/** Checks with their results, one on each line. Expressions that hold are only counted. */
export function formatChecks(checks: readonly GateCheck[], indent = '  '): readonly string[] {
  const isCounted = ({ check, status }: GateCheck): boolean => check === EXPRESSION && status === 'passed'
  const counted = checks.filter(isCounted).length
  const rules = `${formatCount(counted, 'condition')} of the contract ${counted === 1 ? 'holds' : 'hold'}`
  return [
    ...checks.filter((check) => !isCounted(check)).map((check) => `${indent}${formatCheck(check)}`),
    ...(counted === 0 ? [] : [`${indent}${'passed'.padEnd(8)} ${rules}`]),
  ]
}

function formatCheck({ check, status, grade, message }: GateCheck): string {
  const graded = grade === null ? '' : ` (${plainLine(grade)})`
  return `${status.padEnd(8)} ${plainLine(check)}${graded}${message === '' ? '' : `: ${plainLine(message)}`}`
}

/** The gates that opened on the way to an approval, with what they found. */
export function formatGatesBefore(gates: readonly PassedGate[], phase: string): readonly string[] {
  const passed = gates.filter((gate) => gate.status === 'passed' && gate.phase !== phase && gate.checks.length > 0)
  if (passed.length === 0) return []
  return [
    '',
    `${paintText('bold', 'Gates that opened before')}  for your information; your approval covers the rest`,
    ...passed.flatMap(({ id, phase: left, checks }) => [
      `  ${plainLine(id)}, leaving ${plainLine(left)}`,
      ...formatChecks(checks, '    '),
    ]),
  ]
}

/** The meaning of the grades that appear. */
export function formatGradeLegend(graded: readonly { readonly grade: string | null }[]): readonly string[] {
  const seen = Object.entries(GRADES).filter(([name]) => graded.some(({ grade }) => grade === name))
  const text = `${seen.map(([name, meaning]) => `${name}: ${meaning}`).join('; ')}.`
  return seen.length === 0 ? [] : ['', ...wrapText(text, '  ', getWidth())]
}
