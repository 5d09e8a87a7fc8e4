import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { begin, CONTRACT, countEvents, findUnexplained, OPERATIONS, type Stage } from './operations.js'
import { type Answer, EndingServer } from './walk.js'

const NOTHING = 'Nothing in the work tree changed without an allowed call.'
const INSTALLED = 'r1/node_modules/lib/index.js'
const install = OPERATIONS.find(({ name }) => name === 'install')

describe('an install that is interrupted', () => {
  let server: EndingServer
  let stage: Stage
  const send = (): Promise<Answer | null> => {
    if (install === undefined) throw new Error('there is no install')
    return server.ask({ ...install.call(stage, 1), key: 'once' })
  }
  const countInstalls = (): Promise<number> => countEvents(stage, { type: 'install_finished' })
  beforeEach(async () => {
    server = new EndingServer(CONTRACT)
    stage = await begin(server)
    await install?.prepare(stage, 1)
  })
  afterEach(() => server.remove())

  /** The server ends when the install is recorded, and has not told anybody yet. */
  const interrupt = async (): Promise<void> => {
    server.endWithin('removeKept')
    expect(await send()).toBe(null)
    await server.waitForEnd()
  }

  it('[REQ-WHOLE-8] is answered under its key and not repeated, once it is recorded', async () => {
    await interrupt()
    await server.start()
    expect(await countInstalls()).toBe(1)
    expect(await send()).toMatchObject({
      status: 200,
      body: {
        id: 't',
        install: { status: 'installed', exit_code: 0, paths: expect.arrayContaining(['r1/package.json']) },
      },
    })
    expect(await countInstalls()).toBe(1)
    expect(readFileSync(join(server.workspace, INSTALLED), 'utf8')).toBe('module.exports = 1\n')
    expect(await findUnexplained(stage)).toBe(NOTHING)
  })

  it.each([
    { what: 'changed', path: INSTALLED, act: appendFileSync },
    { what: 'added', path: 'r1/node_modules/lib/other.js', act: writeFileSync },
  ])(
    '[REQ-WHOLE-8] does not cover a file of its packages that was $what before the next start',
    async ({ path, act }) => {
      await interrupt()
      act(join(server.workspace, path), 'module.exports = 2\n')
      await server.start()
      const accept = { path: '/tasks/t/tree/accept', token: server.operator, body: { reason: 'it was me' } }
      const accepted = await server.call(accept)
      expect(accepted.status).toBe(200)
      expect(JSON.stringify(accepted.body)).toContain('"r1/node_modules"')
      expect(existsSync(join(server.workspace, path))).toBe(true)
      expect(await send()).toMatchObject({ status: 200 })
      expect(await countInstalls()).toBe(1)
    },
  )
})
