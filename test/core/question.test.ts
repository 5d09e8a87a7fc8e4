import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Command } from '../../src/core/task/command.js'
import type { Question } from '../../src/core/task/state.js'
import { contractOf, phase, World } from './world.js'

type Answerer = (Command & { type: 'answer_question' })['by']
const ann: Answerer = { kind: 'operator', name: 'ann', role: null }
const contract = contractOf([phase('A'), phase('B', { requiredArtifacts: [] }), phase('C')], {
  transitions: [
    { from: 'A', to: 'B', gate: null, when: null },
    { from: 'B', to: 'A', gate: null, when: 'again' },
    { from: 'B', to: 'C', gate: null, when: null },
  ],
})

function working(): World {
  const world = new World(contract)
  world.claim()
  return world
}

function ask(world: World, question = 'Which port?', options: readonly string[] = []): readonly string[] {
  return world.do({ type: 'ask_question', question, options })
}

function answer(world: World, about: Partial<Command & { type: 'answer_question' }> = {}): readonly string[] {
  const questionId = newest(world)?.id ?? ''
  return world.do({ type: 'answer_question', questionId, answer: '8080', other: false, by: ann, ...about }, 'x')
}

function newest(world: World): Question | undefined {
  return [...world.state.questions.values()].at(-1)
}

function refusalOf(world: World, command: Command) {
  const decision = world.ask(command)
  return decision.refusal
}

const asking = (question: string, options: readonly string[] = []): Command => ({
  type: 'ask_question',
  question,
  options,
})

const WRONG: readonly (readonly [name: string, command: Command, said: RegExp])[] = [
  ['an empty question', asking(''), /"question" is empty/],
  ['a blank question', asking(' \n\t'), /"question" is empty/],
  ['a question of 4,001 characters', asking('x'.repeat(4001)), /longer than 4000 characters/],
  ['a question of 4,001 wide characters', asking('😀'.repeat(4001)), /longer than 4000 characters/],
  ['a question of megabytes', asking('x'.repeat(5_000_000)), /longer than 4000 characters/],
  [
    'eleven options',
    asking(
      '?',
      Array.from({ length: 11 }, (_, at) => `${at}`),
    ),
    /more than 10/,
  ],
  ['an option of 201 characters', asking('?', ['x'.repeat(201)]), /longer than 200 characters/],
  ['an empty option', asking('?', ['yes', ' ']), /empty entry/],
  ['the same option twice', asking('?', ['yes', 'no', 'yes']), /same entry twice/],
]

