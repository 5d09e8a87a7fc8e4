import type { TestRules } from '../../core/contract/test-rules.js'
import type { ContractDocument } from '../document.js'

export function compileTests(tests: ContractDocument['tests']): TestRules {
  const { patterns, allow_changes, may_write: mayWrite, inverted, ...more } = tests
  const { max_seconds: maxSeconds, ...rules } = inverted ?? {}
  const turned =
    inverted === undefined ? {} : { inverted: { ...rules, ...(maxSeconds === undefined ? {} : { maxSeconds }) } }
  const written = mayWrite === undefined ? {} : { mayWrite }
  return { patterns, allowChanges: allow_changes, ...written, ...more, ...turned }
}
