import { describe, expect, it } from 'vitest'
import { Ledger } from '../../src/app/ledger/ledger.js'
import { makeCleaner } from '../../src/store/redaction/clean-data.js'
import type { Store } from '../../src/store/store.js'
import { context, contractOf, gate, phase, T0 } from '../core/world.js'
import { openMemoryStore } from '../store/memory-store.js'

const contract = contractOf([phase('A'), phase('B', { gates: [gate('x')] })])
const task = {
  id: 't',
  title: 'T',
  description: '',
  workspace: '/w',
  dependsOn: [],
  requires: [],
  metadata: {},
  mode: null,
  priority: 0,
}
const claim = (agentId: string) =>
  ({ type: 'claim', agentId, instance: `${agentId}-1`, capabilities: [], openDependencies: [] }) as const
const cleaner = makeCleaner([])

function withAppend(store: Store, append: Store['append']): Store {
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'append') return append
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** A real store whose acknowledgements of one append come late. */
function slowOn(
  store: Store,
  isSlow: (stream: string, version: number) => boolean,
): { store: Store; release: () => void } {
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const slow = withAppend(store, async (append) => {
    const result = await store.append(append)
    if (isSlow(append.stream, append.expectedVersion)) await held
    return result
  })
  return { store: slow, release }
}

describe('the one place that appends', () => {
  it('[REQ-API-12] a task that is claimed before its creation was answered stays claimed', async () => {
    const { store, release } = slowOn(openMemoryStore(), (_, version) => version === 0)
    const ledger = new Ledger(store, cleaner.clean, cleaner.redact)
    const created = ledger.create(contract, task, context(T0, 'operator:x'))
    const first = await ledger.apply({ taskId: 't', contract }, claim('a'), context(T0, 'agent:a'))
    expect(first?.refusal).toBeNull()
    release()
    await created
    expect((await ledger.peek('t'))?.held?.agentId).toBe('a')
    const second = await ledger.apply({ taskId: 't', contract }, claim('b'), context(T0, 'agent:b'))
    expect(second?.refusal?.code).toBe('already_claimed')
  })

  it('[REQ-API-14] commands that are decided while others wait for the disk build on them, and are written in that order', async () => {
    const ledger = new Ledger(openMemoryStore(), cleaner.clean, cleaner.redact)
    await ledger.create(contract, task, context(T0, 'operator:x'))
    await ledger.apply({ taskId: 't', contract }, claim('a'), context(T0, 'agent:a'))
    const move = {
      type: 'transition',
      target: 'B',
      currentPhase: 'A',
      claims: [],
      facts: {
        visit: 1,
        artifacts: [],
        checks: new Map(),
        evidenceProblems: [],
        evidence: {},
        problems: [],
        digest: 'd',
        testFiles: null,
      },
    } as const
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => ledger.apply({ taskId: 't', contract }, move, context(T0, 'agent:a'))),
    )
    expect(answers.filter((one) => one?.refusal === null)).toHaveLength(1)
    expect((await ledger.read('t'))?.phase).toBe('B')
    const events = await ledger.store.readStream('task:t', 0, 100)
    expect(events.map((event) => event.version)).toEqual(events.map((_, index) => index + 1))
  })

  it('[REQ-LEDGER-11] a failed write is forgotten: the next command is decided on the state on disk', async () => {
    const memory = openMemoryStore()
    let isBroken = false
    const store = withAppend(memory, async (append) => {
      if (isBroken) throw new Error('no disk')
      return memory.append(append)
    })
    const ledger = new Ledger(store, cleaner.clean, cleaner.redact)
    await ledger.create(contract, task, context(T0, 'operator:x'))
    isBroken = true
    await expect(ledger.apply({ taskId: 't', contract }, claim('a'), context(T0, 'agent:a'))).rejects.toThrow('no disk')
    isBroken = false
    expect((await ledger.peek('t'))?.held).toBeNull()
    expect((await ledger.apply({ taskId: 't', contract }, claim('b'), context(T0, 'agent:b')))?.refusal).toBeNull()
  })
})
