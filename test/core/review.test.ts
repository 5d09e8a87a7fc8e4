import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { admit, type ReviewBearer } from '../../src/core/identity/admit.js'
import { formatReviewsKey, judgeReport } from '../../src/core/reviews/review.js'
import { REVIEW_TOOLS } from '../../src/core/reviews/review-tool.js'
import type { Command, GateFacts } from '../../src/core/task/command.js'
import type { ReviewStatus } from '../../src/core/task/fact-parts.js'
import { nextStep } from '../../src/core/task/next-step.js'
import { BUILT_IN_TOOLS } from '../../src/core/tool-calls/built-in-tools.js'
import { artifact, check, constraint, contractOf, factsOf, gate, outcome, phase, pure, World } from './world.js'

const required = check('all_review_models_completed', { params: { required_reviews: ['security', 'quality'] } })
const contract = contractOf(
  [
    phase('WORK', { allowedTools: ['write_files', 'bash'], constraints: new Map() }),
    phase('REVIEW', {
      allowedTools: [],
      constraints: new Map([['read_files', constraint({ forbiddenPatterns: ['private/**'] })]]),
      requiredArtifacts: [{ type: 'review_report', schema: null, description: '', checks: [] }],
      gates: [gate('ok', { blockers: [required, check('no_blocking_issues')] })],
    }),
    phase('DONE', { requiredArtifacts: [{ type: 'note', schema: null, description: '', checks: [] }] }),
  ],
  {
    transitions: [
      { from: 'WORK', to: 'REVIEW', gate: null, when: null },
      { from: 'REVIEW', to: 'WORK', gate: null, when: 'changes_requested' },
      { from: 'REVIEW', to: 'DONE', gate: 'ok', when: null },
    ],
  },
)

function inReview(about: { readonly mode?: 'permissive' | 'advisory' } = {}): World {
  const world = new World(contract, about)
  world.claim()
  world.move('REVIEW')
  return world
}

const adding = (reviewer: string, grant = `${reviewer}-1`): Command => ({
  type: 'add_reviewer',
  reviewer,
  grant,
  expiresAt: 0,
})

function add(world: World, reviewer: string, grant?: string): readonly string[] {
  return world.do(adding(reviewer, grant), 'operator:ann')
}

function report(
  world: World,
  reviewer: string,
  about: Partial<(Command & { type: 'submit_review' })['report']> & { subject?: string; seen?: string } = {},
): readonly string[] {
  const { subject = 'now', seen = null, ...rest } = about
  const sent = { status: 'completed' as ReviewStatus, sha256: 'r1', bytes: 10, comments: 0, blockingIssues: 0, ...rest }
  return world.do({ type: 'submit_review', reviewer, report: sent, subject, seen }, `reviewer:${reviewer}`)
}

function use(world: World, tool: string, about: Partial<Command & { type: 'use_tool' }> = {}): readonly string[] {
  const call = { argProblems: [], paths: [], commands: [], shellProblem: null }
  const command = { type: 'use_tool', tool, args: {}, execute: true, call, reviewer: 'security', ...about } as const
  return world.do(command, 'reviewer:security')
}

function bearer(world: World, about: Partial<ReviewBearer> = {}): ReviewBearer {
  const { id: taskId, phase: where, visit } = world.state
  const hash = world.state.contract.hash
  return {
    ...{ kind: 'review', reviewer: 'security', taskId, phase: where, visit, contract: hash, grant: 'security-1' },
    ...about,
  }
}

const refusal = (world: World, about: Partial<ReviewBearer> = {}) =>
  pure(() => admit(world.state, bearer(world, about)))?.code ?? null

const leave = (world: World, facts: Partial<GateFacts> = {}): readonly string[] =>
  world.move('DONE', { reviewsKey: formatReviewsKey(world.state), ...facts })

const back = (world: World): readonly string[] =>
  world.move('WORK', { reviewsKey: formatReviewsKey(world.state) }, ['changes_requested'])

const assembled = { ...artifact('review_report'), grade: 'observed' as const }
const open = new Map([
  outcome('ok', 'all_review_models_completed', 'holds', 0),
  outcome('ok', 'no_blocking_issues', 'holds', 1),
])
const waiting = new Map([
  outcome('ok', 'all_review_models_completed', 'fails', 0),
  outcome('ok', 'no_blocking_issues', 'fails', 1),
])

