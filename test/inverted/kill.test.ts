import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { makePlace, type Place, type Served, serve } from '../e2e/process.js'
import { makeRepository } from '../e2e/projects.js'
import { Walker } from '../e2e/walker.js'

const WALK_MS_MAX = 120_000
const ADD = `import assert from 'node:assert/strict'
import { test } from 'node:test'
test('adds', async () => assert.equal((await import('../src/add.mjs')).add(2, 3), 5))
`
/** A number that no other process of this machine sleeps for. */
const SLEEP = `2.${process.pid}`

const CONTRACT = `
name: killed
version: "1"
phases:
  - id: TDD
    allowed_tools: [write_files]
    gates: [{id: red, type: validation, blockers: [{check: tests_are_failing, message: RED}]}]
  - id: IMPL
    allowed_tools: [write_files]
    gates:
      - id: green
        type: validation
        blockers: [{check: all_tests_pass, message: GREEN}, {check: tests_can_fail, message: turned}]
  - {id: DONE, allowed_tools: []}
commands: {tests: {run: "sleep ${SLEEP}; node --test tests/", format: node, timeout_seconds: 60}}
`

/** Ids of the processes that sleep for the test command. */
function sleeping(): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `sleep\0${SLEEP}\0`
    } catch {
      return false
    }
  })
}

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
      place = await makePlace()
      const contract = join(place.dir, 'contract.yaml')
      writeFileSync(contract, CONTRACT)
      makeRepository(place.workspace, { 'src/old.mjs': 'export const old = () => 1\n' })
      server = await serve(place, contract)
      const before = await Walker.claim(server, 'killed')
      await before.does('write_files', { path: 'tests/add.test.mjs', content: ADD })
      await before.enters('IMPL')
      await before.does('write_files', { path: 'src/add.mjs', content: 'export const add = (a, b) => a + b\n' })
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
