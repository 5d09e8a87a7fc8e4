import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePlace, type Place, type Served, serve } from './process.js'
import { takeTurn } from './take-turn.js'
import { implementation, Walker } from './walker.js'

const WALK_MS_MAX = 300_000
const TURN_MS_MAX = 2 * WALK_MS_MAX
const CONTRACT = fileURLToPath(new URL('../../contracts/tdd.yaml', import.meta.url))
/** Work trees and state directory of a server of the commit 75664e0, which was killed while two tasks were in IMPL. */
const FIXTURE = fileURLToPath(new URL('fixtures/earlier-version.tgz', import.meta.url))
/** The ledger is signed and names these paths, so that they have to be the same: test runs at the same time take turns. */
const DIR = '/tmp/phaselock-earlier-version'
const SUM = 'export const sum = (prices) => prices.reduce((all, one) => all + one, 0)\n'

describe('a state directory of the version before the composed view', () => {
  let place: Place
  let server: Served
  let giveBack: () => void = () => undefined

  beforeAll(async () => {
    giveBack = await takeTurn('earlier-version', TURN_MS_MAX)
    rmSync(DIR, { recursive: true, force: true })
    mkdirSync(DIR, { mode: 0o700 })
    const unpacked = spawnSync('tar', ['xzf', FIXTURE, '-C', DIR, '--no-same-owner'])
    expect(unpacked.status, String(unpacked.stderr)).toBe(0)
    place = await makePlace()
    server = await serve({ ...place, workspace: join(DIR, 'honest'), stateDir: join(DIR, 'state') }, CONTRACT)
  }, WALK_MS_MAX + TURN_MS_MAX)
  afterAll(async () => {
    await server?.stop()
    place?.remove()
    rmSync(DIR, { recursive: true, force: true })
    giveBack()
  })

  it(
    '[REQ-VIEW-11] an honest task is told that RED is run again, sees it with the starting code, and completes',
    async () => {
      const { agent, warnings } = await Walker.takeOver(server, 'honest')
      expect(warnings).toContain('RED is run again before the next gate that runs commands')
      // The code of the killed visit is still there, and still wrong.
      expect(readFileSync(join(DIR, 'honest/src/sum.js'), 'utf8')).toBe('export const sum = () => 0\n')
      const refused = await agent.refused('REVIEW', implementation('src/sum.js'))
      expect(JSON.stringify(refused)).toContain('prices are summed up')
      await agent.does('write_files', { path: 'src/sum.js', content: SUM })
      const entered = await agent.enters('REVIEW', implementation('src/sum.js'))
      expect(JSON.stringify(entered.warnings)).toContain('a price is rounded')
      await agent.finish('Sum up prices')
    },
    WALK_MS_MAX,
  )

  it(
    '[REQ-VIEW-11] tests that pass with the starting code open nothing, although an old test fails',
    async () => {
      const { agent, warnings } = await Walker.takeOver(server, 'forged')
      expect(warnings).toContain('RED is run again')
      await agent.does('write_files', { path: 'src/sum.js', content: SUM })
      const refused = JSON.stringify(await agent.refused('REVIEW', implementation('src/sum.js')))
      expect(refused).toContain('RED was run again')
      expect(refused).toContain('no new or changed test fails because code is missing')
    },
    WALK_MS_MAX,
  )
})