describe('letting reviewers in', () => {
  it('[REQ-REVIEW-1] a name that the phase does not ask for is refused', () => {
    const world = inReview()
    expect(world.ask(adding('vibes')).refusal).toMatchObject({
      code: 'invalid_request',
      detail: expect.stringContaining('security, quality'),
    })
    expect(add(world, 'security')).toEqual(['reviewer_added'])
  })

  it('[REQ-REVIEW-1] where the phase asks for no reviews any name is taken, fifty in a visit', () => {
    const world = new World(contract)
    world.claim()
    for (let at = 0; at < 50; at += 1) expect(add(world, `r${at}`)).toEqual(['reviewer_added'])
    expect(add(world, 'r50')).toEqual(['!conflict'])
    expect(add(world, 'r3', 'r3-2')).toEqual(['reviewer_added'])
    expect(world.state.reviewers.size).toBe(50)
  })

  it('[REQ-REVIEW-1] a task that nobody has claimed, or that is over, has nothing to review', () => {
    const world = new World(contract)
    expect(add(world, 'security')).toEqual(['!conflict'])
    world.claim()
    world.do({ type: 'cancel', reason: 'r' })
    expect(add(world, 'security')).toEqual(['!task_not_active'])
  })

  it('[REQ-REVIEW-5] no agent that holds or held the task, or that it is reserved for, may review it', () => {
    const world = new World(contract)
    world.claim('security')
    expect(add(world, 'security')).toEqual(['!not_permitted'])
    world.do({ type: 'reassign', agentId: 'quality', reason: 'r' })
    expect(add(world, 'quality')).toEqual(['!not_permitted'])
    world.claim('quality')
    world.do({ type: 'release', reason: 'r' })
    world.claim('other')
    for (const name of ['security', 'quality', 'other']) expect(add(world, name)).toEqual(['!not_permitted'])
    world.expectReplayEqualsLive()
  })

  it('[REQ-REVIEW-5] where more agents have held the task than are remembered nobody reviews it', () => {
    const world = inReview()
    expect(world.state.holders).toEqual(['a'])
    world.state = { ...world.state, holders: Array.from({ length: 1000 }, (_, at) => `agent-${at}`) }
    expect(add(world, 'security')).toEqual(['!conflict'])
  })

  it('[REQ-REVIEW-5] a reviewer under whose name an agent claims the task is shut out, and its report does not count', () => {
    const world = inReview()
    add(world, 'security')
    report(world, 'security', { status: 'in_progress' })
    world.do({ type: 'release', reason: 'r' })
    world.claim('security')
    expect(refusal(world)).toBe('not_permitted')
    const reviewer = world.state.reviewers.get('security')!
    expect(judgeReport(world.state, reviewer, 'now')).toBe('by_implementer')
  })
})

const OTHERS: readonly (readonly [string, Partial<ReviewBearer>, string])[] = [
  ['of another task', { taskId: 'u' }, 'token_mismatch'],
  ['of another visit', { visit: 1 }, 'token_stale'],
  ['of a visit to come', { visit: 3 }, 'token_stale'],
  ['of another phase', { phase: 'WORK' }, 'token_stale'],
  ['of another contract', { contract: 'd'.repeat(64) }, 'token_stale'],
  ['of a name that was not let in', { reviewer: 'quality' }, 'token_stale'],
  ['of a prototype', { reviewer: 'constructor' }, 'token_stale'],
  ['of another minting', { grant: 'security-2' }, 'token_stale'],
]

