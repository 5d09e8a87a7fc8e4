import { describe, expect, it } from 'vitest'
import { type CheckOutcome, checkKey } from '../../src/core/task/command.js'
import type { TaskEvent } from '../../src/core/task/event.js'
import type { BlockerFound } from '../../src/core/task/fact-parts.js'
import { artifact, check, contractOf, factsOf, gate, outcome, phase, World } from './world.js'

const plan = { type: 'plan', schema: null, description: 'the plan', checks: [] }

function blockersOf(event: TaskEvent): readonly BlockerFound[] {
  if (event.type !== 'gate_blocked') throw new Error(`${event.type} is no gate_blocked`)
  return event.blockers
}

describe('leaving a phase', () => {
  it('[REQ-CORE-1] a target that no transition leads to is refused and lists the legal ones', () => {
    const world = new World(contractOf([phase('A'), phase('B'), phase('C')]))
    world.claim()
    expect(world.move('C')).toEqual(['transition_refused'])
    expect(world.last()).toMatchObject({ code: 'no_transition', detail: 'No transition from A to C. Legal: B' })
    expect(world.state.phase).toBe('A')
  })

  it('[REQ-CORE-1] an unknown target is no_transition as well, also when it is named like a property of every object', () => {
    const world = new World(contractOf([phase('A'), phase('B')]))
    world.claim()
    for (const target of ['constructor', '__proto__', 'nowhere', 'a', ' B', 'B ']) {
      expect(world.move(target), target).toEqual(['transition_refused'])
      expect(world.last()).toMatchObject({ code: 'no_transition' })
    }
  })

  it('[REQ-CORE-2] a wrong current_phase is a sequence violation', () => {
    const world = new World(contractOf([phase('A'), phase('B')]))
    world.claim()
    expect(
      world.do({ type: 'transition', target: 'B', currentPhase: 'B', claims: [], facts: factsOf(world.state) }),
    ).toEqual(['transition_refused'])
    expect(world.last()).toMatchObject({ code: 'phase_sequence_violation' })
  })

  it('[REQ-CORE-3] a required artifact that was not sent blocks', () => {
    const world = new World(
      contractOf([phase('A', { requiredArtifacts: [plan] }), phase('B', { requiredArtifacts: [plan] })]),
    )
    world.claim()
    expect(world.move('B')).toEqual(['transition_requested', 'gate_blocked'])
    expect(blockersOf(world.last())).toMatchObject([
      { code: 'missing_artifact', artifact: 'plan', message: 'Missing plan (the plan)' },
    ])
  })

  it('[REQ-CORE-3] an artifact that does not fit its schema blocks with every pointer', () => {
    const world = new World(contractOf([phase('A', { requiredArtifacts: [plan] }), phase('B')]))
    world.claim()
    const problems = [
      { pointer: '/title', message: 'is too short' },
      { pointer: '/scope', message: 'is missing' },
    ]
    world.move('B', { artifacts: [artifact('plan', problems)] })
    expect(blockersOf(world.last()).map((one) => one.message)).toEqual([
      'plan/title is too short',
      'plan/scope is missing',
    ])
    expect(world.state.artifacts.size).toBe(0)
  })

  it('[REQ-CORE-4] a valid artifact of a refused transition is kept for the visit and need not be sent again', () => {
    const other = { ...plan, type: 'scope' }
    const world = new World(
      contractOf([phase('A', { requiredArtifacts: [plan, other] }), phase('B', { requiredArtifacts: [plan] })]),
    )
    world.claim()
    world.move('B', { artifacts: [artifact('plan')] })
    expect(blockersOf(world.last()).map((one) => one.artifact)).toEqual(['scope'])
    expect(world.move('B', { artifacts: [artifact('scope')] })).toEqual([
      'transition_requested',
      'gate_passed',
      'phase_entered',
    ])
    expect(world.state).toMatchObject({ phase: 'B', epoch: 2, visit: 2, completedPhases: ['A'] })
  })

  it('[REQ-CORE-4] an artifact of an earlier phase does not count for a later one that asks for it again', () => {
    const world = new World(
      contractOf([phase('A', { requiredArtifacts: [plan] }), phase('B', { requiredArtifacts: [plan] }), phase('C')]),
    )
    world.claim()
    world.move('B', { artifacts: [artifact('plan')] })
    expect(world.move('C')).toEqual(['transition_requested', 'gate_blocked'])
    expect(blockersOf(world.last())).toMatchObject([{ code: 'missing_artifact' }])
  })

  it('[REQ-CORE-5] an artifact that the phase does not ask for cannot replace an accepted one', () => {
    const world = new World(
      contractOf([
        phase('A', { requiredArtifacts: [plan] }),
        phase('B', { requiredArtifacts: [{ ...plan, type: 'code' }] }),
        phase('C'),
      ]),
    )
    world.claim()
    world.move('B', { artifacts: [artifact('plan')] })
    world.move('C', { artifacts: [{ ...artifact('plan'), sha256: 'forged' }] })
    expect(world.state.artifacts.get('plan')).toMatchObject({ sha256: 'plan-sha', phase: 'A' })
    expect(world.last()).toMatchObject({ warnings: [{ artifact: 'plan', severity: 'warning' }] })
  })
})

