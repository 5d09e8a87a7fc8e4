import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, type TestContext, test } from 'vitest'
import { verifyDirectory } from '../../src/store/verify/verify-ledger.js'
import { CONTRACT } from './clients.js'
import { type Fault, Faults, FILES } from './disk/faults.js'
import { scratch } from './disk/place.js'
import { buildRecorder, underRecorder } from './disk/recording.js'
import { type Answer, ask, type Request, type Server, startServer } from './server.js'

const TEST_MS_MAX = 300_000
const ATTEMPTS = 6

let recorder: ReturnType<typeof buildRecorder>
beforeAll(() => {
  recorder = buildRecorder()
})

interface Running {
  readonly server: Server
  readonly faults: Faults
  readonly stateDir: string
  readonly call: (method: 'GET' | 'POST', path: string, body?: Request['body'], key?: string) => Promise<Answer>
  readonly create: (id: string) => Promise<Answer>
}

/** A server whose disk can be made to fail, with an agent that holds the task `held`. */
async function run(
  context: TestContext,
  dir = scratch(),
): Promise<Running & { readonly check: () => Promise<Answer> }> {
  if ('reason' in recorder) return context.skip(recorder.reason)
  const stateDir = join(dir, 'state')
  const workspace = join(dir, 'tree')
  const contract = join(dir, 'contract.yaml')
  mkdirSync(workspace)
  writeFileSync(contract, CONTRACT)
  const faults = new Faults(join(scratch(), 'faults'))
  const env = underRecorder({ library: recorder.library, dir: stateDir, faults: faults.file })
  const server = await startServer({ stateDir, workspace, contract, env })
  onTestFinished(() => server.kill())
  const call: Running['call'] = (method, path, body, key) =>
    ask(server.base, {
      method,
      path,
      token: server.operator,
      ...(body === undefined ? {} : { body }),
      ...(key === undefined ? {} : { key }),
    })
  const create = (id: string) => call('POST', '/tasks', { title: id, id }, id)
  expect((await create('held')).status).toBe(201)
  const agent = await call('POST', '/agents', { agent_id: 'ada' })
  const body = { agent_id: 'ada', task_id: 'held' }
  const claim = { method: 'POST', path: '/tasks/claim', token: String(agent.body.agent_token), body } as const
  const claimed = await ask(server.base, claim)
  const args = { task_id: 'held', tool_name: 'read_files', args: { path: 'a' } }
  const token = String(claimed.body.phase_token)
  const check = () => ask(server.base, { method: 'POST', path: '/tools/check', token, body: args })
  expect((await check()).body).toMatchObject({ allowed: true })
  return { server, faults, stateDir, call, create, check }
}

/** Everything that was acknowledged is there once, task by task, and the ledger is whole. */
async function expectWhole({ server, stateDir, call }: Running, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const { body } = await call('GET', `/tasks/${id}/timeline`)
    const types = (body.events as { type: string }[]).map((event) => event.type)
    expect(types.filter((type) => type === 'task_created')).toHaveLength(1)
  }
  expect((await call('GET', '/audit/verify')).body).toMatchObject({ ok: true, problems: [] })
  expect(await server.stop()).toBe(0)
  expect((await verifyDirectory(stateDir)).problems).toEqual([])
}

const FAULTS: readonly (readonly [string, Fault])[] = [
  ['the disk is full', { files: FILES.all, write: 'ENOSPC', open: 'ENOSPC' }],
  ['writes of the database fail', { files: FILES.database, write: 'EIO' }],
  ['syncs of the database fail', { files: FILES.database, sync: 'EIO' }],
  ['writes of the head fail', { files: FILES.head, write: 'EIO' }],
  ['syncs of the head fail', { files: FILES.head, sync: 'EIO' }],
  ['everything fails', { files: FILES.all, write: 'EIO', sync: 'EIO', open: 'EIO' }],
  ['the directory is read-only', { files: FILES.all, write: 'EROFS', sync: 'EROFS', open: 'EROFS' }],
]