describe('a review token', () => {
  it.each(OTHERS)('[REQ-REVIEW-2] %s is refused', (_name, about, code) => {
    const world = inReview()
    add(world, 'security')
    expect(refusal(world)).toBeNull()
    expect(refusal(world, about)).toBe(code)
  })

  it('[REQ-REVIEW-2] dies when the visit ends, and the same phase later does not bring it back', () => {
    const world = inReview()
    add(world, 'security')
    const kept = bearer(world)
    back(world)
    expect(admit(world.state, kept)?.code).toBe('token_stale')
    world.move('REVIEW')
    expect(admit(world.state, kept)?.code).toBe('token_stale')
    add(world, 'security', 'security-1')
    expect(admit(world.state, kept)?.code).toBe('token_stale')
    expect(refusal(world)).toBeNull()
  })

  it('[REQ-REVIEW-2] dies when it has finished a review, is revoked or superseded, or the task is rewound', () => {
    const finished = inReview()
    add(finished, 'security')
    report(finished, 'security', { status: 'changes_requested' })
    expect(refusal(finished)).toBeNull()
    report(finished, 'security')
    expect(refusal(finished)).toBe('token_stale')
    add(finished, 'security', 'security-2')
    expect([refusal(finished), refusal(finished, { grant: 'security-2' })]).toEqual(['token_stale', null])
    finished.do({ type: 'revoke_reviewer', reviewer: 'security', reason: 'r' })
    expect(refusal(finished, { grant: 'security-2' })).toBe('token_stale')
    const rewound = inReview()
    add(rewound, 'security')
    const kept = bearer(rewound)
    rewound.do({ type: 'rewind', to: 'REVIEW', reason: 'r', agentIsFree: true })
    expect(admit(rewound.state, kept)?.code).toBe('token_stale')
  })

  it('[REQ-REVIEW-2] outlives the lease of the agent, and rests while the task is parked', () => {
    const world = inReview()
    add(world, 'security')
    world.now += 10_000_000
    expect(world.do({ type: 'lapse_lease' }, 'system')).toEqual(['lease_lapsed'])
    expect(refusal(world)).toBeNull()
    world.claim('b')
    expect(refusal(world)).toBeNull()
    for (let at = 0; at < 10; at += 1) world.tool('nope')
    expect(world.state.status).toBe('parked')
    expect(refusal(world)).toBe('task_not_active')
    world.do({ type: 'resume', reason: 'r', agentIsFree: true })
    expect(refusal(world)).toBeNull()
  })
})

describe('tools of a reviewer', () => {
  it.each([...BUILT_IN_TOOLS.keys(), 'nope', 'READ_FILES', 'read_files '])(
    '[REQ-REVIEW-3] %s is allowed exactly when it only looks, in every mode and whatever the phase offers',
    (tool) => {
      for (const mode of [undefined, 'permissive', 'advisory'] as const) {
        const world = inReview(mode === undefined ? {} : { mode })
        add(world, 'security')
        expect(use(world, tool)).toEqual([REVIEW_TOOLS.includes(tool) ? 'tool_allowed' : 'tool_denied'])
        expect(world.last()).toMatchObject({ actor: 'reviewer:security', reviewer: 'security' })
        expect(world.last()).not.toHaveProperty('agentId')
      }
    },
  )

  it('[REQ-REVIEW-3] an own tool under the name of a reading one is refused', () => {
    const own = { ...contract, extraTools: ['grep'] }
    const world = new World(own)
    world.claim()
    add(world, 'security')
    expect(use(world, 'grep')).toEqual(['tool_denied'])
  })

  it('[REQ-REVIEW-3] wrong arguments, paths outside the tree and paths that the phase keeps from reading are refused', () => {
    const world = inReview()
    add(world, 'security')
    const call = { argProblems: [], paths: [], commands: [], shellProblem: null }
    const paths = (path: string, problem: string | null = null) => ({ call: { ...call, paths: [{ path, problem }] } })
    expect(use(world, 'read_files', { call: { ...call, argProblems: ['no'] } })).toEqual(['tool_denied'])
    expect(use(world, 'read_files', paths('../x', 'leaves the tree'))).toEqual(['tool_denied'])
    expect(use(world, 'read_files', paths('private/key'))).toEqual(['tool_denied'])
    expect(use(world, 'read_files', paths('src/a'))).toEqual(['tool_allowed'])
  })

  it('[REQ-REVIEW-3] what a reviewer does touches neither the lease of the agent nor its budget', () => {
    const world = inReview()
    add(world, 'security')
    const before = world.state
    // Past the lease, which nobody has taken away yet.
    world.now += 10_000_000
    use(world, 'read_files')
    for (let at = 0; at < 5; at += 1) use(world, 'bash')
    world.do(
      {
        type: 'finish_tool',
        ...{ tool: 'read_files', success: true, code: null, detail: null, durationMs: 1, exitCode: null },
        ...{ changed: [], git: 'none', unenforced: [], reviewer: 'security' },
      },
      'reviewer:security',
    )
    const { held, refusals, denialsInARow, refusalsTotal } = world.state
    expect({ held, refusals, denialsInARow, refusalsTotal }).toEqual({
      held: before.held,
      refusals: before.refusals,
      denialsInARow: before.denialsInARow,
      refusalsTotal: before.refusalsTotal,
    })
    expect(world.state.status).toBe('active')
  })

  it('[REQ-REVIEW-3] the last refusal of the budget ends the token, and what was reported with it', () => {
    const world = inReview()
    add(world, 'security')
    report(world, 'security', { status: 'in_progress' })
    for (let at = 1; at < 10; at += 1) expect(use(world, 'bash')).toEqual(['tool_denied'])
    expect(use(world, 'bash')).toEqual(['tool_denied', 'reviewer_revoked'])
    expect(refusal(world)).toBe('token_stale')
    expect(world.state.reviewers.get('security')).toMatchObject({ status: 'revoked', report: null })
    expect(world.state.status).toBe('active')
    world.expectReplayEqualsLive()
  })
})

