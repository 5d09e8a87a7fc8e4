import { describe, expect, it } from 'vitest'
import { admit } from '../../src/core/identity/admit.js'
import { isLostByLapse } from '../../src/core/task/claim.js'
import { createTask } from '../../src/core/task/decide.js'
import { contractOf, gate, phase, T0, World } from './world.js'

const two = contractOf([phase('A'), phase('B', { gates: [gate('x')] })])
const phaseToken = (world: World) => ({
  kind: 'phase' as const,
  agentId: 'a',
  taskId: 't',
  phase: world.state.phase,
  epoch: world.state.epoch,
  contract: two.hash,
})

describe('claiming', () => {
  it('[REQ-CLAIM-1] a task that another agent holds is not given away', () => {
    const world = new World(two)
    world.claim('a')
    expect(world.claim('b')).toEqual(['!already_claimed'])
    expect(world.state.held?.agentId).toBe('a')
  })

  it('[REQ-CLAIM-2] a task whose dependencies are open is not given', () => {
    const world = new World(two)
    expect(world.claim('a', { openDependencies: ['other'] })).toEqual(['!conflict'])
  })

  it('[REQ-CLAIM-3] capabilities must cover what the task requires', () => {
    const world = new World(two, { requires: ['rust', 'sql'] })
    expect(world.claim('a', { capabilities: ['rust'] })).toEqual(['!not_permitted'])
    expect(world.claim('a', { capabilities: ['sql', 'rust', 'go'] })).toEqual(['task_claimed', 'phase_entered'])
  })

  it.each(['cancelled', 'completed', 'parked'] as const)('[REQ-CLAIM-4] a %s task is not given', (status) => {
    const world = new World(two)
    world.claim()
    world.state = { ...world.state, status, held: null }
    expect(world.claim('b')).toEqual(['!task_not_active'])
  })

  it('[REQ-CLAIM-5] the agent that holds the task gets it back in the same phase with a new epoch', () => {
    const world = new World(two)
    world.claim()
    world.move('B')
    const before = world.state
    expect(world.claim('a')).toEqual(['task_claimed'])
    expect(world.state).toMatchObject({ phase: 'B', visit: before.visit, epoch: before.epoch + 1 })
  })

  it('[REQ-CLAIM-6] a lease lapses at its end and not before, and the task resumes in the same phase for any agent that claims it', () => {
    const world = new World(two)
    world.claim()
    world.now = T0 + 899_999
    expect(world.do({ type: 'lapse_lease' }, 'system')).toEqual([])
    expect(world.claim('b')).toEqual(['!already_claimed'])
    world.now = T0 + 900_000
    expect(world.do({ type: 'lapse_lease' }, 'system')).toEqual(['lease_lapsed'])
    expect(world.state).toMatchObject({ status: 'interrupted', held: null })
    expect(world.claim('b')).toEqual(['task_claimed'])
    expect(world.state).toMatchObject({ phase: 'A', epoch: 2, visit: 1 })
  })

  it('[REQ-CLAIM-6] a lapsed lease that nobody swept yet does not keep others out', () => {
    const world = new World(two)
    world.claim()
    world.now = T0 + 900_000
    expect(world.claim('b')).toEqual(['lease_lapsed', 'task_claimed'])
  })

  it('[REQ-CLAIM-7] any call extends the lease, and a clock that goes back does not shorten it', () => {
    const world = new World(two)
    world.claim()
    world.now = T0 + 600_000
    world.tool('read_files')
    expect(world.state.held?.leaseExpiresAt).toBe(T0 + 1_500_000)
    world.now = T0 - 3_600_000
    world.do({ type: 'extend_lease' })
    expect(world.state.held?.leaseExpiresAt).toBe(T0 + 1_500_000)
  })

  it('[REQ-CLAIM-8] a contract that cannot be enforced whole gets no task', () => {
    const decision = createTask(
      contractOf([phase('A')], { notEnforced: [{ path: 'phases.A.rules', feature: 'rules' }] }),
      {
        id: 't',
        title: 't',
        description: '',
        workspace: '/',
        dependsOn: [],
        requires: [],
        metadata: {},
        mode: null,
        priority: 0,
      },
    )
    expect(decision).toMatchObject({
      kind: 'unrecorded',
      refusal: { code: 'contract.not_enforced_yet', detail: expect.stringContaining('phases.A.rules') },
    })
  })
})

