import type { CheckOutcome, GateFacts } from '../task/command.js'
import type { CheckSeen } from '../task/fact-parts.js'
import type { Needs } from './needs.js'

const CHECKS_MAX = 200
const FOUND_CHARS_MAX = 300

/** The outcome of every check that the request needs, for people who look at it later. Decides nothing. */
export function pickChecks(needed: Needs, facts: GateFacts): { readonly checks?: readonly CheckSeen[] } {
  return needed.checks.length === 0 ? {} : { checks: listCheckResults(needed, facts) }
}

function listCheckResults(needed: Needs, facts: GateFacts): readonly CheckSeen[] {
  return needed.checks.slice(0, CHECKS_MAX).map(({ key, blocker, gate, artifact }) => {
    const outcome = facts.checks.get(key)
    const about = { gate, artifact, check: blocker.check, severity: blocker.severity }
    if (outcome === undefined || isPostponed(outcome)) return { ...about, result: 'not_run', grade: null, found: '' }
    return { ...about, result: outcome.result, grade: outcome.grade, found: cut(outcome.found) }
  })
}

function isPostponed(outcome: CheckOutcome): boolean {
  return outcome.result === 'fails' && outcome.isPostponed === true
}

function cut(text: string): string {
  return text.length <= FOUND_CHARS_MAX ? text : `${text.slice(0, FOUND_CHARS_MAX).toWellFormed()}…`
}