test(
  '[REQ-TORTURE-6] while the disk fails every change is a 503 with a code, reads go on, and work goes on without a restart when it is well again',
  async (context) => {
    const running = await run(context)
    const { faults, call, create, check } = running
    const ids: string[] = []
    for (const [index, [name, fault]] of FAULTS.entries()) {
      const before = Array.from({ length: ATTEMPTS }, (_, n) => `before-${index}-${n}`)
      const during = Array.from({ length: ATTEMPTS }, (_, n) => `during-${index}-${n}`)
      for (const answer of await Promise.all(before.map(create))) expect(answer.status, name).toBe(201)
      faults.set(fault)
      const refused = [...(await Promise.all(during.map(create))), await check(), await create(`${during[0]}-alone`)]
      for (const answer of refused)
        expect(answer, name).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
      expect(faults.wasMet, name).toBe(true)
      expect(await call('GET', '/health'), name).toMatchObject({ status: 200 })
      expect(await call('GET', `/tasks/${before[0]}`), name).toMatchObject({ status: 200 })
      expect((await call('GET', '/tasks?limit=5')).status, name).toBe(200)
      faults.clear()
      // Sent again under their keys, as a client does: it may have happened or not, and then it has happened once.
      for (const answer of await Promise.all(during.map(create))) expect(answer, name).toMatchObject({ status: 201 })
      expect((await check()).body, name).toMatchObject({ allowed: true })
      ids.push(...before, ...during)
    }
    await expectWhole(running, ids)
  },
  TEST_MS_MAX,
)

test(
  '[REQ-TORTURE-7] while a sync takes seconds, requests that write nothing are answered at once and those that write are answered later',
  async (context) => {
    const running = await run(context)
    const { faults, call, create, check } = running
    faults.set({ files: FILES.database, syncDelayTenths: 20 })
    const order: string[] = []
    const noting = async (name: string, answer: Promise<Answer>) => {
      const { status } = await answer
      order.push(name)
      return status
    }
    const slow = [noting('append', create('slow')), noting('check', check())]
    while (!faults.wasMet) await new Promise((resolve) => setTimeout(resolve, 5))
    const ready = fetch(new URL('/ready', running.server.base)).then(({ status }) => ({ status, body: {} }))
    const fast = [
      noting('ready', ready),
      noting('health', call('GET', '/health')),
      noting('tasks', call('GET', '/tasks')),
      noting('task', call('GET', '/tasks/held')),
      noting('timeline', call('GET', '/tasks/held/timeline')),
    ]
    expect(await Promise.all(fast)).toEqual([200, 200, 200, 200, 200])
    expect(order).not.toContain('append')
    expect(order).not.toContain('check')
    expect(await Promise.all(slow)).toEqual([201, 200])
    faults.clear()
    await expectWhole(running, ['slow'])
  },
  TEST_MS_MAX,
)

test(
  '[REQ-TORTURE-6] a file system that is really full gives 503, loses nothing, and is used again when there is room',
  async (context) => {
    const dir = scratch()
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', dir], { stdio: 'ignore' })
    } catch {
      return context.skip('mounting a small file system needs root')
    }
    onTestFinished(() => {
      execFileSync('umount', ['-l', dir])
    })
    const running = await run(context, dir)
    const filler = join(dir, 'filler')
    for (let bytes = 16 * 1024 * 1024; bytes >= 1024; bytes /= 2) tryToWrite(filler, bytes)
    const answers: (readonly [string, Answer])[] = []
    for (let n = 0; n < 100; n += 1) {
      const id = `full-${n}`
      const body = { title: id, id, description: 'x'.repeat(8_000) }
      answers.push([id, await running.call('POST', '/tasks', body, id)])
    }
    const refused = answers.filter(([, { status }]) => status !== 201)
    expect(refused.length).toBeGreaterThan(0)
    for (const [, answer] of refused) expect(answer).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
    rmSync(filler)
    expect((await running.create('after')).status).toBe(201)
    const made = answers.filter(([, { status }]) => status === 201).map(([id]) => id)
    await expectWhole(running, [...made, 'after'])
  },
  TEST_MS_MAX,
)

function tryToWrite(path: string, bytes: number): void {
  try {
    writeFileSync(path, Buffer.alloc(bytes), { flag: 'a' })
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC')
  }
}
