import type { JsonObject } from '../json.js'
import { formatClock, formatCount, formatDuration, formatSpan, formatThousands, toOneLine } from '../text.js'
import { assertUnreachable } from '../unreachable.js'
import { type Facts, sumFacts } from './facts.js'
import type { Matches } from './memo.js'
import { findRepeats } from './repeats.js'
import type { CommitRule, RepeatRule, Rule, RuleType, TimeoutRule, TokenRule } from './rule.js'
import { sumUsedSince } from './usage.js'

export interface RuleContext {
  readonly phase: string
  readonly enteredAt: number
  readonly now: number
  readonly facts: Facts
  /** The current progress counter, as in the facts. */
  readonly mark: number
  /** Must be linear in time and deterministic: results are cached. */
  readonly matches: Matches
  /** Whether the phase is about to be left. */
  readonly leaving: boolean
  /** Null: not known, or not a git repository. */
  readonly commitSince: boolean | null
}

interface RecentEvent {
  readonly at: number
  readonly text: string
  readonly tool: string | null
}

export interface Violation {
  /** The id of the rule. */
  readonly rule: string
  readonly rule_type: RuleType
  readonly diagnostic: string
  readonly suggestion: string
  readonly metrics_snapshot: JsonObject
  /** At most five, oldest first, safe to display. */
  readonly recent_events: readonly RecentEvent[]
  readonly message: string | null
  readonly pattern: string | null
  /** Lines that belong to the diagnostic. */
  readonly details: readonly string[]
}

export interface Evaluation {
  /** Of the first violated rule; never of a shadow rule. */
  readonly violation: Violation | null
  readonly shadowed: readonly Violation[]
  /** The ids of rules whose metrics are unavailable. */
  readonly unavailable: readonly string[]
}

type Finding = Pick<Violation, 'diagnostic' | 'metrics_snapshot'> &
  Partial<Pick<Violation, 'recent_events' | 'pattern' | 'details'>>

export const SHOWN_CHARS_MAX = 120

const SUGGESTIONS: Readonly<Record<RuleType, string>> = {
  repeated_command: `You're stuck in a build loop. Review the error message carefully.
Consider using TDD: write a failing test first, then fix the specific issue.`,
  repeated_file_edit: `You're thrashing the same file. Step back and write a failing test
that captures the desired behavior, then implement the fix.`,
  phase_timeout: `This phase is taking too long. Consider:
- Breaking the task into smaller steps
- Transitioning to LEARNINGS to document blockers
- Resetting the workflow with simplified scope`,
  token_budget: 'Consider simplifying scope or splitting work',
  require_commits: `Commit what is done before you leave this phase.
Look at git status first, and commit what belongs together with a message that says why.`,
}

/** Evaluates rules in order: the first violation wins, and shadow rules are always reported. */
export function evaluateRules(rules: readonly Rule[], context: RuleContext): Evaluation {
  let violation: Violation | null = null
  const shadowed: Violation[] = []
  const unavailable: string[] = []
  for (const rule of rules) {
    if (isUnavailable(rule, context)) unavailable.push(rule.id)
    else if (rule.shadow || violation === null) {
      const finding = findFinding(rule, context)
      if (finding === null) continue
      const found = buildViolation(rule, finding, context)
      if (rule.shadow) shadowed.push(found)
      else violation = found
    }
  }
  return { violation, shadowed, unavailable }
}

function isUnavailable(rule: Rule, context: RuleContext): boolean {
  if (rule.type === 'token_budget') return !sumUsedSince(context.facts.usage, context.enteredAt).isKnown
  return rule.type === 'require_commits' && context.leaving && context.commitSince === null
}

function findFinding(rule: Rule, context: RuleContext): Finding | null {
  switch (rule.type) {
    case 'repeated_command':
    case 'repeated_file_edit':
      return repeatFinding(rule, context)
    case 'phase_timeout':
      return checkTimeout(rule, context)
    case 'token_budget':
      return checkTokens(rule, context)
    case 'require_commits':
      return commitFinding(rule, context)
    default:
      return assertUnreachable(rule)
  }
}

function buildViolation(rule: Rule, finding: Finding, context: RuleContext): Violation {
  return {
    rule: rule.id,
    rule_type: rule.type,
    diagnostic: finding.diagnostic,
    suggestion: rule.suggestion ?? SUGGESTIONS[rule.type],
    metrics_snapshot: {
      phase: context.phase,
      duration_seconds: countSeconds(context),
      ...sumFacts(context.facts),
      ...finding.metrics_snapshot,
    },
    recent_events: finding.recent_events ?? [],
    message: rule.message,
    pattern: finding.pattern ?? null,
    details: finding.details ?? [],
  }
}

function repeatFinding(rule: RepeatRule, context: RuleContext): Finding | null {
  const isCommand = rule.type === 'repeated_command'
  const found = findRepeats(isCommand ? context.facts.commands : context.facts.edits, rule, context)
  if (found === null) return null
  const names = found.names.map((name) => toOneLine(name, SHOWN_CHARS_MAX))
  const verb = isCommand ? 'executed' : 'edited'
  return {
    diagnostic: `${names.join(', ')} ${verb} ${formatCount(found.count, 'time')} in ${formatSpan(rule.window)}`,
    metrics_snapshot: {
      count: found.count,
      threshold: rule.threshold,
      window_seconds: rule.window,
      most_frequent: names,
    },
    recent_events: found.newest.toReversed().map(({ at, text, tool }) => {
      const shown = toOneLine(text.value, SHOWN_CHARS_MAX)
      return {
        at,
        text: isCommand ? shown : `Edit (${shown})`,
        tool: tool === null ? null : toOneLine(tool, SHOWN_CHARS_MAX),
      }
    }),
    pattern: rule.pattern,
  }
}

function checkTimeout(rule: TimeoutRule, context: RuleContext): Finding | null {
  if (context.now - context.enteredAt <= rule.maxDuration * 1000) return null
  const seconds = countSeconds(context)
  return {
    diagnostic: `Phase running for ${formatDuration(seconds)} (limit: ${formatDuration(rule.maxDuration)})`,
    metrics_snapshot: { max_duration: rule.maxDuration },
    details: [
      `Phase start: ${formatClock(context.enteredAt)}`,
      `Current time: ${formatClock(context.now)}`,
      `Duration: ${formatCount(seconds, 'second')}`,
    ],
  }
}

function checkTokens(rule: TokenRule, context: RuleContext): Finding | null {
  const used = sumUsedSince(context.facts.usage, context.enteredAt)
  const tokens = used.input + used.output
  if (tokens <= rule.maxTokens) return null
  return {
    diagnostic: `Token budget exceeded: ${formatThousands(tokens)} / ${formatThousands(rule.maxTokens)}`,
    metrics_snapshot: { tokens_used: tokens, max_tokens: rule.maxTokens },
  }
}

function commitFinding(rule: CommitRule, context: RuleContext): Finding | null {
  if (!context.leaving || context.commitSince !== false) return null
  const back = formatCount(rule.lookbackPhases, 'phase')
  const since =
    rule.lookbackPhases === 1 ? ` since the start of ${context.phase} (${back} back)` : ` in the last ${back}`
  return { diagnostic: `No git commit${since}`, metrics_snapshot: { lookback_phases: rule.lookbackPhases } }
}

// A clock that was set back counts as not moved.
function countSeconds(context: RuleContext): number {
  return Math.max(0, Math.floor((context.now - context.enteredAt) / 1000))
}