describe('asking', () => {
  it.each(WRONG)('[REQ-QUESTION-1] %s is refused, counted and recorded', (_name, command, said) => {
    const world = working()
    expect(refusalOf(world, command)).toMatchObject({ code: 'invalid_request', detail: expect.stringMatching(said) })
    expect(world.do(command)).toEqual(['question_refused'])
    expect(world.last()).toMatchObject({ questionId: null, by: 'a', counted: true, success: false })
    expect(world.state.questions.size).toBe(0)
    expect(world.state.denialsInARow).toBe(1)
  })

  it('[REQ-QUESTION-1] a question and options as long as they may be are taken', () => {
    const world = working()
    const options = Array.from({ length: 10 }, (_, at) => `${at}`.padEnd(200, '😀').slice(0, 200))
    expect(ask(world, '😀'.repeat(4000), options)).toEqual(['question_asked'])
    expect(newest(world)).toMatchObject({ status: 'open', agentId: 'a', phase: 'A', options })
  })

  it('[REQ-QUESTION-1] the sixth open question is refused and counted, and taken once one is answered', () => {
    const world = working()
    for (let at = 0; at < 5; at += 1) expect(ask(world, `Question ${at}`)).toEqual(['question_asked'])
    expect(refusalOf(world, asking('Question 5'))).toMatchObject({
      code: 'conflict',
      detail: expect.stringMatching(/5 questions of this task are open.*wait for an answer/),
    })
    expect(ask(world, 'Question 5')).toEqual(['question_refused'])
    expect(world.last()).toMatchObject({ code: 'conflict', counted: true })
    expect(ask(world, 'Question 4')).toEqual([])
    answer(world)
    expect(ask(world, 'Question 5')).toEqual(['question_asked'])
  })

  it('[REQ-QUESTION-1] refused questions in a row park the task like any other refusals', () => {
    const world = working()
    for (let at = 0; at < 9; at += 1) ask(world, '')
    expect(ask(world, '')).toEqual(['question_refused', 'task_parked'])
  })

  it('[REQ-QUESTION-2] the task keeps its status and phase while a question is open', () => {
    const world = working()
    ask(world)
    expect(world.state).toMatchObject({ status: 'active', phase: 'A' })
    expect(world.move('B')).toContain('phase_entered')
  })

  it('[REQ-QUESTION-3] the same question again in the visit opens no second one, open or answered', () => {
    const world = working()
    expect(ask(world, 'Which?', ['a', 'b'])).toEqual(['question_asked'])
    expect(ask(world, 'Which?', ['a', 'b'])).toEqual([])
    answer(world, { answer: 'a' })
    expect(ask(world, 'Which?', ['a', 'b'])).toEqual([])
    expect([...world.state.questions.values()]).toMatchObject([{ status: 'answered' }])
  })

  it('[REQ-QUESTION-3] other options, another order or another text are another question', () => {
    const world = working()
    ask(world, 'Which?', ['a', 'b'])
    expect(ask(world, 'Which?', ['b', 'a'])).toEqual(['question_asked'])
    expect(ask(world, 'Which?')).toEqual(['question_asked'])
    expect(ask(world, 'Which ?', ['a', 'b'])).toEqual(['question_asked'])
    expect(new Set(world.state.questions.keys()).size).toBe(4)
  })

  it('[REQ-QUESTION-3] the answer of an earlier visit does not count: the question is open again', () => {
    const world = working()
    ask(world)
    answer(world)
    world.move('B')
    world.move('A', {}, ['again'])
    expect(ask(world)).toEqual(['question_asked'])
  })
})

describe('answering', () => {
  it('[REQ-QUESTION-4] an agent cannot answer, neither the one that asked nor another, and the attempt is recorded', () => {
    for (const name of ['a', 'b']) {
      const world = working()
      ask(world)
      expect(answer(world, { by: { kind: 'agent', name } })).toEqual(['question_refused'])
      expect(world.last()).toMatchObject({ code: 'not_permitted', by: name, counted: true })
      expect(newest(world)).toMatchObject({ status: 'open', answer: null })
    }
  })

  it('[REQ-QUESTION-5] an answer is final: a second one is a conflict', () => {
    const world = working()
    ask(world)
    expect(answer(world)).toEqual(['question_answered'])
    expect(answer(world, { answer: '9090' })).toEqual(['!conflict'])
    expect(newest(world)).toMatchObject({ status: 'answered', answer: { text: '8080', by: 'ann' } })
  })

  it('[REQ-QUESTION-5] a question that nobody asked is not found', () => {
    expect(answer(working(), { questionId: 'qst-1-t' })).toEqual(['!not_found'])
  })

  it.each(['', '  \n', 'x'.repeat(4001)])('[REQ-QUESTION-5] an answer without words or too long is refused', (text) => {
    const world = working()
    ask(world)
    expect(answer(world, { answer: text })).toEqual(['!invalid_request'])
    expect(newest(world)).toMatchObject({ status: 'open' })
  })

  it('[REQ-QUESTION-6] with options the answer is one of them, exactly', () => {
    for (const text of ['c', 'A', 'a ', 'a,b']) {
      const world = working()
      ask(world, 'Which?', ['a', 'b'])
      expect(answer(world, { answer: text })).toEqual(['!invalid_request'])
    }
    const world = working()
    ask(world, 'Which?', ['a', 'b'])
    expect(answer(world, { answer: 'b' })).toEqual(['question_answered'])
  })

  it('[REQ-QUESTION-6] an answer of the operator’s own is taken when it is marked as such', () => {
    const world = working()
    ask(world, 'Which?', ['a', 'b'])
    expect(answer(world, { answer: 'neither', other: true })).toEqual(['question_answered'])
  })

  it('[REQ-QUESTION-5] a question of a task that is parked or waits for an agent can be answered', () => {
    const released = working()
    ask(released)
    released.do({ type: 'release', reason: 'r' })
    expect(answer(released)).toEqual(['question_answered'])
    released.claim('b')
    expect(ask(released)).toEqual([])
    const parked = working()
    ask(parked)
    for (let at = 0; at < 10; at += 1) parked.tool('nope')
    expect(parked.state.status).toBe('parked')
    expect(answer(parked)).toEqual(['question_answered'])
  })
})

