import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { built } from '../cli/program.js'
import { makePlace, type Place, type Served, serve } from '../e2e/process.js'
import { AgentScript, processesWith } from '../participants/command-script.js'
import { until } from './clients.js'

const RUN_MS_MAX = 300_000

const script = new AgentScript()
let place: Place
let server: Served
beforeAll(async () => {
  await built()
  place = await makePlace()
  server = await serve(place, 'tdd')
}, RUN_MS_MAX)
afterAll(async () => {
  await server?.stop()
  place?.remove()
  script.remove()
})

/** Not only its wall: the program itself runs. */
const isAtWork = (): boolean => processesWith(script.dir).some((line) => line.startsWith(process.execPath))

describe('a server with a program in a coordination', () => {
  it(
    '[REQ-DOOR-5] takes it along when it is killed, starts it again afterwards, and writes its token nowhere',
    async () => {
      const { id, kind, harness, command, args } = script.does({ tell: 'token' }, { wait: 600_000 })
      const body = { question: 'Which way?', agents: [{ id, kind, harness, command, args }] }
      const begun = await server.call('POST', '/coordinations', server.operator, body)
      expect(begun.status, JSON.stringify(begun.body)).toBe(201)
      expect(JSON.stringify(begun.body)).not.toContain('token')
      await until(isAtWork, 60_000)
      await server.kill()
      await until(() => processesWith(script.dir).length === 0, 60_000)
      const before = server.output()
      server = await serve(place, 'tdd')
      await until(isAtWork, 60_000)
      await server.call('POST', `/coordinations/${String(begun.body.id)}/cancel`, server.operator, { reason: 'enough' })
      await until(() => processesWith(script.dir).length === 0, 60_000)
      const TOKEN = /eyJ[\w-]{20,}\.[\w-]{20,}\./
      expect(before + server.output()).not.toMatch(TOKEN)
      for (const name of readdirSync(place.stateDir).filter((one) => one.startsWith('ledger')))
        expect(readFileSync(join(place.stateDir, name)).toString('latin1')).not.toMatch(TOKEN)
    },
    RUN_MS_MAX,
  )
})
