import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite-store.js'
import type { StoredEvent } from '../../src/store/store.js'
import { missingIn } from './checker.js'
import { AgentClient, CONTRACT, type Entry, Line, runCreator } from './clients.js'
import { Disk, NOTHING_ELSE, randomLuck } from './disk/disk.js'
import { crashPoints } from './disk/images.js'
import { randomFrom, scratch, seedOf } from './disk/place.js'
import { buildRecorder, readRecording, type Step, tell, underRecorder } from './disk/recording.js'
import { ask, startServer } from './server.js'

const IMAGES = Math.max(6, Math.floor(Number(process.env.PHASELOCK_TORTURE_IMAGES ?? 16) / 2))
const AGENTS = 4
const WORK_MS = 700
const WORK_MS_MAX = 30_000
const ANSWERS_MIN = 50
const TEST_MS_MAX = 300_000 + IMAGES * 5_000

/** What a restarted machine would find missing of what clients had been told by then. */
async function lookAt(image: string, told: readonly Entry[]): Promise<readonly string[]> {
  const store = await openSqliteStore({ dir: image })
  try {
    const events: StoredEvent[] = []
    for (;;) {
      const page = await store.readAll(events.length, 1_000)
      if (page.length === 0) break
      events.push(...page)
    }
    return missingIn(told, (task) => events.filter((event) => event.stream === `task:${task}`))
  } finally {
    await store.close()
  }
}

test(
  '[REQ-TORTURE-4] what clients of the running server were told is there after a power failure at any moment',
  async (context) => {
    const built = buildRecorder()
    if ('reason' in built) return context.skip(built.reason)
    const dir = scratch()
    const stateDir = join(dir, 'state')
    const workspace = join(dir, 'tree')
    const contract = join(dir, 'contract.yaml')
    const log = join(dir, 'log')
    mkdirSync(workspace)
    writeFileSync(contract, CONTRACT)
    const env = underRecorder({ library: built.library, dir: stateDir, log })
    const server = await startServer({ stateDir, workspace, contract, env })
    const seed = seedOf()
    const random = randomFrom(seed)
    const line = new Line()
    line.onAnswer = (index) => tell(log, JSON.stringify({ entry: index }))
    const work = [runCreator(line, { token: server.operator, name: 't' })]
    for (let index = 0; index < AGENTS; index += 1) {
      const id = `agent-${index}`
      const request = { method: 'POST', path: '/agents', token: server.operator, body: { agent_id: id } } as const
      const token = String((await ask(server.base, request)).body.agent_token)
      work.push(new AgentClient(line, { id, token, operator: server.operator, random }).run())
    }
    line.up(server.base)
    const until = Date.now() + WORK_MS_MAX
    // On a busy machine it takes longer until there is enough to lose.
    for (let ms = WORK_MS; Date.now() < until; ms = 50) {
      await new Promise((resolve) => setTimeout(resolve, ms))
      if (line.history.length > ANSWERS_MIN) break
    }
    line.finish()
    await Promise.all(work)
    await server.kill()

    const steps = readRecording(log)
    const points = crashPoints(steps, IMAGES, random)
    const disk = new Disk()
    const problems: string[] = []
    let applied = 0
    for (const [index, point] of points.entries()) {
      for (; applied < point; applied += 1) disk.apply(steps[applied] as Step)
      const image = join(dir, `image-${index}`)
      disk.write(image, index % 2 === 0 ? NOTHING_ELSE : randomLuck(random))
      const told = toldIn(steps.slice(0, point), line.history)
      problems.push(...(await lookAt(image, told)).map((one) => `at step ${point}: ${one}`))
    }
    expect(problems, `PHASELOCK_TORTURE_SEED=${seed}`).toEqual([])
    expect(line.history.length).toBeGreaterThan(ANSWERS_MIN)
  },
  TEST_MS_MAX,
)

function toldIn(steps: readonly Step[], history: readonly Entry[]): readonly Entry[] {
  return steps.flatMap((step) => {
    if (step.kind !== 'told') return []
    const entry = history[(JSON.parse(step.text) as { entry: number }).entry]
    return entry === undefined ? [] : [entry]
  })
}