describe('holding a token against the state', () => {
  it('[REQ-TOKEN-1] a token of another task is a mismatch', () => {
    const world = new World(two)
    world.claim()
    expect(admit(world.state, { ...phaseToken(world), taskId: 'other' })).toMatchObject({ code: 'token_mismatch' })
  })

  it('[REQ-TOKEN-2] a token of another epoch, phase, contract or agent is stale; the same token unchanged is admitted', () => {
    const world = new World(two)
    world.claim()
    const token = phaseToken(world)
    for (const change of [{ epoch: 0 }, { epoch: 2 }, { phase: 'B' }, { contract: 'd'.repeat(64) }, { agentId: 'b' }])
      expect(admit(world.state, { ...token, ...change }), JSON.stringify(change)).toMatchObject({ code: 'token_stale' })
    expect(admit(world.state, token)).toBeNull()
  })

  it('[REQ-TOKEN-3] every claim, transition, rewind and reassignment makes all older tokens useless', () => {
    const steps: ((world: World) => unknown)[] = [
      (world) => world.claim('a'),
      (world) => world.move('B'),
      (world) => world.do({ type: 'rewind', to: 'A', reason: 'r', agentIsFree: true }, 'operator:x'),
      (world) => world.do({ type: 'reassign', agentId: null, reason: 'r' }, 'operator:x'),
    ]
    for (const step of steps) {
      const world = new World(two)
      world.claim()
      const token = phaseToken(world)
      expect(admit(world.state, token)).toBeNull()
      step(world)
      expect(admit(world.state, token), String(step)).toMatchObject({ code: 'token_stale' })
    }
  })

  it('[REQ-TOKEN-4] an agent token of an older instance is stale, one of the holding instance is admitted', () => {
    const world = new World(two)
    world.claim()
    expect(admit(world.state, { kind: 'agent', agentId: 'a', instance: 'a-0' })).toMatchObject({ code: 'token_stale' })
    expect(admit(world.state, { kind: 'agent', agentId: 'a', instance: 'a-1' })).toBeNull()
  })

  it('[REQ-TOKEN-5] a task that is not active admits nobody', () => {
    const world = new World(two)
    world.claim()
    const token = phaseToken(world)
    for (const status of ['parked', 'cancelled', 'completed', 'interrupted', 'queued'] as const)
      expect(admit({ ...world.state, status }, token), status).toMatchObject({ code: 'task_not_active' })
  })
})

describe('operators', () => {
  it('[REQ-OPERATE-1] a rewind only goes back to where the task has been', () => {
    const world = new World(contractOf([phase('A'), phase('B'), phase('C', { gates: [gate('x')] })]))
    world.claim()
    const rewind = (to: string) => world.do({ type: 'rewind', to, reason: 'r', agentIsFree: true }, 'operator:x')
    expect(rewind('B')).toEqual(['!conflict'])
    expect(rewind('nowhere')).toEqual(['!unknown_phase'])
    world.move('B')
    world.move('C')
    expect(rewind('A')).toEqual(['task_rewound'])
    expect(world.state).toMatchObject({ phase: 'A', completedPhases: [], status: 'active' })
  })

  it('[REQ-OPERATE-2] only a parked task is resumed; its agent goes on if it is free', () => {
    const world = new World(two)
    world.claim()
    expect(world.do({ type: 'resume', reason: 'r', agentIsFree: true }, 'operator:x')).toEqual(['!conflict'])
    world.state = { ...world.state, status: 'parked' }
    const parked = world.state
    world.do({ type: 'resume', reason: 'r', agentIsFree: true }, 'operator:x')
    expect(world.state).toMatchObject({ status: 'active', held: { agentId: 'a' } })
    world.state = parked
    world.do({ type: 'resume', reason: 'r', agentIsFree: false }, 'operator:x')
    expect(world.state).toMatchObject({ status: 'queued', held: null })
  })

  it('[REQ-OPERATE-3] a reassigned task is kept for the agent it was given to', () => {
    const world = new World(two)
    world.claim('a')
    world.do({ type: 'reassign', agentId: 'b', reason: 'r' }, 'operator:x')
    expect(world.claim('a')).toEqual(['!already_claimed'])
    expect(world.claim('b')).toEqual(['task_claimed'])
  })

  it('[REQ-OPERATE-4] a cancelled task stays cancelled', () => {
    const world = new World(two)
    world.claim()
    world.do({ type: 'cancel', reason: 'r' }, 'operator:x')
    expect(world.state).toMatchObject({ status: 'cancelled', held: null })
    expect(world.do({ type: 'cancel', reason: 'r' }, 'operator:x')).toEqual(['!task_not_active'])
    expect(world.claim('b')).toEqual(['!task_not_active'])
  })
})

