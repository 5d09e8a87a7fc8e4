import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { BUNDLED_CONTRACTS, findBundledContract, isBundledContract } from '../../src/contract/bundled-contracts.js'
import { compileDocument } from '../../src/contract/compile/compile-document.js'
import { toCanonicalJson } from '../../src/contract/fingerprint.js'
import { loadContractFile } from '../../src/contract/load/load-contract.js'
import type { JsonObject } from '../../src/core/json.js'
import { formatErrors } from './format-schema.js'
import { HEAD, mustLoad } from './load.js'

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')
const NODES = `mode: discovery
start_node: spec
summary: A quick loop.
guides: {SPEC_WRITING: Write it down.}
nodes:
  spec:
    summary: Specify.
    prompt: "Read {{SPEC_WRITING}} {{?context}}"
    transitions:
      - {when: spec_complete, to: code}
  code:
    prompt: Code.
    forbidden_tools: [git_commit]
    rules:
      - repeated_command: {pattern: "cargo (build|test)", threshold: 5, window: 120}
      - {type: token_budget, max_tokens: 5000}
    transitions:
      - {when: code_complete, to: done}
      - {when: again, to: restart_cycle}
`
const LIST = `${HEAD}phases:
  - id: A
    allowed_tools: [grep]
    gates: [{id: g, type: approval}]
  - id: B
transitions: [{from: A, to: B, gate: g}]
`
const MAP = `${HEAD}phases:
  A:
    allowed_tools: [grep]
    gates: [{id: g, type: approval}]
  B:
transitions: [{from: A, to: B, gate: g}]
`
const SHARED = `${HEAD}phases: [{id: A, allowed_tools: [grep]}, {id: B}]
gates: {g: {type: approval}}
transitions: [{from: A, to: B, gate: g}]
`
const EVERYTHING = read('../cases/everything.yaml')
const BOARD = read('../cases/review-board.yaml')
const TDD = read('../../contracts/tdd.yaml')
const PLAN_REVIEW = read('../../contracts/plan-review.yaml')

const GOOD = Object.entries({ NODES, LIST, MAP, SHARED, EVERYTHING, BOARD, TDD, PLAN_REVIEW })

describe('accepted forms', () => {
  it('[REQ-CONTRACT-1] a list, a map and shared gates that say the same have the same hash', async () => {
    const hashes = await Promise.all([LIST, MAP, SHARED].map(async (text) => (await mustLoad(text)).contract.hash))
    expect(new Set(hashes).size).toBe(1)
  })

  it('[REQ-CONTRACT-1] JSON is accepted with the same meaning', async () => {
    const json = JSON.stringify(parse(LIST), null, '\t')
    expect((await mustLoad(json)).contract).toEqual((await mustLoad(LIST)).contract)
  })

  it.each(GOOD)(
    '[REQ-CONTRACT-1] the canonical document of %s is a contract with the same hash',
    async (_name, text) => {
      const first = await mustLoad(text)
      const again = await mustLoad(JSON.stringify(first.document))
      expect(again.document).toEqual(first.document)
      expect(again.contract.hash).toBe(first.contract.hash)
    },
  )

  it.each(GOOD)(
    '[REQ-CONTRACT-2] the published JSON Schema accepts %s and its canonical document',
    async (_name, text) => {
      expect(formatErrors(parse(text))).toEqual([])
      expect(formatErrors((await mustLoad(text)).document)).toEqual([])
    },
  )

  it.each(GOOD)('[REQ-CONTRACT-11] the stored document of %s compiles into the same contract', async (_name, text) => {
    const { contract, document } = await mustLoad(text)
    const stored = JSON.parse(toCanonicalJson(document)) as JsonObject
    expect(compileDocument(stored, contract.hash)).toEqual(contract)
  })

  it('[REQ-CONTRACT-6] keys that start with x- are left to the author and change nothing', async () => {
    const plain = await mustLoad(LIST)
    expect((await mustLoad(`x-team: docs\n${LIST}`)).contract.hash).toBe(plain.contract.hash)
  })

  it('[REQ-CONTRACT-7] phases named like prototype members are phases', async () => {
    const { contract } = await mustLoad(`${HEAD}phases: [{id: constructor}, {id: __proto__}]\n`)
    expect([...contract.phases.keys()]).toEqual(['constructor', '__proto__'])
    const map = await mustLoad(`${HEAD}phases: {__proto__: {name: P}, toString: {}}\n`)
    expect(map.contract.phases.get('__proto__')?.name).toBe('P')
  })
})