describe('gates', () => {
  const gated = (severity: 'blocking' | 'warning' | 'info' = 'blocking') =>
    contractOf([
      phase('A', {
        gates: [gate('g', { blockers: [check('all_tests_pass', { severity, message: 'All tests must pass' })] })],
      }),
      phase('B', { gates: [gate('h')] }),
    ])

  it('[REQ-CORE-6] a check that nobody ran blocks', () => {
    const world = new World(gated())
    world.claim()
    expect(world.move('B')).toEqual(['transition_requested', 'gate_blocked'])
    expect(blockersOf(world.last())).toMatchObject([
      { code: 'check_error', message: 'All tests must pass: the check was not run' },
    ])
  })

  it.each([
    ['fails', 'check_failed'],
    ['error', 'check_error'],
  ] as const)('[REQ-CORE-6] a check that %s blocks with %s and the words of the contract', (result, code) => {
    const world = new World(gated())
    world.claim()
    world.move('B', { checks: new Map([outcome('g', 'all_tests_pass', result)]) })
    expect(blockersOf(world.last())).toMatchObject([
      { code, gate: 'g', check: 'all_tests_pass', message: 'All tests must pass: as found' },
    ])
  })

  it('[REQ-CORE-6] a check that waits for the others is named after them and asks for nothing but them', () => {
    const world = new World(
      contractOf([
        phase('A', { gates: [gate('g', { blockers: [check('all_tests_pass'), check('no_blocking_issues')] })] }),
        phase('B', { gates: [gate('h')] }),
      ]),
    )
    world.claim()
    const waiting = { result: 'fails', found: 'not run yet', grade: 'observed', isPostponed: true } as const
    const [key] = outcome('g', 'all_tests_pass', 'fails')
    const other = checkKey({ gate: 'g', artifact: null, index: 1, check: 'no_blocking_issues' })
    world.move('B', {
      checks: new Map<string, CheckOutcome>([
        [key, waiting],
        [other, { result: 'fails', found: 'one is open', grade: 'artifact' }],
      ]),
    })
    expect(blockersOf(world.last())).toMatchObject([
      { check: 'no_blocking_issues', remedy: expect.stringContaining('Fix the blocking issues') },
      {
        check: 'all_tests_pass',
        remedy: 'Fix the other findings first, then request the transition again.',
      },
    ])
  })

  it('[REQ-CORE-6] the outcome of another gate or place does not count', () => {
    const world = new World(gated())
    world.claim()
    world.move('B', {
      checks: new Map([outcome('other', 'all_tests_pass', 'holds'), outcome('g', 'all_tests_pass', 'holds', 1)]),
    })
    expect(blockersOf(world.last())).toMatchObject([{ code: 'check_error' }])
  })

  it('[REQ-CORE-6] a check that holds opens the gate', () => {
    const world = new World(gated())
    world.claim()
    expect(world.move('B', { checks: new Map([outcome('g', 'all_tests_pass', 'holds')]) })).toEqual([
      'transition_requested',
      'gate_passed',
      'phase_entered',
    ])
  })

  it('[REQ-CORE-7] evidence that was gathered in another visit blocks', () => {
    const world = new World(gated())
    world.claim()
    world.move('B', { visit: world.state.visit - 1, checks: new Map([outcome('g', 'all_tests_pass', 'holds')]) })
    expect(blockersOf(world.last())).toMatchObject([{ code: 'evidence_stale' }])
  })

  it.each(['warning', 'info'] as const)(
    '[REQ-READS-6] [REQ-CORE-8] a failing check of severity %s is told and recorded but does not block',
    (severity) => {
      const world = new World(gated(severity))
      world.claim()
      world.move('B', { checks: new Map([outcome('g', 'all_tests_pass', 'fails')]) })
      expect(world.state.phase).toBe('B')
      expect(world.events.find((event) => event.type === 'gate_passed')).toMatchObject({
        warnings: [
          {
            check: 'all_tests_pass',
            severity,
            remedy: 'Change the code until the tests that are named pass. This does not close the gate.',
          },
        ],
      })
    },
  )

  it('[REQ-CORE-9] a transition that names a gate is held by that one alone, one that names none by all gates of the phase', () => {
    const gates = [
      gate('g', { blockers: [check('all_tests_pass')] }),
      gate('h', { blockers: [check('no_skipped_tests')] }),
    ]
    const named = contractOf([phase('A', { gates }), phase('B', { gates: [gate('x')] })], {
      transitions: [{ from: 'A', to: 'B', gate: 'h', when: null }],
    })
    const world = new World(named)
    world.claim()
    expect(world.move('B', { checks: new Map([outcome('h', 'no_skipped_tests', 'holds')]) })).toContain('phase_entered')

    const all = new World(contractOf([phase('A', { gates }), phase('B', { gates: [gate('x')] })]))
    all.claim()
    expect(all.move('B', { checks: new Map([outcome('h', 'no_skipped_tests', 'holds')]) })).toContain('gate_blocked')
  })

  it('[REQ-CORE-10] checkpoint problems block one by one and accepted evidence is kept with its phase', () => {
    const field = {
      type: 'integer' as const,
      min: 1,
      max: null,
      minLength: null,
      pattern: null,
      enum: null,
      mustBe: undefined,
      optional: false,
      description: 'n',
    }
    const world = new World(
      contractOf([phase('A', { evidence: new Map([['n', field]]) }), phase('B', { gates: [gate('x')] })]),
    )
    world.claim()
    world.move('B', { evidenceProblems: ['n (required: n)'] })
    expect(blockersOf(world.last())).toMatchObject([{ code: 'incomplete_checkpoint', message: 'n (required: n)' }])
    expect(world.state.evidence.size).toBe(0)
    world.move('B', { evidence: { n: 3 } })
    expect(world.state.evidence.get('A')).toEqual({ n: 3 })
  })
})

