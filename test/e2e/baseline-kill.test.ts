import { afterEach, describe, expect, it } from 'vitest'
import { ADD, CODE, makeKilledPlace, runningWith } from './killing.js'
import { type Place, type Served, serve } from './process.js'
import { Walker } from './walker.js'

const WALK_MS_MAX = 300_000
const HEAD = "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n"
const OLD = `${HEAD}import { old } from '../src/old.mjs'
test('old works', () => assert.equal(old(), 1))
test('old is broken', () => assert.equal(old(), 2))
`
/** A number that no other process of this machine sleeps for. */
const SLEEP = `8.${process.pid}`

/** Command lines of processes that have to do with the test command: its launcher, its shell, itself. */
const running = (): readonly string[] => runningWith(SLEEP).map(({ line }) => line)

describe('kill -9 while the tests of the starting tree run', () => {
  let place: Place
  let server: Served
  afterEach(async () => {
    await server?.stop()
    place?.remove()
  })

  it(
    '[REQ-BASELINE-3] no process is left, the run is made again after the restart, and honest work completes',
    async () => {
      const made = await makeKilledPlace(SLEEP, {
        green: '[{check: all_tests_pass, message: GREEN}]',
        files: { 'tests/old.test.mjs': OLD },
      })
      place = made.place
      const { contract } = made
      server = await serve(place, contract)
      const before = await Walker.claim(server, 'killed')
      // First while the run is being started, then in the middle of it.
      await expect.poll(() => running().length, { interval: 5 }).toBeGreaterThan(0)
      await server.kill()
      await expect.poll(running, { timeout: 5000 }).toEqual([])
      server = await serve(place, contract)
      const asked = Walker.goOn(server, before)
        .move('IMPL')
        .catch(() => null)
      await expect.poll(running).toContain(`sleep ${SLEEP}`)
      await server.kill()
      expect(await asked).toBeNull()
      await expect.poll(running, { timeout: 5000 }).toEqual([])

      server = await serve(place, contract)
      const agent = Walker.goOn(server, before)
      await agent.does('write_files', { path: 'tests/add.test.mjs', content: ADD })
      // What fails in the tree since, or failed before, is told apart all the same.
      await agent.enters('IMPL')
      const { body } = await server.call('GET', '/tasks/killed/timeline?limit=500', server.operator)
      const recorded = (body.events as { type: string; data: object }[]).filter(
        (one) => one.type === 'baseline_recorded',
      )
      expect(recorded).toMatchObject([{ data: { passed: 1, failed: 1, reason: null } }])
      await agent.does('write_files', { path: 'src/old.mjs', content: 'export const old = () => 3\n' })
      await agent.does('write_files', { path: 'src/add.mjs', content: CODE })
      expect(JSON.stringify(await agent.refused('DONE'))).toContain('Passed before the task: old works')
      await agent.does('write_files', { path: 'src/old.mjs', content: 'export const old = () => 1\n' })
      expect(await agent.move('DONE')).toMatchObject({ allowed: true, status: 'completed' })
      await expect.poll(running).toEqual([])
    },
    WALK_MS_MAX,
  )
})
