import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadContractFile } from '../../../src/contract/load/load-contract.js'
import { removedAtExit } from '../../leaving.js'

/** A workflow of one phase whose demands stand in its gate file. */
async function loadGate(gate: string) {
  const folder = removedAtExit(mkdtempSync(join(tmpdir(), 'phaselock-gate-')))
  mkdirSync(join(folder, 'phases/1'), { recursive: true })
  writeFileSync(join(folder, 'metadata.json'), '{"workflow_type": "demo", "version": "1.0"}')
  writeFileSync(join(folder, 'phases/1/phase.md'), '# Phase 1: Look\n\n## Checkpoint\n\nSee the gate file.\n')
  writeFileSync(join(folder, 'phases/1/gate-definition.yaml'), gate)
  const loaded = await loadContractFile(folder)
  const found = loaded.ok ? loaded.warnings : loaded.diagnostics
  return {
    fields: loaded.ok ? loaded.contract.phases.get('1')?.evidence : undefined,
    problems: found.map((one) => `${one.line} ${one.severity} ${one.code}: ${one.path}`),
    messages: found.map((one) => one.message),
    remedies: found.map((one) => one.remedy),
  }
}

const field = (type: string, validator: string, more = ''): string =>
  `checkpoint:\n  strict: true\n  allow_override: false\nevidence_schema:\n  b: {type: boolean, description: Done}\n  a:\n    type: ${type}\n    required: true\n    description: About a\n    validator: ${validator}\n${more}`

