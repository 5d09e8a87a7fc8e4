import type { Violation as RuleViolation } from '../rules/evaluate.js'
import type { RuleAction } from '../rules/rule.js'
import type { ChangeRef, UsageSaid } from '../task/fact-parts.js'

/** Events of rules, and of facts they evaluate besides Phaselock's own tool calls. */
export type WatchFact =
  | {
      readonly type: 'rule_violated'
      readonly agentId: string
      readonly rule: string
      readonly action: RuleAction
      /** Recorded without consequences. */
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
  /** What an agent CLI did with its own tool. */
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
      /** The first changes by path, where the tree was compared; `changeCount` has the number. */
      readonly changes?: readonly ChangeRef[]
      readonly changeCount?: number
    }
