import type { Json, JsonObject } from '../json.js'

export type RuleAction = 'interrupt' | 'deny' | 'park'
export type RuleType = 'repeated_command' | 'repeated_file_edit' | 'phase_timeout' | 'token_budget' | 'require_commits'

interface RuleBase {
  /** `PHASE[index]`, as in errors at load. */
  readonly id: string
  readonly message: string | null
  readonly suggestion: string | null
  readonly onViolation: RuleAction
  readonly unlessProgress: boolean
  readonly shadow: boolean
}

/** Without a pattern, repetitions of one text are counted; with a pattern, all matches. */
export interface RepeatRule extends RuleBase {
  readonly type: 'repeated_command' | 'repeated_file_edit'
  readonly pattern: string | null
  readonly threshold: number
  /** Seconds. */
  readonly window: number
}

export interface TimeoutRule extends RuleBase {
  readonly type: 'phase_timeout'
  /** Seconds. */
  readonly maxDuration: number
}

export interface TokenRule extends RuleBase {
  readonly type: 'token_budget'
  readonly maxTokens: number
}

export interface CommitRule extends RuleBase {
  readonly type: 'require_commits'
  readonly lookbackPhases: number
}

export type Rule = RepeatRule | TimeoutRule | TokenRule | CommitRule

const ACTIONS: readonly RuleAction[] = ['interrupt', 'deny', 'park']

/** A rule of a loaded contract. An invalid value is a fault: a rule is never weakened by guessing. */
export function compileRule(id: string, source: JsonObject): Rule {
  const base = parseBase(id, source)
  switch (source.type) {
    case 'repeated_command':
      return { ...base, ...parseRepeat(id, source, source.pattern), type: 'repeated_command' }
    case 'repeated_file_edit':
      return { ...base, ...parseRepeat(id, source, source.path_pattern), type: 'repeated_file_edit' }
    case 'phase_timeout':
      return { ...base, type: 'phase_timeout', maxDuration: countOf(id, source, 'max_duration') }
    case 'token_budget':
      return { ...base, type: 'token_budget', maxTokens: countOf(id, source, 'max_tokens') }
    case 'require_commits':
      return { ...base, type: 'require_commits', lookbackPhases: countOf(id, source, 'lookback_phases') }
    default:
      throw new Error(`rule ${id}: the type ${JSON.stringify(source.type)} is not known`)
  }
}

function parseBase(id: string, source: JsonObject): RuleBase {
  return {
    id,
    message: parseText(id, source.message),
    suggestion: parseText(id, source.suggestion),
    onViolation: parseAction(id, source.on_violation),
    unlessProgress: parseFlag(id, source.unless_progress),
    shadow: parseFlag(id, source.shadow),
  }
}

function parseRepeat(id: string, source: JsonObject, pattern: Json | undefined) {
  return {
    pattern: parseText(id, pattern),
    threshold: countOf(id, source, 'threshold'),
    window: countOf(id, source, 'window'),
  }
}

function countOf(id: string, source: JsonObject, field: string): number {
  const value = source[field]
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1)
    throw new Error(`rule ${id}: ${field} is not a positive integer`)
  return value
}

function parseText(id: string, value: Json | undefined): string | null {
  if (value === undefined || value === null) return null
  if (typeof value !== 'string') throw new Error(`rule ${id}: a text field is not a string`)
  return value
}

function parseFlag(id: string, value: Json | undefined): boolean {
  if (value === undefined) return false
  if (typeof value !== 'boolean') throw new Error(`rule ${id}: a flag is neither true nor false`)
  return value
}

function parseAction(id: string, value: Json | undefined): RuleAction {
  if (value === undefined) return 'interrupt'
  const action = ACTIONS.find((one) => one === value)
  if (action === undefined) throw new Error(`rule ${id}: on_violation is not known`)
  return action
}
