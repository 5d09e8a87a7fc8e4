import { afterAll, describe, expect, it } from 'vitest'
import type { TranscriptFormat } from '../../src/transcripts/folders.js'
import { LINE_BYTES_MAX } from '../../src/transcripts/read-transcript.js'
import { Book, claude, codex, gemini, jsonl, Place } from './place.js'

const place = new Place()
afterAll(() => place.remove())

const good = jsonl(claude('good', { input_tokens: 3, output_tokens: 4 }))

async function between(line: string | Buffer, format: TranscriptFormat = 'claude-code'): Promise<Book> {
  const content = Buffer.concat([Buffer.from(good), Buffer.from(line), Buffer.from(`\n${good}`)])
  return new Book().readOn(place, place.write(format, content))
}

describe('lines that are not understood', () => {
  const lines: Record<string, string | Buffer> = {
    'half a line': '{"type":"assistant","message":{"id":"a","usage":{"input_to',
    'plain text': 'Error: disk full',
    'a number': '17',
    'a list': '[{"type":"assistant"}]',
    null: 'null',
    'NUL bytes': Buffer.alloc(300),
    'NUL bytes before a good line': Buffer.concat([Buffer.alloc(3), Buffer.from(good.trim())]),
    'invalid UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
    'a byte order mark that is not at the start': `\ufeff${good.trim()}`,
    'two values in one line': `${good.trim()}${good.trim()}`,
    'brackets a hundred thousand deep that never close': '['.repeat(100_000),
    'objects a hundred thousand deep that never close': '{"a":'.repeat(100_000),
    'a list a hundred thousand deep': '['.repeat(100_000) + ']'.repeat(100_000),
  }
  for (const [name, line] of Object.entries(lines))
    it(`[REQ-TRANSCRIPT-5] ${name}: skipped, counted, and the lines around it are read`, async () => {
      const book = await between(line)
      expect(book.sum()).toMatchObject({ input: 3, output: 4 })
      expect([book.turns, book.malformed, book.skippedBytes]).toEqual([1, 1, Buffer.byteLength(line)])
    })

  it('[REQ-TRANSCRIPT-5] depth inside a line that is otherwise good does no harm', async () => {
    const deep = `{"type":"user","x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    expect((await between(deep)).facts()).toMatchObject({ turns: 1, malformed: 0 })
  })

  it('[REQ-TRANSCRIPT-5] a line as long as the maximum is read, one byte more is too much', async () => {
    const padded = (bytes: number) => {
      const line = JSON.stringify(claude('long', { input_tokens: 50, output_tokens: 60 }, { pad: '' }))
      return line.replace('"pad":""', `"pad":"${'x'.repeat(bytes - line.length)}"`)
    }
    expect((await between(padded(LINE_BYTES_MAX))).facts()).toMatchObject({ turns: 2, malformed: 0, skippedBytes: 0 })
    expect((await between(padded(LINE_BYTES_MAX + 1))).facts()).toMatchObject({
      turns: 1,
      malformed: 1,
      skippedBytes: LINE_BYTES_MAX + 1,
    })
  })

  it('[REQ-TRANSCRIPT-5] blank lines, carriage returns and a byte order mark at the start are not errors', async () => {
    const content = `\ufeff${good.trim()}\r\n\r\n\n  \t\r\n${good.replace('good', 'other').trim()}\r\n`
    const book = await new Book().readOn(place, place.write('claude-code', content))
    expect([book.turns, book.malformed]).toEqual([2, 0])
  })
})

describe('numbers that are not counts', () => {
  const bad = ['-1', '1.5', '1e300', '1e16', 'true', '"7"', '[]', '{}', '1000000000001', '-0.1', '1e999', '-1e999']
  for (const text of bad)
    it(`[REQ-TRANSCRIPT-5] ${text} makes a line malformed in every format`, async () => {
      const put = (line: unknown) => JSON.stringify(line).replaceAll('777', text)
      const cases: readonly [TranscriptFormat, unknown][] = [
        ['claude-code', claude('a', { input_tokens: 777, output_tokens: 1 })],
        ['claude-code', claude('a', { input_tokens: 1, output_tokens: 777 })],
        ['claude-code', claude('a', { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 777 })],
        ['claude-code', claude('a', { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 777 })],
        ['codex', codex(1, 777, 1)],
        ['codex', codex(1, 1, 777)],
        ['codex', codex(1, 1, 1, { cached_input_tokens: 777 })],
        ['gemini', gemini('a', { input: 777, output: 1 })],
        ['gemini', gemini('a', { input: 1, output: 1, thoughts: 777 })],
      ]
      for (const [format, line] of cases) {
        const book = await new Book().readOn(place, place.write(format, `${put(line)}\n`))
        expect([book.known.size, book.turns, book.malformed], `${format} ${put(line)}`).toEqual([0, 0, 1])
      }
    })

  it('[REQ-TRANSCRIPT-5] a missing count, a missing id and an invalid id are malformed', async () => {
    const usage = { input_tokens: 1, output_tokens: 1 }
    const lines: readonly [TranscriptFormat, unknown][] = [
      ['claude-code', claude('a', { output_tokens: 1 })],
      ['claude-code', claude('a', { input_tokens: 1 })],
      ['claude-code', { type: 'assistant', message: { usage } }],
      ['claude-code', { type: 'assistant', message: 'hello' }],
      ['claude-code', { type: 'assistant', message: { id: 'a', usage: [1, 2] } }],
      ['claude-code', claude('', usage)],
      ['claude-code', claude('a b', usage)],
      ['claude-code', claude('x'.repeat(201), usage)],
      ['claude-code', claude('a', usage, { requestId: 7 })],
      ['codex', { type: 'event_msg', payload: 'token_count' }],
      ['codex', { type: 'event_msg', payload: { type: 'token_count', info: {} } }],
      ['codex', { type: 'event_msg', payload: { type: 'token_count', info: { total_token_usage: 5 } } }],
      ['gemini', gemini('a', { output: 1 })],
      ['gemini', gemini('a', 'many')],
      ['gemini', { $set: { messages: 'all' } }],
      ['gemini', { $set: { messages: [null] } }],
    ]
    for (const [format, line] of lines) {
      const book = await new Book().readOn(place, place.write(format, jsonl(line)))
      expect([book.known.size, book.malformed], JSON.stringify(line)).toEqual([0, 1])
    }
  })

  it('[REQ-TRANSCRIPT-5] lines of other kinds, known or not, are neither usage nor malformed', async () => {
    const others = [{}, { type: 'user' }, { type: 'constructor' }, { type: 'assistant', message: {} }, { $set: {} }]
    for (const format of ['claude-code', 'codex', 'gemini'] as const) {
      const book = await new Book().readOn(place, place.write(format, jsonl(...others)))
      expect(book.facts()).toEqual({ usage: [], turns: 0, malformed: 0, skippedBytes: 0 })
    }
  })
})

describe('names that every object knows', () => {
  it('[REQ-TRANSCRIPT-5] a prototype in a line gives it no fields and changes no other object', async () => {
    const usage = '{"input_tokens":900,"output_tokens":900}'
    const lines = [
      `{"__proto__":{"type":"assistant","message":{"id":"p","usage":${usage}}}}`,
      `{"type":"assistant","message":{"__proto__":{"id":"p","usage":${usage}}}}`,
      `{"type":"assistant","message":{"id":"p","usage":{"__proto__":${usage}}}}`,
      `{"constructor":{"prototype":{"type":"assistant"}}}`,
    ]
    const book = await between(lines.join('\n'))
    expect(book.sum()).toMatchObject({ input: 3, output: 4 })
    expect(book.malformed).toBe(1)
    expect(({} as Record<string, unknown>).type).toBeUndefined()
  })

  it('[REQ-TRANSCRIPT-5] what every object inherits is not a field of a line', async () => {
    const path = place.write('gemini', '{"type":"gemini","id":"a"}\n')
    Object.defineProperty(Object.prototype, 'tokens', { value: { input: 5, output: 5 }, configurable: true })
    try {
      expect((await place.read(path)).usage).toEqual([])
    } finally {
      Reflect.deleteProperty(Object.prototype, 'tokens')
    }
  })

  it('[REQ-TRANSCRIPT-5] a message may be called __proto__ or toString', async () => {
    const usage = { input_tokens: 1, output_tokens: 2 }
    const content = jsonl(
      claude('__proto__', usage, { requestId: null }),
      claude('toString', usage, { requestId: null }),
    )
    const book = await new Book().readOn(place, place.write('claude-code', content))
    expect([...book.known.keys()]).toEqual(['__proto__', 'toString'])
  })
})
