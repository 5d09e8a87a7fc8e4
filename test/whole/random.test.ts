import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { begin, CONTRACT, countEvents, findUnexplained, type Stage } from './operations.js'
import { EndingServer } from './walk.js'

const ROUNDS = Number(process.env.PHASELOCK_WHOLE_ROUNDS ?? 12)
const FILES = 1500
const timeout = 90 * 60_000
const NOTHING = 'Nothing in the work tree changed without an allowed call.'

function readNames(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}

describe('a server that is killed at any time', () => {
  const server = new EndingServer(CONTRACT)
  let stage: Stage
  const execute = (tool_name: string, args: object, key: string) =>
    server.ask({ path: '/tools/execute', token: stage.token, body: { task_id: 't', tool_name, args }, key })
  /** Kills the server after a while, starts it again, and sends the same call again. */
  const interrupt = async (afterMs: number, call: () => ReturnType<typeof execute>) => {
    const first = call()
    await new Promise((resolve) => setTimeout(resolve, afterMs))
    await server.kill()
    const before = await first
    await server.start()
    return { before, look: () => call() }
  }

  beforeAll(async () => {
    stage = await begin(server)
  })
  afterAll(() => server.remove())

  it('[REQ-WHOLE-2] a command that made 1,500 files: all of them are there, or none', { timeout }, async () => {
    let happened = 0
    for (let round = 0; round < ROUNDS; round += 1) {
      const folder = `c${round}`
      const older = join(server.workspace, `c${round - 1}`)
      const command = `rm -rf c${round - 1}; mkdir ${folder} && for i in $(seq ${FILES}); do echo $i > ${folder}/$i; done`
      const before = await countEvents(stage, { type: 'tool_finished', tool: 'bash' })
      const { look } = await interrupt(400 + Math.random() * 1600, () => execute('bash', { command }, `bash-${round}`))
      const recorded = (await countEvents(stage, { type: 'tool_finished', tool: 'bash' })) - before
      const there = readNames(join(server.workspace, folder))
      expect(there.length, `round ${round}`).toBe(recorded === 1 ? FILES : 0)
      if (round > 0) expect(readNames(older).length, `round ${round}`).toBe(recorded === 1 ? 0 : FILES)
      happened += recorded
      expect(await look(), `round ${round}`).toMatchObject({ status: 200, body: { result: { exit_code: 0 } } })
      const files = readdirSync(join(server.workspace, folder))
      expect(files.every((name) => readFileSync(join(server.workspace, folder, name), 'utf8') === `${name}\n`)).toBe(
        true,
      )
      expect(files.length).toBe(FILES)
      expect((await countEvents(stage, { type: 'tool_finished', tool: 'bash' })) - before).toBe(1)
      expect(await findUnexplained(stage)).toBe(NOTHING)
    }
    process.stdout.write(`killed ${ROUNDS} times, ${happened} calls had happened\n`)
  })

  it('[REQ-WHOLE-2] a line that is appended is there once', { timeout }, async () => {
    for (let round = 0; round < ROUNDS * 2; round += 1) {
      const args = { path: `log${round}`, content: 'line\n', mode: 'a' }
      const { look } = await interrupt(Math.random() * 60, () => execute('write_files', args, `append-${round}`))
      expect(await look(), `round ${round}`).toMatchObject({ status: 200 })
      expect(readFileSync(join(server.workspace, args.path), 'utf8'), `round ${round}`).toBe('line\n')
      expect(await findUnexplained(stage)).toBe(NOTHING)
    }
    const verified = await server.call({ method: 'GET', path: '/audit/verify', token: server.operator })
    expect(verified.body).toMatchObject({ ok: true })
  })
})
