import { appendFileSync, copyFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { RECENT_IDS_MAX } from '../../src/transcripts/cursor.js'
import type { TranscriptFormat } from '../../src/transcripts/folders.js'
import { LINE_BYTES_MAX, READ_BYTES_MAX } from '../../src/transcripts/read-transcript.js'
import { depth } from '../depth.js'
import { Book, claude, codex, codexSession, gemini, jsonl, ms, Place, second } from './place.js'

const USAGE_PER_READ_MAX = 10_000
const CHUNK_BYTES_MAX = 64 * 1024
const place = new Place()
afterAll(() => place.remove())

const answer = (index: number, more: Readonly<Record<string, unknown>> = {}) =>
  claude(`m${index}`, { input_tokens: 10, output_tokens: 1 }, { timestamp: second(index), ...more })
const answers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => answer(from + index))

describe('reading on', () => {
  it('[REQ-TRANSCRIPT-6] a last line that is not complete is left until it is', async () => {
    const [one, two] = [jsonl(answer(1)), jsonl(answer(2))]
    const path = place.write('claude-code', one)
    const book = await new Book().readOn(place, path)
    for (const part of [two.slice(0, 10), two.slice(10, -1)]) {
      appendFileSync(path, part)
      await book.readOn(place, path)
      expect([book.turns, book.malformed, book.cursor?.offset]).toEqual([1, 0, one.length])
    }
    appendFileSync(path, '\n')
    await book.readOn(place, path)
    expect([book.turns, book.malformed, book.cursor?.offset]).toEqual([2, 0, one.length + two.length])
  })

  it('[REQ-TRANSCRIPT-6] a line that grows beyond the maximum is malformed once, and the next one is read', async () => {
    const path = place.write('claude-code', jsonl(answer(1)))
    const book = await new Book().readOn(place, path)
    for (let round = 0; round < 4; round += 1) {
      appendFileSync(path, Buffer.alloc(LINE_BYTES_MAX - 1000, 'x'))
      await book.readOn(place, path)
    }
    expect(book.cursor?.skipping).toBe(true)
    appendFileSync(path, `\n${jsonl(answer(2))}`)
    await book.readOn(place, path)
    expect(book.facts()).toMatchObject({ turns: 2, malformed: 1, skippedBytes: 4 * (LINE_BYTES_MAX - 1000) })
  })

  it('[REQ-TRANSCRIPT-6] an empty file and a call with nothing new report nothing', async () => {
    const path = place.write('claude-code', '')
    const empty = await place.read(path)
    expect(empty).toMatchObject({ usage: [], turns: 0, malformed: 0, more: false })
    appendFileSync(path, jsonl(answer(1)))
    const first = await place.read(path, empty.cursor)
    const again = await place.read(path, first.cursor)
    expect(first.turns).toBe(1)
    expect(again).toMatchObject({ usage: [], turns: 0, malformed: 0, skippedBytes: 0, more: false })
    expect(again.cursor).toEqual(first.cursor)
  })

  const small = { lineBytesMax: 400 }
  const bytes = fc.oneof(
    { weight: 5, arbitrary: fc.record({ id: fc.integer({ min: 0, max: 4 }), output: fc.nat(99), at: fc.nat(9) }) },
    { weight: 3, arbitrary: fc.record({ total: fc.nat(999), at: fc.nat(50) }) },
    { weight: 2, arbitrary: fc.record({ junk: fc.uint8Array({ maxLength: 40 }) }) },
    { weight: 1, arbitrary: fc.record({ long: fc.integer({ min: 350, max: 900 }) }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom({ text: '\r' }, { text: '' }, { text: '\ufeff{}' }, { text: '{"a":1}\r' }),
    },
  )
  type Drawn = typeof bytes extends fc.Arbitrary<infer T> ? T : never
  const written = (format: TranscriptFormat, drawn: Drawn): Buffer => {
    if ('text' in drawn) return Buffer.from(`${drawn.text}\n`)
    if ('junk' in drawn) return Buffer.concat([drawn.junk, Buffer.from('\n')])
    if ('long' in drawn) return Buffer.from(`"${'y'.repeat(drawn.long)}"\n`)
    if ('total' in drawn)
      return Buffer.from(jsonl(codex(drawn.at, drawn.total, drawn.total, { cached_input_tokens: drawn.at })))
    const more = { timestamp: second(drawn.at) }
    if (format === 'gemini') return Buffer.from(jsonl(gemini(`g${drawn.id}`, { input: 5, output: drawn.output }, more)))
    if (format === 'codex' && drawn.id < 2) return Buffer.from(jsonl(codexSession(`s${drawn.id}`)))
    return Buffer.from(jsonl(claude(`m${drawn.id}`, { input_tokens: 5, output_tokens: drawn.output }, more)))
  }

  it('[REQ-TRANSCRIPT-6] whatever the chunks, the calls and the pieces in which a file grows, it adds up to the same', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<TranscriptFormat>('claude-code', 'codex', 'gemini'),
        fc.array(bytes, { maxLength: 30 }),
        fc.record({ chunkBytes: fc.integer({ min: 1, max: 700 }), readBytesMax: fc.integer({ min: 1, max: 3000 }) }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 }),
        async (format, drawn, sizes, cuts) => {
          const content = Buffer.concat([...drawn.map((one) => written(format, one)), Buffer.from('\n')])
          const whole = await new Book().readOn(place, place.write(format, content), small)
          const ends = [...cuts.map((cut) => Math.floor(cut * content.length)), content.length].sort((a, b) => a - b)
          const book = new Book()
          const path = place.write(format, '')
          let from = 0
          for (const end of ends) {
            appendFileSync(path, content.subarray(from, end))
            await book.readOn(place, path, { ...small, ...sizes })
            from = end
          }
          expect(book.facts()).toEqual(whole.facts())
          expect(book.cursor?.offset).toBe(content.length)
          expect(book.cursor?.recent).toEqual(whole.cursor?.recent)
        },
      ),
      { numRuns: depth(80, 250) },
    )
  })
})

