import { describe, expect, test } from 'vitest'
import { checkOrder, type Written } from './nodes/check-order.js'
import { type Grant, History, type Operation } from './nodes/history.js'

const BASE = 'http://node'
const first: Grant = { agent: 'ann', task: 'T', epoch: 1, phase: 'A' }
const second: Grant = { agent: 'ann', task: 'T', epoch: 2, phase: 'B' }
const EVENTS: readonly Written[] = [
  { seq: 10, task: 'T', type: 'task_claimed', epoch: 1, phase: 'A', agent: 'ann' },
  { seq: 11, task: 'T', type: 'phase_entered', epoch: 2, phase: 'B', agent: 'ann' },
]

type Told = Partial<Pick<Operation, 'status' | 'code' | 'given'>>

function record(work: (ask: (kind: Operation['kind'], used: Grant | null) => (told?: Told) => void) => void): History {
  const history = new History()
  work((kind, used) => {
    const begun = history.begin({ agent: 'ann', kind, base: BASE, used, isStale: false })
    return (told = {}) => history.end(begun, { status: 200, code: null, given: null, ...told })
  })
  return history
}

const check = (history: History, events = EVENTS) => checkOrder(history.operations, events)

describe('[REQ-NODES-12] a history that no order explains is found', () => {
  test('a token that is accepted after the call that superseded it was answered', () => {
    const history = record((ask) => {
      ask('claim', null)({ given: first })
      ask('move', first)({ given: second })
      ask('look', first)()
    })
    expect(check(history)).toEqual([expect.stringMatching(/look .*accepted, although event 11 superseded it/)])
  })

  test('a token that is refused as superseded when nothing superseded it', () => {
    const history = record((ask) => {
      ask('claim', null)({ given: first })
      ask('look', first)({ status: 403, code: 'token_stale' })
      ask('move', first)({ given: second })
    })
    expect(check(history)).toEqual([expect.stringMatching(/refused as superseded/)])
  })

  test('an answered change that the ledger does not have', () => {
    const history = record((ask) => ask('claim', null)({ given: { ...first, epoch: 7 } }))
    expect(check(history, [])).toEqual([expect.stringMatching(/answered, and no event says so/)])
  })

  test('a change that was written before one that had been answered when it began', () => {
    const other: Grant = { agent: 'ann', task: 'U', epoch: 1, phase: 'A' }
    const history = record((ask) => {
      ask('claim', null)({ given: first })
      ask('move', first)({ given: second })
      ask('claim', null)({ given: other })
    })
    const late: Written = { seq: 9, task: 'U', type: 'task_claimed', epoch: 1, phase: 'A', agent: 'ann' }
    expect(check(history, [late, ...EVENTS])).toEqual([expect.stringMatching(/written as event 9, and 11 had been/)])
  })

  test('a change that nobody asked for', () => {
    const history = record((ask) => ask('claim', null)({ given: first }))
    expect(check(history)).toEqual([expect.stringMatching(/event 11 gave B of T to ann, who did not ask for it/)])
  })
})

describe('[REQ-NODES-12] a history that some order explains is accepted', () => {
  test('calls one after the other', () => {
    const history = record((ask) => {
      ask('claim', null)({ given: first })
      ask('look', first)()
      ask('move', first)({ given: second })
      ask('look', first)({ status: 403, code: 'token_stale' })
      ask('look', second)()
    })
    expect(check(history)).toEqual([])
  })

  test('an old token that is accepted or refused while the call that supersedes it is under way', () => {
    const history = record((ask) => {
      ask('claim', null)({ given: first })
      const move = ask('move', first)
      ask('look', first)()
      ask('look', first)({ status: 403, code: 'token_stale' })
      move({ given: second })
    })
    expect(check(history)).toEqual([])
  })

  test('a call without an answer that was decided, or that was not', () => {
    const lost = record((ask) => {
      ask('claim', null)({ given: first })
      ask('move', first)({ status: null })
    })
    expect(check(lost)).toEqual([])
    expect(check(lost, EVENTS.slice(0, 1))).toEqual([])
  })
})
