import type { TestRules } from '../../core/contract/test-rules.js'
import type { ContractDocument } from '../document.js'

export function compileTests({ patterns, allow_changes, inverted, ...more }: ContractDocument['tests']): TestRules {
  const { max_seconds: maxSeconds, ...rules } = inverted ?? {}
  const turned =
    inverted === undefined ? {} : { inverted: { ...rules, ...(maxSeconds === undefined ? {} : { maxSeconds }) } }
  return { patterns, allowChanges: allow_changes, ...more, ...turned }
}
