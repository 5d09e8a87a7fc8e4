import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBarriers, findBrowser, findOverflow, openStage, type Page, type Stage } from '../browser.js'
import { openShop, type Shop } from './shop-scene.js'
import { showView } from './show-view.js'
import { EMPTY_VIEWS, listShopViews, type View } from './views.js'

/** `npm run pictures` names a folder: every view is then photographed in every size. */
const FOLDER = process.env.PHASELOCK_PICTURES
const ONLY = process.env.PHASELOCK_PICTURES_ONLY

const SIZES = [
  { width: 1440, height: 1000 },
  { width: 1024, height: 900 },
  { width: 390, height: 844 },
] as const
const VIEW_MS_MAX = 1_200_000

describe.skipIf(findBrowser() === null)('every page, in every state', () => {
  let shop: Shop
  let empty: Stage

  beforeAll(async () => {
    if (FOLDER !== undefined) mkdirSync(FOLDER, { recursive: true })
    empty = await openStage()
    shop = await openShop()
  }, VIEW_MS_MAX)
  afterAll(() => Promise.all([shop?.stage.close(), empty?.close()]))

  it(
    '[REQ-DASH-7] no page has a barrier or is wider than the window, in light and dark, wide and narrow',
    async () => {
      const page = await shop.stage.logIn()
      const found = await look(page, listShopViews(shop))
      expect(found).toEqual([])
      expect(shop.stage.complaints).toEqual([])
    },
    VIEW_MS_MAX,
  )

  it(
    '[REQ-DASH-7] nor has what a new server shows, and what wrong addresses lead to',
    async () => {
      const found = await look(await empty.logIn(), EMPTY_VIEWS)
      const login = await empty.open()
      found.push(...(await look(login, [{ name: 'login', path: '/' }])))
      expect(found).toEqual([])
      expect(empty.complaints).toEqual([])
    },
    VIEW_MS_MAX,
  )
})

/** Opens every view, and gives what is wrong with it. */
async function look(page: Page, views: readonly View[]): Promise<string[]> {
  const found: string[] = []
  for (const view of views) {
    if (ONLY !== undefined && !new RegExp(ONLY).test(view.name)) continue
    await page.setViewportSize(SIZES[0])
    await showView(page, view)
    for (const size of SIZES) {
      await page.setViewportSize(size)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        const name = `${view.name}-${size.width}-${colorScheme}`
        if (FOLDER !== undefined) await photograph(page, join(FOLDER, `${name}.png`))
        if (size.width !== 1024 && process.env.PHASELOCK_PICTURES_ONLY === undefined)
          for (const barrier of await findBarriers(page)) found.push(`${name}: ${barrier}`)
      }
      const wider = await findOverflow(page)
      if (wider > 0) found.push(`${view.name} is ${wider} px too wide at ${size.width}`)
    }
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  }
  return found
}

async function photograph(page: Page, path: string): Promise<void> {
  await page.screenshot({ path, animations: 'disabled', fullPage: true })
}
