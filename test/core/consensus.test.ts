import { describe, expect, it } from 'vitest'
import { planOf, runIdOf, VOTERS, VotedTask } from './consensus-scene.js'
import { check, contractOf, factsOf, gate, outcome, phase, World } from './world.js'

const CONSENSUS_RUNS_TASK_MAX = 200
const CONSENSUS_RUNS_MAX = 20
describe('leaving a phase that reviewers vote on', () => {
  it('[REQ-CONSENSUS-1] without anything gathered about the vote is blocked', () => {
    const task = new VotedTask()
    expect(task.move('DONE')).toEqual(['transition_requested', 'gate_blocked'])
    expect(task.blocked().blockers).toMatchObject([{ code: 'check_error', check: 'consensus' }])
    expect(task.state.consensus).toBeNull()
  })

  it('[REQ-CONSENSUS-1] for the first time asks the reviewers once, and does not pass', () => {
    const task = new VotedTask()
    expect(task.leave()).toEqual(['transition_requested', 'consensus_requested', 'gate_blocked'])
    expect(task.leave()).toEqual(['transition_requested', 'gate_blocked'])
    expect(task.events.filter((event) => event.type === 'consensus_requested')).toMatchObject([
      { runId: runIdOf('s1'), to: 'DONE', subject: 's1', agents: VOTERS, quorum: 2 },
    ])
    expect(task.state.phase).toBe('WORK')
    task.expectReplayEqualsLive()
  })

  it('[REQ-CONSENSUS-2] while they vote shows who has voted and who is missing, and none of their answers', () => {
    const task = new VotedTask()
    task.leave()
    task.answer('r2', 'approve', 'a secret opinion')
    task.vote('r2', 'agent2')
    task.answer('r1', 'request_changes', 'another opinion of mine')
    task.vote('r1', 'agent2')
    task.leave()
    const [found] = task.blocked().blockers
    expect(found).toMatchObject({
      code: 'consensus_pending',
      message: `Council ${runIdOf('s1')} goes on: 1 of 3 voted (r1); answered but not voted: r2; not answered: r3`,
    })
    expect(JSON.stringify(task.events)).not.toContain('opinion')
  })

  it('[REQ-CONSENSUS-2] without votes shows who has answered, and passes if the last answer approves', () => {
    const task = new VotedTask({}, planOf({ quorum: null, skipVoting: true }))
    task.leave()
    task.answer('r2', 'request_changes', 'not like this')
    task.leave()
    expect(task.blocked().blockers[0]?.message).toContain('1 of 3 answered (r2)')
    task.answer('r1', 'approve', 'all of it is right')
    task.answer('r3', 'approve', 'nothing is missing here')
    expect(task.leave()).toContain('gate_passed')
  })

  it('[REQ-CONSENSUS-2] and only waits for them costs nothing, however often it is asked for', () => {
    const task = new VotedTask()
    for (let times = 0; times < 30; times += 1) task.leave()
    expect(task.state).toMatchObject({ status: 'active', denialsInARow: 0 })
    expect(task.blocked()).toMatchObject({ code: 'consensus_pending', counted: false })
  })

  it('[REQ-CONSENSUS-2] with changed work while they still vote counts as a refusal', () => {
    const task = new VotedTask()
    task.leave('s1')
    task.leave('s2')
    expect(task.blocked()).toMatchObject({ code: 'consensus_pending', counted: true })
  })

  it('[REQ-CONSENSUS-3] is blocked with the words of a winner that requests changes, and stays so', () => {
    const task = new VotedTask()
    task.leave()
    task.agree('request_changes')
    for (let times = 0; times < 3; times += 1) expect(task.leave()).toEqual(['transition_requested', 'gate_blocked'])
    expect(task.blocked()).toMatchObject({ code: 'gate_blocked', counted: true })
    expect(task.blocked().blockers).toMatchObject([
      {
        code: 'check_failed',
        check: 'consensus',
        grade: 'observed',
        message: `consensus failed: r1 requests changes. r1 says: what r1 says (council ${runIdOf('s1')})`,
      },
    ])
  })

  it('[REQ-CONSENSUS-3] is blocked when the winner has fewer votes than the quorum', () => {
    const task = new VotedTask()
    task.leave()
    task.answer('r1', 'approve', 'one thing')
    task.answer('r2', 'approve', 'another matter altogether')
    task.answer('r3', 'approve', 'something else than both of them')
    for (const [agent, id] of [
      ['r1', 'agent1'],
      ['r2', 'agent2'],
      ['r3', 'agent3'],
    ] as const)
      task.vote(agent, id)
    task.leave()
    expect(task.blocked().blockers[0]?.message).toContain('consensus failed: 1 vote for r1, at least 2 needed.')
  })

  it('[REQ-CONSENSUS-3] is blocked when time was up before enough had voted', () => {
    const task = new VotedTask()
    task.leave()
    task.answer('r1', 'approve')
    task.vote('r1', 'agent1')
    task.now += 1_800_001
    task.inRun('s1', { type: 'tick' })
    expect(task.leave()).toEqual(['transition_requested', 'gate_blocked'])
    expect(task.blocked().blockers[0]?.message).toContain('consensus failed')
  })

  it('[REQ-CONSENSUS-3] is blocked when the run was cancelled, although all that voted approved', () => {
    const task = new VotedTask()
    task.leave()
    task.answer('r1', 'approve')
    task.vote('r1', 'agent1')
    task.vote('r2', 'agent1')
    task.inRun('s1', { type: 'cancel', reason: 'enough' })
    task.leave()
    expect(task.blocked().blockers).toMatchObject([
      { code: 'check_failed', message: expect.stringContaining('enough') },
    ])
  })

  it('[REQ-CONSENSUS-4] passes with approval and quorum, and says in the ledger by which run', () => {
    const task = new VotedTask()
    task.leave()
    task.agree()
    expect(task.leave()).toEqual(['transition_requested', 'gate_passed', 'phase_entered', 'task_completed'])
    expect(task.events.find((event) => event.type === 'gate_passed')).toMatchObject({
      consensus: {
        ...{ run: runIdOf('s1'), subject: 's1', winner: 'r1', label: 'agent1.1', votes: 3, quorum: 2 },
        ...{ seq: 7, hash: 'f'.repeat(64), grade: 'observed' },
      },
    })
    task.expectReplayEqualsLive()
  })

  it('[REQ-CONSENSUS-4] does not pass by a run whose end is not in the ledger', () => {
    const task = new VotedTask()
    task.leave()
    task.agree()
    task.move('DONE', { consensus: { ...task.seen('s1'), last: null } })
    expect(task.blocked().blockers).toMatchObject([{ code: 'check_error', check: 'consensus' }])
  })

  it('[REQ-CONSENSUS-5] over work that is not what they approved asks them again', () => {
    const task = new VotedTask()
    task.leave('s1')
    task.agree('approve', 's1')
    expect(task.leave('s2')).toEqual(['transition_requested', 'consensus_requested', 'gate_blocked'])
    expect(task.state.phase).toBe('WORK')
  })

  it('[REQ-CONSENSUS-5] with a run of the same id over other work is blocked', () => {
    const task = new VotedTask()
    task.leave('s1')
    task.agree('approve', 's1')
    task.move('DONE', { consensus: { ...task.seen('s1'), subject: 'other' } })
    expect(task.blocked().blockers).toMatchObject([{ code: 'check_error' }])
  })

  it.each([
    ['that nobody asked for in this visit', 'consensus_pending', (task: VotedTask) => task.open('s1')],
    ['that is no consensus', 'check_error', (task: VotedTask) => opened(task, planOf(), false)],
    ['of other reviewers', 'check_error', (task: VotedTask) => opened(task, planOf({}, ['r1', 'r2']))],
    ['with a smaller quorum', 'check_error', (task: VotedTask) => opened(task, planOf({ quorum: 1 }))],
  ])('[REQ-CONSENSUS-5] by a run %s is blocked (%s)', (_name, code, prepare) => {
    const task = new VotedTask()
    prepare(task)
    task.agree()
    task.move('DONE', { consensus: task.seen('s1') })
    expect(task.blocked().blockers.map((one) => one.code)).toEqual([code])
    expect(task.state.phase).toBe('WORK')
  })

  it('[REQ-CONSENSUS-5] by a run of an earlier visit is blocked', () => {
    const task = new VotedTask()
    task.leave()
    task.agree()
    task.do({ type: 'rewind', to: 'WORK', reason: 'again', agentIsFree: true }, 'operator:admin')
    expect(task.move('DONE', { consensus: task.seen('s1') })).toContain('consensus_requested')
  })

  it('[REQ-CONSENSUS-6] is blocked while the implementer is one of the reviewers, also under an earlier agent', () => {
    const task = new VotedTask({}, planOf({}, ['r1', 'a', 'r3']))
    expect(task.leave()).toEqual(['transition_requested', 'gate_blocked'])
    expect(task.blocked().blockers[0]?.message).toBe('consensus: a works on task t or did, and cannot review it')
    task.do({ type: 'release', reason: 'enough' })
    task.claim('b')
    expect(task.leave()).toEqual(['transition_requested', 'gate_blocked'])
  })

  it('[REQ-CONSENSUS-6] is blocked when a reviewer took the task over after the vote', () => {
    const task = new VotedTask()
    task.leave()
    task.agree()
    task.do({ type: 'release', reason: 'enough' })
    task.claim('r2')
    expect(task.leave()).toEqual(['transition_requested', 'gate_blocked'])
    expect(task.blocked().blockers[0]?.message).toContain('r2')
  })

  it('[REQ-CONSENSUS-6] is blocked while the task is reserved for a reviewer', () => {
    const task = new VotedTask()
    task.do({ type: 'reassign', agentId: 'r1', reason: 'you' }, 'operator:admin')
    const facts = { consensus: task.seen('s1') }
    expect(task.move('DONE', facts)).toContain('gate_blocked')
    expect(task.events.some((event) => event.type === 'consensus_requested')).toBe(false)
  })

  it('[REQ-CONSENSUS-7] asks the reviewers only when everything before them holds', () => {
    const task = new VotedTask({ gates: [gate('g', { blockers: [check('all_tests_pass')] })] })
    const checks = new Map([outcome('g', 'all_tests_pass', 'fails')])
    expect(task.move('DONE', { consensus: task.seen('s1'), checks })).toEqual(['transition_requested', 'gate_blocked'])
    expect(task.blocked().blockers.map((one) => one.check)).toEqual(['all_tests_pass'])
    const holds = new Map([outcome('g', 'all_tests_pass', 'holds')])
    expect(task.move('DONE', { consensus: task.seen('s1'), checks: holds })).toContain('consensus_requested')
  })

  it('[REQ-CONSENSUS-7] asks for an approval only when the reviewers agree', () => {
    const task = new VotedTask({ gates: [gate('g', { type: 'approval', approvers: ['human'] })] })
    expect(task.leave()).not.toContain('approval_requested')
    task.agree()
    expect(task.leave()).toContain('approval_requested')
  })

  it('[REQ-CONSENSUS-7] is never begun by Phaselock itself, which only goes on when they agree', () => {
    const task = new VotedTask({ gates: [gate('g', { autoAdvance: true })] })
    const auto = () =>
      task.do({
        ...({ type: 'transition', target: 'DONE', currentPhase: 'WORK', claims: [], auto: true } as const),
        facts: factsOf(task.state, { reviewsKey: '[]', consensus: task.seen('s1') }),
      })
    expect(auto()).toEqual([])
    task.leave()
    expect(auto()).toEqual([])
    task.agree()
    expect(auto()).toContain('gate_passed')
  })

  it('[REQ-CONSENSUS-7] is not asked for on a claimed way back', () => {
    const contract = contractOf([phase('PLAN'), phase('WORK', { consensus: planOf() })], {
      transitions: [
        { from: 'PLAN', to: 'WORK', gate: null, when: null },
        { from: 'WORK', to: 'PLAN', gate: null, when: 'replan' },
        { from: 'WORK', to: 'WORK', gate: null, when: null },
      ],
    })
    const world = new World(contract)
    world.claim()
    world.move('WORK')
    expect(world.move('PLAN', { reviewsKey: '[]' }, ['replan'])).toContain('phase_entered')
  })

  it('[REQ-CONSENSUS-8] that is the last completes the task only when they agree', () => {
    const contract = contractOf([phase('WORK'), phase('END', { consensus: planOf() })])
    const world = new World(contract)
    world.claim()
    world.move('END')
    expect(world.state).toMatchObject({ phase: 'END', status: 'active' })
    expect(world.move('END', { reviewsKey: '[]' })).toEqual(['transition_requested', 'gate_blocked'])
    expect(world.state.status).toBe('active')
  })

  it('[REQ-CONSENSUS-9] asks at most so often in one visit, and again after a rewind', () => {
    const task = new VotedTask()
    for (let times = 0; times < CONSENSUS_RUNS_MAX; times += 1) {
      expect(task.leave(`s${times}`)).toContain('consensus_requested')
      task.inRun(`s${times}`, { type: 'cancel', reason: 'next' })
    }
    expect(task.leave('more')).toEqual(['transition_requested', 'gate_blocked'])
    expect(task.blocked().blockers[0]?.message).toContain(`were asked ${CONSENSUS_RUNS_MAX} times`)
    task.do({ type: 'rewind', to: 'WORK', reason: 'again', agentIsFree: true }, 'operator:admin')
    expect(task.leave('more')).toContain('consensus_requested')
    expect(task.state.consensus?.runs).toEqual([{ id: runIdOf('more'), subject: 'more' }])
  })

  it('[REQ-BREAKAGAIN-12] asks at most so often on one task, however often its agent goes in circles, and again after a rewind', () => {
    const transitions = [
      { from: 'PLAN', to: 'WORK', gate: null, when: null },
      { from: 'WORK', to: 'PLAN', gate: null, when: 'replan' },
      { from: 'WORK', to: 'DONE', gate: null, when: null },
    ]
    const world = new World(
      contractOf([phase('PLAN'), phase('WORK', { consensus: planOf() }), phase('DONE')], { transitions }),
    )
    world.claim()
    const ask = (at: number): readonly string[] => {
      if (world.state.phase === 'PLAN') world.move('WORK')
      const consensus = { runId: `run-${at}`, subject: `s${at}`, run: null, last: null, replaces: null, workKey: '' }
      return world.move('DONE', { reviewsKey: '[]', consensus })
    }
    for (let at = 0; at < CONSENSUS_RUNS_TASK_MAX; at += 1) {
      expect(ask(at)).toContain('consensus_requested')
      expect(world.move('PLAN', { reviewsKey: '[]' }, ['replan'])).toContain('phase_entered')
    }
    expect(ask(1000)).toEqual(['transition_requested', 'gate_blocked'])
    const last = world.last()
    expect(last.type === 'gate_blocked' ? last.blockers[0]?.message : '').toContain('were asked 200 times')
    world.do({ type: 'rewind', to: 'PLAN', reason: 'again', agentIsFree: true }, 'operator:admin')
    expect(ask(1000)).toContain('consensus_requested')
    world.expectReplayEqualsLive()
  })
})

function opened(task: VotedTask, plan: ReturnType<typeof planOf>, isConsensus = true): void {
  task.leave()
  task.open('s1', plan, isConsensus)
}
