import { writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makePlace, type Place, type Served, serve } from '../e2e/process.js'
import { INITIALIZE, modern } from './clients.js'

const CONTRACT = `
name: stubborn
version: "1"
agent_startable: true
enforcement: {reconcile: off, confinement: best_effort}
phases:
  - {id: ONE, prompt: Begin., allowed_tools: [bash, read_files]}
  - {id: TWO, prompt: End., allowed_tools: []}
transitions:
  - {from: ONE, to: TWO}
`
const STOP_MS_MAX = 15_000

describe('clients that do not behave', () => {
  let place: Place
  let server: Served
  let token = ''
  const sockets: Socket[] = []

  beforeEach(async () => {
    place = await makePlace()
    writeFileSync(join(place.dir, 'flow.yaml'), CONTRACT)
    server = await serve(place, join(place.dir, 'flow.yaml'))
    token = await addAgent('a')
    await server.call('POST', '/tasks', server.operator, { id: 't', title: 'T' })
  })
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy()
    await server.stop()
    place.remove()
  })

  const addAgent = async (agent_id: string) =>
    String((await server.call('POST', '/agents', server.operator, { agent_id })).body.agent_token)
  const post = (body: unknown, headers: Record<string, string> = {}, bearer = token) =>
    fetch(`http://127.0.0.1:${place.port}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${bearer}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify(body),
    })
  const call = (name: string, args: object = {}) => {
    const { headers, body } = modern('tools/call', { name, arguments: args })
    return post(body, headers)
  }
  const session = async () => (await post(INITIALIZE)).headers.get('mcp-session-id') ?? ''

  /** Sends a request and never reads a byte of what comes back. */
  const deaf = async (method: string, headers: Record<string, string>, body = '') => {
    const socket = connect(place.port, '127.0.0.1')
    socket.pause()
    socket.on('error', () => undefined)
    sockets.push(socket)
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
    const lines = Object.entries({
      host: `127.0.0.1:${place.port}`,
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      ...(body === '' ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`${method} /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
  }

  it('[REQ-MCP-18] streams that nobody reads and tools that run do not keep the server from stopping', async () => {
    await call('claim_task')
    const id = await session()
    const old = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
    await deaf('GET', old)
    const listen = modern('subscriptions/listen', { notifications: { toolsListChanged: true } })
    await deaf('POST', listen.headers, JSON.stringify(listen.body))
    const run = modern('tools/call', { name: 'bash', arguments: { command: 'sleep 120' } })
    await deaf('POST', run.headers, JSON.stringify(run.body))
    const inSession = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: run.body.params }
    await deaf(
      'POST',
      old,
      JSON.stringify({ ...inSession, params: { name: 'bash', arguments: { command: 'sleep 121' } } }),
    )
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const started = Date.now()
    await server.stop()
    expect(Date.now() - started).toBeLessThan(STOP_MS_MAX)
  })

  it('[REQ-MCP-18] a session from before a restart does not exist, and asking for it changes nothing', async () => {
    const id = await session()
    await server.stop()
    server = await serve(place, join(place.dir, 'flow.yaml'))
    const headers = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
    const answer = await post({ jsonrpc: '2.0', id: 2, method: 'tools/list' }, headers)
    expect(answer.status).toBe(404)
    const guess = { ...headers, 'mcp-session-id': '00000000-0000-4000-8000-000000000000' }
    expect((await post({ jsonrpc: '2.0', id: 2, method: 'tools/list' }, guess)).status).toBe(404)
    expect((await call('claim_task')).status).toBe(200)
  })

  it('[REQ-MCP-18] an agent that starts workflows over and over has one task, and the server goes on', async () => {
    const starts = await Promise.all(
      Array.from({ length: 40 }, (_, n) => call('start_workflow', { task: `task ${n}` })),
    )
    await Promise.all(starts.map((one) => one.text()))
    const tasks = await server.call('GET', '/tasks', server.operator)
    expect(tasks.body.tasks).toHaveLength(2)
    expect((await fetch(`http://127.0.0.1:${place.port}/health`)).status).toBe(200)
  })

  it('[REQ-MCP-18] a client that is notified of changes and never reads costs others nothing', async () => {
    await call('claim_task')
    const id = await session()
    await deaf('GET', { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' })
    for (let round = 0; round < 30; round += 1) {
      await server.call('POST', '/tasks/t/rewind', server.operator, { to_phase: 'ONE', reason: 'again' })
      await (await call('claim_task')).text()
    }
    const started = Date.now()
    expect((await call('get_workflow_state')).status).toBe(200)
    expect(Date.now() - started).toBeLessThan(2000)
  })
})
