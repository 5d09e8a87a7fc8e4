import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { depth } from '../depth.js'
import { findPostgres, type PostgresServer, startPostgres } from '../store/postgres-server.js'
import { begin, CONTRACT, countEvents, findUnexplained, OPERATIONS, type Operation, type Stage } from './operations.js'
import { EndingServer } from './walk.js'

const STEPS_MAX = 400
const MINUTES_MAX = 20
const NOTHING = 'Nothing in the work tree changed without an allowed call.'
// `npm test` ends the server at some of the steps; the full run at each.
const STRIDE = depth(14, 1)
const bin = findPostgres()

interface Place {
  readonly thread: 'main' | 'worker'
  readonly store: 'sqlite' | 'postgres'
  /** More words of the command line. */
  readonly words: readonly string[]
  readonly operations: readonly Operation[]
  /** The full run ends the server at one of so many steps. */
  readonly every?: number
}

export const ON_MAIN = { thread: 'main', store: 'sqlite', words: [] } as const
/** The ledger in SQLite is written by a thread of its own. */
export const ON_WRITER = { thread: 'worker', store: 'sqlite', words: [] } as const

/** The operations that run a tool of this name, or no tool: those of operators. */
export function selectOperations(...tools: readonly (string | undefined)[]): readonly Operation[] {
  return OPERATIONS.filter(({ event }) => tools.includes(event.tool))
}

/** `npm test` walks the first operation; the full run all of them. */
export function takeFirst(all: readonly Operation[]): readonly Operation[] {
  return depth(all.slice(0, 1), all)
}

/** All windows on every store and with every sandbox take longer than the full suite may: a command of its own. */
export const IS_WHOLE = process.env.PHASELOCK_WHOLE === 'all'

export function describeWindows(title: string, { thread, store, words, operations, every = 1 }: Place): void {
  describe.skipIf(store === 'postgres' && bin === null)(`a server that ends right before a step of ${title}`, () => {
    walkAll({ thread, store, words, operations, every })
  })
}

function walkAll({ thread, store, words, operations, every }: Required<Place>): void {
  const servers: EndingServer[] = []
  let postgres: PostgresServer | null = null
  beforeAll(async () => {
    if (store === 'postgres' && bin !== null) postgres = await startPostgres(bin)
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.remove()))
    postgres?.remove()
  })
  const makeServer = async (): Promise<EndingServer> => {
    const PHASELOCK_STORE = await postgres?.createDatabase()
    const ORCHESTRATOR_JWT_SECRET = 'a secret of more than thirty-two bytes'
    const environment = PHASELOCK_STORE === undefined ? {} : { PHASELOCK_STORE, ORCHESTRATOR_JWT_SECRET }
    const server = new EndingServer(CONTRACT, { environment, words })
    servers.push(server)
    return server
  }

  it.each(operations)(
    '[REQ-WHOLE-1] $name: happens once and whole, or not at all',
    { timeout: MINUTES_MAX * 60_000 },
    async (operation) => {
      const server = await makeServer()
      const stage = await begin(server)
      let ended = 0
      let isOver = false
      const stride = IS_WHOLE ? 1 : STRIDE * (operation.isLong === true ? 4 : every)
      for (let step = 1; step < STEPS_MAX; step += stride) {
        isOver = await tryStep(stage, { operation, thread, step })
        if (isOver) break
        ended += 1
      }
      expect(isOver, `the call has more than ${STEPS_MAX} steps`).toBe(true)
      expect(ended, 'the server never ended').toBeGreaterThan(0)
      const verified = await server.call({ method: 'GET', path: '/audit/verify', token: server.operator })
      expect(verified.body).toMatchObject({ ok: true })
    },
  )
}

/** Ends the server at one step, starts it again, and looks. True: the call was answered before that step. */
async function tryStep(
  stage: Stage,
  {
    operation,
    thread,
    step,
  }: { readonly operation: Operation; readonly thread: 'main' | 'worker'; readonly step: number },
): Promise<boolean> {
  const { server } = stage
  await operation.prepare(stage, step)
  const was = operation.look(stage, step)
  const recorded = await countEvents(stage, operation.event)
  const call = { ...operation.call(stage, step), key: `${operation.event.type}-${thread}-${step}` }
  server.endAt(thread, step)
  const first = await server.ask(call)
  const isOver = first !== null && server.readEnd() === null
  if (first !== null) server.goOn()
  const end = server.readEnd()
  if (end !== null) {
    await server.waitForEnd()
    await server.start()
  }
  const where = `before step ${step} (${end?.split('\n').slice(0, 8).join('\n') ?? 'after the answer'})`
  const isRecorded = (await countEvents(stage, operation.event)) - recorded
  const expected = operation.expected(stage, step)
  expect(operation.look(stage, step), where).toBe(isRecorded === 1 ? expected : was)
  expect(isRecorded, where).toBeLessThanOrEqual(1)
  if (first !== null) expect([first.status, isRecorded], `${where}: ${first.body.detail}`).toEqual([200, 1])
  expect(findTemporary(server.workspace), where).toEqual([])
  if (isRecorded === 1 || operation.differsBefore !== true) expect(await findUnexplained(stage), where).toBe(NOTHING)
  const again = await server.call(call)
  expect(again, where).toMatchObject({ status: 200 })
  expect(operation.look(stage, step), where).toBe(expected)
  expect((await countEvents(stage, operation.event)) - recorded, where).toBe(1)
  expect(await findUnexplained(stage), where).toBe(NOTHING)
  await operation.goOn?.(stage)
  return isOver
}

function findTemporary(tree: string): readonly string[] {
  return readdirSync(tree, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.phaselock-'))
}
