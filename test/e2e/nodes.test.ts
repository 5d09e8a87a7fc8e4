import { type AddressInfo, connect, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgres, type PostgresServer, startPostgres } from '../store/postgres-server.js'
import { alternate, run, SECRET, startAgain, startNodes, type TestNode } from './nodes.js'
import { makePlace, serve } from './process.js'
import { implementation, testFiles, Walker } from './walker.js'

const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '../src/sum.js'

test('prices are summed up', () => assert.equal(sum([5, 7]), 12))
`

const bin = findPostgres()

describe.skipIf(bin === null)('several nodes on one database (skipped where PostgreSQL is not installed)', () => {
  let postgres: PostgresServer
  let store = ''
  let nodes: TestNode[] = []

  beforeAll(async () => {
    postgres = await startPostgres(bin ?? '')
    store = await postgres.createDatabase()
    nodes = await startNodes(2, store)
  })
  afterAll(async () => {
    for (const { server, place } of nodes) {
      server.child.kill('SIGCONT')
      await server.kill()
      place.remove()
    }
    postgres?.remove()
  })

  const at = (index: number) => {
    const node = nodes[index]
    if (node === undefined) throw new Error(`there is no node ${index}`)
    return node.server
  }

  async function addAgent(agent_id: string): Promise<string> {
    const { body } = await at(0).call('POST', '/agents', at(0).operator, { agent_id })
    return String(body.agent_token)
  }

  it('[REQ-NODES-5] an honest task completes although each call goes to the next node', async () => {
    const either = alternate(nodes)
    const agent = await Walker.claim(either, 'T1')
    await agent.plan()
    await agent.does('write_files', { files: [{ path: 'tests/sum.test.js', content: TEST }] })
    await agent.enters('IMPL', testFiles('tests/sum.test.js'))
    const text = 'export const sum = (prices) => prices.reduce((all, price) => all + price, 0)\n'
    await agent.does('write_files', { files: [{ path: 'src/sum.js', content: text }] })
    await agent.enters('REVIEW', implementation('src/sum.js'))
    await agent.finish('Sum up prices')
    for (const index of [0, 1]) {
      const { body } = await at(index).call('GET', '/tasks/T1', at(index).operator)
      expect(body).toMatchObject({ status: 'completed' })
      const verified = await at(index).call('GET', '/audit/verify', at(index).operator)
      expect(verified.body).toMatchObject({ ok: true, problems: [] })
    }
  })

  it('[REQ-NODES-5] a claim at any node finds the tasks of all, and a second agent gets none', async () => {
    await at(0).call('POST', '/tasks', at(0).operator, { title: 'Only on the first node', id: 'T2' })
    const token = await addAgent('finder')
    const other = await addAgent('too-late')
    const claimed = await at(1).call('POST', '/tasks/claim', token, { agent_id: 'finder' })
    expect(claimed, JSON.stringify(claimed.body)).toMatchObject({ status: 200, body: { task: { id: 'T2' } } })
    const late = await at(1).call('POST', '/tasks/claim', other, { agent_id: 'too-late' })
    expect(late).toMatchObject({ status: 404, body: { code: 'no_task_available' } })
    const twice = await at(1).call('POST', '/tasks/claim', other, { agent_id: 'too-late', task_id: 'T2' })
    expect(twice).toMatchObject({ status: 409, body: { code: 'already_claimed' } })
  })

  it('[REQ-NODES-6] a superseded token is refused by every node on its next call', async () => {
    const agent = await Walker.claim(at(0), 'T3')
    const before = agent.token
    await agent.plan()
    for (const index of [1, 0])
      expect(await at(index).call('GET', '/state/snapshot', before)).toMatchObject({
        status: 403,
        body: { code: 'token_stale' },
      })
    // Registered again: the agent's own token is superseded too.
    await addAgent('agent-T3')
    expect(await at(1).call('GET', '/state/snapshot', agent.agentToken)).toMatchObject({
      status: 403,
      body: { code: 'token_invalid' },
    })
  })

  it('[REQ-NODES-6] a pause counts on every node from its answer on', async () => {
    const agent = await Walker.claim(at(1), 'T4')
    for (const [pausing, asked] of [
      [0, 1],
      [1, 0],
    ] as const) {
      expect((await at(pausing).call('POST', '/pause', at(0).operator, { reason: 'wait' })).status).toBe(200)
      expect((await at(asked).call('GET', '/state/snapshot', agent.token)).body).toMatchObject({
        code: 'agents_paused',
      })
      expect((await at(pausing).call('POST', '/unpause', at(0).operator, {})).status).toBe(200)
      expect((await at(asked).call('GET', '/state/snapshot', agent.token)).status).toBe(200)
    }
  })

  it('[REQ-NODES-5] the stream of events of one node has the events of all', async () => {
    const { place, server } = nodes[1] as TestNode
    const response = await fetch(`http://127.0.0.1:${place.port}/api/v1/events`, {
      headers: { authorization: `Bearer ${server.operator}` },
    })
    const reader = response.body?.getReader()
    await at(0).call('POST', '/tasks', at(0).operator, { title: 'Seen from afar', id: 'T5' })
    let text = ''
    while (!text.includes('Seen from afar')) text += new TextDecoder().decode((await reader?.read())?.value)
    await reader?.cancel()
    expect(text).toContain('event: task_created')
  })

  it('[REQ-NODES-5] a node is reached at the address that it advertises, and a wrong one is refused', async () => {
    const node = nodes[1] as TestNode
    let passed = 0
    const relay = createServer((near) => {
      passed += 1
      const far = connect(node.place.port, '127.0.0.1')
      near.pipe(far).on('error', () => near.destroy())
      far.pipe(near).on('error', () => far.destroy())
    })
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
    const advertised = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`
    const words = ['serve', '--port', '0', '--workspace', node.place.workspace, '--advertise']
    for (const wrong of ['ftp://node-b', 'node-b:8000', 'http://node-b/path?x'])
      expect(await run([...words, wrong], SECRET)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--advertise'),
      })
    await at(1).call('POST', '/tasks', at(1).operator, { title: 'On the second node', id: 'T-relay' })
    expect((await at(0).call('GET', '/tasks/T-relay', at(0).operator)).status).toBe(200)
    expect(passed).toBe(0)
    await at(1).kill()
    const environment = { ...SECRET, PHASELOCK_STORE: store, PHASELOCK_ADVERTISE: advertised }
    node.server = await serve(node.place, 'tdd', environment)
    expect((await at(0).call('POST', '/tasks/T-relay/cancel', at(0).operator, { reason: 'a test' })).status).toBe(200)
    expect(passed).toBeGreaterThan(0)
    await at(1).kill()
    relay.close()
    await startAgain(node, store)
  })

  it('[REQ-NODES-7] a request that only says it was forwarded is refused', async () => {
    const mark = `node-0123456789ab ${Date.now()} ${'0'.repeat(64)}`
    for (const headers of [{ 'x-phaselock-node': mark }, { 'x-phaselock-session': 'x' }])
      expect(await at(0).call('GET', '/tasks', at(0).operator, undefined, headers as never)).toMatchObject({
        status: 403,
        body: { code: 'not_permitted' },
      })
  })

  it('[REQ-NODES-4] a node with another secret or other keys is refused in one line, and nothing is written', async () => {
    const list = () => postgres.run(store, "SELECT type, actor, data FROM event WHERE stream = 'system' ORDER BY seq")
    const place = await makePlace()
    const from = (nodes[0] as TestNode).place.stateDir
    await run(['nodes', 'prepare', place.stateDir, '--state-dir', from], {})
    const words = ['serve', '--port', '0', '--workspace', place.workspace, '--store', store]
    const before = await list()
    const other = await run([...words, '--state-dir', place.stateDir], { ORCHESTRATOR_JWT_SECRET: 'x'.repeat(40) })
    expect(other).toMatchObject({ code: 1, stderr: expect.stringMatching(/signs its tokens with another secret/) })
    const keys = await run([...words, '--state-dir', `${place.dir}/new`], SECRET)
    expect(keys).toMatchObject({ code: 1, stderr: expect.stringMatching(/whose keys are not in/) })
    const again = await run(['nodes', 'prepare', place.stateDir, '--state-dir', from], {})
    expect(again).toMatchObject({ code: 1, stderr: expect.stringMatching(/is not empty/) })
    expect((await list()).slice(before.length)).toEqual([])
    place.remove()
  })

  it('[REQ-NODES-8] tasks of a killed or paused node are refused by the others until it is back', async () => {
    const agent = await Walker.claim(at(0), 'T6')
    const look = async () => (await at(1).call('GET', '/state/snapshot', agent.token)).body
    expect(await look()).toMatchObject({ task: { id: 'T6' } })
    at(0).child.kill('SIGSTOP')
    // A call under way is given up when the lease of the paused node ends; the next ones are refused at once.
    expect(await look()).toMatchObject({ code: 'wrong_node' })
    expect((await at(1).call('POST', '/tasks', at(1).operator, { title: 'Meanwhile', id: 'T7' })).status).toBe(201)
    at(0).child.kill('SIGCONT')
    await expect.poll(look, { timeout: 30_000 }).toMatchObject({ task: { id: 'T6' } })
    await at(0).kill()
    expect(await look()).toMatchObject({ code: 'wrong_node' })
    await startAgain(nodes[0] as TestNode, store)
    expect(await look()).toMatchObject({ task: { id: 'T6' } })
  })

  it('[REQ-NODES-9] cluster-check finds nothing wrong, and finds a second claim and a moved home', async () => {
    const words = ['cluster-check', '--store', store, '--state-dir', (nodes[1] as TestNode).place.stateDir]
    const fine = await run(words, {})
    expect(fine, fine.stdout + fine.stderr).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/Nothing is wrong/),
    })
    const home = (await postgres.run(store, "SELECT home FROM stream WHERE name = 'task:T6'"))[0]?.home
    await postgres.run(store, "UPDATE stream SET home = 'node-000000000000' WHERE name = 'task:T6'")
    const moved = await run(words, {})
    expect(moved).toMatchObject({ code: 1, stdout: expect.stringMatching(/wrong_home: task:T6 was begun by node-/) })
    await postgres.run(store, 'UPDATE stream SET home = $1 WHERE name = $2', [home, 'task:T6'])
    const { body } = await at(0).call('GET', '/nodes', at(0).operator)
    expect((body.nodes as { alive: boolean }[]).filter(({ alive }) => alive)).toHaveLength(2)
  })

  it('[REQ-NODES-11] a node that has gone for good is adopted, and its task goes on under another', async () => {
    const agent = await Walker.claim(at(0), 'T8')
    const [first, second] = nodes as [TestNode, TestNode]
    const { body } = await at(1).call('GET', '/nodes', at(1).operator)
    const { id } = (body.nodes as { id: string; own: boolean }[]).find(({ own }) => !own) ?? { id: '' }
    expect(body.nodes).toHaveLength(2)
    const adopt = () => at(1).call('POST', `/nodes/${id}/adopt`, at(1).operator, { reason: 'gone' })
    expect(await adopt()).toMatchObject({ status: 409, body: { code: 'conflict' } })
    await first.server.kill()
    await expect.poll(async () => (await adopt()).status, { timeout: 30_000, interval: 500 }).toBe(200)
    expect((await at(1).call('GET', '/state/snapshot', agent.token)).body).toMatchObject({ task: { id: 'T8' } })
    expect((await at(1).call('POST', '/tasks/release', agent.token, { task_id: 'T8' })).status).toBe(200)
    const checked = await run(['cluster-check', '--store', store, '--state-dir', second.place.stateDir], {})
    expect(checked, checked.stdout).toMatchObject({ code: 0 })
    // Its next start is a node without tasks.
    await startAgain(first, store)
    expect((await at(0).call('GET', '/tasks/T8', at(0).operator)).status).toBe(200)
  })
})
