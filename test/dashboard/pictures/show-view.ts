import type { Page } from '../browser.js'
import type { View } from './views.js'

/** The stream of events stays open, so that the network is never idle. */
const CALM_MS = 500

/** Opens a view and waits until it is complete. */
export async function showView(page: Page, { path, failing, prepare }: View): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  if (failing !== undefined)
    await page.route(
      (url) => url.pathname.startsWith('/api/v1/') && failing.test(url.pathname),
      (route) =>
        route.fulfill({
          status: 503,
          contentType: 'application/problem+json',
          body: JSON.stringify({
            code: 'store_unavailable',
            title: 'The ledger cannot be written',
            detail: 'The disk of the state directory is full.',
            remedy: 'Make room, then try again.',
          }),
        }),
    )
  await page.goto('about:blank')
  await page.goto(path)
  await settle(page)
  await prepare?.(page)
  await settle(page)
}

/** Waits until nothing loads any more. */
async function settle(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor()
  await page.locator('.skel').first().waitFor({ state: 'hidden' })
  await page.waitForTimeout(CALM_MS)
}
