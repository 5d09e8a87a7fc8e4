import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '../browser.js'
import { DOC_PICTURES } from './doc-pictures.js'
import { showView } from './show-view.js'
import type { View } from './views.js'

/** Text stays sharp, and a page takes about 60 KB. */
const QUALITY = 60

/** Takes the pictures of the documentation into a folder. */
export async function takeDocPictures(page: Page, views: readonly View[], folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  for (const { file, view, theme, width, height, from } of DOC_PICTURES) {
    const shown = views.find(({ name }) => name === view)
    if (shown === undefined) throw new Error(`there is no view ${view}`)
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    await showView(page, shown)
    if (from !== undefined)
      await page
        .getByRole('heading', { name: new RegExp(`^${from}\\b`), level: 2 })
        .first()
        .evaluate((heading) => heading.scrollIntoView({ block: 'start' }))
    await page.mouse.move(0, 0)
    await page.waitForTimeout(300)
    writeFileSync(join(folder, `${file}.webp`), await capture(page))
  }
  await page.emulateMedia({ reducedMotion: 'no-preference' })
}

// Playwright writes PNG and JPEG only; the browser itself writes WebP, which is a third of the size.
async function capture(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY })
  await session.detach()
  return Buffer.from(data, 'base64')
}
