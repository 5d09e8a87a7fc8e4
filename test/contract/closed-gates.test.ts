import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { loadContractText } from '../../src/contract/load/load-contract.js'
import { marked } from './broken-contracts.js'
import { HEAD, mustLoad } from './load.js'

interface ClosedGate {
  readonly name: string
  readonly says: readonly string[]
  readonly closed: string
  readonly mended: string
}

const CASES = parse(
  readFileSync(new URL('../cases/closed-gates.yaml', import.meta.url), 'utf8'),
) as readonly ClosedGate[]

async function errorsOf(text: string) {
  const result = await loadContractText(text, { file: 'agent_workflow.yaml', baseDir: null })
  return result.ok ? [] : result.diagnostics.filter((one) => one.severity === 'error')
}

describe('a gate that can never open', () => {
  it.each(CASES)(
    '[REQ-CONTRACT-27] $name: refused, with the place, the gate and the reason',
    async ({ closed, says }) => {
      const { text, at } = marked(HEAD + closed)
      const errors = await errorsOf(text)
      expect(errors.map((one) => `${one.code} ${one.line}:${one.column}`)).toEqual([`contract.gate_cannot_open ${at}`])
      for (const part of says) expect(`${errors[0]?.message} ${errors[0]?.remedy}`).toContain(part)
    },
  )

  it.each(CASES)('[REQ-CONTRACT-27] $name: corrected, it loads', async ({ mended }) => {
    await mustLoad(HEAD + mended)
  })

  it('[REQ-CONTRACT-27] a check that only warns keeps no gate closed', async () => {
    for (const severity of ['warning', 'info']) {
      const gate = `{id: g, type: validation, blockers: [{check: coverage_threshold_met, threshold: 80, severity: ${severity}}]}`
      await mustLoad(`${HEAD}phases: [{id: A, gates: [${gate}]}]\n`)
    }
  })

  it('[REQ-CONTRACT-27] all gates that can never open are reported at once', async () => {
    const blockers = '[{check: coverage_threshold_met, threshold: 80}, {check: expression, when: "false"}]'
    const gate = `gates: [{id: g, type: validation, blockers: ${blockers}}]`
    const errors = await errorsOf(`${HEAD}phases:\n  - {id: A, ${gate}}\n  - {id: B, ${gate}}\n`)
    expect(errors.map((one) => `${one.line} ${one.code}`)).toEqual([
      '4 contract.gate_cannot_open',
      '4 contract.gate_cannot_open',
      '5 contract.gate_cannot_open',
      '5 contract.gate_cannot_open',
    ])
  })

  it.each([
    ['a member that may be missing is asked for first', '!("tests" in observed) || observed.tests.passed > 1'],
    ['a macro asks for a member', 'has(evidence.notes)'],
    ['a condition leaves the read out', '"x" in evidence ? evidence.x == 1 : true'],
    ['the read is behind an or', 'evidence.x == 1 || size(changes) == 0'],
    ['a negation leaves the read out', '!("x" in evidence && evidence.x == 1)'],
    ['a variable of a macro has the name of another', 'changes.all(task, task.path != "a")'],
  ])('[REQ-CONTRACT-27] an expression that can be true loads: %s', async (_name, when) => {
    const gate = `{id: g, type: validation, blockers: [{check: expression, when: '${when}'}]}`
    await mustLoad(`${HEAD}phases: [{id: A, gates: [${gate}]}]\n`)
  })
})

describe('tests_unchanged is added where a RED run can come before', () => {
  const phase = (id: string, check: string) =>
    `  - {id: ${id}, gates: [{id: g, type: validation, blockers: [{check: ${check}}]}]}\n`
  const TESTS = 'commands: {tests: {run: npm test}}\n'

  it('[REQ-CONTRACT-17] a green gate before RED, which asks that the project starts green, does not get it', async () => {
    const phases = `phases:\n${phase('START', 'all_tests_pass')}${phase('TDD', 'tests_are_failing')}${phase('IMPL', 'all_tests_pass')}`
    const { contract } = await mustLoad(HEAD + phases + TESTS)
    const checks = [...contract.phases.values()].map((one) =>
      one.gates.flatMap((gate) => gate.blockers.map((b) => b.check)),
    )
    expect(checks).toEqual([['all_tests_pass'], ['tests_are_failing'], ['all_tests_pass', 'tests_unchanged']])
  })

  const LOOP = `transitions: [{from: START, to: TDD}, {from: TDD, to: START}, {from: START, to: END}]\n`
  const beforeRed = async (text: string) => {
    const { contract } = await mustLoad(HEAD + text + TESTS)
    return [...contract.phases.values()].filter((one) => one.isBeforeRed === true).map((one) => one.id)
  }

  it('[REQ-CONTRACT-17] in a loop that starts green it holds until RED has recorded tests, and then compares', async () => {
    const phases = `phases:\n${phase('START', 'all_tests_pass')}${phase('TDD', 'tests_are_failing')}  - {id: END}\n`
    expect(await beforeRed(phases + LOOP)).toEqual(['START'])
  })

  it('[REQ-CONTRACT-17] if a path avoids RED, the gate stays closed for it', async () => {
    const phases = `phases:\n  - {id: PLAN}\n${phase('TDD', 'tests_are_failing')}${phase('IMPL', 'all_tests_pass')}`
    const ways = 'transitions: [{from: PLAN, to: TDD}, {from: TDD, to: IMPL}, {from: PLAN, to: IMPL, when: small}]\n'
    expect(await beforeRed(phases + ways)).toEqual([])
  })
})
