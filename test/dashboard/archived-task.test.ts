import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SCRIPT } from '../cli/program.js'
import { findBrowser, openStage, type Page, type Stage } from './browser.js'

const CLOCK = fileURLToPath(new URL('pictures/past-clock.mjs', import.meta.url))
const TWO_DAYS_MS = 2 * 24 * 60 * 60 * 1000

describe.skipIf(findBrowser() === null)('a task that was archived', () => {
  let stage: Stage
  let page: Page
  beforeAll(async () => {
    stage = await openStage()
    const { call, operator } = stage.server
    await call('POST', '/tasks', operator, { id: 'old', title: 'Done with' })
    await call('POST', '/tasks', operator, { id: 'new', title: 'Still there' })
    expect(await call('POST', '/tasks/old/cancel', operator, { reason: 'not wanted' })).toMatchObject({ status: 200 })
    page = await stage.logIn()
    await page.goto('/tasks/old')
    await page.getByRole('heading', { name: 'Done with' }).waitFor()
    await stage.server.stop()
    archive(stage)
    await stage.restart()
  }, 120_000)
  afterAll(() => stage?.close())

  it('[REQ-DASH-10] leaves the page that was open as it is, and is a clear page when it is opened again', async () => {
    await page.getByText('Live', { exact: true }).waitFor()
    expect(await page.getByText('could not be loaded').count()).toBe(0)
    for (const path of ['/tasks/old', '/tasks/old?tab=changes', '/tasks/old?tab=evidence&at=2']) {
      await page.goto(path)
      await page.getByText('There is no such task').waitFor()
    }
  })

  it('[REQ-DASH-10] is no trouble for the other pages', async () => {
    for (const [path, shown] of [
      ['/', 'text=Nothing waits for you'],
      ['/board?status=all', 'text=Still there'],
      ['/audit?task_id=old', '.aud-type >> text=task_created'],
      ['/insights', 'text=Refusals by code'],
    ] as const) {
      await page.goto(path)
      await page.locator(shown).first().waitFor()
      expect(await page.getByText('could not be loaded').count(), path).toBe(0)
    }
    expect(stage.complaints).toEqual([])
  })
})

/** Archives what ended a day ago, with a clock that is two days ahead. */
function archive({ place }: Stage): void {
  const home = join(place.dir, 'home')
  mkdirSync(home)
  writeFileSync(join(home, 'behind'), String(-TWO_DAYS_MS))
  const to = join(place.dir, 'archive')
  const words = ['archive', '--older-than', '1', '--to', to, '--state-dir', place.stateDir, '--yes']
  const env = { PATH: process.env.PATH, HOME: home, NODE_OPTIONS: `--import=${CLOCK}` }
  const { status, stdout, stderr } = spawnSync(SCRIPT, words, { env, encoding: 'utf8' })
  expect(`${stdout}${stderr}`).toContain('1 task')
  expect({ status, files: readdirSync(to).length }).toEqual({ status: 0, files: 1 })
}
