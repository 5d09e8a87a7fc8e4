import type { Contract } from '../contract/contract.js'
import { type Evaluation, evaluateRules, type Violation as RuleViolation } from '../rules/evaluate.js'
import { NO_FACTS } from '../rules/facts.js'
import type { Rule } from '../rules/rule.js'
import type { Command, Context } from '../task/command.js'
import type { TaskFact } from '../task/event.js'
import { type Decision, getMode, makeDecision } from '../task/refusal.js'
import type { TaskState, Watch } from '../task/state.js'

export const NOTHING_WATCHED: Watch = {
  facts: NO_FACTS,
  mark: 0,
  failing: null,
  open: null,
  reported: new Set(),
  acknowledged: new Map(),
  continues: new Map(),
  shadowed: new Set(),
  seen: new Set(),
}

const CONTINUES_MAX = 3

/** Time of the newest commit of the tree; null: no git repository, or not asked. */
type CommittedAt = number | null

interface Moment {
  readonly now: number
  readonly matches: Context['matches']
  readonly leaving: boolean
  readonly committedAt: CommittedAt
  /** If the state does not have it yet. */
  readonly mark?: number
}

function judgeRules(rules: readonly Rule[], state: TaskState, moment: Moment): Evaluation {
  const context = {
    phase: state.phase,
    enteredAt: state.visitStartedAt,
    now: moment.now,
    facts: state.watch.facts,
    mark: moment.mark ?? state.watch.mark,
    matches: moment.matches,
    leaving: moment.leaving,
  }
  const [lookback] = rules.flatMap((rule) => (rule.type === 'require_commits' ? [rule.lookbackPhases] : []))
  const isOne = rules.every((rule) => rule.type !== 'require_commits' || rule.lookbackPhases === lookback)
  if (isOne) {
    const commitSince = lookback === undefined ? null : isCommittedSince(state, lookback, moment.committedAt)
    return evaluateRules(rules, { ...context, commitSince })
  }
  // Rules that look back to different phases are evaluated one by one, still in order.
  const each = rules.map((rule) => judgeRules([rule], state, moment))
  return {
    violation: each.find((evaluation) => evaluation.violation !== null)?.violation ?? null,
    shadowed: each.flatMap((evaluation) => evaluation.shadowed),
    unavailable: each.flatMap((evaluation) => evaluation.unavailable),
  }
}

function isCommittedSince(state: TaskState, phasesBack: number, committedAt: CommittedAt): boolean | null {
  if (committedAt === null) return null
  const since = state.visitStarts.at(-Math.min(phasesBack, state.visitStarts.length)) ?? state.createdAt
  // Git keeps whole seconds.
  return committedAt >= Math.floor(since / 1000) * 1000
}

export function listRules(contract: Contract, state: TaskState): readonly Rule[] {
  return contract.phases.get(state.phase)?.rules ?? []
}

function listUnacknowledged(contract: Contract, state: TaskState): readonly Rule[] {
  return listRules(contract, state).filter((rule) => !state.watch.acknowledged.has(rule.id))
}

/** The rule that blocks the agent now, before anything is gathered or run for a gate. */
export function findHoldingViolation(
  contract: Contract,
  state: TaskState,
  moment: Omit<Moment, 'leaving'>,
): RuleViolation | null {
  return judgeRules(listUnacknowledged(contract, state), state, { ...moment, leaving: true }).violation
}

/** Rules whose metrics are unavailable, by id. */
export function listUnavailableMetrics(contract: Contract, state: TaskState, context: Context): readonly string[] {
  const moment: Moment = { now: context.now, matches: context.matches, leaving: false, committedAt: null }
  return judgeRules(listRules(contract, state), state, moment).unavailable
}

/** Events of the rules after a call; an open violation is not reported again. */
export function decideAfterCall(
  contract: Contract,
  state: TaskState,
  context: Context,
  mark = state.watch.mark,
): readonly TaskFact[] {
  const rules = listRules(contract, state)
  if (rules.length === 0) return []
  const moment: Moment = { now: context.now, matches: context.matches, leaving: false, committedAt: null, mark }
  const { acknowledged, open } = state.watch
  const found = judgeRules(
    rules.filter((rule) => !acknowledged.has(rule.id)),
    state,
    moment,
  )
  // An open violation does not shield the agent from a stricter rule.
  const more =
    open === null ? null : rules.filter((rule) => STRENGTH[rule.onViolation] > STRENGTH[open.action] && !rule.shadow)
  const again =
    more === null ? (found.violation ?? findRepeatedLoop(rules, state, moment)) : findViolation(more, state, moment)
  return [
    ...makeShadowFacts(state, found.shadowed, rules),
    ...(again === null ? [] : makeViolationFacts(contract, state, again)),
  ]
}

