import { describe, expect, it } from 'vitest'
import { JsonFields } from '../../src/gateway/json-fields.js'
import { type MeteredUsage, UsageMeter } from '../../src/gateway/usage-meter.js'
import { cpuMs } from '../cpu-time.js'
import { depth } from '../depth.js'
import { ANTHROPIC_EVENTS, CHAT_EVENTS, event, RESPONSE_EVENTS, SAMPLES } from './answers.js'

/** Shows the pieces, and gives everything that was told. */
function metered(...pieces: readonly (string | Uint8Array)[]): readonly MeteredUsage[] {
  const meter = new UsageMeter()
  const told = pieces.flatMap((piece) => meter.take(typeof piece === 'string' ? Buffer.from(piece) : piece))
  return [...told, ...meter.end()]
}

describe('what is not usage', () => {
  it.each([
    ['nothing', ''],
    ['an error', '{"type":"error","error":{"type":"overloaded_error","message":"usage"}}'],
    ['an error in a stream', event({ type: 'error', error: { type: 'overloaded_error' } })],
    ['a list of models', '{"object":"list","data":[{"id":"m","usage":{"input_tokens":5}}]}'],
    ['a count of tokens', '{"input_tokens":2095}'],
    ['a count of tokens of Gemini', '{"totalTokens":31,"promptTokensDetails":[{"modality":"TEXT","tokenCount":31}]}'],
    ['a batch that only lists', '[{"usage":[{"input_tokens":5}]}]'],
    ['words', 'usage: {"input_tokens": 5}'],
    ['a name with a dot', '{"usage.input_tokens":5}'],
    ['a text that holds one', '"{\\"usage\\":{\\"input_tokens\\":5}}"'],
    ['an event of another name', 'usage: {"usage":{"input_tokens":5}}\n\n'],
    ['a comment', ': data: {"usage":{"input_tokens":5}}\n\n'],
    ['a usage deeper than one can be', '{"a":{"b":{"c":{"usage":{"input_tokens":5}}}}}'],
    ['what somebody else called metadata', '{"response":{"metadata":{"usage":{"input_tokens":5}}}}'],
    ['brackets that close too much', '}}]]{"usage":{"input_tokens":5}}'],
    ['half a number', '{"usage":{"input_tokens":12'],
    ['half a word', 'data: {"usage":{"input_to'],
  ])('[REQ-METER-3] %s counts nothing', (_name, body) => {
    expect(metered(body)).toEqual([])
  })

  it.each(
    [
      ...[
        '-5',
        '"12"',
        '1.5',
        'NaN',
        'Infinity',
        '1e400',
        '1e15',
        '9007199254740993',
        'null',
        'true',
        '[5]',
        '{"a":5}',
      ],
      ...[`${'9'.repeat(400)}`, `"${'9'.repeat(400)}"`, '0x10', '1_000', '--1', '""', '\\u0035'],
    ].map((told) => [told.slice(0, 20), told]),
  )('[REQ-METER-3] a number that is %s counts nothing, and the rest is still read', (_name, told) => {
    expect(metered(`{"usage":{"input_tokens":${told},"output_tokens":7},"id":"x"}`)).toMatchObject([
      { input: 0, output: 7, id: 'x' },
    ])
  })

  it('[REQ-METER-3] names that are too long or have invalid characters are not used', () => {
    for (const id of ['"a b"', '"\\u0000"', `"${'x'.repeat(201)}"`, `"${'x'.repeat(9000)}"`, '5', '["x"]', '""'])
      expect(metered(`{"id":${id},"model":${id},"usage":{"output_tokens":7}}`)).toMatchObject([
        { id: null, model: null, output: 7 },
      ])
  })

  it('[REQ-METER-3] what is not JSON in one event leaves the next one alone', () => {
    const garbage = ['data: {"usage":{"input_tokens":\n\n', 'data: }}}}\n\n', 'data: "\\', '\n\n', 'data: {"a":"\n\n']
    const binary = Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 7919) % 256))
    expect(metered(': hello\n\n', ...garbage, binary, '\n\n', ...CHAT_EVENTS)).toMatchObject([
      { input: 100, output: 20 },
    ])
  })

  it('[REQ-METER-3] bytes of any kind are read to their end', () => {
    let seed = 20_261_115
    const next = (): number => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
      return seed >> 8
    }
    const words = ['{', '}', '[', ']', '"', '\\', ':', ',', 'data:', '\n', '\r', ' ', '1', '-', 'e', '"usage"', '"id"']
    for (let run = 0; run < 2000; run += 1) {
      const text = Array.from({ length: next() % 60 }, () => words[next() % words.length]).join('')
      for (const one of metered(run % 2 === 0 ? `{${text}` : text, 'x'))
        expect(Object.values(one).every((value) => typeof value !== 'number' || value >= 0)).toBe(true)
    }
  })
})

