import { readdirSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { depth, isFullDepth } from '../depth.js'
import { begin, CONTRACT, countEvents, findUnexplained, OPERATIONS, type Operation, type Stage } from './operations.js'
import { EndingServer } from './walk.js'

const STEPS_MAX = 400
const MINUTES_MAX = 20
const NOTHING = 'Nothing in the work tree changed without an allowed call.'
// `npm test` ends the server at some of the steps; the full run at each.
const STRIDE = depth(14, 1)
const THREADS = ['main', 'worker'] as const

describe.each(THREADS)('a server that ends right before a step of its %s thread', (thread) => {
  const servers: EndingServer[] = []
  afterAll(() => Promise.all(servers.map((server) => server.remove())))

  const operations = isFullDepth() ? OPERATIONS : OPERATIONS.filter((_, index) => index === 0 || index === 3)
  it.each(operations)(
    '[REQ-WHOLE-1] $name: happens once and whole, or not at all',
    { timeout: MINUTES_MAX * 60_000 },
    async (operation) => {
      const server = new EndingServer(CONTRACT)
      servers.push(server)
      const stage = await begin(server)
      let ended = 0
      for (let step = 1; step < STEPS_MAX; step += STRIDE) {
        const isOver = await tryStep(stage, { operation, thread, step })
        if (isOver) break
        ended += 1
      }
      expect(ended, 'the server never ended').toBeGreaterThan(0)
      const verified = await server.call({ method: 'GET', path: '/audit/verify', token: server.operator })
      expect(verified.body).toMatchObject({ ok: true })
    },
  )
})

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