describe('reports', () => {
  it.each([
    ['larger than 256 KiB', { bytes: 256 * 1024 + 1 }, 'payload_too_large'],
    ['that approves with blocking issues', { status: 'approved' as const, blockingIssues: 1 }, 'invalid_request'],
    ['about something that has changed since', { seen: 'before' }, 'conflict'],
  ])('[REQ-REVIEW-4] a report %s is refused and recorded', (_name, about, code) => {
    const world = inReview()
    add(world, 'security')
    expect(report(world, 'security', about)).toEqual(['review_refused'])
    expect(world.last()).toMatchObject({ code, actor: 'reviewer:security', success: false })
    expect(world.state.reviewers.get('security')?.report).toBeNull()
  })

  it('[REQ-REVIEW-4] a report replaces the one before, a hundred times in a visit and not more', () => {
    const world = inReview()
    add(world, 'security')
    for (let at = 0; at < 100; at += 1)
      expect(report(world, 'security', { status: 'in_progress', sha256: `r${at}` })).toEqual(['review_submitted'])
    expect(world.state.reviewers.get('security')).toMatchObject({ reports: 100, report: { sha256: 'r99' } })
    add(world, 'security', 'security-2')
    expect(report(world, 'security')).toEqual(['review_refused'])
  })

  it('[REQ-REVIEW-4] reports of an earlier visit do not count, and are removed when a reviewer is added again', () => {
    const world = inReview()
    add(world, 'security')
    add(world, 'quality')
    report(world, 'security')
    back(world)
    world.move('REVIEW')
    expect(formatReviewsKey(world.state)).toBe('[]')
    add(world, 'quality', 'quality-2')
    expect([...world.state.reviewers.keys()]).toEqual(['quality'])
    expect(world.state.reviewers.get('quality')).toMatchObject({ report: null, reports: 0 })
  })

  it('[REQ-REVIEW-7] a report counts as outdated when what was reviewed is no longer what there is', () => {
    const world = inReview()
    add(world, 'security')
    report(world, 'security')
    const reviewer = world.state.reviewers.get('security')!
    expect(judgeReport(world.state, reviewer, 'now')).toBe('completed')
    expect(judgeReport(world.state, reviewer, 'changed')).toBe('outdated')
    expect(judgeReport(world.state, reviewer, null)).toBe('outdated')
  })
})

