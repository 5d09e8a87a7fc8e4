import type { TestRules } from '../core/test-rules.js'
import type { ContractDocument } from './document.js'

export function compileTests({ patterns, allow_changes, ...more }: ContractDocument['tests']): TestRules {
  return { patterns, allowChanges: allow_changes, ...more }
}
