import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ModelRelay, openModelRelay } from '../../src/gateway/model-relay.js'
import { openSocketDir } from '../../src/gateway/socket-paths.js'
import type { TakenUsage } from '../../src/gateway/usage-book.js'
import { until } from '../mcp/clients.js'
import { ANTHROPIC_EVENTS, CHAT_EVENTS, RESPONSE_EVENTS, SAMPLES } from './answers.js'
import { askThrough } from './asking.js'

const EVENTS = { 'content-type': 'text/event-stream' }
let made: string
let dir: string
let endpoint: Server
let origin: string
let answer: (request: IncomingMessage, response: ServerResponse) => void
let asked: IncomingMessage[]
let taken: TakenUsage[]
let untold: number
const relays: ModelRelay[] = []

beforeEach(async () => {
  made = mkdtempSync(join(tmpdir(), 'phaselock-meter-'))
  dir = openSocketDir(made)
  taken = []
  untold = 0
  asked = []
  endpoint = createServer((incoming, response) => {
    asked.push(incoming)
    incoming.resume()
    incoming.on('end', () => answer(incoming, response))
  })
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`
})
afterEach(async () => {
  for (const relay of relays.splice(0)) await relay.close()
  endpoint.closeAllConnections()
  endpoint.close()
  for (const one of [dir, made]) rmSync(one, { recursive: true, force: true })
})

async function open(more: Partial<Parameters<typeof openModelRelay>[0]> = {}): Promise<ModelRelay> {
  const relay = await openModelRelay({
    ...{ baseUrl: `${origin}/v1`, dir },
    onTaken: (one) => taken.push(one),
    onUntold: () => {
      untold += 1
    },
    ...more,
  })
  relays.push(relay)
  return relay
}

const ask = (path: string, more: Parameters<typeof askThrough>[1] = {}): ReturnType<typeof askThrough> =>
  askThrough(path, { method: 'POST', path: '/v1/messages', body: {}, ...more })

/** Asks, and gives the answer as soon as it begins. */
async function begin(path: string): Promise<IncomingMessage> {
  const sent = request({ socketPath: path, path: '/v1/messages', method: 'POST', headers: { host: 'localhost' } })
  sent.on('error', () => undefined)
  sent.end('{}')
  const [coming] = (await once(sent, 'response')) as [IncomingMessage]
  coming.on('error', () => undefined)
  return coming
}

describe('what a relay does not count', () => {
  it('[REQ-METER-3] a refused request has no usage, whatever the endpoint reports', async () => {
    const { path } = await open()
    for (const status of [300, 400, 429, 500, 529]) {
      answer = (_request, response) => response.writeHead(status, EVENTS).end(ANTHROPIC_EVENTS.join(''))
      expect((await ask(path)).status).toBe(status)
    }
    expect([taken, untold]).toEqual([[], 0])
  })

  it('[REQ-METER-8] a stream without usage and a compressed answer are reported as such', async () => {
    const { path } = await open()
    answer = (_request, response) => response.writeHead(200, EVENTS).end(CHAT_EVENTS.slice(0, 2).join(''))
    await ask(path)
    expect(untold).toBe(1)
    answer = (_request, response) =>
      response.writeHead(200, { ...EVENTS, 'content-encoding': 'gzip' }).end(gzipSync(CHAT_EVENTS.join('')))
    await ask(path)
    expect(untold).toBe(2)
    answer = (_request, response) => response.writeHead(200).end('{"input_tokens":5}')
    await ask(path, { path: '/v1/messages/count_tokens' })
    await ask(path, { path: '/v1/models', method: 'GET', body: undefined })
    expect([taken, untold]).toEqual([[], 2])
  })
})

describe('what a relay counts', () => {
  it.each(SAMPLES)(
    '[REQ-METER-1] [REQ-METER-2] $name: passes unchanged, and is counted once',
    async ({ body, took }) => {
      const { path } = await open()
      const type = body.startsWith('{') || body.startsWith('[') ? 'application/json' : 'text/event-stream'
      answer = (_request, response) => response.writeHead(200, { 'content-type': type }).end(body)
      expect((await ask(path)).text).toBe(body)
      expect(taken).toEqual([{ ...took, beganAt: expect.any(Number) }])
      expect(untold).toBe(0)
    },
  )

  it('[REQ-METER-2] answers are asked for unpacked and in one piece, whatever the agent asks for', async () => {
    const { path } = await open()
    answer = (_request, response) => response.end('{}')
    const headers = {
      'accept-encoding': 'gzip, br, zstd',
      range: 'bytes=0-9',
      'if-range': 'x',
      connection: 'accept-encoding',
    }
    await ask(path, { headers })
    expect(asked[0]?.headers).toMatchObject({ 'accept-encoding': 'identity' })
    expect(asked[0]?.headers.range ?? asked[0]?.headers['if-range']).toBeUndefined()
  })

  it('[REQ-METER-2] each event is passed on before the next one comes', async () => {
    const next: (() => void)[] = []
    answer = (_request, response) => {
      response.writeHead(200, EVENTS).flushHeaders()
      for (const one of ANTHROPIC_EVENTS) next.push(() => response.write(one))
      next.push(() => response.end())
    }
    const { path } = await open()
    const coming = await begin(path)
    for (const one of ANTHROPIC_EVENTS) {
      next.shift()?.()
      const [chunk] = (await once(coming, 'data')) as [Buffer]
      expect(chunk.toString()).toBe(one)
    }
    expect(taken).toEqual([])
    next.shift()?.()
    await once(coming, 'end')
    expect(taken).toMatchObject([{ output: 57 }])
  })

  it('[REQ-METER-5] answers that come at once are each counted for themselves', async () => {
    answer = (incoming, response) => {
      const at = Number(incoming.url?.split('/').at(-1))
      const events = ANTHROPIC_EVENTS.join('')
        .replaceAll('msg_01XFDUDYJgAACzvnptvVoYEL', `msg_of_its_very_own_${at}`)
        .replaceAll('"input_tokens":100', `"input_tokens":${at}`)
      response.writeHead(200, EVENTS)
      const write = (from: number): void => {
        if (from >= events.length) return void response.end()
        response.write(events.slice(from, from + 97))
        setTimeout(write, 1, from + 97)
      }
      write(0)
    }
    const { path } = await open()
    await Promise.all(Array.from({ length: 64 }, (_, at) => ask(path, { path: `/v1/messages/${at}` })))
    const found = taken.map(({ id, input, output }) => [id, input, output]).sort((a, b) => Number(a[1]) - Number(b[1]))
    expect(found).toEqual(Array.from({ length: 64 }, (_, at) => [`msg_of_its_very_own_${at}`, at, 57]))
  })

  it('[REQ-METER-5] an answer that is read again keeps its name; another answer with the same name gets a new one', async () => {
    const { path } = await open()
    answer = (_request, response) => response.writeHead(200, EVENTS).end(RESPONSE_EVENTS.join(''))
    await ask(path)
    await ask(path, { method: 'GET', body: undefined })
    await ask(path)
    const [first, again, other] = taken.map(({ id }) => id)
    expect([first, again]).toEqual(Array(2).fill('resp_67ccd2bed1ec8190b14f964abc05'))
    expect(other).toMatch(/^answer-[0-9a-f-]{36}$/)
  })

  it('[REQ-METER-5] short and missing names are not used', async () => {
    const { path } = await open()
    answer = (_request, response) => response.end('{"id":"chatcmpl-123","usage":{"completion_tokens":3}}')
    for (let at = 0; at < 3; at += 1) await ask(path)
    expect(new Set(taken.map(({ id }) => id)).size).toBe(3)
    for (const { id } of taken) expect(id).toMatch(/^answer-/)
  })
})

describe('an answer that does not finish', () => {
  it('[REQ-METER-4] an answer that the endpoint breaks off counts with the usage reported so far', async () => {
    const { path } = await open()
    answer = (_request, response) => {
      response.writeHead(200, EVENTS)
      response.write(ANTHROPIC_EVENTS.slice(0, 6).join(''))
      setTimeout(() => response.destroy(), 50)
    }
    await expect(ask(path)).rejects.toThrow()
    await until(() => taken.length === 1)
    expect(taken).toMatchObject([{ input: 100, output: 40 }])
  })

  it('[REQ-METER-4] a client that disconnects before usage was reported is still counted', async () => {
    const { path } = await open()
    let say: () => void = () => undefined
    answer = (_request, response) => {
      response.writeHead(200, EVENTS)
      response.write(RESPONSE_EVENTS.slice(0, 3).join(''))
      say = () => response.end(RESPONSE_EVENTS[3])
    }
    const coming = await begin(path)
    await once(coming, 'data')
    coming.destroy()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(taken).toEqual([])
    say()
    await until(() => taken.length === 1)
    expect(taken).toMatchObject([{ input: 100, output: 20 }])
  })

  it('[REQ-METER-4] a client that stops reading is disconnected, and counted', async () => {
    const { path } = await open({ carryLimits: { stalledMsMax: 200 } })
    const long = `data: {"delta":"${'x'.repeat(1_000_000)}"}\n\n`.repeat(8)
    answer = (_request, response) => response.writeHead(200, EVENTS).end(long + RESPONSE_EVENTS.join(''))
    const coming = await begin(path)
    coming.pause()
    await until(() => taken.length === 1)
    expect(taken).toMatchObject([{ input: 100, output: 20 }])
    coming.destroy()
  })

  it('[REQ-METER-4] reading for a disconnected client is bounded', async () => {
    const { path } = await open({ carryLimits: { readOnMsMax: 200 } })
    let gone = 0
    answer = (_request, response) => {
      response.writeHead(200, EVENTS)
      response.write(ANTHROPIC_EVENTS[0])
      response.on('close', () => {
        gone += 1
      })
    }
    const silent = await begin(path)
    await once(silent, 'data')
    silent.destroy()
    await until(() => gone === 1)
    await until(() => taken.length === 1)
    expect(taken).toMatchObject([{ input: 100, output: 1 }])
    const other = await open({ carryLimits: { readOnBytesMax: 100_000 } })
    answer = (_request, response) => {
      response.writeHead(200, EVENTS)
      const timer = setInterval(() => response.write(`data: ${'x'.repeat(20_000)}\n\n`), 5)
      response.on('close', () => {
        clearInterval(timer)
        gone += 1
      })
    }
    const flooded = await begin(other.path)
    flooded.destroy()
    await until(() => gone === 2)
  })

  it('[REQ-METER-4] a closing relay counts the usage reported so far, and disconnects', async () => {
    const relay = await open()
    let isGone = false
    answer = (_request, response) => {
      response.writeHead(200, EVENTS)
      response.write(ANTHROPIC_EVENTS[0])
      response.on('close', () => {
        isGone = true
      })
    }
    const coming = await begin(relay.path)
    await once(coming, 'data')
    await relay.close()
    expect(taken).toMatchObject([{ input: 100, output: 1 }])
    await until(() => isGone)
    expect(taken).toHaveLength(1)
  })

  it('[REQ-METER-4] an answer that is not from a model is not read to its end', async () => {
    const { path } = await open()
    let isGone = false
    answer = (_request, response) => {
      response.writeHead(500, EVENTS)
      response.write(ANTHROPIC_EVENTS[0])
      response.on('close', () => {
        isGone = true
      })
    }
    const coming = await begin(path)
    await once(coming, 'data')
    coming.destroy()
    await until(() => isGone)
    expect(taken).toEqual([])
  })
})