describe('a task whose agent was idle for longer than its lease', () => {
  const lapsed = (about: { isSpawned?: true } = {}): World => {
    const world = new World(two)
    world.claim('a', about)
    world.now = T0 + 900_000
    world.do({ type: 'lapse_lease' }, 'system')
    return world
  }
  const isLost = (world: World, agentId = 'a', instance = world.state.lapsed?.instance ?? ''): boolean =>
    isLostByLapse(world.state, { agentId, instance })

  it.each<[string, (world: World) => unknown]>([
    ['another agent claimed it', (world) => world.claim('b')],
    ['its agent claimed it', (world) => world.claim('a')],
    ['it was reassigned', (world) => world.do({ type: 'reassign', agentId: null, reason: 'r' }, 'operator:x')],
    ['it was cancelled', (world) => world.do({ type: 'cancel', reason: 'r' }, 'operator:x')],
    ['it was parked', (world) => world.do({ type: 'park', reason: 'r' }, 'operator:x')],
    ['it was rewound', (world) => world.do({ type: 'rewind', to: 'A', reason: 'r', agentIsFree: true }, 'operator:x')],
  ])('[REQ-IDLE-1] is not its own any more when %s', (_name, happens) => {
    const world = lapsed()
    const { instance } = world.state.lapsed ?? { instance: '' }
    expect(isLost(world)).toBe(true)
    happens(world)
    expect(isLost(world, 'a', instance)).toBe(false)
    expect(world.state.lapsed).toBeNull()
    world.expectReplayEqualsLive()
  })

  it('[REQ-IDLE-1] belongs to the instance that held it, and to no agent that Phaselock starts again itself', () => {
    expect(isLost(lapsed(), 'b')).toBe(false)
    expect(isLost(lapsed(), 'a', 'another')).toBe(false)
    expect(isLost(lapsed({ isSpawned: true }))).toBe(false)
    const drop = (about: { isSpawned?: true }): readonly [string, boolean] => {
      const dropped = new World(two)
      dropped.claim('a', about)
      const { instance } = dropped.state.held ?? { instance: '' }
      dropped.do({ type: 'drop_agent', agentId: 'a', instance, reason: 'r' }, 'system')
      return [dropped.state.status, isLost(dropped, 'a', instance)]
    }
    expect(drop({ isSpawned: true })).toEqual(['interrupted', false])
    // A session that said it had ended goes on with its next call.
    expect(drop({})).toEqual(['interrupted', true])
  })

  it('[REQ-IDLE-4] is not lost while a person has to answer, nor for a lease after the answer', () => {
    const world = new World(two)
    world.claim('a')
    world.do({ type: 'ask_question', question: 'Which?', options: [] })
    world.now = T0 + 900_000
    expect(world.claim('b')).toEqual(['!already_claimed'])
    expect(world.do({ type: 'lapse_lease' }, 'system')).toEqual(['lease_extended'])
    const [id = ''] = world.state.questions.keys()
    world.now = T0 + 1_799_999
    world.do(
      {
        type: 'answer_question',
        questionId: id,
        answer: 'This.',
        other: false,
        by: { kind: 'operator', name: 'ann', role: null },
      },
      'operator:ann',
    )
    world.now = T0 + 1_800_000
    expect(world.do({ type: 'lapse_lease' }, 'system')).toEqual(['lease_extended'])
    world.now = T0 + 2_700_000
    expect(world.do({ type: 'lapse_lease' }, 'system')).toEqual(['lease_lapsed'])
    world.expectReplayEqualsLive()
  })
})