describe('nodes files', () => {
  it('[REQ-CONTRACT-16] a nodes file has an implicit done, restart_cycle and no tool limits', async () => {
    const { contract, document } = await mustLoad(NODES)
    expect(contract).toMatchObject({ name: 'discovery', version: '1', description: 'A quick loop.', start: 'spec' })
    expect([...contract.phases.keys()]).toEqual(['spec', 'code', 'done'])
    expect(contract.transitions).toEqual([
      { from: 'spec', to: 'code', gate: null, when: 'spec_complete' },
      { from: 'code', to: 'done', gate: null, when: 'code_complete' },
      { from: 'code', to: 'spec', gate: null, when: 'again' },
    ])
    expect(contract.phases.get('spec')).toMatchObject({ allowedTools: 'all', description: 'Specify.' })
    expect(contract.phases.get('code')).toMatchObject({ allowedTools: 'all', forbiddenTools: ['git_commit'] })
    expect(document.mode).toBe('discovery')
  })

  it('[REQ-CONTRACT-8] both shapes of a rule become one', async () => {
    const { document } = await mustLoad(NODES)
    const [, code] = document.phases as unknown as { rules: JsonObject[] }[]
    const options = { on_violation: 'interrupt', unless_progress: false, shadow: false }
    expect(code?.rules).toEqual([
      { type: 'repeated_command', pattern: 'cargo (build|test)', threshold: 5, window: 120, ...options },
      { type: 'token_budget', max_tokens: 5000, ...options },
    ])
  })

  it('[REQ-CONTRACT-15] a bare name in a nodes file is a guide', async () => {
    const { contract } = await mustLoad(NODES)
    expect(contract.phases.get('spec')?.prompt).toBe('Read {{guide:SPEC_WRITING}} {{?context}}')
    expect(contract.guides.get('SPEC_WRITING')).toBe('Write it down.')
  })
})

describe('defaults', () => {
  it('[REQ-CONTRACT-20] omitted fields have their documented defaults', async () => {
    const { contract } = await mustLoad(`${HEAD}phases:\n  - id: A\n    gates: [{id: g, type: validation}]\n`)
    expect(contract.enforcement).toEqual({
      mode: 'strict',
      tokenExpirySeconds: 7200,
      secretEnvVar: 'ORCHESTRATOR_JWT_SECRET',
      maxAttempts: 3,
      denialBudget: 10,
      leaseSeconds: 900,
      confinement: 'required',
      reconcile: 'block',
      reconcileIgnore: [],
    })
    expect(contract.tests).toEqual({
      patterns: ['tests/**', '**/*.test.*', '**/*.spec.*', '**/__tests__/**'],
      allowChanges: false,
    })
    expect(contract.phases.get('A')).toMatchObject({ name: 'A', allowedTools: [], writable: null })
    expect(contract.phases.get('A')?.gates[0]).toMatchObject({ approvers: [], onTimeout: 'park', autoAdvance: false })
  })

  it('[REQ-CONTRACT-20] confinement is best effort by default outside strict mode', async () => {
    const { contract } = await mustLoad(`${HEAD}phases: [{id: A}]\nenforcement: {mode: advisory}\n`)
    expect(contract.enforcement).toMatchObject({ mode: 'advisory', confinement: 'best_effort' })
  })

  it('[REQ-CONTRACT-26] an approval gate without approvers is answered by a human', async () => {
    const { contract } = await mustLoad(LIST)
    expect(contract.phases.get('A')?.gates[0]).toMatchObject({ approvers: ['human'], minApprovals: 1 })
  })

  it('[REQ-CONTRACT-20] without transitions the phases follow each other in order', async () => {
    const { contract } = await mustLoad(`${HEAD}phases: [{id: A}, {id: B}, {id: C}]\n`)
    expect(contract.transitions.map(({ from, to }) => `${from}${to}`)).toEqual(['AB', 'BC'])
  })

  it('[REQ-CONTRACT-20] recovery.gate_timeout is the default of every gate', async () => {
    const tail = 'recovery: {gate_timeout: {action: reject}}\n'
    const { contract } = await mustLoad(`${LIST}${tail}`)
    expect(contract.phases.get('A')?.gates[0]?.onTimeout).toBe('reject')
  })
})