describe('what an answer took', () => {
  it.each(SAMPLES)('[REQ-METER-1] $name: is read from the answer', ({ body, took }) => {
    expect(metered(body)).toEqual([took])
  })

  it.each(SAMPLES)('[REQ-METER-2] $name: is the same wherever it is cut in pieces', ({ body, took }) => {
    const bytes = Buffer.from(body)
    expect(metered(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual([took])
    for (let at = 1; at < bytes.length; at += 1)
      expect(metered(bytes.subarray(0, at), bytes.subarray(at)), String(at)).toEqual([took])
  })

  it.each(SAMPLES)('[REQ-METER-2] $name: is the same with other ends of lines, and a mark at its beginning', (one) => {
    for (const end of ['\r\n', '\r'])
      expect(metered(`\ufeff${one.body.replaceAll('\r\n', '\n').replaceAll('\n', end)}`)).toEqual([one.took])
  })

  it('[REQ-METER-1] data in several lines, without a space, or unfinished at the end is read', () => {
    const [began = ''] = ANTHROPIC_EVENTS
    const apart = 'data:{"usage":\ndata:{"output_tokens":\ndata: 9}\n: between\ndata:}'
    expect(metered(began, apart)).toMatchObject([{ input: 100, output: 9 }])
  })

  it('[REQ-METER-4] an answer that is cut off counts with what was told until then', () => {
    const until = (count: number): readonly MeteredUsage[] => metered(...ANTHROPIC_EVENTS.slice(0, count))
    expect(until(1)).toMatchObject([{ input: 100, output: 1, cacheRead: 7, cacheWrite: 3 }])
    expect(until(6)).toMatchObject([{ input: 100, output: 40 }])
    expect(metered(...RESPONSE_EVENTS.slice(0, 3))).toEqual([])
    const whole = '{"id":"a","usage":{"input_tokens":5,"output_tokens":6},"content":[{"text":"half'
    expect(metered(whole)).toMatchObject([{ input: 5, output: 6 }])
  })

  it('[REQ-METER-1] answers that were asked for at once and are fetched later count each', () => {
    const usage = { input_tokens: 5, output_tokens: 6 }
    const lines = ['a', 'b'].map((id) => JSON.stringify({ custom_id: id, result: { message: { id, usage } } }))
    expect(metered(`${lines.join('\n')}\n`).map(({ id, input }) => [id, input])).toEqual([
      ['a', 5],
      ['b', 5],
    ])
    const body = { id: 'c', usage: { prompt_tokens: 3, prompt_tokens_details: { cached_tokens: 1 } } }
    expect(metered(JSON.stringify({ id: 'x', response: { status_code: 200, body } }))).toMatchObject([
      { id: 'c', input: 2, cacheRead: 1 },
    ])
  })
})

describe('an answer of any size', () => {
  const MIB = 1024 * 1024
  const piece = Buffer.alloc(MIB, 'x')

  function grownBy(
    before: string,
    after: string,
    count: number,
  ): { readonly told: readonly MeteredUsage[]; grown: number } {
    const meter = new UsageMeter()
    const start = process.memoryUsage()
    const told = [...meter.take(Buffer.from(before))]
    for (let at = 0; at < count; at += 1) told.push(...meter.take(piece))
    told.push(...meter.take(Buffer.from(after)), ...meter.end())
    const end = process.memoryUsage()
    return { told, grown: end.heapUsed + end.external - start.heapUsed - start.external }
  }

  it.each([
    ['a text of one line', 'data: {"delta":"', '"}\n\ndata: {"usage":{"output_tokens":5}}\n\n'],
    ['a whole answer', '{"content":[{"text":"', '"}],"usage":{"output_tokens":5}}'],
    ['a key', '{"', '":1,"usage":{"output_tokens":5}}'],
    ['a name', '{"id":"', '","usage":{"output_tokens":5}}'],
    ['a number', '{"usage":{"input_tokens":', ',"output_tokens":5}}'],
    ['a line that is no data', 'event: ', '\ndata: {"usage":{"output_tokens":5}}\n\n'],
  ])('[REQ-METER-2] %s of many MiB takes no memory, and what follows is read', (_name, before, after) => {
    const { told, grown } = grownBy(before, after, depth(24, 64))
    expect(told).toMatchObject([{ output: 5 }])
    expect(grown).toBeLessThan(16 * MIB)
  })

  it('[REQ-METER-2] lists in lists without end take no memory', () => {
    const meter = new UsageMeter()
    meter.take(Buffer.from('{"a":'))
    for (let at = 0; at < 16; at += 1) meter.take(Buffer.alloc(MIB, '['))
    for (let at = 0; at < 16; at += 1) meter.take(Buffer.alloc(MIB, ']'))
    expect([...meter.take(Buffer.from(',"usage":{"output_tokens":5}}')), ...meter.end()]).toMatchObject([{ output: 5 }])
  })
})

describe('fields of documents', () => {
  it('[REQ-METER-2] are those that a whole parse would find', () => {
    let seed = 7
    const next = (max: number): number => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
      return (seed >> 8) % max
    }
    const names = ['a', 'b', 'c', 'ü', 'q"', 'b\\', '{', '']
    const make = (depth: number): unknown => {
      const kind = next(depth > 6 ? 4 : 7)
      if (kind === 0) return next(1000) - 500
      if (kind === 1) return `${names[next(names.length)]}${['', '"', '\\', '}]', '\n', '…'][next(6)]}`
      if (kind === 2) return [true, false, null][next(3)]
      if (kind === 3) return next(1000) / 8
      if (kind === 4) return Array.from({ length: next(4) }, () => make(depth + 1))
      return Object.fromEntries(Array.from({ length: next(5) }, () => [names[next(names.length)], make(depth + 1)]))
    }
    const wanted = new Set(['a', 'b', 'c.a', 'a.b', 'a.b.c', 'b.b.b.b.b', 'ü', 'c.ü.a'])
    const inPath = (value: unknown, path: readonly string[]): unknown =>
      path.reduce<unknown>(
        (at, key) =>
          typeof at === 'object' && at !== null && !Array.isArray(at)
            ? (at as Record<string, unknown>)[key]
            : undefined,
        value,
      )
    for (let run = 0; run < 3000; run += 1) {
      const document = { a: make(0), b: make(0), c: make(0), ü: make(0) }
      const expected = new Map(
        [...wanted]
          .map((path) => [path, inPath(document, path.split('.'))] as const)
          .filter(([, value]) => typeof value === 'number' || typeof value === 'string'),
      )
      const found: unknown[] = []
      const fields = new JsonFields(wanted, (one) => found.push(new Map([...one].sort())))
      fields.take(Buffer.from(JSON.stringify(document, null, next(3))))
      expect(found, JSON.stringify(document)).toEqual(expected.size === 0 ? [] : [new Map([...expected].sort())])
    }
  })
})

describe('answers that are made to delay others', () => {
  it.each([
    ['documents', '{"id":"x"}\n'],
    ['events', 'data:{"id":"x"}\n\n'],
    ['keys', '{"a":1,"b":2,"c":3}\n'],
    ['texts in texts', '{"a":"\\"\\"\\"\\"\\"\\""}\n'],
  ])('[REQ-BREAKAGAIN-10] four megabytes of the smallest %s are read within seconds', (_what, one) => {
    const piece = Buffer.from(one.repeat(Math.ceil(65_536 / one.length)))
    const meter = new UsageMeter()
    const before = cpuMs()
    for (let bytes = 0; bytes < 4 * 1024 * 1024; bytes += piece.length) meter.take(piece)
    expect(meter.end()).toEqual([])
    expect(cpuMs() - before).toBeLessThan(2000)
  })
})
