import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite-store.js'
import { SCRIPT } from '../cli/program.js'
import { findBarriers, findBrowser, openStage, type Page, type Stage, takePictures } from './browser.js'

/** More than one page of a search looks at. */
const CALLS = 230_000
const AT_ONCE = 500
const PAUSE_MS = 1500
const MS = 240_000

describe.skipIf(findBrowser() === null)('a search that takes several pages', () => {
  let stage: Stage
  let page: Page

  beforeAll(async () => {
    stage = await openStage()
    await stage.server.call('POST', '/tasks', stage.server.operator, { title: 'The needle task', id: 'needle' })
    await stage.server.call('POST', '/agents', stage.server.operator, { agent_id: 'early-bird' })
    await stage.server.stop()
    await fill(stage.place.stateDir)
    await stage.restart()
    page = await stage.logIn()
  }, MS)
  afterAll(() => stage?.close())

  /** Answers to pages after the first wait, so that what is shown meanwhile can be seen. */
  const slowDown = () =>
    page.route(/audit\/query.*cursor=/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      await route.continue()
    })
  const found = () => page.locator('.aud-line')

  it('[REQ-DASH-15] never says that nothing fits before all was searched, says how far it is, and finds the oldest event', async () => {
    await slowDown()
    await page.goto('/audit?q=needle')
    await page.getByRole('heading', { name: 'None found yet' }).waitFor()
    await page.getByText(/^Searched [\d,]+ of 230,\d\d\d events, none fits yet$/).waitFor()
    expect(await page.getByText('No event fits').count()).toBe(0)
    expect(await findBarriers(page)).toEqual([])
    await takePictures(page, 'audit-searching')
    await expect.poll(() => found().count(), { timeout: 30_000 }).toBe(1)
    await page.getByText('1 event, that is all').waitFor()
    await found().first().click()
    await page.getByText('The needle task').first().waitFor()
    await page.goto('/audit?q=nowhere-at-all')
    await page.getByText(/^All 230,\d\d\d events were searched\./).waitFor()
    await page.getByRole('heading', { name: 'No event fits' }).waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  it('[REQ-DASH-15] goes on for any rare filter', async () => {
    await page.goto('/audit?type=agent_registered')
    await page.getByText('1 event, that is all').waitFor()
    await page.goto('/audit?agent_id=early-bird')
    await expect.poll(() => found().count()).toBeGreaterThan(0)
    await page.goto('/agents/early-bird')
    await page.getByText(/It has done nothing lately|agent_registered/).waitFor()
    expect(await page.getByText('It has done nothing yet').count()).toBe(0)
  })

  it('[REQ-DASH-15] is stopped and goes on by a press', async () => {
    await slowDown()
    await page.goto('/audit?q=needle')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('heading', { name: 'None found so far' }).waitFor()
    // The page that was under way ends; no other is asked for.
    await page.waitForTimeout(PAUSE_MS * 2)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    if ((await found().count()) === 0) await page.getByRole('button', { name: 'Search the rest' }).click()
    await page.getByText('1 event, that is all').waitFor()
  })

  it('[REQ-DASH-15] says when a page fails, asks no more by itself, and goes on from there', async () => {
    let asked = 0
    await page.route(/audit\/query.*cursor=/, (route) => {
      asked += 1
      return route.fulfill({ status: 503, contentType: 'application/problem+json', body: PROBLEM })
    })
    await page.goto('/audit?q=needle')
    await page.getByText('The disk does not answer.').waitFor()
    const before = asked
    await page.waitForTimeout(PAUSE_MS * 2)
    expect(asked).toBe(before)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('1 event, that is all').waitFor()
    expect(stage.complaints).toEqual([])
  })

  it('[REQ-DASH-15] is exported whole', async () => {
    await page.goto('/audit?q=needle')
    await page.getByText('1 event, that is all').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ])
    const lines = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\n')
    expect(lines.map((line) => JSON.parse(line).data.title)).toEqual(['The needle task'])
  })

  it('[REQ-SEARCH-1] the command line goes on as well', () => {
    const query = (...words: readonly string[]) => {
      const where = ['--url', stage.url, '--state-dir', stage.place.stateDir]
      const { stdout, stderr } = spawnSync(SCRIPT, ['audit', 'query', ...words, ...where], { encoding: 'utf8' })
      return stdout + stderr
    }
    expect(query('--text', 'NEEDLE TASK')).toContain('task_created')
    expect(query('--type', 'agent_registered')).toContain('agent_registered')
    expect(query('--text', 'nowhere-at-all')).toBe('No events.\n')
    const { events, next_cursor } = JSON.parse(query('--text', 'main.ts', '--limit', '3', '--json'))
    expect({ count: events.length, isMore: next_cursor !== null }).toEqual({ count: 3, isMore: true })
  })
})

const PROBLEM = JSON.stringify({
  ...{ code: 'store_unavailable', title: 'The ledger cannot be read', detail: 'The disk does not answer.' },
  remedy: 'Try again.',
})

/** Calls of an agent, written through the store: over HTTP they would take minutes. */
async function fill(dir: string): Promise<void> {
  const store = await openSqliteStore({ dir })
  const data = { tool_name: 'read_files', args: { path: 'src/main.ts' }, agent_id: 'busy', success: true }
  const call = {
    type: 'tool_allowed',
    at: Date.now(),
    actor: 'agent:busy',
    epoch: 1,
    phase: 'PLAN',
    contract: null,
    data,
  }
  for (let version = 0; version < CALLS; version += AT_ONCE)
    await store.append({
      ...{ stream: 'task:busy', expectedVersion: version },
      events: Array.from({ length: AT_ONCE }, () => call),
    })
  await store.close()
}
