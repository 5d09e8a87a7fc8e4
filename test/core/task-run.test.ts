import { describe, expect, it } from 'vitest'
import type { ReliabilityRecord } from '../../src/core/councils/reliability.js'
import type { Rule } from '../../src/core/rules/rule.js'
import { evolveTaskRun, NO_TASK_RUN, type TaskRun } from '../../src/core/task/task-run.js'
import { buildTaskStatus, type TaskRunStatus } from '../../src/core/task/task-status.js'
import { contractOf, factsOf, gate, phase, pure, T0, World } from './world.js'

const ATTEMPTS_OF_RUN_MAX = 1000
const LEASE_MS = 900_000
const OPERATOR = 'operator:ann'

const runOf = (world: World): TaskRun => pure(() => world.events.reduce(evolveTaskRun, NO_TASK_RUN))

function statusOf(world: World): TaskRunStatus {
  const around = { now: world.now, phases: world.contract.phases.size, logDir: '/runs/t' }
  const status = pure(() => buildTaskStatus(world.state, runOf(world), around))
  if (status === null) throw new Error('the run has no status')
  return status
}

const recordOf = (world: World, agent = 'a'): ReliabilityRecord | null =>
  statusOf(world).agents[agent]?.reliability ?? null
const outcomeOf = (world: World, agent = 'a') => recordOf(world, agent)?.outcome

function claimed(about: { readonly budget?: number; readonly rules?: readonly Rule[] } = {}): World {
  const { budget = 10, rules = [] } = about
  const first = phase('PLAN', { allowedTools: ['read_files', 'grep'], rules })
  const contract = contractOf([first, phase('CODE'), phase('DONE', { gates: [gate('g')] })])
  const world = new World({ ...contract, enforcement: { ...contract.enforcement, denialBudget: budget } })
  world.claim()
  return world
}

function lapse(world: World): void {
  world.now += LEASE_MS
  world.do({ type: 'lapse_lease' }, 'system')
}

describe('the record of an agent', () => {
  it('[REQ-STATUS-7] is null before anything was refused, and there is no status before the first claim', () => {
    const world = new World(contractOf([phase('A'), phase('B')]))
    expect(buildTaskStatus(world.state, runOf(world), { now: T0, phases: 2, logDir: null })).toBeNull()
    world.claim()
    expect(recordOf(world)).toBeNull()
  })

  it('[REQ-STATUS-8] a forbidden tool is an attempt with the words of its retry, without their beginning', () => {
    const world = claimed()
    world.now += 1500
    world.tool('write_files')
    const denied = world.last()
    const message = 'Called write_files (not allowed in PLAN). Allowed: read_files, grep'
    expect(denied).toMatchObject({ type: 'tool_denied', retry: { text: `Retry (1/3): ${message}` } })
    expect(recordOf(world)).toEqual({
      enforcement_attempts: [
        {
          round: 1,
          attempt: 1,
          max_attempts: 3,
          reason: 'forbidden_tool',
          tool_calls: ['write_files'],
          error_message: message,
          buffer_preview: '',
          buffer_chars: 0,
          handled: 'inline',
          timestamp: (T0 + 1500) / 1000,
        },
      ],
      by_round: { 1: { count: 1, reasons: ['forbidden_tool'] } },
      unknown_tools: [],
      workflow_errors: [],
      total_enforcement_retries: 1,
      total_buffer_chars_lost: 0,
      outcome: 'ok',
    })
  })

  it('[REQ-STATUS-8] has every visit that the agent was in, and only those', () => {
    const world = claimed()
    world.move('CODE')
    world.tool('nosuch')
    world.do({ type: 'release', reason: 'tired' })
    world.do({ type: 'claim', agentId: 'b', instance: 'b-1', capabilities: [], openDependencies: [] }, 'agent:b')
    world.tool('nosuch')
    world.do({ type: 'rewind', to: 'PLAN', reason: 'again', agentIsFree: true }, OPERATOR)
    expect(recordOf(world)).toMatchObject({
      by_round: { 1: { count: 0, reasons: [] }, 2: { count: 1, reasons: ['unknown_tool'] } },
      unknown_tools: ['nosuch'],
    })
    expect(recordOf(world, 'b')).toMatchObject({ by_round: { 2: { count: 1 }, 3: { count: 0 } } })
    expect(Object.keys(recordOf(world)?.by_round ?? {})).toEqual(['1', '2'])
  })

  it('[REQ-STATUS-8] a token that outlived its visit counts for the last visit of its agent', () => {
    const world = claimed()
    world.do({ type: 'release', reason: 'r' })
    world.claim('b')
    world.do(
      { type: 'transition', target: 'CODE', currentPhase: null, claims: [], facts: factsOf(world.state) },
      'agent:b',
    )
    const stale = {
      type: 'refuse_token',
      agentId: 'a',
      code: 'token_stale',
      detail: 'The token was superseded.',
    } as const
    world.do(stale)
    world.do({ ...stale, agentId: 'stranger' }, 'agent:stranger')
    expect(recordOf(world)).toMatchObject({
      enforcement_attempts: [{ round: 1, reason: 'token_stale', attempt: 1, max_attempts: 1 }],
      by_round: { 1: { count: 1, reasons: ['token_stale'] } },
    })
    expect(Object.keys(statusOf(world).agents)).toEqual(['a', 'b'])
  })

  it('[REQ-STATUS-8] a request that a rule holds back counts once', () => {
    const rule: Rule = {
      ...{ id: 'PLAN[0]', type: 'phase_timeout', maxDuration: 1, message: null, suggestion: null },
      ...{ onViolation: 'interrupt', unlessProgress: false, shadow: false },
    } as unknown as Rule
    const world = claimed({ rules: [rule] })
    world.now += 5000
    expect(world.move('CODE')).toEqual(['rule_violated', 'gate_blocked'])
    expect(recordOf(world)?.enforcement_attempts).toMatchObject([
      { reason: 'rule_interrupt', attempt: 1, max_attempts: 3 },
    ])
    world.now += 5000
    world.move('CODE')
    expect(recordOf(world)).toMatchObject({ total_enforcement_retries: 2, by_round: { 1: { count: 2 } } })
  })

  it('[REQ-STATUS-8] waiting for an approval is not an attempt', () => {
    const approval = gate('human', { type: 'approval', approvers: ['human'] })
    const world = new World(contractOf([phase('A', { gates: [approval] }), phase('B')]))
    world.claim()
    expect(world.move('B')).toContain('gate_blocked')
    expect(statusOf(world).agents.a).toMatchObject({ status: 'waiting', reliability: null })
  })

  it('[REQ-STATUS-8] refusals of reviewers and operators do not count against the agent', () => {
    const world = claimed()
    const refused = { ...world.last(), code: 'not_permitted', detail: 'd', success: false, counted: true } as const
    const retry = { attempt: 1, max: 3, text: '' }
    const events = [
      { ...refused, retry, type: 'tool_denied', reviewer: 'r', toolName: 'bash', args: {}, leaseSeconds: 1 },
      { ...refused, retry, type: 'approval_refused', approvalId: 'x', by: 'a', actor: OPERATOR },
      { ...refused, retry, type: 'question_refused', questionId: null, by: 'a', actor: OPERATOR },
      { ...refused, type: 'token_refused', reviewer: 'r', code: 'token_stale', actor: 'reviewer:r' },
    ]
    const run = (events as unknown as readonly World['events'][number][]).reduce(evolveTaskRun, runOf(world))
    expect(run.agents.get('a')?.reliability.count).toBe(0)
  })
})

