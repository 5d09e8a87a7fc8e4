import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { TranscriptFormat } from '../../src/transcripts/folders.js'
import { Book, claude, codex, codexSession, gemini, jsonl, ms, Place, type Sum, second } from './place.js'

const place = new Place()
afterAll(() => place.remove())

async function bookOf(format: TranscriptFormat, content: string | Buffer): Promise<Book> {
  return new Book().readOn(place, place.write(format, content))
}

const sum = (input: number, output: number, cacheRead = 0, cacheWrite = 0): Sum => ({
  input,
  output,
  cacheRead,
  cacheWrite,
})

describe('answers whose lines are repeated', () => {
  const blocks = [
    claude('m1', { input_tokens: 100, output_tokens: 1, cache_read_input_tokens: 30, cache_creation_input_tokens: 7 }),
    claude('m1', { input_tokens: 100, output_tokens: 12, cache_read_input_tokens: 30, cache_creation_input_tokens: 7 }),
    claude('m1', { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 30, cache_creation_input_tokens: 7 }),
    claude('m2', { input_tokens: 5, output_tokens: 6, cache_read_input_tokens: null }),
    claude('m2', { input_tokens: 5, output_tokens: 8 }),
  ]

  it('[REQ-TRANSCRIPT-1] a message counts once with its largest values, in whatever order its lines come', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...blocks), { maxLength: 20 }),
        fc.integer({ min: 0, max: 1e9 }),
        async (again, seed) => {
          const lines = [...blocks, ...again]
            .map((line, index) => ({ line, key: Math.imul(index + 1, seed) }))
            .sort((one, other) => one.key - other.key)
            .map(({ line }) => line)
          const book = await bookOf('claude-code', jsonl(...lines))
          expect(book.sum()).toEqual(sum(105, 28, 30, 7))
          expect(book.turns).toBe(2)
          expect(book.malformed).toBe(0)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('[REQ-TRANSCRIPT-1] the same message id under another request is another answer', async () => {
    const line = (requestId: string) => claude('m1', { input_tokens: 1, output_tokens: 2 }, { requestId })
    const book = await bookOf('claude-code', jsonl(line('a'), line('b'), line('a')))
    expect([...book.known.keys()]).toEqual(['m1 a', 'm1 b'])
    expect(book.sum()).toEqual(sum(2, 4))
  })

  it('[REQ-TRANSCRIPT-1] a message of Gemini that is written again, on its own or with all others, counts once', async () => {
    const one = gemini('g1', { input: 100, output: 20, cached: 30, thoughts: 5, tool: 2, total: 127 })
    const two = gemini(
      'g2',
      { input: 10, output: 1, cached: 0, thoughts: 0, tool: 0, total: 11 },
      { timestamp: second(9) },
    )
    const book = await bookOf('gemini', jsonl(one, one, { $set: { messages: [one, two] } }, two))
    expect(book.sum()).toEqual(sum(82, 26, 30))
    expect(book.turns).toBe(2)
    expect(book.known.get('g2')?.at).toBe(ms(9))
  })

  it('[REQ-TRANSCRIPT-1] an answer that is known from an earlier call comes again with its largest values and is not a new turn', async () => {
    const path = place.write('claude-code', jsonl(claude('m1', { input_tokens: 9, output_tokens: 1 })))
    const first = await place.read(path)
    place.write(
      'claude-code',
      jsonl(
        claude('m1', { input_tokens: 9, output_tokens: 1 }),
        claude('m1', { input_tokens: 3, output_tokens: 7 }, { timestamp: second(8) }),
      ),
    )
    const next = await place.read(path, first.cursor)
    expect(next.usage).toEqual([{ at: ms(1), id: 'm1 req_m1', input: 9, output: 7, cacheRead: 0, cacheWrite: 0 }])
    expect([first.turns, next.turns]).toEqual([1, 0])
  })

  it('[REQ-TRANSCRIPT-1] each kind of tokens has its own largest value', async () => {
    const kinds = ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens']
    const none = Object.fromEntries(kinds.map((kind) => [kind, 1]))
    const lines = kinds.map((kind, index) => claude('m1', { ...none, [kind]: 10 + index }))
    for (const ordered of [lines, lines.toReversed()])
      expect((await bookOf('claude-code', jsonl(...ordered))).sum()).toEqual(sum(10, 11, 12, 13))
  })

  it('[REQ-TRANSCRIPT-1] an answer without tokens does not count', async () => {
    const book = await bookOf('claude-code', jsonl(claude('error', { input_tokens: 0, output_tokens: 0 })))
    expect(book.facts()).toEqual({ usage: [], turns: 0, malformed: 0, skippedBytes: 0 })
  })
})

