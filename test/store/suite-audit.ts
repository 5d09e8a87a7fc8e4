import { describe, expect, test } from 'vitest'
import type { Store } from '../../src/store/store.js'
import { NOW, newEvent } from './events.js'
import { type OpenStore, one, openForTest } from './suite-tools.js'

/** Queries over all events. */
export function auditSuite(name: string, open: OpenStore): void {
  const opened = (now?: () => number) => openForTest(open, now)

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

    test('[REQ-SEARCH-1] the audit is searched by types, actor, stream and text, and from an event on', async () => {
      const store = await filled()
      const seqs = async (filter: object) =>
        (await store.query({ limit: 10, ...filter })).items.map((event) => event.seq)
      await store.append(one('task:c', 0, { events: [newEvent('noted', { detail: 'Say "50%_off" \\ now' })] }))
      expect(await seqs({ types: ['key_rotated', 'phase_entered'] })).toEqual([5, 3])
      expect(await seqs({ types: ['nothing'] })).toEqual([])
      expect(await seqs({ actor: 'operator:root' })).toEqual([3])
      expect(await seqs({ stream: 'system' })).toEqual([5])
      expect(await seqs({ afterSeq: 4 })).toEqual([6, 5])
      expect(await seqs({ text: 'FORBIDDEN' })).toEqual([2])
      for (const text of ['50%_off', '"50', '\\ now', '%_off"']) expect(await seqs({ text })).toEqual([6])
      for (const text of ['50%off', '50x_', "' OR 1=1 --", '%'])
        expect([text, await seqs({ text })]).toEqual([text, text === '%' ? [6] : []])
      expect(await seqs({ text: 'tool_name', taskId: 'a', afterSeq: 1 })).toEqual([2])
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

    test('[REQ-SEARCH-1] a page of a search that ended at its bound says how far it came, and the next one goes on', async () => {
      const store = await filled()
      for (const [filter, expected] of [
        [{ text: 'grep' }, [1]],
        [{ agentId: 'bob' }, [3]],
        [{ stream: 'task:a' }, [3, 2, 1]],
        [{ text: 'nowhere' }, []],
        [{ text: 'grep', afterSeq: 1 }, []],
        [{}, [5, 4, 3, 2, 1]],
      ] as const) {
        const found: number[] = []
        let cursor: string | null = null
        let next = 5
        do {
          const bound = { searchedMax: 2, limit: 10, ...(cursor === null ? {} : { cursor }) }
          const page = await store.query({ ...filter, ...bound })
          expect(page.searched.from).toBe(next)
          expect(page.searched.from - page.searched.to).toBeLessThan(2)
          found.push(...page.items.map((event) => event.seq))
          next = page.searched.to - 1
          cursor = page.nextCursor
        } while (cursor !== null)
        expect({ filter, found, next }).toEqual({ filter, found: expected, next: 'afterSeq' in filter ? 1 : 0 })
      }
      // One task is read whole.
      const whole = await store.query({ taskId: 'a', type: 'tool_allowed', searchedMax: 1, limit: 10 })
      expect(whole).toMatchObject({ items: [{ seq: 1 }], nextCursor: null, searched: { from: 5, to: 1 } })
      // A full page ends at its last event.
      const full = await store.query({ limit: 2, searchedMax: 4 })
      expect(full.searched).toEqual({ from: 5, to: 4 })
    })

    test('REQ-LEDGER-8 the statistics count events by type and code', async () => {
      const store = await filled()
      expect(await store.readStats()).toEqual({
        events: 5,
        streams: 3,
        byType: { key_rotated: 1, phase_entered: 1, tool_allowed: 1, tool_denied: 2 },
        byCode: { forbidden_tool: 1, stale: 1 },
        firstAt: NOW,
        lastAt: NOW + 4,
      })
      await store.append(one('task:b', 1, { events: [newEvent('tool_denied', { code: 'stale' }, { at: NOW + 9 })] }))
      expect(await store.readStats()).toMatchObject({
        ...{ events: 6, firstAt: NOW, lastAt: NOW + 9, byCode: { forbidden_tool: 1, stale: 2 } },
        byType: { key_rotated: 1, phase_entered: 1, tool_allowed: 1, tool_denied: 3 },
      })
      expect(await (await opened()).readStats()).toMatchObject({ events: 0, streams: 0, firstAt: null, lastAt: null })
    })
  })
}