describe('a gate file with the sections checkpoint, evidence_schema and validators', () => {
  it.each([
    ['an import', 'lambda x: __import__("os").system("true") == 0'],
    ['a call', 'lambda x: exit(x)'],
    ['a generator', "lambda x: len(x) == 40 and all(c in 'abc' for c in x)"],
    ['a greatest length', 'lambda x: len(x) <= 3'],
    ['a method', 'lambda x: x.isalnum()'],
    ['a choice', 'lambda x: x > 0 or True'],
    ['a negation', 'lambda x: not x > 0'],
    ['a condition', 'lambda x: 1 if x else 0'],
    ['an assignment', 'lambda x: (x := 1) > 0'],
    ['a comparison with another name', 'lambda x: x > y'],
    ['a truth that holds for everything', 'lambda x: True'],
    ['a comparison of constants', 'lambda x: 1 > 0'],
    ['a longer chain', 'lambda x: 0 < 1 < x < 9'],
    ['text behind it', 'lambda x: x > 0, x'],
    ['no expression', 'lambda x:'],
    ['no code at all', 'whatever fits'],
  ])('[REQ-DOC-16] %s is refused by name, and nothing of it is run', async (_name, code) => {
    const gate = field('integer', 'own', `validators:\n  own: ${JSON.stringify(code)}\n`)
    const { problems, messages, remedies } = await loadGate(gate)
    expect(problems).toEqual(['6 error unknown_validator: evidence_schema.a'])
    expect(messages[0]).toContain(code)
    expect(remedies[0]).toContain('Code is never run.')
  })

  it.each([
    ['string', 'lambda x: x > 0'],
    ['integer', 'lambda x: len(x) > 0'],
    ['boolean', 'lambda x: x >= 1'],
    ['integer', "lambda x: x == 'one'"],
    ['object', 'lambda x: len(x) > 0'],
  ])('[REQ-DOC-16] a field of type %s takes no %s', async (type, code) => {
    const { problems } = await loadGate(field(type, JSON.stringify(code), 'validators: {}\n'))
    expect(problems).toEqual(['6 error rule_type_mismatch: evidence_schema.a'])
  })

  it.each([
    ['integer', 'lambda x: x > 0', { min: 1 }],
    ['integer', 'lambda count: count >= 80', { min: 80 }],
    ['integer', 'lambda x: 0 <= x <= 100', { min: 0, max: 100 }],
    ['integer', 'lambda x: 0 < x < 100', { min: 1, max: 99 }],
    ['integer', 'lambda x: x > 0 and x < 10', { min: 1, max: 9 }],
    ['integer', 'lambda x: 5 >= x', { max: 5 }],
    ['number', 'lambda x: x > 0.5', { above: 0.5 }],
    ['list', 'lambda x: len(x) > 0', { minLength: 1 }],
    ['string', 'lambda x: len( x ) >= 3', { minLength: 3 }],
    ['boolean', 'lambda x: x is True', { mustBe: true }],
    ['boolean', 'lambda x: x is False', { mustBe: false }],
    ['string', "lambda x: x == 'done'", { mustBe: 'done' }],
  ])('[REQ-DOC-17] a field of type %s with %s is held to it', async (type, code, bounds) => {
    const { fields, problems } = await loadGate(field(type, 'own', `validators:\n  own: ${JSON.stringify(code)}\n`))
    expect(problems).toEqual([])
    expect(fields?.get('a')).toMatchObject(bounds)
  })

  it('[REQ-DOC-17] a validator takes its parameters from the field, all of them and no other', async () => {
    const own = 'validators:\n  in_range: "lambda x, low, high: low <= x <= high"\n'
    const params = (text: string): string =>
      field('integer', 'in_range', own).replace('validators:', `    validator_params: ${text}\nvalidators:`)
    expect((await loadGate(params('{low: 80, high: 100}'))).fields?.get('a')).toMatchObject({ min: 80, max: 100 })
    expect((await loadGate(params('{low: 80}'))).remedies).toEqual(["Give 'high' in validator_params."])
    expect((await loadGate(params('{low: 80, high: 100, more: 1}'))).problems).toEqual([
      '6 error unknown_validator: evidence_schema.a',
    ])
    expect((await loadGate(params('{low: [1], high: 100}'))).problems).toEqual([
      '6 error unknown_validator: evidence_schema.a',
    ])
  })

  it('[REQ-DOC-17] well-known names need no definition, and a definition wins over them', async () => {
    expect((await loadGate(field('list', 'non_empty'))).fields?.get('a')).toMatchObject({ minLength: 1 })
    const ranged = field('integer', 'in_range', '    validator_params: {min_val: 1, max_val: 5}\n')
    expect((await loadGate(ranged)).fields?.get('a')).toMatchObject({ min: 1, max: 5 })
    const own = field('integer', 'positive', 'validators: {positive: "lambda x: x > 9"}\n')
    expect((await loadGate(own)).fields?.get('a')).toMatchObject({ min: 10 })
  })

  it('[REQ-DOC-16] settings in other sections that Phaselock ignores are reported, never dropped', async () => {
    const rest = 'evidence_schema:\n  a: {type: boolean, required: true, description: Done}\n'
    const lenient = await loadGate(
      `checkpoint:\n  strict: false\n  allow_override: true\n${rest}validators:\n  unused: "lambda x: x > 0"\n`,
    )
    expect(lenient.problems).toEqual([
      '2 warning contract.effect_differs: checkpoint.strict',
      '3 warning contract.effect_differs: checkpoint.allow_override',
      '7 warning contract.effect_differs: validators.unused',
    ])
    expect(lenient.fields?.get('a')).toMatchObject({ type: 'boolean', optional: false })
    expect((await loadGate(`checkpoint:\n  strickt: true\n${rest}`)).problems).toEqual([
      '2 error contract.unknown_key: checkpoint.strickt',
    ])
    expect((await loadGate(`checkpoint: lenient\n${rest}`)).problems).toEqual(['1 error bad_yaml: checkpoint'])
    const crossed = `${rest}cross_field_validation:\n  - {rule: "lambda e: True", error_message: No}\n`
    expect((await loadGate(crossed)).problems).toEqual(['3 error unknown_validator: cross_field_validation'])
  })

  it('[REQ-DOC-17] fields named like a section are fields if nothing wraps them', async () => {
    const { fields } = await loadGate('validators: {type: array}\na: {type: integer}\n')
    expect([...(fields?.keys() ?? [])].sort()).toEqual(['a', 'validators'])
  })
})
