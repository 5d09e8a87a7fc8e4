import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

const MB = 1024 * 1024

let run: Running
beforeAll(async () => {
  run = await start()
})
afterAll(() => run.stop())

const TOO_LARGE = { status: 413, body: { code: 'payload_too_large', status: 413 } }

// The clients are processes of their own: in one with the server they would send nothing while it answers.
const FETCH = `
const [url, headers, megabytes] = JSON.parse(process.argv[1])
const body = JSON.stringify({ title: 'x', description: 'y'.repeat(megabytes * 1024 * 1024) })
const answer = await fetch(url, { method: 'POST', headers, body })
console.log(JSON.stringify({ status: answer.status, body: await answer.json() }))`

const FETCH_STREAM = FETCH.replace('body })', "body: new Blob([body]).stream(), duplex: 'half' })")

const NODE_HTTP = `
import { request } from 'node:http'
const [url, headers, megabytes] = JSON.parse(process.argv[1])
const sent = request(url, { method: 'POST', headers, agent: false }, async (answer) => {
  let text = ''
  for await (const chunk of answer) text += chunk
  console.log(JSON.stringify({ status: answer.statusCode, body: JSON.parse(text) }))
})
sent.end(JSON.stringify({ title: 'x', description: 'y'.repeat(megabytes * 1024 * 1024) }))`

/** What a client in a process of its own got. */
async function sendFrom(client: string, path: string, options: { megabytes?: number; token?: string } = {}) {
  const { megabytes = 11, token = run.operator } = options
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const words = ['--input-type=module', '-e', client, JSON.stringify([`${run.url}${path}`, headers, megabytes])]
  const { stdout, stderr } = await runProgram(process.execPath, words)
  expect(stderr).toBe('')
  return JSON.parse(stdout) as { status: number; body: Record<string, unknown> }
}

describe('a body above the limit is answered 413, which the client reads', () => {
  it.each([
    [11, 'fetch', FETCH],
    [40, 'fetch', FETCH],
    [11, 'fetch without a length', FETCH_STREAM],
    [11, 'a client that closes the connection after its request', NODE_HTTP],
  ])('[REQ-HTTP-13] %i MB, %s', async (megabytes, _, client) => {
    for (let round = 0; round < 3; round += 1)
      expect(await sendFrom(client, '/api/v1/tasks', { megabytes })).toMatchObject(TOO_LARGE)
  })

  it.each([[['-H', 'Expect:']], [[]]])('[REQ-HTTP-13] curl %j', async (options) => {
    const fixed = ['-sS', '-w', '%{http_code}', '-H', 'content-type: application/json', '--data-binary', '@-']
    const words = [...fixed, ...options, '-H', `authorization: Bearer ${run.operator}`, `${run.url}/api/v1/tasks`]
    const { stdout, stderr } = await runProgram('curl', words, JSON.stringify({ title: 'y'.repeat(11 * MB) }))
    expect(stderr).toBe('')
    expect(stdout).toMatch(/"code":"payload_too_large".*\}413$/)
  })

  it('[REQ-HTTP-13] over MCP, in the format of the protocol', async () => {
    const answer = await sendFrom(NODE_HTTP, '/mcp', { token: await run.addAgent('large') })
    expect(answer).toMatchObject({ status: 413, body: { jsonrpc: '2.0', error: { data: TOO_LARGE.body } } })
  })

  it('[REQ-HTTP-13] and so is the refusal of a method', async () => {
    expect(await sendFrom(NODE_HTTP, '/api/v1/health')).toMatchObject({ status: 405 })
  })
})

describe('a client that does not stop sending', () => {
  const makeHead = (length: number) =>
    `POST /api/v1/tasks HTTP/1.1\r\nHost: 127.0.0.1:${run.port}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`

  it('[REQ-HTTP-13] is cut off after so many bytes, and has its answer', async () => {
    const socket = connect(run.port, '127.0.0.1')
    let [answer, sent] = ['', 0]
    socket.on('data', (chunk) => {
      answer += chunk.toString()
    })
    const closed = new Promise((resolve) => socket.on('close', resolve))
    socket.on('error', () => undefined)
    socket.write(makeHead(1024 * MB))
    const chunk = Buffer.alloc(MB, 'y')
    while (!socket.destroyed && sent < 1024 * MB) {
      sent += chunk.length
      if (!socket.write(chunk))
        await new Promise<void>((resolve) => {
          socket.once('drain', resolve)
          socket.once('close', () => resolve())
        })
    }
    await closed
    expect(answer).toContain('413')
    expect(sent).toBeLessThan(1024 * MB)
    expect((await run.call('GET', '/health', null)).status).toBe(200)
  })

  it('[REQ-HTTP-13] is cut off after a while, however slowly it sends', async () => {
    const socket = connect(run.port, '127.0.0.1')
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk.toString()
    })
    const closed = new Promise((resolve) => socket.on('close', resolve))
    socket.on('error', () => undefined)
    socket.write(makeHead(11 * MB))
    const timer = setInterval(() => socket.write('y'), 200)
    await closed
    clearInterval(timer)
    expect(answer).toContain('413')
    expect(run.faults).toEqual([])
  })
})

async function runProgram(program: string, words: readonly string[], input = '') {
  const child = spawn(program, words)
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk: Buffer) => {
      output[name] += chunk.toString()
    })
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  await once(child, 'close')
  return output
}
