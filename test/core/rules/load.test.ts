import { describe, expect, it } from 'vitest'
import { loadContractText } from '../../../src/contract/load/load-contract.js'

async function codesOf(written: string) {
  const text = `name: t\nversion: "1"\nphases:\n  - id: A\n    rules:\n      - ${written}\n`
  const loaded = await loadContractText(text, { file: 'agent_workflow.yaml', baseDir: null })
  return loaded.ok ? [] : loaded.diagnostics.map((one) => one.code)
}

describe('rules at load', () => {
  it.each([
    ['repeated_command: {pattern: "[invalid(", threshold: 3, window: 60}', 'contract.invalid_rule_pattern', 7],
    ['token_budget: {max_tokens: 0}', 'contract.invalid_rule_threshold', 8],
    ['repeated_command: {threshold: 3, window: -10}', 'contract.invalid_rule_threshold', 9],
  ])('[REQ-RULE-19] %s is refused with %s (seed 003, test %i)', async (written, code) => {
    expect(await codesOf(written)).toContain(code)
  })
})
