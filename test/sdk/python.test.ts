import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { depth } from '../depth.js'
import { Stage } from './stage.js'

const ROOT = new URL('../..', import.meta.url).pathname
const VECTORS = join(ROOT, 'sdk/vectors.json')
const TESTS = join(ROOT, 'python/tests')
const { contracts, vectors } = JSON.parse(readFileSync(VECTORS, 'utf8')) as {
  contracts: Record<string, unknown>
  vectors: readonly { readonly req: string; readonly name: string }[]
}

let stage: Stage
beforeAll(async () => {
  stage = await Stage.open(contracts)
})
afterAll(() => stage?.close())

interface Ended {
  readonly code: number | null
  readonly output: string
}

function python(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const child = spawn('python3', args, {
    cwd: TESTS,
    env: {
      PATH: process.env.PATH ?? '',
      PYTHONPATH: join(ROOT, 'python/src'),
      PYTHONDONTWRITEBYTECODE: '1',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output }))
  })
}

describe('the clients for Python', () => {
  it.concurrent('[REQ-SDK-16] show no token, end what waits, and take nothing for an answer that is none', async () => {
    const { code, output } = await python(['-W', 'error', '-m', 'unittest', 'test_client'])
    expect(code, output).toBe(0)
  })

  it.concurrent.each(depth<readonly string[]>([], ['WithoutAsyncio', 'WithAsyncio']))(
    '[REQ-SDK-22] %s does in every vector what the client for TypeScript does',
    async (name) => {
      const { code, output } = await python(['-W', 'error', '-m', 'unittest', `test_vectors.${name}`], {
        PHASELOCK_STAGE: stage.controlUrl,
        PHASELOCK_VECTORS: VECTORS,
      })
      expect(output).toContain(`Ran ${vectors.length} tests`)
      expect(code, output).toBe(0)
    },
  )
})
