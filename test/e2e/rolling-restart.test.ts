import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres, type PostgresServer, startPostgres } from '../store/postgres-server.js'
import { SECRET, startNodes, type TestNode } from './nodes.js'
import { serve } from './process.js'
import { type ReadyProxy, startReadyProxy } from './ready-proxy.js'

const CONTRACT = `
name: rolling
version: "1"
enforcement: { confinement: off, reconcile: off }
phases:
  - {id: A, allowed_tools: [read_files, bash]}
  - {id: B, allowed_tools: [read_files, bash]}
  - {id: C, allowed_tools: [], required_artifacts: [{type: note, description: a note}]}
transitions:
  - {from: A, to: B}
  - {from: B, to: A, when: again}
  - {from: B, to: C}
`
const NODES = 3
const AGENTS = 6
const bin = findPostgres()

interface Failure {
  readonly agent: string
  readonly path: string
  readonly status: number
  readonly body: unknown
}

describe.skipIf(bin === null)('a rolling restart (skipped where PostgreSQL is not installed)', () => {
  let postgres: PostgresServer
  let nodes: TestNode[] = []
  let proxy: ReadyProxy
  let store = ''
  let dir = ''
  let contract = ''
  const calls = { count: 0 }
  const failures: Failure[] = []

  beforeAll(async () => {
    postgres = await startPostgres(bin ?? '')
    store = await postgres.createDatabase()
    dir = mkdtempSync(join(tmpdir(), 'phaselock-rolling-'))
    contract = join(dir, 'rolling.yaml')
    writeFileSync(contract, CONTRACT)
    nodes = await startNodes(NODES, store, contract)
    proxy = await startReadyProxy(nodes.map(({ place }) => place.port))
  })
  afterAll(async () => {
    proxy?.close()
    for (const { server, place } of nodes) {
      await server.kill()
      place.remove()
    }
    postgres?.remove()
    rmSync(dir, { recursive: true, force: true })
  })

  async function restart(node: TestNode): Promise<void> {
    expect(await node.server.stop()).toBe(0)
    node.server = await serve(node.place, contract, { ...SECRET, PHASELOCK_STORE: store }, ['--drain', '2'])
  }

  async function call(agent: string, path: string, token: string, body?: Record<string, unknown>) {
    const response = await fetch(`${proxy.url}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const said = (await response.json()) as Record<string, unknown>
    calls.count += 1
    if (!response.ok) failures.push({ agent, path, status: response.status, body: said })
    return said
  }

  /** Goes back and forth until it is told to end; every call has to succeed. */
  async function work(agent: string, taskId: string, isOver: () => boolean): Promise<number> {
    const { operator } = (nodes[0] as TestNode).server
    const { agent_token: own } = await call(agent, '/agents', operator, { agent_id: agent })
    const claimed = await call(agent, '/tasks/claim', String(own), { agent_id: agent, task_id: taskId })
    let token = String(claimed.phase_token)
    let moves = 0
    while (!isOver() && failures.length === 0) {
      const isInA = moves % 2 === 0
      await call(agent, '/state/snapshot', token)
      await call(agent, '/tools/check', token, {
        task_id: taskId,
        tool_name: 'read_files',
        args: { path: 'package.json' },
      })
      const target = { task_id: taskId, target_phase: isInA ? 'B' : 'A', ...(isInA ? {} : { claims: { again: true } }) }
      token = String((await call(agent, '/tasks/transition', token, target)).phase_token)
      moves += 1
    }
    return moves
  }

  it('[REQ-NODES-13] refuses no call while every node is stopped and started in turn', async () => {
    const { operator } = (nodes[0] as TestNode).server
    // Two tasks live on each node.
    for (let index = 0; index < AGENTS; index += 1) {
      const { server } = nodes[index % NODES] as TestNode
      expect((await server.call('POST', '/tasks', operator, { title: 'Work', id: `T${index}` })).status).toBe(201)
    }
    let isOver = false
    const agents = Array.from({ length: AGENTS }, (_, index) => work(`agent-${index}`, `T${index}`, () => isOver))
    for (const node of nodes) {
      const before = calls.count
      await restart(node)
      // All of them go on before the next one is stopped.
      await expect.poll(() => calls.count > before + AGENTS * 4 || failures.length > 0, { timeout: 60_000 }).toBe(true)
    }
    isOver = true
    const moves = await Promise.all(agents)
    expect(failures).toEqual([])
    expect(Math.min(...moves)).toBeGreaterThan(3)
    expect([...proxy.sent.values()].every((count) => count > 0)).toBe(true)
    const verified = await (nodes[0] as TestNode).server.call('GET', '/audit/verify', operator)
    expect(verified.body).toMatchObject({ ok: true, problems: [] })
  })

  it('[REQ-NODES-13] says at /ready at once that it stops, finishes what runs, and answers until it has drained', async () => {
    const [first] = nodes as [TestNode]
    const { operator } = first.server
    await first.server.call('POST', '/tasks', operator, { title: 'Long', id: 'long' })
    const { body } = await first.server.call('POST', '/agents', operator, { agent_id: 'patient' })
    const claim = { agent_id: 'patient', task_id: 'long' }
    const claimed = await first.server.call('POST', '/tasks/claim', String(body.agent_token), claim)
    const token = String(claimed.body.phase_token)
    const args = { command: 'sleep 4; echo finished' }
    const running = first.server.call('POST', '/tools/execute', token, { task_id: 'long', tool_name: 'bash', args })
    const ended = once(first.server.child, 'exit')
    await new Promise((resolve) => setTimeout(resolve, 500))
    first.server.child.kill('SIGTERM')
    const look = async () => {
      const response = await fetch(`http://127.0.0.1:${first.place.port}/ready`)
      return { status: response.status, body: await response.json() }
    }
    await expect.poll(look).toEqual({ status: 503, body: { status: 'stopping' } })
    expect((await first.server.call('GET', '/tasks/long', operator)).status).toBe(200)
    expect((await running).body).toMatchObject({ result: { exit_code: 0, stdout: 'finished\n' } })
    expect((await ended)[0]).toBe(0)
  })

  it('[REQ-NODES-13] a call for a task of a node that is being restarted waits for it at another node', async () => {
    const [first, second] = nodes as [TestNode, TestNode]
    // Stopped by the test before: its tasks are expected back.
    const waiting = second.server.call('GET', '/tasks/long', second.server.operator)
    const other = await second.server.call('POST', '/tasks', second.server.operator, {
      title: 'Meanwhile',
      id: 'other',
    })
    expect(other.status).toBe(201)
    first.server = await serve(first.place, contract, { ...SECRET, PHASELOCK_STORE: store }, ['--drain', '0'])
    expect(await waiting).toMatchObject({ status: 200, body: { id: 'long' } })
  })
})
