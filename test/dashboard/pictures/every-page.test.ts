import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBarriers, findBrowser, findOverflow, openStage, type Page, type Stage } from '../browser.js'
import { openShop, type Shop } from './shop-scene.js'
import { showView } from './show-view.js'
import { takeDocPictures } from './take-pictures.js'
import { EMPTY_VIEWS, listShopViews, type View } from './views.js'

// Set by `npm run screenshots`: folders for pictures of everything and for those of the documentation.
const { PHASELOCK_PICTURES: FOLDER, PHASELOCK_DOC_PICTURES: DOCS } = process.env
/** While one page is being changed: only views with such names. */
const WANTED = new RegExp(process.env.PHASELOCK_VIEWS ?? '')

// 720 is a desk at 200 %.
const SIZES = [
  { width: 1440, height: 1000 },
  { width: 1024, height: 900 },
  { width: 720, height: 500 },
  { width: 390, height: 844 },
] as const
const WALK_MS_MAX = 1_800_000

describe.skipIf(findBrowser() === null)('every page, in every state', () => {
  let shop: Shop
  let empty: Stage

  beforeAll(async () => {
    if (FOLDER !== undefined) mkdirSync(FOLDER, { recursive: true })
    empty = await openStage()
    shop = await openShop()
  }, WALK_MS_MAX)
  afterAll(() => Promise.all([shop?.stage.close(), empty?.close()]))

  it.runIf(DOCS !== undefined)(
    'the pictures of the documentation',
    async () => {
      await takeDocPictures(await shop.stage.logIn(), listShopViews(shop), String(DOCS))
    },
    WALK_MS_MAX,
  )

  it(
    '[REQ-DASH-11] no page has a barrier or is wider than the window, in light and dark, wide and narrow',
    async () => {
      expect(await look(await shop.stage.logIn(), listShopViews(shop))).toEqual([])
      expect(shop.stage.complaints).toEqual([])
    },
    WALK_MS_MAX,
  )

  it('[REQ-DASH-13] an approval prints whole, with the diff and the digest, and nothing to press', async () => {
    const page = await shop.stage.logIn()
    await page.goto(`/approvals/${shop.approvals.change}`)
    await page.getByRole('heading', { name: /^Changes/ }).waitFor()
    await page.locator('.diff').first().waitFor({ state: 'attached' })
    const counts = await page.locator('.diff').evaluateAll((all) => all.map((one) => Number(one.ariaRowCount)))
    const lines = page.locator('.diff tr[aria-rowindex]')
    await page.emulateMedia({ media: 'print' })
    await expect.poll(() => lines.count()).toBe(counts.reduce((sum, count) => sum + count, 0))
    await page.getByText('sha256 ').waitFor()
    expect(await page.getByRole('button', { name: /Approve|Reject/ }).count()).toBe(0)
    expect(await page.getByRole('navigation').count()).toBe(0)
    expect((await page.pdf({ format: 'A4' })).subarray(0, 5).toString()).toBe('%PDF-')
    await page.emulateMedia({ media: 'screen' })
    await page.getByRole('button', { name: 'Approve…' }).first().waitFor()
  })

  it('[REQ-DASH-13] the tab says how much waits, and forced colours leave no barrier', async () => {
    const page = await shop.stage.logIn()
    await page.goto('/board')
    await page.getByRole('heading', { name: 'Board', level: 1 }).waitFor()
    const { body } = await shop.stage.server.call('GET', '/inbox', shop.stage.server.operator)
    await expect.poll(() => page.title()).toBe(`(${String(body.total)}) Board · Phaselock`)
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toMatch(/icon-waiting/)
    const calm = await empty.logIn()
    await expect.poll(() => calm.title()).toBe('Inbox · Phaselock')
    expect(await calm.locator('link[rel=icon]').getAttribute('href')).not.toMatch(/waiting/)
    for (const path of ['/', '/board', '/tasks/login-rate-limit', `/approvals/${shop.approvals.change}`]) {
      await page.emulateMedia({ forcedColors: 'active' })
      await page.goto(path)
      await page.locator('h2').first().waitFor()
      expect(await findBarriers(page), path).toEqual([])
    }
  })

  it(
    '[REQ-DASH-11] nor has what a new server shows, what wrong addresses lead to, and the login page',
    async () => {
      const found = await look(await empty.logIn(), EMPTY_VIEWS)
      found.push(...(await look(await empty.open(), [{ name: 'login', path: '/' }])))
      expect(found).toEqual([])
      expect(empty.complaints).toEqual([])
    },
    WALK_MS_MAX,
  )
})

/** Opens every view in every size and theme, and gives what is wrong with it. */
async function look(page: Page, views: readonly View[]): Promise<string[]> {
  const found: string[] = []
  for (const view of views.filter(({ name }) => WANTED.test(name))) {
    await page.setViewportSize(SIZES[0])
    await showView(page, view)
    for (const size of SIZES) {
      await page.setViewportSize(size)
      for (const colorScheme of ['light', 'dark'] as const) {
        // Without motion: a colour that is still changing has another contrast.
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        const name = `${view.name}-${size.width}-${colorScheme}`
        if (size.width === 720) continue
        if (FOLDER !== undefined)
          await page.screenshot({ path: join(FOLDER, `${name}.png`), animations: 'disabled', fullPage: true })
        // Between the two nothing changes but the columns.
        if (size.width === 1024) continue
        for (const barrier of await findBarriers(page)) found.push(`${name}: ${barrier}`)
      }
      const wider = await findOverflow(page)
      if (wider > 0) found.push(`${view.name} is ${wider} px too wide at ${size.width}`)
    }
  }
  return found
}
