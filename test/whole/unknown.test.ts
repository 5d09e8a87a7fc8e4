import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { begin, CONTRACT, type Stage } from './operations.js'
import { EndingServer } from './walk.js'

const WITH_NETWORK = CONTRACT.replace('git_status]\n', 'git_status]\n    tool_constraints: {bash: {network: true}}\n')

describe('a call that is interrupted', () => {
  let server: EndingServer
  let stage: Stage
  const bash = (command: string, key?: string) =>
    server.ask({
      path: '/tools/execute',
      token: stage.token,
      body: { task_id: 't', tool_name: 'bash', args: { command } },
      ...(key === undefined ? {} : { key }),
    })
  afterEach(() => server.remove())

  const beginWith = async (contract: string): Promise<void> => {
    server = new EndingServer(contract)
    stage = await begin(server)
  }
  /** Kills the server once the call is allowed. */
  const interrupt = async (command: string, key: string): Promise<void> => {
    const first = bash(command, key)
    const allowed = async () => {
      const path = '/audit/query?type=tool_allowed&tool_name=bash&limit=1'
      const { body } = await server.call({ method: 'GET', path, token: server.operator })
      return (body.events as readonly unknown[]).length
    }
    await expect.poll(allowed).toBe(1)
    await server.kill()
    expect(await first).toBe(null)
    await server.start()
  }

  it('[REQ-WHOLE-3] a command with network is not repeated and not called a success', async () => {
    await beginWith(WITH_NETWORK)
    await interrupt('sleep 3; echo done > done.txt', 'once')
    for (let time = 0; time < 2; time += 1)
      expect(await bash('sleep 3; echo done > done.txt', 'once')).toMatchObject({
        status: 409,
        body: { code: 'outcome_unknown', task_id: 't', remedy: expect.stringContaining('new Idempotency-Key') },
      })
    expect(existsSync(join(server.workspace, 'done.txt'))).toBe(false)
    expect(await bash('echo done > done.txt', 'again')).toMatchObject({ status: 200 })
    expect(await bash('echo done > done.txt', 'again')).toMatchObject({ status: 200 })
    expect(readFileSync(join(server.workspace, 'done.txt'), 'utf8')).toBe('done\n')
  })

  it('[REQ-WHOLE-3] a command that can only change the work tree is made by the repeated call', async () => {
    await beginWith(CONTRACT)
    await interrupt('sleep 3; echo done >> done.txt', 'once')
    expect(await bash('sleep 3; echo done >> done.txt', 'once')).toMatchObject({ status: 200 })
    expect(readFileSync(join(server.workspace, 'done.txt'), 'utf8')).toBe('done\n')
  })
})