describe('a file that is not the one that was read', () => {
  const content = jsonl(...answers(0, 20))
  const after = jsonl(...answers(20, 23))
  const begin = async () => {
    rmSync(place.path('claude-code'), { force: true })
    const path = place.write('claude-code', content)
    return { path, book: await new Book().readOn(place, path) }
  }
  const changes: Record<string, (path: string) => number> = {
    'cut to nothing and begun anew': (path) => {
      writeFileSync(path, after)
      return 23
    },
    'cut in the middle of a line and written on': (path) => {
      truncateSync(path, content.length / 2)
      appendFileSync(path, `\n${after}`)
      return 23
    },
    'replaced by a copy with more in it': (path) => {
      copyFileSync(path, `${path}.new`)
      appendFileSync(`${path}.new`, after)
      renameSync(`${path}.new`, path)
      return 23
    },
    'replaced by a shorter file': (path) => {
      writeFileSync(`${path}.new`, after)
      renameSync(`${path}.new`, path)
      return 23
    },
    'written anew in place, longer than before': (path) => {
      writeFileSync(path, jsonl({ type: 'summary' }) + content + after)
      return 23
    },
    'written anew in place, exactly as long as before': (path) => {
      writeFileSync(path, content.replaceAll('m19', 'n19'))
      return 21
    },
  }
  for (const [name, change] of Object.entries(changes))
    it(`[REQ-TRANSCRIPT-7] ${name}: every answer is there, once`, async () => {
      const { path, book } = await begin()
      expect(book.turns).toBe(20)
      const known = change(path)
      await book.readOn(place, path)
      expect(book.known.size).toBe(known)
      expect(book.sum()).toMatchObject({ input: known * 10, output: known })
    })

  it('[REQ-TRANSCRIPT-7] a file that takes the place of one with an endless line is read from its first line', async () => {
    const path = place.write('claude-code', 'x'.repeat(LINE_BYTES_MAX + 1))
    const book = await new Book().readOn(place, path)
    expect(book.cursor?.skipping).toBe(true)
    writeFileSync(path, jsonl(answer(1), answer(2)))
    await book.readOn(place, path)
    expect([book.known.size, book.malformed]).toEqual([2, 1])
  })

  it('[REQ-TRANSCRIPT-7] a session of Codex that is rewritten gives the same ids and the same differences', async () => {
    const lines = [codexSession('s1'), codex(1, 100, 20), codex(2, 200, 40), codex(3, 50, 10)]
    const path = place.write('codex', jsonl(...lines))
    const book = await new Book().readOn(place, path)
    writeFileSync(`${path}.new`, jsonl(...lines, codex(4, 70, 15)))
    renameSync(`${path}.new`, path)
    await book.readOn(place, path)
    expect(book.sum()).toMatchObject({ input: 270, output: 55 })
    expect(book.turns).toBe(4)
  })

  it('[REQ-TRANSCRIPT-7] more answers than are remembered, rewritten, are no new turns', async () => {
    const many = RECENT_IDS_MAX * 3
    const path = place.write('claude-code', jsonl(...answers(0, many)))
    const book = await new Book().readOn(place, path)
    writeFileSync(`${path}.new`, jsonl(...answers(0, many + 1)))
    renameSync(`${path}.new`, path)
    await book.readOn(place, path)
    expect(book.turns).toBe(many + 1)
    expect(book.sum()).toMatchObject({ input: (many + 1) * 10, output: many + 1 })
  })

  it('[REQ-TRANSCRIPT-7] a cursor of another format or with an impossible offset starts at the beginning', async () => {
    const { path, book } = await begin()
    const cursor = book.cursor
    if (cursor === null) throw new Error('no cursor')
    for (const wrong of [
      { format: 'codex' as const },
      { offset: -5 },
      { offset: 0.5 },
      { offset: 1e300 },
      { ino: '1' },
    ])
      expect((await place.read(path, { ...cursor, ...wrong })).usage.length, JSON.stringify(wrong)).toBe(20)
  })
})

