import { expect, it } from 'vitest'
import { findBundledContract } from '../../src/contract/bundled-contracts.js'
import { loadContractFile } from '../../src/contract/load/load-contract.js'
import { matchesPattern } from '../../src/contract/patterns.js'

it('[REQ-HOOK-11] the bundled guardrails watch for loops, edits, time, tokens and commits, and all of it is enforced', async () => {
  const loaded = await loadContractFile(findBundledContract('guardrails') ?? '')
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.diagnostics))
  expect(loaded.contract.notEnforced).toEqual([])
  const rules = loaded.contract.phases.get('WORK')?.rules ?? []
  expect(rules.map((rule) => [rule.id, rule.type, rule.onViolation, rule.shadow])).toEqual([
    ['WORK[0]', 'repeated_command', 'interrupt', false],
    ['WORK[1]', 'repeated_command', 'interrupt', false],
    ['WORK[2]', 'repeated_file_edit', 'interrupt', false],
    ['WORK[3]', 'phase_timeout', 'interrupt', false],
    ['WORK[4]', 'token_budget', 'interrupt', false],
    ['WORK[5]', 'require_commits', 'interrupt', false],
  ])
  const [loop] = rules
  const pattern = loop?.type === 'repeated_command' ? (loop.pattern ?? '') : ''
  for (const command of ['npm test', 'npm run build', 'cd a && cargo build --release', 'npx vitest run', 'make check'])
    expect({ command, matches: matchesPattern(pattern, command) }).toEqual({ command, matches: true })
  for (const command of ['ls', 'git status', 'npm install', 'cat Makefile'])
    expect({ command, matches: matchesPattern(pattern, command) }).toEqual({ command, matches: false })
})