const ENDS: readonly (readonly [name: string, end: (world: World) => readonly string[], types: readonly string[]])[] = [
  [
    'left its phase',
    (world) => world.move('B'),
    ['transition_requested', 'gate_passed', 'question_withdrawn', 'phase_entered'],
  ],
  ['was cancelled', (world) => world.do({ type: 'cancel', reason: 'r' }), ['question_withdrawn', 'task_cancelled']],
  [
    'was rewound',
    (world) => world.do({ type: 'rewind', to: 'A', reason: 'r', agentIsFree: true }),
    ['question_withdrawn', 'task_rewound'],
  ],
  [
    'is completed',
    (world) => {
      world.move('B')
      ask(world, 'In B?')
      return world.move('C')
    },
    ['transition_requested', 'gate_passed', 'question_withdrawn', 'phase_entered', 'task_completed'],
  ],
]

describe('withdrawing', () => {
  it.each(ENDS)('[REQ-QUESTION-7] a task that %s withdraws its open question, which then takes no answer', (...one) => {
    const [, end, types] = one
    const world = working()
    ask(world)
    expect(end(world)).toEqual(types)
    expect([...world.state.questions.values()].filter((question) => question.status === 'open')).toEqual([])
    expect(answer(world)).toEqual(['!conflict'])
    world.expectReplayEqualsLive()
  })

  it('[REQ-QUESTION-7] an answered question is not withdrawn', () => {
    const world = working()
    ask(world)
    answer(world)
    expect(world.move('B')).not.toContain('question_withdrawn')
    expect(newest(world)).toMatchObject({ status: 'answered' })
  })

  it('[REQ-QUESTION-7] a refused cancel or a blocked move withdraws nothing', () => {
    const world = working()
    ask(world)
    world.move('nowhere')
    world.do({ type: 'rewind', to: 'C', reason: 'r', agentIsFree: true })
    world.do({ type: 'reassign', agentId: null, reason: 'r' })
    expect(newest(world)).toMatchObject({ status: 'open' })
  })
})

describe('many questions', () => {
  it('[REQ-QUESTION-8] the state keeps the open ones and the newest of the rest, fifty in all', () => {
    const world = working()
    ask(world, 'The first and still open')
    for (let at = 0; at < 80; at += 1) {
      ask(world, `Question ${at}`)
      answer(world)
    }
    expect(world.state.questions.size).toBe(50)
    expect([...world.state.questions.values()][0]).toMatchObject({ question: 'The first and still open' })
    expect(newest(world)).toMatchObject({ question: 'Question 79' })
    world.expectReplayEqualsLive()
  })

  it('[REQ-QUESTION-8] any sequence opens at most five, takes answers of operators only, once, and replays to the same state', () => {
    const step = fc.oneof(
      fc.constantFrom('1', '2', '3', '4', '5', '6', '7').map((text) => (world: World) => void ask(world, text)),
      fc.record({ agent: fc.boolean(), at: fc.nat(8) }).map((one) => (world: World) => {
        const questionId = [...world.state.questions.keys()][one.at] ?? 'none'
        const by: Answerer = one.agent ? { kind: 'agent', name: 'a' } : ann
        answer(world, { questionId, by })
      }),
      fc.constantFrom('A', 'B').map((to) => (world: World) => void world.move(to, {}, ['again'])),
      fc.constant((world: World) => void world.do({ type: 'resume', reason: 'r', agentIsFree: true })),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const world = working()
        for (const one of steps) {
          one(world)
          const open = [...world.state.questions.values()].filter((question) => question.status === 'open')
          expect(open.length).toBeLessThanOrEqual(5)
          expect(open.every((question) => question.visit === world.state.visit)).toBe(true)
        }
        const answered = world.events.filter((event) => event.type === 'question_answered')
        expect(answered.every((event) => event.by === 'ann')).toBe(true)
        expect(new Set(answered.map((event) => event.questionId)).size).toBe(answered.length)
        world.expectReplayEqualsLive()
      }),
      { numRuns: 500 },
    )
  })
})