describe('how an agent ended', () => {
  it('[REQ-STATUS-9] is non_compliant once the denial budget is used up, and ok again when it may go on', () => {
    const world = claimed({ budget: 2 })
    world.tool('write_files')
    expect(outcomeOf(world)).toBe('ok')
    expect(world.tool('write_files')).toEqual(['tool_denied', 'task_parked'])
    expect(statusOf(world)).toMatchObject({
      finish_reason: 'parked',
      finish_reason_details: expect.stringContaining('denial_budget 2'),
      is_complete: false,
      coordination: { active_agent: null },
      agents: { a: { status: 'stopped', error: { type: 'parked' }, reliability: { outcome: 'non_compliant' } } },
    })
    world.do({ type: 'resume', reason: 'r', agentIsFree: true }, OPERATOR)
    expect(statusOf(world)).toMatchObject({
      finish_reason: 'in_progress',
      agents: { a: { status: 'streaming', error: null, reliability: { outcome: 'ok' } } },
    })
  })

  it('[REQ-STATUS-9] stays non_compliant when somebody else gets the task, or when it is cancelled', () => {
    for (const end of [
      { type: 'reassign', agentId: 'b', reason: 'r' },
      { type: 'cancel', reason: 'r' },
      { type: 'resume', agentIsFree: false, reason: 'r' },
    ] as const) {
      const world = claimed({ budget: 1 })
      world.tool('write_files')
      world.do(end, OPERATOR)
      expect([end.type, outcomeOf(world)]).toEqual([end.type, 'non_compliant'])
    }
  })

  it('[REQ-STATUS-9] is dropped when the lease lapses, when it gives the task back or when it is taken away', () => {
    for (const [end, word] of [
      [lapse, 'timeout'],
      [(world: World) => world.do({ type: 'release', reason: 'r' }), 'stopped'],
      [(world: World) => world.do({ type: 'reassign', agentId: null, reason: 'r' }, OPERATOR), 'stopped'],
    ] as const) {
      const world = claimed()
      world.tool('write_files')
      end(world)
      expect(statusOf(world)).toMatchObject({
        finish_reason: 'in_progress',
        coordination: { active_agent: null },
        agents: { a: { status: word, reliability: { outcome: 'dropped' } } },
      })
      world.claim('b')
      expect(statusOf(world)).toMatchObject({
        coordination: { active_agent: 'b' },
        agents: { a: { reliability: { outcome: 'dropped' } }, b: { status: 'streaming', reliability: null } },
      })
    }
  })

  it('[REQ-STATUS-9] without a refusal there is no record, however it ended', () => {
    const world = claimed()
    lapse(world)
    expect(statusOf(world).agents.a).toMatchObject({ error: { type: 'lease_lapsed' }, reliability: null })
  })

  it('[REQ-STATUS-9] is ok when it came back and brought the task to its end', () => {
    const world = claimed()
    world.tool('write_files')
    lapse(world)
    world.claim()
    world.move('CODE')
    world.move('DONE')
    world.move('DONE')
    expect(statusOf(world)).toMatchObject({
      finish_reason: 'completed',
      finish_reason_details: null,
      is_complete: true,
      coordination: { phase: 'DONE', active_agent: null, completion_percentage: 100 },
      agents: { a: { status: 'completed', times_restarted: 1, error: null, reliability: { outcome: 'ok' } } },
    })
  })
})

