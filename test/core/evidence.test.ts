import { describe, expect, it } from 'vitest'
import { judgeEvidence } from '../../src/checks/evidence.js'
import type { EvidenceField } from '../../src/core/contract/contract.js'
import { findObservedSource } from '../../src/core/evidence/observed-evidence.js'
import type { ObservedRun } from '../../src/core/evidence/observed-run.js'
import type { Json, JsonObject } from '../../src/core/json.js'
import { evidenceField as field } from './evidence-fields.js'

type EvidenceAsked = Parameters<typeof judgeEvidence>[0]

const asked = (fields: Record<string, EvidenceField>, about: Partial<EvidenceAsked> = {}): EvidenceAsked => ({
  fields: new Map(Object.entries(fields)),
  minVerified: 0,
  tasksOpen: [],
  commands: ['tests', 'coverage', 'tests_slow'],
  ...about,
})
const run = (about: Partial<ObservedRun>): ObservedRun => ({
  name: 'tests',
  command: 'npm test',
  exitCode: 0,
  counts: { passed: 3, failed: 1, skipped: 2 },
  tests: [],
  isComplete: true,
  loadFailures: [],
  coverage: null,
  wasStopped: false,
  problem: null,
  durationMs: 1,
  treeHash: '',
  ...about,
})
const NOTHING = { files: new Map(), runs: null }

describe('evidence of the agent alone', () => {
  const cases: readonly (readonly [Partial<EvidenceField>, Json | undefined, string])[] = [
    [{ type: 'integer' }, undefined, 'required: it'],
    [{ type: 'integer' }, null, 'required: it'],
    [{ type: 'integer', description: '' }, null, 'required: a value of type integer'],
    [{ type: 'integer' }, true, 'wrong type: expected integer, got boolean'],
    [{ type: 'integer' }, 1.5, 'wrong type: expected integer, got number'],
    [{ type: 'number' }, Number.POSITIVE_INFINITY, 'wrong type: expected number, got number'],
    [{ type: 'number' }, false, 'wrong type: expected number, got boolean'],
    [{ type: 'string' }, ['a'], 'wrong type: expected string, got array'],
    [{ type: 'object' }, [], 'wrong type: expected object, got array'],
    [{ type: 'array' }, {}, 'wrong type: expected array, got object'],
    [{ type: 'boolean' }, 1, 'wrong type: expected boolean, got integer'],
    [{ type: 'boolean' }, false, 'validation failed: it'],
    [{ type: 'boolean', description: '' }, false, 'validation failed: must be true'],
    [{ type: 'integer', above: 3 }, 3, 'validation failed: it'],
    [{ type: 'integer', min: 3, description: '' }, 2, 'validation failed: must be at least 3'],
    [{ type: 'object', mustBe: { a: 1, b: 2 } }, { b: 2 }, 'validation failed: it'],
    [{ type: 'string', minLength: 2 }, '😀', 'validation failed: it'],
    [
      { type: 'string', pattern: '^a' },
      `a${'x'.repeat(100_000)}`,
      'validation error: longer than 100000 characters, which is too long for its pattern',
    ],
  ]
  it.each(cases)('[REQ-EVIDENCE-8] %j with %j is one problem in its form', (about, value, text) => {
    const given: JsonObject = value === undefined ? {} : { f: value }
    expect(judgeEvidence(asked({ f: field(about) }), given, NOTHING).problems).toEqual([`f (${text})`])
  })

  it.each([
    [{ type: 'integer' }, 42.0],
    [{ type: 'integer', above: 3 }, 4],
    [{ type: 'boolean', mayBeFalse: true }, false],
    [{ type: 'boolean', mustBe: false }, false],
    [
      { type: 'object', mustBe: { a: 1, b: 2 } },
      { b: 2, a: 1 },
    ],
    [{ type: 'string', minLength: 2 }, '😀😀'],
    [{ type: 'string' }, ''],
    [{ type: 'string', pattern: '\\u0041/' }, 'A/'],
  ] as const)('[REQ-EVIDENCE-8] %j with %j holds', (about, value) => {
    const judged = judgeEvidence(asked({ f: field(about as Partial<EvidenceField>) }), { f: value as Json }, NOTHING)
    expect(judged).toEqual({ evidence: { f: value }, problems: [], open: [], proofs: {} })
  })

  it('[REQ-EVIDENCE-8] a field nobody asked for is a problem, also where nothing is asked for', () => {
    expect(judgeEvidence(asked({}), { x: 1 }, NOTHING).problems).toEqual([
      'x (validation error: unknown field; the phase asks for no evidence)',
    ])
    const inherited = judgeEvidence(asked({ toString: field({}) }), {}, NOTHING)
    expect(inherited.problems).toEqual(['toString (required: it)'])
  })
})