describe('maxima', () => {
  it('[REQ-TRANSCRIPT-9] a call reads no more than it may, and says that there is more', async () => {
    const line = `{"pad":"${'x'.repeat(1000)}"}\n`
    const path = place.write('claude-code', line.repeat(Math.ceil((READ_BYTES_MAX * 1.5) / line.length)))
    const first = await place.read(path, null, {
      readBytesMax: READ_BYTES_MAX * 100,
      chunkBytes: CHUNK_BYTES_MAX * 100,
    })
    expect(first.more).toBe(true)
    expect(first.cursor.offset).toBeGreaterThan(READ_BYTES_MAX - line.length)
    expect(first.cursor.offset).toBeLessThanOrEqual(READ_BYTES_MAX + CHUNK_BYTES_MAX)
    expect((await place.read(path, first.cursor)).more).toBe(false)
    const odd = await place.read(path, null, { readBytesMax: Number.NaN, chunkBytes: -7, lineBytesMax: 2000 })
    expect(odd.cursor.offset).toBe(line.length)
  })

  it('[REQ-TRANSCRIPT-9] a call reports no more answers than it may, and the next one goes on with the rest', async () => {
    const path = place.write('claude-code', jsonl(...answers(0, USAGE_PER_READ_MAX + 5)))
    const first = await place.read(path)
    const next = await place.read(path, first.cursor)
    expect([first.usage.length, first.more]).toEqual([USAGE_PER_READ_MAX, true])
    expect([next.usage.length, next.more]).toEqual([5, false])
  })

  it('[REQ-TRANSCRIPT-9] a cursor remembers no more answers than it may, and those that were touched last', async () => {
    const path = place.write('claude-code', jsonl(...answers(0, RECENT_IDS_MAX), answer(0), ...answers(2000, 2003)))
    const { cursor, turns } = await place.read(path)
    expect(turns).toBe(RECENT_IDS_MAX + 3)
    expect(cursor.recent.length).toBe(RECENT_IDS_MAX)
    expect(cursor.recent.slice(-4).map((usage) => usage.at)).toEqual([ms(0), ms(2000), ms(2001), ms(2002)])
    expect(cursor.recent[0]?.id).toBe('m4 req_m4')
  })

  it('[REQ-TRANSCRIPT-9] a repetition farther away than is remembered comes under the same id, for the caller to count once', async () => {
    const path = place.write('claude-code', jsonl(...answers(0, RECENT_IDS_MAX + 1), answer(0)))
    const book = await new Book().readOn(place, path, { readBytesMax: 1000 })
    expect(book.known.size).toBe(RECENT_IDS_MAX + 1)
    expect(book.turns).toBe(RECENT_IDS_MAX + 2)
  })
})
