import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBrowser, openStage, type Page, type Stage } from './browser.js'

const TASKS = 1000
const AT_ONCE = 20
const CARDS_MAX = 150

describe.skipIf(findBrowser() === null)('a thousand tasks', () => {
  let stage: Stage
  let page: Page
  beforeAll(async () => {
    stage = await openStage()
    const left = Array.from({ length: TASKS }, (_, index) => `t${index}`)
    const add = async (): Promise<void> => {
      for (let id = left.pop(); id !== undefined; id = left.pop())
        await stage.server.call('POST', '/tasks', stage.server.operator, { title: `Task number ${id}`, id })
    }
    await Promise.all(Array.from({ length: AT_ONCE }, add))
    page = await stage.logIn()
  }, 240_000)
  afterAll(() => stage?.close())

  it('[REQ-DASH-3] the board holds only the cards that can be seen, and reaches the last', async () => {
    const began = performance.now()
    await page.goto('/board')
    await page.locator('.card').first().waitFor()
    process.stderr.write(`a board of ${TASKS} tasks after ${Math.round(performance.now() - began)} ms\n`)
    await page.getByRole('region', { name: `PLAN, ${TASKS} tasks` }).waitFor()
    expect(await page.locator('.card').count()).toBeLessThan(CARDS_MAX)
    await page.keyboard.press('k')
    await page.locator('.card--sel').waitFor()
    expect(await page.locator('.card').count()).toBeLessThan(CARDS_MAX)
    await page.getByRole('button', { name: 'List' }).click()
    await page.locator('.taskline').first().waitFor()
    expect(await page.locator('.taskline').count()).toBeLessThan(CARDS_MAX)
    await page.getByLabel('Filter by text').fill('number t999')
    await expect.poll(() => page.locator('.taskline').count()).toBe(1)
    expect(stage.complaints).toEqual([])
  })
})
