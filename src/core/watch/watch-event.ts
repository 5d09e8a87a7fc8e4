import type { Violation as RuleViolation } from '../rules/evaluate.js'
import type { RuleAction } from '../rules/rule.js'
import type { UsageSaid } from '../task/fact-parts.js'

/** What rules found, and what they look at besides calls of Phaselock's own tools. */
export type WatchFact =
  | {
      readonly type: 'rule_violated'
      readonly agentId: string
      readonly rule: string
      readonly action: RuleAction
      /** Recorded, and nothing done about it. */
      readonly shadow: boolean
      readonly violation: RuleViolation
      readonly code: 'rule_interrupt'
      readonly detail: string
      readonly success: false
    }
  | {
      readonly type: 'rule_acknowledged'
      readonly agentId: string
      readonly rule: string
      /** How often in this visit. */
      readonly count: number
    }
  | { readonly type: 'rule_cleared'; readonly rule: string }
  | (UsageSaid & { readonly type: 'usage_recorded'; readonly agentId: string })
  /** What a harness did with a tool of its own. */
  | {
      readonly type: 'fact_recorded'
      readonly agentId: string
      readonly source: string
      readonly toolName: string
      readonly command: string | null
      readonly paths: readonly string[]
      readonly success: boolean
      readonly durationMs: number | null
      readonly factId: string | null
    }
