import { describe, expect, onTestFinished, test } from 'vitest'
import type { Append, Store } from '../../src/store/port.js'
import { events, NOW, newEvent, newTask, sha256 } from './events.js'

const DAY_MS = 24 * 60 * 60 * 1_000

/** What every store must do. `open` gives an empty one; `now` is its clock. */
export function storeSuite(name: string, open: (options: { now: () => number }) => Promise<Store>): void {
  async function opened(now: () => number = () => NOW): Promise<Store> {
    const store = await open({ now })
    onTestFinished(() => store.close())
    return store
  }

  const one = (stream: string, expectedVersion: number, rest: Partial<Append> = {}): Append => ({
    stream,
    expectedVersion,
    events: [newEvent()],
    ...rest,
  })

  async function create(store: Store, ...tasks: ReturnType<typeof newTask>[]): Promise<void> {
    for (const task of tasks) events(await store.append(one(`task:${task.id}`, 0, { task })))
  }

  describe(`${name}: appends`, () => {
    test('REQ-LEDGER-1 an appended event comes back whole, with its place and hashes', async () => {
      const store = await opened()
      const data = { tool_name: 'grep', text: 'é\u0000\ud83d\ude00 "x"', nested: { list: [1, null, true, 0.5] } }
      const [first] = events(await store.append(one('task:a', 0, { events: [newEvent('tool_denied', data)] })))
      expect(first).toMatchObject({ seq: 1, stream: 'task:a', version: 1, type: 'tool_denied', data, phase: 'PLAN' })
      expect(first?.prevHash).toBe('0'.repeat(64))
      expect(first?.hash).toMatch(/^[0-9a-f]{64}$/)
      expect(await store.readStream('task:a', 0, 10)).toEqual([first])
    })

    test('REQ-LEDGER-1 several events of one append get neighbouring places and one chain', async () => {
      const store = await opened()
      const stored = events(
        await store.append(one('task:a', 0, { events: [newEvent('a'), newEvent('b'), newEvent('c')] })),
      )
      expect(stored.map((event) => [event.seq, event.version, event.type])).toEqual([
        [1, 1, 'a'],
        [2, 2, 'b'],
        [3, 3, 'c'],
      ])
      expect(stored[1]?.prevHash).toBe(stored[0]?.hash)
      expect(stored[2]?.prevHash).toBe(stored[1]?.hash)
    })

    test('REQ-LEDGER-2 an append at another version than the stream has is refused with the version it has', async () => {
      const store = await opened()
      await store.append(one('task:a', 0))
      expect(await store.append(one('task:a', 0))).toEqual({ ok: false, reason: 'version_conflict', version: 1 })
      expect(await store.append(one('task:a', 2))).toEqual({ ok: false, reason: 'version_conflict', version: 1 })
      expect(await store.lastSeq()).toBe(1)
    })

    test('REQ-LEDGER-2 of fifty parallel appends at one version exactly one wins', async () => {
      const store = await opened()
      const results = await Promise.all(Array.from({ length: 50 }, () => store.append(one('task:a', 0))))
      expect(results.filter((result) => result.ok)).toHaveLength(1)
      expect(results.filter((result) => !result.ok && result.reason === 'version_conflict')).toHaveLength(49)
      expect(await store.readStream('task:a', 0, 100)).toHaveLength(1)
    })

    test('REQ-LEDGER-2 appends issued without waiting are applied in the order of the calls', async () => {
      const store = await opened()
      const results = await Promise.all(
        Array.from({ length: 100 }, (_, version) =>
          store.append(one('task:a', version, { events: [newEvent(`step_${version}`)] })),
        ),
      )
      expect(results.every((result) => result.ok)).toBe(true)
      const types = (await store.readStream('task:a', 0, 200)).map((event) => event.type)
      expect(types).toEqual(Array.from({ length: 100 }, (_, version) => `step_${version}`))
    })

    test('REQ-LEDGER-2 an append that builds on a refused one is refused too', async () => {
      const store = await opened()
      const [refused, next, other] = await Promise.all([
        store.append(one('task:a', 5)),
        store.append(one('task:a', 6)),
        store.append(one('task:b', 0)),
      ])
      expect(refused).toEqual({ ok: false, reason: 'version_conflict', version: 0 })
      expect(next).toEqual({ ok: false, reason: 'version_conflict', version: 0 })
      expect(other.ok).toBe(true)
    })

    test('REQ-LEDGER-1 seq has no gaps over all streams, also after refusals', async () => {
      const store = await opened()
      await Promise.all(
        Array.from({ length: 60 }, (_, index) => store.append(one(`task:${index % 20}`, Math.floor(index / 40)))),
      )
      const all = await store.readAll(0, 1_000)
      expect(all.map((event) => event.seq)).toEqual(all.map((_, index) => index + 1))
      expect(await store.lastSeq()).toBe(all.length)
      expect((await store.readAll(5, 3)).map((event) => event.seq)).toEqual([6, 7, 8])
    })

    test('a stream name that cannot be stored unchanged is a fault, and the next append is not harmed', async () => {
      const store = await opened()
      await expect(store.append(one('task:\0', 0))).rejects.toThrow(TypeError)
      await expect(store.append(one('task:a', 0, { events: [newEvent('x', {}, { at: 0.5 })] }))).rejects.toThrow(
        TypeError,
      )
      expect((await store.append(one('task:a', 0))).ok).toBe(true)
    })

    test('a clean ledger verifies', async () => {
      const store = await opened()
      await create(store, newTask('a'), newTask('b'))
      await store.append(one('system', 0, { blobs: [{ sha256: sha256('text'), content: 'text' }] }))
      expect(await store.verify()).toMatchObject({ ok: true, events: 3, streams: 3, problems: [] })
    })

    test('a closed store refuses', async () => {
      const store = await opened()
      await store.close()
      await expect(store.append(one('task:a', 0))).rejects.toMatchObject({ name: 'StoreUnavailable' })
      await expect(store.lastSeq()).rejects.toMatchObject({ name: 'StoreUnavailable' })
    })
  })

  describe(`${name}: tasks`, () => {
    test('REQ-LEDGER-3 the row of a task is written with its event and found by id', async () => {
      const store = await opened()
      const task = newTask('a', { title: 'Odd \u0000 "title" 😀', requires: ['typescript'], dependsOn: [] })
      await create(store, task)
      expect(await store.task('a')).toEqual(task)
      expect(await store.task('b')).toBeNull()
    })

    test('REQ-LEDGER-3 a refused append leaves the row as it was', async () => {
      const store = await opened()
      await create(store, newTask('a'))
      await store.append(one('task:a', 0, { task: newTask('a', { status: 'completed' }) }))
      expect((await store.task('a'))?.status).toBe('queued')
    })

    test('REQ-LEDGER-3 tasks are paged newest first and filtered', async () => {
      const store = await opened()
      await create(store, newTask('a'), newTask('b', { phase: 'TDD' }), newTask('c'), newTask('d'))
      await store.append(one('task:c', 1, { task: newTask('c', { status: 'active', agentId: 'ada' }) }))
      const first = await store.tasks({ limit: 3 })
      expect(first.items.map((task) => task.id)).toEqual(['d', 'c', 'b'])
      const second = await store.tasks({ limit: 3, cursor: first.nextCursor ?? '' })
      expect(second.items.map((task) => task.id)).toEqual(['a'])
      expect(second.nextCursor).toBeNull()
      expect((await store.tasks({ limit: 9, status: 'active' })).items.map((task) => task.id)).toEqual(['c'])
      expect((await store.tasks({ limit: 9, phase: 'TDD' })).items.map((task) => task.id)).toEqual(['b'])
      expect((await store.tasks({ limit: 9, agentId: 'ada', phase: 'TDD' })).items).toEqual([])
      await expect(store.tasks({ limit: 9, cursor: 'nonsense' })).rejects.toThrow(RangeError)
    })

    test('REQ-LEDGER-4 claimable tasks come by priority, then by age', async () => {
      const store = await opened()
      await create(
        store,
        newTask('young', { createdAt: NOW + 2 }),
        newTask('old', { createdAt: NOW + 1 }),
        newTask('urgent', { createdAt: NOW + 3, priority: 5 }),
        newTask('same-age', { createdAt: NOW + 1 }),
        newTask('again', { createdAt: NOW, priority: -1, status: 'interrupted' }),
        newTask('done', { status: 'completed', priority: 9 }),
        newTask('held', { status: 'active', agentId: 'ada', priority: 9 }),
      )
      const ids = async (offset: number, limit: number) =>
        (await store.claimable({ offset, limit })).map((task) => task.id)
      expect(await ids(0, 10)).toEqual(['urgent', 'old', 'same-age', 'young', 'again'])
      expect(await ids(1, 2)).toEqual(['old', 'same-age'])
    })

    test('REQ-LEDGER-4 a task is claimable once the last of its dependencies is completed', async () => {
      const store = await opened()
      await create(
        store,
        newTask('a'),
        newTask('b'),
        newTask('c', { dependsOn: ['a', 'b', 'a', 'later'], priority: 9 }),
      )
      const isClaimable = async () => (await store.claimable({ offset: 0, limit: 9 })).some((task) => task.id === 'c')
      const set = (id: string, version: number, status: string) =>
        store.append(one(`task:${id}`, version, { task: newTask(id, { status }) }))
      await set('a', 1, 'completed')
      await set('b', 1, 'failed')
      expect(await isClaimable()).toBe(false)
      await create(store, newTask('later', { status: 'completed' }))
      expect(await isClaimable()).toBe(false)
      await set('b', 2, 'completed')
      expect(await isClaimable()).toBe(true)
      await set('b', 3, 'completed')
      expect(await isClaimable()).toBe(true)
      await set('a', 2, 'queued')
      expect(await isClaimable()).toBe(false)
      await set('a', 3, 'completed')
      expect(await isClaimable()).toBe(true)
      expect(await store.dependents('a')).toEqual(['c'])
      expect(await store.dependents('c')).toEqual([])
    })

    test('REQ-LEDGER-4 changed dependencies of a task count from then on', async () => {
      const store = await opened()
      await create(store, newTask('a'), newTask('b', { status: 'completed' }), newTask('c', { dependsOn: ['a'] }))
      await store.append(one('task:c', 1, { task: newTask('c', { dependsOn: ['b'] }) }))
      expect((await store.claimable({ offset: 0, limit: 9 })).map((task) => task.id)).toEqual(['a', 'c'])
      expect(await store.dependents('a')).toEqual([])
      await store.append(one('task:a', 1, { task: newTask('a', { status: 'completed' }) }))
      expect((await store.claimable({ offset: 0, limit: 9 })).map((task) => task.id)).toEqual(['c'])
    })

    test('REQ-LEDGER-5 an agent that holds a task gets no second one', async () => {
      const store = await opened()
      await create(store, newTask('a'), newTask('b'))
      const claim = (id: string, status = 'active', version = 1) =>
        store.append(one(`task:${id}`, version, { task: newTask(id, { status, agentId: 'ada' }) }))
      const results = await Promise.all([claim('a'), claim('b')])
      expect(results).toMatchObject([{ ok: true }, { ok: false, reason: 'agent_busy' }])
      expect((await store.heldBy('ada'))?.id).toBe('a')
      expect((await claim('a', 'awaiting_approval', 2)).ok).toBe(true)
      expect(await claim('b', 'awaiting_approval')).toEqual({ ok: false, reason: 'agent_busy' })
      expect((await claim('a', 'completed', 3)).ok).toBe(true)
      expect((await claim('b')).ok).toBe(true)
      expect((await store.heldBy('ada'))?.id).toBe('b')
      expect(await store.heldBy('bob')).toBeNull()
      expect(await store.readStream('task:b', 0, 9)).toHaveLength(2)
    })

    test('REQ-LEDGER-6 held tasks past their lease and tasks past their approval are overdue', async () => {
      const store = await opened()
      await create(
        store,
        newTask('lapsed', { status: 'active', agentId: 'ada', leaseExpiresAt: NOW - 1 }),
        newTask('held', { status: 'active', agentId: 'bob', leaseExpiresAt: NOW }),
        newTask('free', { status: 'interrupted', leaseExpiresAt: NOW - 1 }),
        newTask('waiting', {
          status: 'awaiting_approval',
          agentId: 'eve',
          approvalExpiresAt: NOW - 5,
          leaseExpiresAt: NOW,
        }),
        newTask('both', { status: 'awaiting_approval', agentId: 'joe', approvalExpiresAt: NOW - 5, leaseExpiresAt: 1 }),
      )
      const ids = (await store.overdue({ now: NOW, limit: 10 })).map((task) => task.id)
      expect(ids.toSorted()).toEqual(['both', 'lapsed', 'waiting'])
      expect(await store.overdue({ now: NOW, limit: 2 })).toHaveLength(2)
    })

    test('tasks are counted by status and phase', async () => {
      const store = await opened()
      await create(store, newTask('a'), newTask('b'), newTask('c', { phase: 'TDD' }))
      expect(await store.taskCounts()).toEqual([
        { status: 'queued', phase: 'PLAN', count: 2 },
        { status: 'queued', phase: 'TDD', count: 1 },
      ])
    })
  })

  describe(`${name}: idempotency keys and blobs`, () => {
    const remember = { principal: 'agent:ada', key: 'k1', bodyHash: 'h', status: 200, answer: { ok: [1, 'a\u0000'] } }

    test('REQ-LEDGER-7 an answer is kept with its append and recalled by principal and key', async () => {
      const store = await opened()
      await store.append(one('task:a', 0, { remember }))
      expect(await store.recall({ principal: 'agent:ada', key: 'k1' })).toEqual(remember)
      expect(await store.recall({ principal: 'agent:bob', key: 'k1' })).toBeNull()
      expect(await store.recall({ principal: 'agent:ada', key: 'k2' })).toBeNull()
    })

    test('REQ-LEDGER-7 a taken key refuses the append whole', async () => {
      const store = await opened()
      const results = await Promise.all([
        store.append(one('task:a', 0, { remember })),
        store.append(one('task:b', 0, { remember, task: newTask('b') })),
        store.append(one('task:c', 0, { remember: { ...remember, principal: 'agent:bob' } })),
      ])
      expect(results).toMatchObject([{ ok: true }, { ok: false, reason: 'key_taken' }, { ok: true }])
      expect(await store.readStream('task:b', 0, 9)).toEqual([])
      expect(await store.task('b')).toBeNull()
    })

    test('REQ-LEDGER-7 a refused append does not take its key', async () => {
      const store = await opened()
      await store.append(one('task:a', 3, { remember }))
      expect(await store.recall(remember)).toBeNull()
    })

    test('REQ-LEDGER-7 a key is free again after a day', async () => {
      let now = NOW
      const store = await opened(() => now)
      await store.append(one('task:a', 0, { remember }))
      now += DAY_MS - 1
      expect(await store.recall(remember)).toEqual(remember)
      now += 2
      expect(await store.recall(remember)).toBeNull()
      expect((await store.append(one('task:a', 1, { remember: { ...remember, status: 201 } }))).ok).toBe(true)
      expect((await store.recall(remember))?.status).toBe(201)
    })

    test('a blob is found by its hash, byte for byte', async () => {
      const store = await opened()
      const content = 'contract: é\u0000\n😀'
      await store.append(one('system', 0, { blobs: [{ sha256: sha256(content), content }] }))
      await store.append(one('system', 1, { blobs: [{ sha256: sha256(content), content }] }))
      expect(await store.blob(sha256(content))).toBe(content)
      expect(await store.blob(sha256('other'))).toBeNull()
    })
  })

  describe(`${name}: audit`, () => {
    async function filled(): Promise<Store> {
      const store = await opened()
      await store.append(
        one('task:a', 0, {
          events: [
            newEvent('tool_allowed', { tool_name: 'grep', success: true }, { at: NOW }),
            newEvent('tool_denied', { tool_name: 'bash', code: 'forbidden_tool', success: false }, { at: NOW + 1 }),
            newEvent('phase_entered', { agent_id: 'bob' }, { at: NOW + 2, actor: 'operator:root', phase: 'TDD' }),
          ],
        }),
      )
      await store.append(
        one('task:b', 0, { events: [newEvent('tool_denied', { code: 'stale', success: 'no' }, { at: NOW + 3 })] }),
      )
      await store.append(
        one('system', 0, { events: [newEvent('key_rotated', {}, { at: NOW + 4, actor: 'system', phase: null })] }),
      )
      return store
    }

    test('REQ-LEDGER-8 each filter of the audit finds its events, newest first', async () => {
      const store = await filled()
      const seqs = async (filter: object) =>
        (await store.query({ limit: 10, ...filter })).items.map((event) => event.seq)
      expect(await seqs({})).toEqual([5, 4, 3, 2, 1])
      expect(await seqs({ taskId: 'a' })).toEqual([3, 2, 1])
      expect(await seqs({ agentId: 'ada' })).toEqual([4, 2, 1])
      expect(await seqs({ agentId: 'bob' })).toEqual([3])
      expect(await seqs({ phase: 'TDD' })).toEqual([3])
      expect(await seqs({ toolName: 'bash' })).toEqual([2])
      expect(await seqs({ code: 'stale' })).toEqual([4])
      expect(await seqs({ success: true })).toEqual([1])
      expect(await seqs({ success: false })).toEqual([2])
      expect(await seqs({ type: 'tool_denied' })).toEqual([4, 2])
      expect(await seqs({ since: NOW + 1, until: NOW + 3 })).toEqual([4, 3, 2])
      expect(await seqs({ taskId: 'a', type: 'tool_denied', agentId: 'ada' })).toEqual([2])
      expect(await seqs({ taskId: 'nobody' })).toEqual([])
    })

    test('REQ-LEDGER-8 cursors page through the audit without repeating or losing an event', async () => {
      const store = await filled()
      const seqs: number[] = []
      let cursor: string | null = null
      for (let page = 0; page < 10; page += 1) {
        const answer = await store.query({ limit: 2, ...(cursor === null ? {} : { cursor }) })
        seqs.push(...answer.items.map((event) => event.seq))
        cursor = answer.nextCursor
        if (cursor === null) break
        await store.append(one('task:new', page))
      }
      expect(seqs).toEqual([5, 4, 3, 2, 1])
      const first = await store.query({ taskId: 'a', limit: 2 })
      const rest = await store.query({ taskId: 'a', limit: 2, cursor: first.nextCursor ?? '' })
      expect(rest.items.map((event) => event.seq)).toEqual([1])
      await expect(store.query({ limit: 2, cursor: '???' })).rejects.toThrow(RangeError)
    })

    test('REQ-LEDGER-8 the statistics count events by type and code', async () => {
      const store = await filled()
      expect(await store.stats()).toEqual({
        events: 5,
        streams: 3,
        byType: { key_rotated: 1, phase_entered: 1, tool_allowed: 1, tool_denied: 2 },
        byCode: { forbidden_tool: 1, stale: 1 },
        firstAt: NOW,
        lastAt: NOW + 4,
      })
      expect(await (await opened()).stats()).toMatchObject({ events: 0, streams: 0, firstAt: null, lastAt: null })
    })
  })
}