describe('totals of Codex', () => {
  const meta = codexSession('s1')
  const tables: readonly { name: string; lines: readonly unknown[]; sum: Sum; turns: number }[] = [
    {
      name: 'growing totals become differences',
      lines: [meta, codex(1, 100, 20), codex(2, 201, 41), codex(3, 303, 63)],
      sum: sum(303, 63),
      turns: 3,
    },
    {
      name: 'the same total again is no answer',
      lines: [meta, codex(1, 100, 20), codex(1, 100, 20), codex(5, 100, 20)],
      sum: sum(100, 20),
      turns: 1,
    },
    {
      name: 'a total that is smaller than the one before is a new session, counted whole',
      lines: [meta, codex(1, 100, 20), codex(2, 201, 41), codex(3, 50, 10), codex(4, 70, 15)],
      sum: sum(271, 56),
      turns: 4,
    },
    {
      name: 'a new session that uses exactly what the one before did counts as well',
      lines: [meta, codex(1, 100, 20), codex(2, 200, 40), codex(3, 100, 20), codex(4, 200, 40)],
      sum: sum(400, 80),
      turns: 4,
    },
    {
      name: 'a smaller total without a time is a new session',
      lines: [meta, codex(1, 100, 20), codex(null, 50, 10)],
      sum: sum(150, 30),
      turns: 2,
    },
    {
      name: 'an older line that comes late, or again, counts nothing',
      lines: [meta, codex(1, 100, 20), codex(3, 303, 63), codex(2, 201, 41), codex(1, 100, 20), codex(4, 400, 70)],
      sum: sum(400, 70),
      turns: 3,
    },
    {
      name: 'only the output may be smaller in a new session',
      lines: [meta, codex(1, 100, 20), codex(2, 100, 5)],
      sum: sum(200, 25),
      turns: 2,
    },
    {
      name: 'another session in the same file starts from nothing',
      lines: [meta, codex(1, 100, 20), codexSession('s2'), codex(2, 150, 30)],
      sum: sum(250, 50),
      turns: 2,
    },
    {
      name: 'what was cached is no input, also where a provider says it was more than all',
      lines: [
        meta,
        codex(1, 100, 20, { cached_input_tokens: 30, cache_write_input_tokens: 10 }),
        codex(2, 200, 40, { cached_input_tokens: 500 }),
      ],
      sum: sum(60, 40, 500, 10),
      turns: 2,
    },
    {
      name: 'lines about limits and records of single answers tell of nothing more',
      lines: [
        meta,
        { type: 'event_msg', payload: { type: 'token_count', info: null, rate_limits: {} } },
        { type: 'token_usage_record', payload: { usage: { input_tokens: 100, output_tokens: 20 } } },
        codex(1, 100, 20),
      ],
      sum: sum(100, 20),
      turns: 1,
    },
    { name: 'a file without a session counts as well', lines: [codex(1, 100, 20)], sum: sum(100, 20), turns: 1 },
  ]
  for (const { name, lines, sum: expected, turns } of tables)
    it(`[REQ-TRANSCRIPT-2] ${name}`, async () => {
      const book = await bookOf('codex', jsonl(...lines))
      expect(book.sum()).toEqual(expected)
      expect(book.turns).toBe(turns)
      expect(book.malformed).toBe(0)
    })

  it('[REQ-TRANSCRIPT-2] a malformed total between two others changes nothing', async () => {
    const book = await bookOf('codex', jsonl(meta, codex(1, 100, 20), codex(2, -1, 20), codex(3, 201, 41)))
    expect(book.sum()).toEqual(sum(201, 41))
    expect(book.malformed).toBe(1)
  })
})

describe('recorded transcripts', () => {
  const recorded = (name: string) => readFileSync(new URL(`fixtures/${name}.jsonl`, import.meta.url))

  it('[REQ-TRANSCRIPT-3] Claude Code 2.1.325: four answers in seven lines, the last after the session was resumed', async () => {
    const book = await bookOf('claude-code', recorded('claude-code-2.1.325'))
    expect(book.sum()).toEqual(sum(443, 123, 163, 71))
    expect([book.turns, book.malformed]).toEqual([4, 0])
  })

  it('[REQ-TRANSCRIPT-3] Codex 0.166.0: four answers, the last after the session was resumed', async () => {
    const book = await bookOf('codex', recorded('codex-0.166.0'))
    expect(book.sum()).toEqual(sum(443 - 163, 123, 163))
    expect([book.turns, book.malformed]).toEqual([4, 0])
  })

  it('[REQ-TRANSCRIPT-3] Gemini 0.61.0: three answers in five lines', async () => {
    const book = await bookOf('gemini', recorded('gemini-0.61.0'))
    expect(book.sum()).toEqual(sum(303 - 93, 63 + 18, 93))
    expect([book.turns, book.malformed]).toEqual([3, 0])
  })
})

describe('times', () => {
  const at = async (...lines: readonly unknown[]) =>
    [...(await bookOf('claude-code', jsonl(...lines))).known.values()].map((usage) => usage.at)
  const usage = { input_tokens: 1, output_tokens: 1 }

  it('[REQ-TRANSCRIPT-4] a line without a time has that of the line before, whatever that line was', async () => {
    expect(await at({ type: 'user', timestamp: second(3) }, claude('a', usage, { timestamp: undefined }))).toEqual([
      ms(3),
    ])
  })

  it('[REQ-TRANSCRIPT-4] an invalid time counts as missing', async () => {
    for (const timestamp of ['yesterday', '2026', 7, null, '2026-13-45T99:00:00Z', '-000001-01-01T00:00:00Z', {}])
      expect(await at({ type: 'user', timestamp: second(3) }, claude('a', usage, { timestamp }))).toEqual([ms(3)])
  })

  it('[REQ-TRANSCRIPT-4] an answer has the time of its earliest line, and 0 when no line had one', async () => {
    const [late, early] = [claude('a', usage, { timestamp: second(5) }), claude('a', usage, { timestamp: second(2) })]
    expect(await at(late, early)).toEqual([ms(2)])
    expect(await at(early, late)).toEqual([ms(2)])
    expect(await at(claude('a', usage, { timestamp: undefined }))).toEqual([0])
  })
})
