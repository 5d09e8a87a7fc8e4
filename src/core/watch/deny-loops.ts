import type { Contract } from '../contract/contract.js'
import { SHOWN_CHARS_MAX, type Violation } from '../rules/evaluate.js'
import type { Rule } from '../rules/rule.js'
import type { Context } from '../task/command.js'
import type { TaskState } from '../task/state.js'
import { toOneLine } from '../text.js'
import { requirePhase } from '../tool-calls/offered-tools.js'
import { findViolation } from './watch.js'

/** The parts of a call that rules evaluate. */
interface TouchedByCall {
  readonly commands: readonly string[]
  readonly edits: readonly string[]
}

/**
 * The violation for which a rule that denies until acknowledged refuses this call; null when none does. An open
 * violation stays open, and violations hidden behind another are found too.
 */
export function findDenyingViolation(
  contract: Contract,
  state: TaskState,
  call: TouchedByCall,
  context: Context,
): Violation | null {
  const { open } = state.watch
  const moment = { now: context.now, matches: context.matches, leaving: false, committedAt: null }
  for (const rule of requirePhase(contract, state.phase).rules ?? []) {
    if (rule.onViolation !== 'deny' || rule.shadow) continue
    const isOpen = open?.rule === rule.id
    // If no violation is open, the call that exceeds a budget reports it.
    if (open === null && !isRepeatRule(rule)) continue
    const violation = isOpen ? open.violation : findViolation([rule], state, moment)
    if (violation !== null && isConcernedWith(rule, { violation, call, context })) return violation
  }
  return null
}

function isRepeatRule(rule: Rule): rule is Extract<Rule, { type: 'repeated_command' | 'repeated_file_edit' }> {
  return rule.type === 'repeated_command' || rule.type === 'repeated_file_edit'
}

function isConcernedWith(
  rule: Rule,
  one: { readonly violation: Violation; readonly call: TouchedByCall; readonly context: Context },
): boolean {
  if (!isRepeatRule(rule)) return true
  const { call, context } = one
  const { pattern } = rule
  const isCommand = rule.type === 'repeated_command'
  const shown = new Set(one.violation.recent_events.map((event) => event.text))
  return (isCommand ? call.commands : call.edits).some((text) => {
    if (pattern !== null) return context.matches(pattern, text)
    const line = toOneLine(text, SHOWN_CHARS_MAX)
    return shown.has(isCommand ? line : `Edit (${line})`)
  })
}