describe('evidence that is observed', () => {
  const observed = (about: Partial<EvidenceField> = {}) => field({ type: 'integer', grade: 'observed', ...about })
  const judge = (fields: Record<string, EvidenceField>, given: JsonObject, runs: Record<string, ObservedRun> | null) =>
    judgeEvidence(asked(fields), given, {
      files: new Map(),
      runs: runs === null ? null : new Map(Object.entries(runs)),
    })

  it('[REQ-EVIDENCE-9] a claim is not an observation: before the run the field is open, and after it the run decides', () => {
    const fields = { tests_passed: observed() }
    expect(judge(fields, { tests_passed: 3 }, null)).toMatchObject({
      problems: [],
      open: [expect.any(String)],
      proofs: {},
    })
    expect(judge(fields, { tests_passed: 4 }, { tests: run({}) }).problems).toEqual([
      'tests_passed (validation failed: claimed 4, observed 3)',
    ])
    expect(judge(fields, {}, { tests: run({}) })).toEqual({
      evidence: { tests_passed: 3 },
      problems: [],
      open: [],
      proofs: { tests_passed: { grade: 'observed', command: 'tests' } },
    })
  })

  it.each([
    ['was stopped', { wasStopped: true }],
    ['contradicts itself', { problem: 'it contradicts itself' }],
    ['reported no counts', { counts: null }],
  ])('[REQ-EVIDENCE-9] a run that %s fills nothing', (_name, about) => {
    expect(judge({ tests_passed: observed() }, { tests_passed: 3 }, { tests: run(about) }).problems).toEqual([
      expect.stringMatching(/^tests_passed \(validation error: tests was run, but /),
    ])
  })

  it('[REQ-EVIDENCE-9] a field that no command fills never holds, whatever is claimed', () => {
    const judged = judge({ invented: observed() }, { invented: 1 }, { tests: run({}) })
    expect(judged.problems).toEqual(['invented (validation error: no command of the contract fills this field)'])
  })

  it.each([
    ['tests_passed', 'integer', { command: 'tests', member: 'passed' }],
    ['tests_passed', 'number', { command: 'tests', member: 'passed' }],
    ['tests_passed', 'boolean', null],
    ['tests_slow_passed', 'integer', { command: 'tests_slow', member: 'passed' }],
    ['tests', 'boolean', { command: 'tests', member: 'succeeded' }],
    ['coverage', 'number', { command: 'coverage', member: 'coverage' }],
    ['coverage', 'integer', null],
    ['tests_exit_code', 'integer', { command: 'tests', member: 'exit_code' }],
    ['tests_nonsense', 'integer', null],
    ['passed', 'integer', null],
  ] as const)('[REQ-EVIDENCE-9] %s of type %s comes from %j', (name, type, source) => {
    expect(findObservedSource(['tests', 'coverage', 'tests_slow'], name, type)).toEqual(source)
  })

  it('[REQ-EVIDENCE-9] optional fields that are not given count for nothing toward min_verified', () => {
    const fields = { report: field({ grade: 'artifact', optional: true }), tests_passed: observed() }
    const judged = judgeEvidence(
      asked(fields, { minVerified: 2 }),
      {},
      { files: new Map(), runs: new Map([['tests', run({})]]) },
    )
    expect(judged.problems).toEqual([
      'min_verified (validation failed: 2 fields must be proved by a file or a run, and 1 is)',
    ])
  })
})
