import { afterEach, describe, expect, it } from 'vitest'
import { ADD, CODE, makeKilledPlace, runningWith } from '../e2e/killing.js'
import { type Place, type Served, serve } from '../e2e/process.js'
import { Walker } from '../e2e/walker.js'

const WALK_MS_MAX = 300_000
/** A number that no other process of this machine sleeps for. */
const SLEEP = `2.${process.pid}`

/** Ids of the processes that sleep for the test command. */
const sleeping = (): readonly string[] =>
  runningWith(SLEEP).flatMap(({ pid, line }) => (line === `sleep ${SLEEP}` ? [pid] : []))

async function nextRun(before: ReadonlySet<string>): Promise<string> {
  let found: string | undefined
  await expect
    .poll(() => (found = sleeping().find((pid) => !before.has(pid))), { timeout: 30_000, interval: 20 })
    .toBeDefined()
  return found ?? ''
}

describe('kill -9 during the inverted run', () => {
  let place: Place
  let server: Served
  afterEach(async () => {
    await server?.stop()
    place?.remove()
  })

  it(
    '[REQ-TWINS-13] no process is left, the phase is unchanged, and the gate opens after a restart',
    async () => {
      const made = await makeKilledPlace(SLEEP, {
        green: '[{check: all_tests_pass, message: GREEN}, {check: tests_can_fail, message: turned}]',
        files: {},
      })
      place = made.place
      const { contract } = made
      server = await serve(place, contract)
      const before = await Walker.claim(server, 'killed')
      await before.does('write_files', { path: 'tests/add.test.mjs', content: ADD })
      await before.enters('IMPL')
      await before.does('write_files', { path: 'src/add.mjs', content: CODE })
      const asked = before.move('DONE').catch(() => null)
      const plain = await nextRun(new Set())
      await nextRun(new Set([plain]))
      await server.kill()
      expect(await asked).toBeNull()
      await expect.poll(sleeping, { timeout: 5000 }).toEqual([])

      server = await serve(place, contract)
      const { body } = await server.call('GET', '/tasks/killed', server.operator)
      expect(body).toMatchObject({ phase: 'IMPL' })
      expect(await Walker.goOn(server, before).move('DONE')).toMatchObject({ allowed: true, status: 'completed' })
      await expect.poll(sleeping).toEqual([])
    },
    WALK_MS_MAX,
  )
})
