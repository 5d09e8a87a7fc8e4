import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CheckInputs } from '../../src/checks/check-inputs.js'
import { judgeEvidence } from '../../src/checks/evidence.js'
import { runCheck } from '../../src/checks/run-check.js'
import { CHECK_NAMES, CHECKS_NOT_ENFORCED, type EvidenceField } from '../../src/core/contract/contract.js'
import type { Json, JsonObject } from '../../src/core/json.js'
import { openWorkTree } from '../../src/tree/work-tree.js'
import { contractOf, phase } from '../core/world.js'

/** The problems of evidence in which every field is the agent's word. */
function findEvidenceProblems(fields: ReadonlyMap<string, EvidenceField>, evidence: JsonObject): readonly string[] {
  const asked = { fields, minVerified: 0, tasksOpen: [], commands: [] }
  return judgeEvidence(asked, evidence, { files: new Map(), runs: null }).problems
}

let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'phaselock-tree-'))
  mkdirSync(join(root, 'tree/src'), { recursive: true })
  writeFileSync(join(root, 'outside.txt'), 'secret')
  writeFileSync(join(root, 'tree/src/a.ts'), 'const a = 1 // FIXME')
  writeFileSync(join(root, 'tree/ok.json'), '{}')
  writeFileSync(join(root, 'tree/bad.json'), '{')
  symlinkSync(join(root, 'outside.txt'), join(root, 'tree/link.txt'))
  symlinkSync(root, join(root, 'tree/up'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

function inputs(artifacts: Record<string, unknown>, about: Partial<CheckInputs> = {}): CheckInputs {
  const all = new Map(Object.entries(artifacts)) as Map<string, Json>
  return {
    contract: contractOf([phase('A')]),
    ofVisit: all,
    all,
    evidence: {},
    task: {},
    tree: openWorkTree(join(root, 'tree')),
    pinnedTests: null,
    observed: new Map(),
    observedView: {},
    git: null,
    pinnedRun: null,
    params: {},
    ...about,
  }
}

const judge = async (
  name: Parameters<typeof runCheck>[0],
  artifacts: Record<string, unknown>,
  about: Partial<CheckInputs> = {},
) => (await runCheck(name, inputs(artifacts, about))).result

const criterion = { criterion: 'c', how_to_verify: 'v' }
const run = { exit_code: 0, passed: 1, failed: 0, skipped: 0 }

describe('checks of artifacts', () => {
  it.each([
    ['plan_has_acceptance_criteria', {}, 'fails'],
    ['plan_has_acceptance_criteria', { plan_document: [] }, 'fails'],
    ['plan_has_acceptance_criteria', { plan_document: { acceptance_criteria: [] } }, 'fails'],
    [
      'plan_has_acceptance_criteria',
      { plan_document: { acceptance_criteria: [{ criterion: 'c', how_to_verify: ' ' }] } },
      'fails',
    ],
    ['plan_has_acceptance_criteria', { plan_document: { acceptance_criteria: [criterion] } }, 'holds'],
    ['scope_is_bounded', { plan_document: {} }, 'fails'],
    ['scope_is_bounded', { scope_definition: { in_scope: ['a'], out_of_scope: [] } }, 'fails'],
    ['scope_is_bounded', { scope_definition: { in_scope: ['a'], out_of_scope: ['b'] } }, 'holds'],
    ['scope_is_bounded', { plan_document: { scope: { in_scope: ['a'], out_of_scope: ['b'] } } }, 'holds'],
    ['no_open_questions', { plan_document: { open_questions: ['why?'] } }, 'fails'],
    ['no_open_questions', { plan_document: { open_questions: [''] } }, 'holds'],
    ['no_open_questions', {}, 'holds'],
    ['no_open_questions', { plan_document: { open_questions: 'why?' } }, 'fails'],
    ['no_open_questions', { plan_document: { open_questions: { a: 'why?' } } }, 'fails'],
  ] as const)('[REQ-CHECK-1] %s on %j %s', async (name, artifacts, expected) => {
    expect(await judge(name, artifacts)).toBe(expected)
  })

  it.each([
    ['tests_are_failing', {}, 'fails'],
    ['tests_are_failing', { ...run }, 'fails'],
    ['tests_are_failing', { ...run, exit_code: 1 }, 'fails'],
    ['tests_are_failing', { ...run, failed: 1 }, 'fails'],
    ['tests_are_failing', { ...run, exit_code: 1, failed: '1' }, 'fails'],
    ['tests_are_failing', { ...run, exit_code: 1, failed: 1 }, 'holds'],
    ['all_tests_pass', { ...run, failed: 1 }, 'fails'],
    ['all_tests_pass', { ...run, exit_code: 1 }, 'fails'],
    ['all_tests_pass', { ...run, passed: 0 }, 'fails'],
    ['all_tests_pass', { ...run, passed: -1 }, 'fails'],
    ['all_tests_pass', { ...run, passed: true }, 'fails'],
    ['all_tests_pass', { ...run }, 'holds'],
    ['no_skipped_tests', { ...run, skipped: 1 }, 'fails'],
    ['no_skipped_tests', { ...run }, 'holds'],
  ] as const)('[REQ-CHECK-2] %s on the run %j %s', async (name, test_run_result, expected) => {
    expect(await judge(name, { test_run_result })).toBe(expected)
  })

  it('[REQ-CHECK-2] the run of an earlier phase does not count', async () => {
    expect(await judge('all_tests_pass', { test_run_result: run }, { ofVisit: new Map() })).toBe('fails')
  })

  it('[REQ-CHECK-3] tests_unchanged is an error without a RED, fails on a changed or deleted file, and holds otherwise', async () => {
    const tree = openWorkTree(join(root, 'tree'))
    const hash = (await tree.hash('src/a.ts')) ?? ''
    expect(await judge('tests_unchanged', {})).toBe('error')
    expect(await judge('tests_unchanged', {}, { pinnedTests: new Map([['src/a.ts', 'other']]) })).toBe('fails')
    expect(await judge('tests_unchanged', {}, { pinnedTests: new Map([['gone.ts', hash]]) })).toBe('fails')
    expect(await judge('tests_unchanged', {}, { pinnedTests: new Map([['src/a.ts', hash]]) })).toBe('holds')
  })

  it('[REQ-CHECK-3] tests_unchanged holds without a RED only in a phase that is passed before the first one', async () => {
    const judged = (current: string, isBeforeRed: boolean) =>
      judge('tests_unchanged', {}, { contract: contractOf([phase('A', { isBeforeRed })]), task: { phase: current } })
    expect([await judged('A', false), await judged('B', true), await judged('A', true)]).toEqual([
      'error',
      'error',
      'holds',
    ])
  })

  it.each([
    ['no_blocking_issues', {}, 'fails'],
    ['no_blocking_issues', { review_report: {} }, 'fails'],
    ['no_blocking_issues', { review_report: { blocking_issues: 'none' } }, 'fails'],
    ['no_blocking_issues', { review_report: { blocking_issues: ['x'] } }, 'fails'],
    ['no_blocking_issues', { review_report: { blocking_issues: [] } }, 'holds'],
    ['no_blocking_issues', { review_results: { blocking_issues: [] } }, 'holds'],
    ['review_comments_addressed', { review_report: { reviews: [{ comments: ['fix'] }] } }, 'fails'],
    ['review_comments_addressed', { review_report: { reviews: { a: { comments: 'fix' } } } }, 'fails'],
    ['review_comments_addressed', { review_report: {} }, 'fails'],
    ['review_comments_addressed', { review_report: { reviews: { a: { comments: ['fix'] } } } }, 'fails'],
    [
      'review_comments_addressed',
      { review_report: { reviews: { a: { comments: [{ text: 'x', status: 'open' }] } } } },
      'fails',
    ],
    [
      'review_comments_addressed',
      { review_report: { reviews: { a: { comments: [{ text: 'x', resolved: true }, { status: 'Resolved' }] } } } },
      'holds',
    ],
  ] as const)('[REQ-CHECK-4] %s on %j %s', async (name, artifacts, expected) => {
    expect(await judge(name, artifacts)).toBe(expected)
  })

  const both = { required_reviews: ['security', 'quality'] }
  it.each([
    ['nobody has reported', both, [], 'fails', 'no report of security; no report of quality'],
    ['one is missing', both, [['security', 'completed']], 'fails', 'no report of quality'],
    [
      'one asks for changes',
      both,
      [
        ['security', 'approved'],
        ['quality', 'changes_requested'],
      ],
      'fails',
      'the review quality asks for changes',
    ],
    [
      'one is in progress',
      both,
      [
        ['security', 'approved'],
        ['quality', 'in_progress'],
      ],
      'fails',
      'the review quality is in progress',
    ],
    [
      'one is outdated',
      both,
      [
        ['security', 'outdated'],
        ['quality', 'approved'],
      ],
      'fails',
      'the review security is about an earlier state',
    ],
    [
      'one is by the implementer',
      both,
      [
        ['security', 'by_implementer'],
        ['quality', 'approved'],
      ],
      'fails',
      'by an agent that works on the task',
    ],
    [
      'one has a status that is none',
      both,
      [
        ['security', 'done'],
        ['quality', 'approved'],
      ],
      'fails',
      'the review security is done',
    ],
    [
      'only others have reported',
      both,
      [
        ['a', 'completed'],
        ['b', 'completed'],
      ],
      'fails',
      'no report of security',
    ],
    [
      'both are finished',
      both,
      [
        ['security', 'completed'],
        ['quality', 'approved'],
      ],
      'holds',
      '2 finished',
    ],
    ['none is asked for', {}, [['security', 'completed']], 'error', 'which reviews'],
    ['the phase takes no reports', both, null, 'error', 'which reviews'],
  ] as const)('[REQ-REVIEW-6] all_review_models_completed where %s', async (_name, params, reviews, result, found) => {
    const seen = reviews === null ? null : reviews.map(([name, status]) => ({ name, status }))
    const lie = { review_report: { reviews: { security: { status: 'completed' }, quality: { status: 'completed' } } } }
    const outcome = await runCheck('all_review_models_completed', inputs(lie, { params, reviews: seen }))
    expect(outcome).toMatchObject({ result, found: expect.stringContaining(found) })
  })

  it('[REQ-REVIEW-6] findings in the reports of reviewers are graded observed, findings in the report of the agent itself reported', async () => {
    const artifacts = { review_report: { reviews: {}, blocking_issues: [] } }
    for (const name of ['no_blocking_issues', 'review_comments_addressed'] as const) {
      expect(await runCheck(name, inputs(artifacts))).toMatchObject({ grade: 'reported' })
      expect(await runCheck(name, inputs(artifacts, { reviews: [] }))).toMatchObject({ grade: 'observed' })
    }
  })

  const strings = { type: 'object', properties: { test_files: { type: 'array', items: { type: 'string' } } } }
  const anything = { type: 'object', properties: { test_files: { type: 'array' } } }
  const pathsOnly = (...schemas: readonly Json[]) => {
    const required = schemas.map((_, index) => ({
      type: 'test_files',
      schema: `${index}`,
      description: '',
      checks: [],
    }))
    return contractOf([phase('A', { requiredArtifacts: required })], {
      schemas: new Map(schemas.map((schema, index) => [`${index}`, schema as { type: string }])),
      tests: { patterns: ['src/**'], allowChanges: false },
    })
  }

  it.each([
    ['a schema that takes anything', pathsOnly(anything), ['src/a.ts'], 'fails', 'no test covers "c"'],
    ['no schema', contractOf([phase('A')]), ['src/a.ts'], 'fails', 'no test covers "c"'],
    ['one schema of two that takes anything', pathsOnly(strings, anything), ['src/a.ts'], 'fails', 'no test covers'],
    ['a file that is not there', pathsOnly(strings), ['src/gone.ts'], 'fails', 'not in the work tree: src/gone.ts'],
    ['a file outside', pathsOnly(strings), ['../outside.txt'], 'fails', 'not in the work tree'],
    ['a file that is not a test', pathsOnly(strings), ['src/a.ts', 'ok.json'], 'fails', 'not test files: ok.json'],
    ['an empty path', pathsOnly(strings), [' '], 'fails', 'not in the work tree: (no path)'],
    ['an entry that is neither', pathsOnly(strings), [7], 'fails', 'not in the work tree: (no path)'],
    ['no file', pathsOnly(strings), [], 'fails', 'test_files names no test file'],
    ['a schema that takes paths alone', pathsOnly(strings), ['src/a.ts'], 'holds', '1 criterion covered by 1 file'],
    [
      'an object where anything is taken',
      pathsOnly(anything),
      [{ path: 'src/a.ts', covers: ['c'] }],
      'holds',
      '1 criterion covered by 1 file',
    ],
  ] as const)('[REQ-CHECK-11] test files by path: %s', async (_name, contract, test_files, result, found) => {
    const artifacts = { plan_document: { acceptance_criteria: [criterion] }, test_files: { test_files } }
    expect(await runCheck('tests_exist_for_acceptance_criteria', inputs(artifacts, { contract }))).toMatchObject({
      result,
      found: expect.stringContaining(found),
    })
  })

  it('[REQ-CHECK-11] the checks of test files read a path alone like the path of an object', async () => {
    const contract = pathsOnly(strings)
    for (const [name, found] of [
      ['test_files_follow_convention', 'ok.json match none of src/**'],
      ['tests_are_meaningful', 'no assertion in ok.json'],
    ] as const)
      expect(await runCheck(name, inputs({ test_files: { test_files: ['ok.json'] } }, { contract }))).toMatchObject({
        result: 'fails',
        found,
      })
  })

  it('[REQ-CHECK-12] blocking issues are named, a few of them, on one line', async () => {
    const found = async (blocking_issues: readonly Json[]) =>
      (await runCheck('no_blocking_issues', inputs({ review_report: { blocking_issues } }))).found
    expect(await found(['SQL from text'])).toBe('1 blocking issue: SQL from text')
    expect(
      await found([
        { text: 'A hole', path: 'src/a.ts', line: 3 },
        { message: 'Slow', file: 'b.ts' },
      ]),
    ).toBe('2 blocking issues: A hole (src/a.ts:3); Slow (b.ts)')
    expect(await found([{ severity: 'high' }, 7, null])).toBe('3 blocking issues: {"severity":"high"}; 7; null')
    expect(await found(['a\u001b[31m\nb\u202E\u2028c'])).toBe('1 blocking issue: a [31m b c')
    expect(await found(['x'.repeat(5000)])).toBe(`1 blocking issue: ${'x'.repeat(120)}…`)
    expect(await found(Array.from({ length: 100 }, (_, index) => `i${index}`))).toBe(
      '100 blocking issues: i0; i1; i2; i3; i4; and 95 more',
    )
  })

  it('[REQ-CHECK-8] a check that throws is an error, and one that this version cannot run is an error', async () => {
    const broken = { ...inputs({}), all: null as unknown as ReadonlyMap<string, Json> }
    expect(await runCheck('plan_has_acceptance_criteria', broken)).toMatchObject({ result: 'error' })
    for (const name of CHECKS_NOT_ENFORCED) expect(await runCheck(name, inputs({}))).toMatchObject({ result: 'error' })
    const unknown = [...CHECK_NAMES].filter((name) => !CHECKS_NOT_ENFORCED.has(name))
    for (const name of unknown)
      expect((await runCheck(name, inputs({}))).found, name).not.toBe('this version cannot run the check')
  })
})

describe('checks of files', () => {
  const at = (params: Record<string, Json>) => ({ params })

  it.each([
    ['file_exists', { path: 'src/a.ts' }, 'holds'],
    ['file_exists', { path: 'nope' }, 'fails'],
    ['file_exists', { path: 'src' }, 'fails'],
    ['file_exists', { path: '../outside.txt' }, 'fails'],
    ['file_exists', { path: 'up/outside.txt' }, 'fails'],
    ['file_exists', { path: '/etc/passwd' }, 'fails'],
    ['file_exists', {}, 'error'],
    ['json_valid', { path: 'ok.json' }, 'holds'],
    ['json_valid', { path: 'bad.json' }, 'fails'],
    ['json_valid', { path: 'link.txt' }, 'fails'],
    ['no_pattern', { pattern: 'FIXME', paths: ['src/**'] }, 'fails'],
    ['no_pattern', { pattern: 'FIXME', paths: ['lib/**'] }, 'holds'],
    ['no_pattern', { pattern: 'secret', paths: ['*.json'] }, 'holds'],
    ['no_pattern', { pattern: 'secret', paths: ['**'] }, 'error'],
    ['no_pattern', { pattern: 'secret', paths: ['up/**'] }, 'error'],
    ['no_pattern', { pattern: 'x' }, 'error'],
  ] as const)('[REQ-CHECK-5] %s on %j %s', async (name, params, expected) => {
    expect(await judge(name, {}, at(params as Record<string, Json>))).toBe(expected)
  })
})

describe('expressions', () => {
  const artifacts = { plan: { steps: [1, 2, 3], title: 'a', ratio: 0.5 } }
  it.each([
    ['artifacts.plan.steps.size() >= 3', 'holds'],
    ['artifacts.plan.steps[0] + 1 == 2', 'holds'],
    ['artifacts.plan.ratio >= 0.5', 'holds'],
    ['"plan" in artifacts && !("x" in artifacts)', 'holds'],
    ['artifacts.plan.steps.size() > 3', 'fails'],
    ['artifacts.plan.title', 'fails'],
    ['artifacts.nope.x == 1', 'error'],
    ['unknown == 1', 'error'],
    ['1 +', 'error'],
    ['', 'error'],
  ])('[REQ-CHECK-6] %j %s', async (when, expected) => {
    expect(await judge('expression', artifacts, { params: { when } })).toBe(expected)
  })

  it('[REQ-CHECK-6] a pattern that backtracks without end is ended', async () => {
    expect(
      await judge(
        'expression',
        { plan: { title: `${'a'.repeat(60)}!` } },
        { params: { when: 'artifacts.plan.title.matches("(a+)+$")' } },
      ),
    ).toBe('error')
  })
})

describe('evidence', () => {
  const field = (about: Partial<EvidenceField>): EvidenceField => ({
    type: 'string',
    min: null,
    max: null,
    minLength: null,
    pattern: null,
    enum: null,
    mustBe: undefined,
    optional: false,
    description: 'it',
    ...about,
  })

  it.each([
    [{ type: 'integer' }, undefined, 'f (required: it)'],
    [{ type: 'integer' }, null, 'f (required: it)'],
    [{ type: 'integer' }, true, 'f (wrong type: expected integer, got boolean)'],
    [{ type: 'integer' }, '3', 'f (wrong type: expected integer, got string)'],
    [{ type: 'integer' }, 1.5, 'f (wrong type: expected integer, got number)'],
    [{ type: 'integer', min: 3 }, 2, 'f (validation failed: it)'],
    [{ type: 'integer', max: 3 }, 4, 'f (validation failed: it)'],
    [{ type: 'boolean' }, false, 'f (validation failed: it)'],
    [{ type: 'array', minLength: 1 }, [], 'f (validation failed: it)'],
    [{ type: 'array' }, {}, 'f (wrong type: expected array, got object)'],
    [{ type: 'string', pattern: '^a+$' }, 'b', 'f (validation failed: it)'],
    [{ type: 'string', enum: ['x', 'y'] }, 'z', 'f (validation failed: it)'],
    [{ type: 'boolean', mustBe: false }, true, 'f (validation failed: it)'],
  ] as const)('[REQ-CHECK-7] %j with %j is refused', (about, value, message) => {
    const given = value === undefined ? {} : { f: value as Json }
    expect(findEvidenceProblems(new Map([['f', field(about as Partial<EvidenceField>)]]), given)).toEqual([message])
  })

  it.each([
    [{ type: 'integer', min: 3 }, 3],
    [{ type: 'integer' }, 42.0],
    [{ type: 'boolean' }, true],
    [{ type: 'boolean', mustBe: false }, false],
    [{ type: 'boolean', optional: true }, false],
    [{ type: 'string', optional: true }, null],
    [{ type: 'string', pattern: '^a+$' }, 'aa'],
  ] as const)('[REQ-CHECK-7] %j with %j is accepted', (about, value) => {
    expect(
      findEvidenceProblems(new Map([['f', field(about as Partial<EvidenceField>)]]), { f: value as Json }),
    ).toEqual([])
  })

  it('[REQ-CHECK-7] a field that nobody asked for, also one named like a property of every object, is refused', () => {
    expect(findEvidenceProblems(new Map(), { x: 1 })).toHaveLength(1)
    expect(findEvidenceProblems(new Map([['constructor', field({})]]), {})).toEqual(['constructor (required: it)'])
  })
})

describe('time limits', () => {
  it('[REQ-CHECK-8] a check that is not decided in the time of its gate is an error', async () => {
    const tree = {
      read: () => new Promise<never>(() => undefined),
      list: async () => [],
      listFolder: async () => [],
      hash: () => new Promise<never>(() => undefined),
      hashEach: () => new Promise<never>(() => undefined),
    }
    const outcome = await runCheck('file_exists', { ...inputs({}), tree, params: { path: 'a' } }, 0.05)
    expect(outcome).toMatchObject({ result: 'error', found: 'not decided within 0.05 s' })
  })
})
