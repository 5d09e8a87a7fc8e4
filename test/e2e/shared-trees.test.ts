import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { FileLock } from '../../src/store/shared-trees/file-lock.js'
import { findPostgres, type PostgresServer, startPostgres } from '../store/postgres-server.js'
import { run, SECRET, type TestNode } from './nodes.js'
import { makePlace, type Served, serve } from './process.js'
import { makeRepository } from './projects.js'
import { implementation, testFiles, Walker } from './walker.js'

const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '../src/sum.js'

test('prices are summed up', () => assert.equal(sum([5, 7]), 12))
`
const CODE = 'export const sum = (prices) => prices.reduce((all, price) => all + price, 0)\n'
const PACKAGE = '{"name": "carts", "type": "module", "scripts": {"test": "node --test"}}\n'

interface SharedNode extends TestNode {
  readonly id: string
}

type Row = Record<string, unknown> & { id: string; own: boolean; alive: boolean }

const bin = findPostgres()

describe.skipIf(bin === null)('work trees that nodes share (skipped where PostgreSQL is not installed)', () => {
  let postgres: PostgresServer
  let store = ''
  let disk = ''
  let nodes: SharedNode[] = []

  beforeAll(async () => {
    postgres = await startPostgres(bin ?? '')
  })
  afterAll(() => postgres?.remove())
  afterEach(async () => {
    for (const { server, place } of nodes) {
      server.child.kill('SIGCONT')
      await server.kill()
      place.remove()
    }
    nodes = []
    rmSync(disk, { recursive: true, force: true })
  })

  /** Makes a disk with a work tree and a folder for what is kept about it, and nodes that share them or do not. */
  async function setScene(...folders: readonly (string | null)[]): Promise<readonly SharedNode[]> {
    store = await postgres.createDatabase()
    disk = mkdtempSync(join(tmpdir(), 'phaselock-disk-'))
    mkdirSync(tree())
    makeRepository(tree(), { 'package.json': PACKAGE })
    for (const folder of folders) await addNode(folder)
    return nodes
  }

  const tree = (): string => join(disk, 'project')

  const environmentOf = (folder: string | null): NodeJS.ProcessEnv => ({
    ...{ ...SECRET, PHASELOCK_STORE: store },
    ...(folder === null ? {} : { PHASELOCK_SHARED_TREES: join(disk, folder) }),
  })

  async function addNode(folder: string | null): Promise<SharedNode> {
    const place = await makePlace()
    makeRepository(place.workspace, { 'package.json': PACKAGE })
    const [first] = nodes
    if (first !== undefined) await run(['nodes', 'prepare', place.stateDir, '--state-dir', first.place.stateDir], {})
    const server = await serve(place, 'tdd', environmentOf(folder))
    const id = readFileSync(join(place.stateDir, 'node.id'), 'utf8').trim()
    const node = { place, server, id }
    nodes.push(node)
    return node
  }

  const adopt = ({ server }: SharedNode, node: SharedNode, more: Record<string, unknown> = {}) =>
    server.call('POST', `/nodes/${node.id}/adopt`, server.operator, { reason: 'gone', ...more })

  async function listNodes({ server }: SharedNode): Promise<readonly Row[]> {
    return (await server.call('GET', '/nodes', server.operator)).body.nodes as Row[]
  }

  async function waitUntilAway(by: SharedNode, node: SharedNode): Promise<void> {
    const look = async () => (await listNodes(by)).find(({ id }) => id === node.id)?.alive
    await expect.poll(look, { timeout: 30_000, interval: 200 }).toBe(false)
  }

  const claim = (server: Served, task: string) => Walker.claim(server, task, { workspace: tree() })

  /** Every event of the task, as the database has them. */
  const readTypes = async (task: string) =>
    (await postgres.run(store, 'SELECT type FROM event WHERE stream = $1 ORDER BY seq', [`task:${task}`])).map(
      ({ type }) => String(type),
    )

  it('[REQ-SHARED-1] a folder that must not be used is refused in one line before anything is written', async () => {
    const [only] = (await setScene(null)) as [SharedNode]
    const { workspace, stateDir } = only.place
    await only.server.kill()
    const words = ['serve', '--port', '0', '--workspace', workspace, '--state-dir', stateDir, '--shared-trees']
    const alone = await run([...words, join(disk, 'kept')], SECRET)
    expect(alone).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^--shared-trees, .*only nodes on PostgreSQL/),
    })
    for (const [folder, says] of [
      [join(workspace, 'kept'), /is inside the work tree/],
      [join(stateDir, 'kept'), /is inside the state directory/],
      [only.place.dir, /contains the state directory/],
    ] as const)
      expect(await run([...words, folder], environmentOf(null))).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(says),
      })
    expect(existsSync(join(stateDir, 'shared-trees.json'))).toBe(false)
  })

  it('[REQ-SHARED-2] a node that shares trees does not start without its folder or with another', async () => {
    const [only] = (await setScene('kept')) as [SharedNode]
    const { workspace, stateDir } = only.place
    await only.server.kill()
    const words = ['serve', '--port', '0', '--workspace', workspace, '--state-dir', stateDir]
    const remedy = expect.stringContaining(`--shared-trees ${join(disk, 'kept')}`)
    expect(await run(words, environmentOf(null))).toMatchObject({ code: 1, stderr: remedy })
    expect(await run(words, environmentOf('another'))).toMatchObject({ code: 1, stderr: remedy })
  })

  it('[REQ-SHARED-4] a node is adopted only by one with the same folder; what the database says must be sealed', async () => {
    const [first, same, without, other] = (await setScene('kept', 'kept', null, 'another')) as [
      ...[SharedNode, SharedNode, SharedNode, SharedNode],
    ]
    expect(await adopt(same, first)).toMatchObject({ status: 409, body: { code: 'conflict' } })
    const rows = new Map((await listNodes(first)).map((one) => [one.id, one.shared_trees as { id: string } | null]))
    expect(rows.get(first.id)).toMatchObject({ folder: join(disk, 'kept'), id: expect.stringMatching(/^trees-/) })
    expect(rows.get(same.id)).toEqual(rows.get(first.id))
    expect(rows.get(without.id)).toBeNull()
    expect(rows.get(other.id)?.id).not.toBe(rows.get(first.id)?.id)
    const words = ['nodes', 'list', '--state-dir', same.place.stateDir]
    expect((await run(words, {})).stdout).toMatch(new RegExp(`SHARED TREES[^]*${disk}/kept \\(trees-`))
    await claim(first.server, 'T1')
    await first.server.kill()
    await waitUntilAway(same, first)
    const refused = { status: 409, body: { code: 'trees_elsewhere', folder: join(disk, 'kept') } }
    for (const by of [without, other]) {
      const answer = await adopt(by, first)
      expect(answer, JSON.stringify(answer.body)).toMatchObject(refused)
      expect(answer.body.next_step).toContain(`--shared-trees ${join(disk, 'kept')}`)
    }
    // Who can write the database gives the dead node the folder of another one, seal and all.
    const sealed = 'SELECT shared_trees FROM node WHERE id = $1'
    const [before] = await postgres.run(store, sealed, [first.id])
    const [theirs] = await postgres.run(store, sealed, [other.id])
    for (const forged of [
      theirs?.shared_trees,
      String(before?.shared_trees).replace(/trees-\w+/, 'trees-0123456789abcdef'),
    ]) {
      await postgres.run(store, 'UPDATE node SET shared_trees = $2 WHERE id = $1', [first.id, forged])
      for (const by of [same, other])
        expect(await adopt(by, first)).toMatchObject({ status: 409, body: { code: 'trees_elsewhere' } })
      expect((await listNodes(same)).find(({ id }) => id === first.id)).toMatchObject({ shared_trees: null })
    }
    await postgres.run(store, 'UPDATE node SET shared_trees = $2 WHERE id = $1', [first.id, before?.shared_trees])
    expect(await adopt(without, first, { without_trees: true })).toMatchObject({ status: 200, body: { streams: 1 } })
    const [{ data } = { data: '' }] = await postgres.run(store, "SELECT data FROM event WHERE type = 'node_adopted'")
    expect(String(data)).toContain('without its shared trees')
  })

  it('[REQ-SHARED-5] a node that is paused between the append and the change of the tree writes nothing after its adoption', async () => {
    const [first, second] = (await setScene('kept', 'kept')) as [SharedNode, SharedNode]
    const agent = await claim(first.server, 'T1')
    await agent.plan()
    const path = 'tests/sum.test.js'
    // Its own lock in our hand: the call is allowed and recorded, and waits before it writes.
    const lock = new FileLock(join(disk, 'kept', 'locks', `${first.id}.lock`))
    expect(await lock.take(5_000)).toBe(true)
    const write = agent.use('write_files', { files: [{ path, content: TEST }] })
    await expect.poll(async () => (await readTypes('T1')).at(-1)).toBe('tool_allowed')
    first.server.child.kill('SIGSTOP')
    await waitUntilAway(second, first)
    // As if it had been stopped in the middle of the change: nobody can know what it still writes.
    const busy = await adopt(second, first)
    expect(busy, JSON.stringify(busy.body)).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect(busy.body.next_step).toContain('kill -9')
    lock.close()
    expect(await adopt(second, first)).toMatchObject({ status: 200 })
    const before = await readTypes('T1')
    first.server.child.kill('SIGCONT')
    expect((await write).status).toBe(503)
    expect(existsSync(join(tree(), path))).toBe(false)
    expect(await readTypes('T1')).toEqual(before)
    const goesOn = Walker.goOn(second.server, agent)
    await goesOn.does('write_files', { files: [{ path, content: TEST }] })
    await goesOn.enters('IMPL', testFiles(path))
  })

  it('[REQ-SHARED-5] a command that runs while its node is paused and adopted changes nothing', async () => {
    const [first, second] = (await setScene('kept', 'kept')) as [SharedNode, SharedNode]
    const agent = await claim(first.server, 'T1')
    await agent.plan()
    const late = agent.use('bash', { command: 'sleep 2; mkdir -p tests; echo late > tests/late.test.js' })
    await expect.poll(async () => (await readTypes('T1')).at(-1)).toBe('tool_allowed')
    first.server.child.kill('SIGSTOP')
    await waitUntilAway(second, first)
    expect(await adopt(second, first)).toMatchObject({ status: 200 })
    const before = await readTypes('T1')
    first.server.child.kill('SIGCONT')
    expect((await late).status).toBe(503)
    expect(existsSync(join(tree(), 'tests'))).toBe(false)
    expect(await readTypes('T1')).toEqual(before)
    const check = await run(['cluster-check', '--store', store, '--state-dir', second.place.stateDir], {})
    expect(check, check.stdout).toMatchObject({ code: 0 })
  })

  it('[REQ-SHARED-6] a task goes on under the adopting node, which finds what nobody explained', async () => {
    const [first, second] = (await setScene('kept', 'kept')) as [SharedNode, SharedNode]
    const before = await claim(first.server, 'T1')
    await before.plan()
    const path = 'tests/sum.test.js'
    await before.does('write_files', { files: [{ path, content: TEST }] })
    // A shared tree has one home, whichever node is asked.
    const elsewhere = await second.server.call('POST', '/tasks', second.server.operator, {
      ...{ title: 'At the other node', id: 'T2', workspace: tree() },
    })
    expect(elsewhere, JSON.stringify(elsewhere.body)).toMatchObject({ status: 201 })
    const homes = await postgres.run(store, 'SELECT DISTINCT home FROM stream WHERE name LIKE $1', ['task:%'])
    expect(homes).toEqual([{ home: first.id }])
    await first.server.kill()
    writeFileSync(join(tree(), path), TEST.replace('12', '13'))
    writeFileSync(join(tree(), 'planted.js'), 'planted\n')
    await waitUntilAway(second, first)
    expect(await adopt(second, first)).toMatchObject({ status: 200, body: { streams: 2 } })
    const stale = Walker.goOn(second.server, before)
    expect((await stale.refused('IMPL', testFiles(path))).map(({ code }) => code)).toContain('unledgered_change')
    await second.server.call('POST', '/tasks/release', stale.token, { task_id: 'T1' })
    const { agent, warnings } = await Walker.takeOver(second.server, 'T1')
    expect(warnings).toContain('planted.js')
    const reverted = await second.server.call('POST', '/tasks/T1/tree/revert', second.server.operator, {
      reason: 'a test',
    })
    expect(reverted, JSON.stringify(reverted.body)).toMatchObject({ status: 200, body: { path_count: 2 } })
    expect(readFileSync(join(tree(), path), 'utf8')).toBe(TEST)
    await agent.enters('IMPL', testFiles(path))
    await agent.does('write_files', { files: [{ path: 'src/sum.js', content: CODE }] })
    await agent.enters('REVIEW', implementation('src/sum.js'))
    await agent.finish('Sum up prices')
    // The first node is back as one without tasks, and the tree is no longer its own.
    first.server = await serve(first.place, 'tdd', environmentOf('kept'))
    const seen = await first.server.call('GET', '/tasks/T1', first.server.operator)
    expect(seen.body).toMatchObject({ status: 'completed' })
  })
})
