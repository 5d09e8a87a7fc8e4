import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = new URL('..', import.meta.url).pathname

/** The success criteria of seed 003, and the requirements that hold each of them. */
const CRITERIA: readonly (readonly [criterion: string, ids: readonly string[]])[] = [
  ['continue gives the normal prompt and bypasses rules', ['REQ-INTERRUPT-4', 'REQ-CRITERION-1']],
  ['continue needs an active workflow', ['REQ-INTERRUPT-18', 'REQ-CRITERION-2']],
  ['rules in YAML become the five kinds of rules', ['REQ-CRITERION-3']],
  ['patterns are validated at load', ['REQ-RULE-19', 'REQ-CRITERION-4']],
  ['repeated commands are filtered by pattern', ['REQ-RULE-1']],
  ['repeated edits are filtered by path pattern', ['REQ-RULE-2', 'REQ-INTERRUPT-13']],
  ['phase timeouts count from the transition', ['REQ-RULE-6', 'REQ-INTERRUPT-12', 'REQ-CRITERION-5']],
  ['token budgets sum input and output', ['REQ-RULE-7', 'REQ-INTERRUPT-11']],
  ['the first violation is returned', ['REQ-RULE-10']],
  ['interrupts have diagnostic, suggestion and recent events', ['REQ-RULE-16', 'REQ-INTERRUPT-1']],
  ['interrupts have the checkpoint REFLECT AND DECIDE', ['REQ-RULE-16', 'REQ-INTERRUPT-1']],
  ['interrupts guide to a fix or to a human', ['REQ-RULE-16', 'REQ-CRITERION-1']],
  ['the interrupt replaces the prompt', ['REQ-INTERRUPT-1', 'REQ-CRITERION-1']],
  ['rules hold for their own node only', ['REQ-CRITERION-5']],
  ['invalid rules are errors at load', ['REQ-RULE-19', 'REQ-CRITERION-4']],
  ['without rules nothing is interrupted', ['REQ-RULE-20', 'REQ-INTERRUPT-17', 'REQ-CRITERION-5']],
  ['violations are reset by a transition', ['REQ-INTERRUPT-8', 'REQ-INTERRUPT-11']],
  ['errors are structured and say what to do', ['REQ-CRITERION-2', 'REQ-CRITERION-4']],
  ['tests cover the rules', ['REQ-CRITERION-6']],
]

describe('the success criteria of seed 003', () => {
  it('[REQ-CRITERION-6] every criterion is held by requirements that tests cite', () => {
    const tests = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => readFileSync(join(ROOT, 'test', name), 'utf8'))
      .join('\n')
    const stated = readFileSync(join(ROOT, 'docs/internals/requirements.md'), 'utf8')
    expect(CRITERIA).toHaveLength(19)
    for (const [criterion, ids] of CRITERIA)
      for (const id of ids)
        expect({ criterion, id, stated: stated.includes(`| ${id} |`), cited: tests.includes(`[${id}]`) }).toEqual({
          ...{ criterion, id, stated: true, cited: true },
        })
  })
})
