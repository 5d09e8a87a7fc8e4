import type { Contract } from '../contract/contract.js'
import { type Evaluation, evaluateRules, type Violation as RuleViolation } from '../rules/evaluate.js'
import { type Facts, NO_FACTS } from '../rules/facts.js'
import type { Rule } from '../rules/rule.js'
import type { Command, Context } from '../task/command.js'
import type { TaskFact } from '../task/event.js'
import { type Decision, getMode, makeDecision } from '../task/refusal.js'
import type { TaskState } from '../task/state.js'

/** What the rules of a phase look at, for one visit; nothing of it outlives the visit. */
export interface Watch {
  readonly facts: Facts
  /** Counts progress: another one when the work tree or the set of failing tests changed. */
  readonly mark: number
  /** Digest of the tests that failed in the newest run; null before the first. */
  readonly failing: string | null
  /** The violation that was shown and not acknowledged. */
  readonly open: OpenViolation | null
  /** Rules whose violation the agent was told about and that it has not acknowledged. */
  readonly reported: ReadonlySet<string>
  /** Rules whose violation was acknowledged: when. */
  readonly acknowledged: ReadonlyMap<string, number>
  /** How often each rule was acknowledged. */
  readonly continues: ReadonlyMap<string, number>
  /** Rules in shadow that were recorded. */
  readonly shadowed: ReadonlySet<string>
  /** Ids of facts that harnesses reported, newest last. */
  readonly seen: ReadonlySet<string>
}

export interface OpenViolation {
  readonly rule: string
  readonly action: Rule['onViolation']
  readonly violation: RuleViolation
  readonly at: number
}

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

/** When the newest commit of the tree was made; null: no git repository, or not asked. */
export type CommittedAt = number | null

export interface Moment {
  readonly now: number
  readonly matches: Context['matches']
  readonly leaving: boolean
  readonly committedAt: CommittedAt
  /** Where the state does not know it yet. */
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
  // Rules that look back to different phases are asked one by one, still in their order.
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

/** The rule that holds the agent back now, before anything is gathered or run for a gate. */
export function findHoldingViolation(
  contract: Contract,
  state: TaskState,
  moment: Omit<Moment, 'leaving'>,
): RuleViolation | null {
  return judgeRules(listUnacknowledged(contract, state), state, { ...moment, leaving: true }).violation
}

/** Rules whose metrics cannot be had, by id. */
export function listUnavailableMetrics(contract: Contract, state: TaskState, context: Context): readonly string[] {
  const moment: Moment = { now: context.now, matches: context.matches, leaving: false, committedAt: null }
  return judgeRules(listRules(contract, state), state, moment).unavailable
}

/** What follows for the rules after a call; a violation that is open already is not told again. */
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
  // Whoever leaves a violation open is not safe from a rule that does more than it.
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

/** The violation of the first of these rules, as far as it was not acknowledged. */
export function findViolation(rules: readonly Rule[], state: TaskState, moment: Moment): RuleViolation | null {
  const fresh = rules.filter((rule) => !state.watch.acknowledged.has(rule.id))
  return judgeRules(fresh, state, moment).violation ?? findRepeatedLoop(rules, state, moment)
}

// An acknowledged loop that goes on is a new one: only what came after the acknowledgement counts.
function findRepeatedLoop(rules: readonly Rule[], state: TaskState, moment: Moment): RuleViolation | null {
  for (const rule of rules) {
    const since = state.watch.acknowledged.get(rule.id)
    if (since === undefined || (rule.type !== 'repeated_command' && rule.type !== 'repeated_file_edit')) continue
    const { violation } = judgeRules([rule], { ...state, visitStartedAt: since + 1 }, moment)
    if (violation !== null) return violation
  }
  return null
}

/** Judges the rules where the agent asks for its prompt or to go on. Staying in the phase uses an acknowledgement up. */
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

/** Acknowledges the violation that was shown. Whoever acknowledges the same rule again and again needs a human. */
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