describe('leaving a phase that asks for reviews', () => {
  it('[REQ-REVIEW-6] the gate opens with the reviews that Phaselock assembled', () => {
    const world = inReview()
    expect(leave(world, { artifacts: [assembled], checks: open })).toContain('phase_entered')
  })

  it('[REQ-REVIEW-6] an artifact sent by the agent or assembled for an earlier request does not count', () => {
    const world = inReview()
    expect(leave(world, { artifacts: [artifact('review_report')], checks: open })).toContain('gate_blocked')
    expect(leave(world, { artifacts: [assembled], checks: waiting })).toContain('gate_blocked')
    expect(world.state.artifacts.has('review_report')).toBe(true)
    expect(leave(world, { artifacts: [], checks: open })).toContain('gate_blocked')
    expect(world.last()).toMatchObject({ blockers: [{ code: 'missing_artifact', artifact: 'review_report' }] })
  })

  it('[REQ-REVIEW-6] an assembled report that does not fit its schema closes the gate', () => {
    const problems = [{ pointer: '/reviews', message: "must have required property 'quality'" }]
    const world = inReview()
    expect(leave(world, { artifacts: [{ ...assembled, problems }], checks: open })).toContain('gate_blocked')
    const remedy = expect.stringContaining('Wait for the reviewers')
    expect(world.last()).toMatchObject({ blockers: [{ code: 'invalid_artifact', remedy }] })
  })

  it('[REQ-REVIEW-6] gathered reviews are stale after a review was added or removed', () => {
    const world = inReview()
    add(world, 'security')
    const facts = factsOf(world.state, {
      artifacts: [assembled],
      checks: open,
      reviewsKey: formatReviewsKey(world.state),
    })
    report(world, 'security', { status: 'changes_requested', blockingIssues: 1 })
    expect(world.move('DONE', facts)).toContain('gate_blocked')
    expect(world.last()).toMatchObject({ code: 'evidence_stale' })
    expect(world.move('DONE', { artifacts: [assembled], checks: open })).toContain('gate_blocked')
  })

  it('[REQ-REVIEW-8] waiting for reviews costs the agent nothing, until a reviewer objects', () => {
    const world = inReview()
    add(world, 'security')
    for (let at = 0; at < 20; at += 1) leave(world, { checks: waiting })
    expect(world.state).toMatchObject({ status: 'active', denialsInARow: 0 })
    report(world, 'security', { status: 'changes_requested' })
    for (let at = 0; at < 10; at += 1) leave(world, { checks: waiting })
    expect(world.state.status).toBe('parked')
  })

  it('[REQ-REVIEW-8] the next step names the reviews that are not finished', () => {
    const world = inReview()
    add(world, 'security')
    report(world, 'security')
    expect(nextStep(contract, world.state)).toBe(
      'Finish REVIEW (missing: the review quality), then request WORK (with the claim changes_requested) or DONE.',
    )
  })
})

describe('any order of things', () => {
  it('[REQ-REVIEW-9] only reports of admitted reviewers of the visit are kept, never of holders, and fold to the same state', () => {
    const names = ['security', 'quality', 'a', 'b']
    const name = fc.constantFrom(...names)
    const status = fc.constantFrom<ReviewStatus>('in_progress', 'changes_requested', 'completed', 'approved')
    const step = fc.oneof(
      name.map((one) => (world: World) => void add(world, one)),
      fc.tuple(name, status).map(([one, said]) => (world: World) => {
        const admitted = admit(world.state, bearer(world, { reviewer: one, grant: `${one}-1` })) === null
        if (admitted) report(world, one, { status: said })
      }),
      name.map((one) => (world: World) => void world.do({ type: 'revoke_reviewer', reviewer: one, reason: 'r' })),
      fc.constantFrom('a', 'b', 'security').map((one) => (world: World) => {
        world.do({ type: 'release', reason: 'r' })
        world.claim(one)
      }),
      fc.constantFrom('WORK', 'REVIEW').map((to) => (world: World) => {
        world.move(to, { reviewsKey: formatReviewsKey(world.state) }, ['changes_requested'])
      }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const world = new World(contract)
        world.claim()
        for (const one of steps) {
          one(world)
          for (const reviewer of world.state.reviewers.values()) {
            if (reviewer.report === null || reviewer.visit !== world.state.visit) continue
            const counted = judgeReport(world.state, reviewer, 'now')
            expect(world.state.holders.includes(reviewer.name)).toBe(counted === 'by_implementer')
          }
        }
        world.expectReplayEqualsLive()
      }),
      { numRuns: 500 },
    )
  })
})