describe('the status of a task', () => {
  it('[REQ-STATUS-7] has the keys of a run in their order', () => {
    const world = claimed()
    world.tool('write_files')
    const status = statusOf(world)
    expect(Object.keys(status)).toEqual([
      ...['finish_reason', 'finish_reason_details', 'is_complete', 'meta', 'coordination', 'agents', 'results'],
    ])
    expect(Object.keys(status.meta)).toEqual([
      ...['last_updated', 'session_id', 'log_dir', 'question', 'start_time', 'elapsed_seconds'],
    ])
    expect(Object.keys(status.coordination)).toEqual([
      ...['phase', 'active_agent', 'completion_percentage', 'is_final_presentation', 'checking'],
    ])
    expect(Object.keys(status.agents.a ?? {})).toEqual([
      ...['status', 'answer_count', 'latest_answer_label', 'vote_cast', 'times_restarted', 'last_activity'],
      ...['error', 'reliability'],
    ])
    expect(status.results).toEqual({ votes: {}, winner: null, is_tie: false, final_answer_preview: null })
  })

  it('[REQ-STATUS-7] counts phases that were passed, and time from the first claim to the end', () => {
    const world = claimed()
    world.now += 2000
    world.move('CODE')
    expect(statusOf(world)).toMatchObject({
      meta: { session_id: 't', question: 'T', start_time: T0 / 1000, elapsed_seconds: 2, log_dir: '/runs/t' },
      coordination: { phase: 'CODE', active_agent: 'a', completion_percentage: 33 },
    })
    world.do({ type: 'cancel', reason: 'no longer wanted' }, OPERATOR)
    world.now += 60_000
    expect(statusOf(world)).toMatchObject({
      finish_reason: 'cancelled',
      finish_reason_details: 'no longer wanted',
      is_complete: true,
      meta: { elapsed_seconds: 2 },
    })
  })

  it('[REQ-STATUS-7] goes on when a completed task is taken back', () => {
    const world = claimed()
    for (const to of ['CODE', 'DONE', 'DONE']) world.move(to)
    world.do({ type: 'rewind', to: 'CODE', reason: 'r', agentIsFree: true }, OPERATOR)
    world.now += 1000
    expect(statusOf(world)).toMatchObject({
      finish_reason: 'in_progress',
      is_complete: false,
      meta: { elapsed_seconds: 1 },
    })
  })

  it('[REQ-STATUS-6] keeps a bounded number of attempts of a bounded size, and keeps counting', () => {
    const world = claimed()
    world.tool('write_files')
    const denied = { ...world.last(), detail: 'x'.repeat(100_000) } as (typeof world.events)[number]
    let run = runOf(world)
    for (let i = 1; i < ATTEMPTS_OF_RUN_MAX + 500; i += 1) run = evolveTaskRun(run, denied)
    const kept = run.agents.get('a')?.reliability
    expect([run.attemptsKept, kept?.attempts.length, kept?.count]).toEqual([1000, 1000, 1500])
    expect(kept?.attempts.at(-1)?.error_message).toHaveLength(1000)
    const other = evolveTaskRun(run, { ...world.events[1], agentId: 'b', actor: 'agent:b' } as typeof denied)
    const after = evolveTaskRun(other, { ...denied, agentId: 'b' } as typeof denied)
    expect(after.agents.get('b')?.reliability).toMatchObject({ attempts: [], count: 1 })
    expect(after.attemptsKept).toBe(1000)
  })
})