describe('ways back and the end', () => {
  const looping = contractOf(
    [
      phase('A'),
      phase('B', { requiredArtifacts: [plan], gates: [gate('g', { blockers: [check('all_tests_pass')] })] }),
      phase('C', { requiredArtifacts: [plan] }),
    ],
    {
      transitions: [
        { from: 'A', to: 'B', gate: null, when: null },
        { from: 'B', to: 'C', gate: null, when: null },
        { from: 'B', to: 'A', gate: null, when: 'changes_requested' },
      ],
    },
  )

  it('[REQ-CORE-11] a claimed way back without its claim is refused', () => {
    const world = new World(looping)
    world.claim()
    world.move('B')
    world.move('A')
    expect(blockersOf(world.last())).toMatchObject([{ code: 'claim_missing' }])
  })

  it('[REQ-CORE-11] a claimed way back needs only its claim, and the phase it leads to is open work again', () => {
    const world = new World(looping)
    world.claim()
    world.move('B')
    expect(world.move('A', {}, ['changes_requested'])).toContain('phase_entered')
    expect(world.state).toMatchObject({ phase: 'A', visit: 3, completedPhases: [] })
  })

  it('[REQ-CORE-12] entering a final phase that asks for nothing completes the task', () => {
    const world = new World(contractOf([phase('A'), phase('B')]))
    world.claim()
    expect(world.move('B')).toEqual(['transition_requested', 'gate_passed', 'phase_entered', 'task_completed'])
    expect(world.state).toMatchObject({ status: 'completed', completedPhases: ['A', 'B'], held: null })
  })

  it('[REQ-CORE-12] entering a final phase that asks for something does not complete the task', () => {
    const world = new World(contractOf([phase('A'), phase('B', { requiredArtifacts: [plan] })]))
    world.claim()
    world.move('B')
    expect(world.state.status).toBe('active')
    expect(world.move('B')).toEqual(['transition_requested', 'gate_blocked'])
    expect(world.move('B', { artifacts: [artifact('plan')] })).toEqual([
      'transition_requested',
      'gate_passed',
      'task_completed',
    ])
  })

  it('[REQ-CORE-13] the RED gate records the test files', () => {
    const world = new World(
      contractOf([
        phase('A', { gates: [gate('g', { blockers: [check('tests_are_failing')] })] }),
        phase('B', { gates: [gate('x')] }),
      ]),
    )
    world.claim()
    world.move('B', { checks: new Map([outcome('g', 'tests_are_failing', 'holds')]), testFiles: { 'tests/a': 'h1' } })
    expect([...(world.state.pinnedTests ?? [])]).toEqual([['tests/a', 'h1']])
  })
})

describe('modes', () => {
  const open = contractOf([
    phase('A', { requiredArtifacts: [plan], gates: [gate('g', { blockers: [check('all_tests_pass')] })] }),
    phase('B', { gates: [gate('x')] }),
  ])

  it.each(['permissive', 'advisory'] as const)(
    '[REQ-CORE-14] %s lets blockers through as warnings and marks the passage',
    (mode) => {
      const world = new World(open, { mode })
      world.claim()
      expect(world.move('B')).toContain('phase_entered')
      expect(world.events.find((event) => event.type === 'gate_passed')).toMatchObject({
        violations: [{ code: 'missing_artifact' }, { code: 'check_error' }],
      })
    },
  )

  it('[REQ-CORE-14] permissive still refuses an artifact that does not fit its schema', () => {
    const world = new World(open, { mode: 'permissive' })
    world.claim()
    expect(
      world.move('B', { artifacts: [artifact('plan', [{ pointer: '', message: 'must be an object' }])] }),
    ).toContain('gate_blocked')
  })
})
