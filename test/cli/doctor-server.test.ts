import { mkdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { built, Place, type Server } from './program.js'

const RUN_MS_MAX = 240_000
const place = new Place()
let server: Server

beforeAll(async () => {
  await built()
  server = await place.serve()
}, RUN_MS_MAX)

interface Finding {
  readonly name: string
  readonly status: string
  readonly detail: string
  readonly remedy: string
}

async function diagnose(args: readonly string[] = [], cwd = place.work): Promise<readonly Finding[]> {
  const ended = await place.run(['doctor', '--no-trial', '--json', ...args], { cwd })
  return (JSON.parse(ended.stdout) as { findings: readonly Finding[] }).findings
}

const listPorts = (findings: readonly Finding[]) => findings.filter(({ name }) => name.startsWith('port '))

it('[REQ-CLI-32] doctor finds the server of the work tree on its port, also from a folder in it', {
  timeout: RUN_MS_MAX,
}, async () => {
  const { port } = new URL(server.url)
  const ours = { name: `port ${port}`, status: 'ok', detail: `the server of this work tree (pid ${server.pid})` }
  expect(listPorts(await diagnose())).toMatchObject([ours])
  const inside = join(place.work, 'src')
  mkdirSync(inside)
  expect(listPorts(await diagnose([], inside))).toMatchObject([ours])
  expect(listPorts(await diagnose(['--port', port]))).toMatchObject([ours])
})

it('[REQ-CLI-32] a port that is named is looked at beside it, and where no server runs the default', {
  timeout: RUN_MS_MAX,
}, async () => {
  const other = createServer()
  await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening))
  try {
    const { port } = other.address() as { port: number }
    const [ours, named] = listPorts(await diagnose(['--port', String(port)]))
    expect(ours).toMatchObject({ status: 'ok' })
    expect(named).toMatchObject({ name: `port ${port}`, status: 'missing', detail: 'in use' })
  } finally {
    other.close()
  }
  const elsewhere = join(place.home, 'elsewhere')
  mkdirSync(elsewhere)
  expect(listPorts(await diagnose([], elsewhere))).toMatchObject([{ name: 'port 8000' }])
})

it('[REQ-GONE-2] status and doctor name a task whose work tree is missing, with the command that ends it', {
  timeout: RUN_MS_MAX,
}, async () => {
  const tree = join(place.home, 'tree')
  mkdirSync(tree)
  await place.json(['task', 'add', 'Add it', '--id', 'gone', '--workspace', tree])
  expect((await place.run(['status'])).stdout).toMatch(/Waiting for you\n {2}Nothing\./)
  rmSync(tree, { recursive: true })
  const way = 'phaselock task cancel gone --reason "its work tree is gone"'
  const status = await place.run(['status'])
  expect(status.stdout).toContain(`The work tree of task gone, ${tree}, does not exist.`)
  expect(status.stdout).toContain(way)
  expect(await place.json(['status'])).toMatchObject({ missing_trees: [{ kind: 'tree_missing', task_id: 'gone' }] })
  const found = (await diagnose()).find(({ name }) => name === 'task gone')
  expect(found).toMatchObject({ status: 'warning', detail: expect.stringContaining('does not exist') })
  expect(found?.remedy).toContain(way)
  expect((await place.run(['task', 'cancel', 'gone', '--reason', 'its work tree is gone'])).code).toBe(0)
  expect((await place.run(['status'])).stdout).toMatch(/Waiting for you\n {2}Nothing\./)
  expect((await diagnose()).some(({ name }) => name === 'task gone')).toBe(false)
})