const STRENGTH: Readonly<Record<Rule['onViolation'], number>> = { interrupt: 0, deny: 1, park: 2 }

/** The first unacknowledged violation of these rules. */
export function findViolation(rules: readonly Rule[], state: TaskState, moment: Moment): RuleViolation | null {
  const fresh = rules.filter((rule) => !state.watch.acknowledged.has(rule.id))
  return judgeRules(fresh, state, moment).violation ?? findRepeatedLoop(rules, state, moment)
}

// A loop that continues after its acknowledgement is a new one: only later facts count.
function findRepeatedLoop(rules: readonly Rule[], state: TaskState, moment: Moment): RuleViolation | null {
  for (const rule of rules) {
    const since = state.watch.acknowledged.get(rule.id)
    if (since === undefined || (rule.type !== 'repeated_command' && rule.type !== 'repeated_file_edit')) continue
    const { violation } = judgeRules([rule], { ...state, visitStartedAt: since + 1 }, moment)
    if (violation !== null) return violation
  }
  return null
}

/**
 * Evaluates the rules when the agent asks for its prompt or to continue. Staying in the phase uses up an
 * acknowledgement.
 */
export function watch(
  contract: Contract,
  state: TaskState,
  command: Command & { type: 'watch' },
  context: Context,
): Decision {
  const rules = listRules(contract, state)
  const { open, acknowledged } = state.watch
  const moment: Moment = {
    now: context.now,
    matches: context.matches,
    leaving: command.at === 'next' && !command.stays,
    committedAt: command.committedAt,
  }
  const asked = command.at === 'next' && command.stays ? rules : listUnacknowledged(contract, state)
  const found = judgeRules(asked, state, moment)
  const shown = command.at === 'prompt' ? asked.filter((rule) => rule.id === open?.rule) : []
  const isStillOpen = judgeRules(shown, state, moment).violation !== null
  const facts: TaskFact[] = [...makeShadowFacts(state, found.shadowed, rules)]
  if (found.violation !== null) {
    return makeDecision(isStillOpen ? facts : [...facts, ...makeViolationFacts(contract, state, found.violation)])
  }
  if (open !== null) facts.push({ type: 'rule_cleared', rule: open.rule })
  if (command.at === 'next' && command.stays)
    for (const rule of acknowledged.keys()) facts.push({ type: 'rule_cleared', rule })
  return makeDecision(facts)
}

export function makeViolationFacts(
  contract: Contract,
  state: TaskState,
  violation: RuleViolation,
): readonly TaskFact[] {
  const rule = listRules(contract, state).find((one) => one.id === violation.rule)
  const action = rule?.onViolation ?? 'interrupt'
  const told: TaskFact = {
    type: 'rule_violated',
    agentId: state.held?.agentId ?? '',
    rule: violation.rule,
    action,
    shadow: false,
    violation,
    code: 'rule_interrupt',
    detail: violation.diagnostic,
    success: false,
  }
  const parks = action === 'park' && getMode(contract, state) !== 'advisory' && state.status !== 'parked'
  return parks
    ? [told, { type: 'task_parked', reason: `Rule ${violation.rule}: ${violation.diagnostic}`, code: 'rule_interrupt' }]
    : [told]
}

function makeShadowFacts(
  state: TaskState,
  shadowed: readonly RuleViolation[],
  rules: readonly Rule[],
): readonly TaskFact[] {
  return shadowed
    .filter((one) => !state.watch.shadowed.has(one.rule))
    .map((violation) => ({
      type: 'rule_violated',
      agentId: state.held?.agentId ?? '',
      rule: violation.rule,
      action: rules.find((rule) => rule.id === violation.rule)?.onViolation ?? 'interrupt',
      shadow: true,
      violation,
      code: 'rule_interrupt',
      detail: violation.diagnostic,
      success: false,
    }))
}

/** Acknowledges the violation that was shown. Acknowledging the same rule repeatedly needs an operator. */
export function acknowledge(contract: Contract, state: TaskState): Decision {
  const { open, continues } = state.watch
  if (open === null) return makeDecision([])
  const count = (continues.get(open.rule) ?? 0) + 1
  const facts: TaskFact[] = [{ type: 'rule_acknowledged', agentId: state.held?.agentId ?? '', rule: open.rule, count }]
  if (count >= CONTINUES_MAX && getMode(contract, state) !== 'advisory')
    facts.push({
      type: 'task_parked',
      reason: `Rule ${open.rule} was acknowledged ${count} times in one visit; the last: ${open.violation.diagnostic}`,
      code: 'rule_interrupt',
    })
  return makeDecision(facts)
}
