import { describe, expect, test } from 'vitest'
import { events, NOW, newEvent, newTask, sha256 } from './events.js'
import { create, type OpenStore, one, openForTest } from './suite-tools.js'

const DAY_MS = 24 * 60 * 60 * 1_000

/** Appends, idempotency keys and blobs. */
export function appendSuite(name: string, open: OpenStore): void {
  const opened = (now?: () => number) => openForTest(open, now)

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

    test('texts with quotes, backslashes, braces and the word NULL come back as they were', async () => {
      const store = await openForTest(open)
      const texts = ['"', '\\', '{a,b}', 'NULL', 'null', '', ' ', 'a"b\\"c', '\\x00', 'ü\n\t', '🙂']
      const written = texts.map((text) => newEvent('x', { text, tool_name: text }, { actor: text, phase: text }))
      events(await store.append({ stream: 'texts', expectedVersion: 0, events: written }))
      const read = await store.readStream('texts', 0, 100)
      expect(read.map(({ actor, phase, data }) => [actor, phase, data.text])).toEqual(
        texts.map((text) => [text, text, text]),
      )
      for (const text of texts)
        expect(
          (await store.query({ toolName: text, stream: 'texts', limit: 100 })).items.map(({ data }) => data.text),
        ).toEqual([text])
      expect((await store.verify()).problems).toEqual([])
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
      expect(await store.readBlob(sha256(content))).toBe(content)
      expect(await store.readBlob(sha256('other'))).toBeNull()
    })
  })
}
