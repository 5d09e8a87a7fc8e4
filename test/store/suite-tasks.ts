import { describe, expect, test } from 'vitest'
import { NOW, newTask } from './events.js'
import { create, type OpenStore, one, openForTest } from './suite-tools.js'

/** The projection of tasks. */
export function taskSuite(name: string, open: OpenStore): void {
  const opened = (now?: () => number) => openForTest(open, now)

  describe(`${name}: tasks`, () => {
    test('REQ-LEDGER-3 the row of a task is written with its event and found by id', async () => {
      const store = await opened()
      const task = newTask('a', { title: 'Odd \u0000 "title" 😀', requires: ['typescript'], dependsOn: [] })
      await create(store, task)
      expect(await store.findTask('a')).toEqual(task)
      expect(await store.findTask('b')).toBeNull()
    })

    test('REQ-LEDGER-3 a refused append leaves the row as it was', async () => {
      const store = await opened()
      await create(store, newTask('a'))
      await store.append(one('task:a', 0, { task: newTask('a', { status: 'completed' }) }))
      expect((await store.findTask('a'))?.status).toBe('queued')
    })

    test('REQ-LEDGER-3 tasks are paged newest first and filtered', async () => {
      const store = await opened()
      await create(store, newTask('a'), newTask('b', { phase: 'TDD' }), newTask('c'), newTask('d'))
      await store.append(one('task:c', 1, { task: newTask('c', { status: 'active', agentId: 'ada' }) }))
      const first = await store.queryTasks({ limit: 3 })
      expect(first.items.map((task) => task.id)).toEqual(['d', 'c', 'b'])
      const second = await store.queryTasks({ limit: 3, cursor: first.nextCursor ?? '' })
      expect(second.items.map((task) => task.id)).toEqual(['a'])
      expect(second.nextCursor).toBeNull()
      expect((await store.queryTasks({ limit: 9, status: 'active' })).items.map((task) => task.id)).toEqual(['c'])
      expect((await store.queryTasks({ limit: 9, phase: 'TDD' })).items.map((task) => task.id)).toEqual(['b'])
      expect((await store.queryTasks({ limit: 9, agentId: 'ada', phase: 'TDD' })).items).toEqual([])
      await expect(store.queryTasks({ limit: 9, cursor: 'nonsense' })).rejects.toThrow(RangeError)
    })

    test('[REQ-QUESTION-9] tasks with questions are found, those with an open one and those with any, page by page', async () => {
      const store = await opened()
      await create(
        store,
        newTask('none'),
        newTask('open', { openQuestions: 2, questions: 3, status: 'active', agentId: 'ada' }),
        newTask('answered', { questions: 1 }),
        newTask('parked', { openQuestions: 1, questions: 1, status: 'parked' }),
      )
      const ids = async (hasQuestion: 'open' | 'any', rest = {}) =>
        (await store.queryTasks({ hasQuestion, limit: 9, ...rest })).items.map((task) => task.id)
      expect(await ids('open')).toEqual(['parked', 'open'])
      expect(await ids('any')).toEqual(['parked', 'answered', 'open'])
      expect(await ids('open', { status: 'active' })).toEqual(['open'])
      const first = await store.queryTasks({ hasQuestion: 'any', limit: 1 })
      expect(first.items).toMatchObject([{ id: 'parked' }])
      expect(await ids('any', { cursor: first.nextCursor })).toEqual(['answered', 'open'])
      await store.append(one('task:parked', 1, { task: newTask('parked', { questions: 1, status: 'parked' }) }))
      expect(await ids('open')).toEqual(['open'])
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
        (await store.listClaimable({ offset, limit })).map((task) => task.id)
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
      const isClaimable = async () =>
        (await store.listClaimable({ offset: 0, limit: 9 })).some((task) => task.id === 'c')
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
      expect(await store.listDependents('a')).toEqual(['c'])
      expect(await store.listDependents('c')).toEqual([])
    })

    test('REQ-LEDGER-4 changed dependencies of a task count from then on', async () => {
      const store = await opened()
      await create(store, newTask('a'), newTask('b', { status: 'completed' }), newTask('c', { dependsOn: ['a'] }))
      await store.append(one('task:c', 1, { task: newTask('c', { dependsOn: ['b'] }) }))
      expect((await store.listClaimable({ offset: 0, limit: 9 })).map((task) => task.id)).toEqual(['a', 'c'])
      expect(await store.listDependents('a')).toEqual([])
      await store.append(one('task:a', 1, { task: newTask('a', { status: 'completed' }) }))
      expect((await store.listClaimable({ offset: 0, limit: 9 })).map((task) => task.id)).toEqual(['c'])
    })

    test('REQ-LEDGER-5 an agent that holds a task gets no second one', async () => {
      const store = await opened()
      await create(store, newTask('a'), newTask('b'))
      const claim = (id: string, status = 'active', version = 1) =>
        store.append(one(`task:${id}`, version, { task: newTask(id, { status, agentId: 'ada' }) }))
      const results = await Promise.all([claim('a'), claim('b')])
      expect(results).toMatchObject([{ ok: true }, { ok: false, reason: 'agent_busy' }])
      expect((await store.findHeldBy('ada'))?.id).toBe('a')
      expect((await claim('a', 'awaiting_approval', 2)).ok).toBe(true)
      expect(await claim('b', 'awaiting_approval')).toEqual({ ok: false, reason: 'agent_busy' })
      expect((await claim('a', 'completed', 3)).ok).toBe(true)
      expect((await claim('b')).ok).toBe(true)
      expect((await store.findHeldBy('ada'))?.id).toBe('b')
      expect(await store.findHeldBy('bob')).toBeNull()
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
      const ids = (await store.listOverdue({ now: NOW, limit: 10 })).map((task) => task.id)
      expect(ids.toSorted()).toEqual(['both', 'lapsed', 'waiting'])
      expect(await store.listOverdue({ now: NOW, limit: 2 })).toHaveLength(2)
    })

    test('tasks are counted by status and phase', async () => {
      const store = await opened()
      await create(store, newTask('a'), newTask('b'), newTask('c', { phase: 'TDD' }))
      expect(await store.countTasks()).toEqual([
        { status: 'queued', phase: 'PLAN', count: 2 },
        { status: 'queued', phase: 'TDD', count: 1 },
      ])
    })
  })
}