describe('tests between RED and GREEN', () => {
  const redGreen = (extra: string, green = ''): string => `${HEAD}${extra}phases:
  - id: RED
    allowed_tools: [bash]
    required_artifacts: [{type: test_run_result}]
    gates: [{id: red, type: validation, blockers: [{check: tests_are_failing}]}]
  - id: GREEN
    allowed_tools: [bash]
    required_artifacts: [{type: test_run_result}]
    gates: [{id: green, type: validation, blockers: [{check: all_tests_pass}${green}]}]
`
  const checks = async (text: string) =>
    (await mustLoad(text)).contract.phases.get('GREEN')?.gates[0]?.blockers.map((blocker) => blocker.check)

  it('[REQ-CONTRACT-17] the GREEN gate holds the tests unchanged', async () => {
    const { contract } = await mustLoad(redGreen(''))
    expect(contract.phases.get('GREEN')?.gates[0]?.blockers.at(-1)).toEqual({
      check: 'tests_unchanged',
      severity: 'blocking',
      message: 'Tests must stay as they were at RED',
      params: {},
    })
    expect(contract.phases.get('RED')?.gates[0]?.blockers).toHaveLength(1)
  })

  it('[REQ-CONTRACT-17] it is not added when the contract lets tests change', async () => {
    expect(await checks(redGreen('tests: {allow_changes: true}\n'))).toEqual(['all_tests_pass'])
  })

  it('[REQ-CONTRACT-17] it is not added twice', async () => {
    const written = redGreen('', ', {check: tests_unchanged}')
    expect(await checks(written)).toEqual(['all_tests_pass', 'tests_unchanged'])
  })

  it('[REQ-CONTRACT-17] a contract without a RED gate does not get it', async () => {
    expect(
      await checks(redGreen('').replace('tests_are_failing', 'work_tree_clean').replace('[bash]', '[bash]')),
    ).toEqual(['all_tests_pass'])
  })
})

describe('bundled contracts', () => {
  it.each(BUNDLED_CONTRACTS)('[REQ-CONTRACT-21] %s loads without a warning', async (name) => {
    const result = await loadContractFile(findBundledContract(name))
    expect(result).toMatchObject({ ok: true, warnings: [] })
  })

  it('[REQ-CONTRACT-21] tdd goes from a plan through RED and GREEN to a review, and back on changes_requested', async () => {
    const { contract } = await mustLoad(TDD)
    expect([...contract.phases.keys()]).toEqual(['PLAN', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE'])
    expect(contract.transitions).toContainEqual({ from: 'REVIEW', to: 'IMPL', gate: null, when: 'changes_requested' })
    expect(contract.phases.get('IMPL')?.gates[0]?.blockers.map((blocker) => blocker.check)).toContain('tests_unchanged')
    expect(contract.notEnforced).toEqual([])
  })

  it('[REQ-CONTRACT-21] the bundled contracts are those in the folder, and a path is not a name of one', () => {
    const files = readdirSync(new URL('../../contracts/', import.meta.url)).filter(
      (file) => !['schemas', 'presets'].includes(file),
    )
    expect(files.map((file) => file.replace(/\.yaml$/, '')).sort()).toEqual([...BUNDLED_CONTRACTS])
    expect([isBundledContract('tdd'), isBundledContract('../package'), isBundledContract('constructor')]).toEqual([
      true,
      false,
      false,
    ])
  })
})
