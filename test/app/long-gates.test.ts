import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { ok } from '../../src/app/result.js'
import { type GateRequest, LongGates } from '../../src/app/transitions/long-gates.js'

const WITHIN_MS = 20

describe('requests whose gates take long', () => {
  const request: GateRequest = {
    ...{ kind: 'transition', bearer: { kind: 'agent', agentId: 'a', instance: 'i' } },
    ...{ target: 'IMPL', artifacts: new Map(), evidence: null, claims: [] },
  }
  const passes = (token: string) => async () => {
    await pause(3 * WITHIN_MS)
    return ok({ allowed: true, phase_token: token })
  }

  it('[REQ-LONGGATE-4] an answer is not given again to an agent whose task has moved on since', async () => {
    const gates = new LongGates(WITHIN_MS)
    let position = 't 1'
    const ask = (token: string) =>
      gates.answer(request, {
        work: passes(token),
        checking: async () => ({ allowed: false, checking: true }),
        positionOf: async () => position,
      })
    expect(await ask('first')).toEqual(ok({ allowed: false, checking: true }))
    await pause(4 * WITHIN_MS)
    // The answer that it did not wait for, and once more if that was lost.
    expect(await ask('second')).toEqual(ok({ allowed: true, phase_token: 'first' }))
    expect(await ask('second')).toEqual(ok({ allowed: true, phase_token: 'first' }))
    position = 't 2'
    expect(await ask('third')).toEqual(ok({ allowed: false, checking: true }))
    await pause(4 * WITHIN_MS)
    expect(await ask('fourth')).toEqual(ok({ allowed: true, phase_token: 'third' }))
  })
})
