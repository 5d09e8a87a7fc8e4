import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { SCRIPT } from '../cli/program.js'
import { Room } from '../demo/showing.js'
import { findBrowser, launchBrowser, watchPage } from './browser.js'

const LINK = /http:\/\/localhost:\d+\/login#code=[\w-]+/
const MS = 240_000

describe.skipIf(findBrowser() === null)('the demo in a browser', () => {
  const room = new Room()
  let browser: Browser
  let demo: ChildProcess
  let closed: Promise<unknown[]>
  let said = ''

  beforeAll(async () => {
    browser = await launchBrowser()
    demo = spawn(process.execPath, [SCRIPT, 'demo'], { env: room.environment, stdio: ['ignore', 'pipe', 'pipe'] })
    closed = once(demo, 'close')
    for (const stream of [demo.stdout, demo.stderr]) stream?.on('data', (chunk) => (said += chunk))
  }, MS)
  afterAll(async () => {
    await browser?.close()
    if (demo?.exitCode === null) demo.kill('SIGTERM')
    await closed
    room.remove()
  }, MS)

  it(
    '[REQ-DASH-14] the honest and the cheating agent are followed live by the link that the demo prints',
    async () => {
      await vi.waitUntil(() => LINK.test(said), { timeout: 120_000 })
      const link = LINK.exec(said)?.[0] ?? ''
      const complaints: string[] = []
      const context = await browser.newContext()
      const page = watchPage(await context.newPage(), new URL(link).origin, complaints)
      page.setDefaultTimeout(120_000)
      await page.goto(link)
      // Beside the inbox: who works, and every trick of the cheating agent as it is refused.
      const watched = watchPage(await context.newPage(), new URL(link).origin, complaints)
      await page.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor()
      const refusals = page.getByLabel('Latest refusals')
      const follow = async (): Promise<void> => {
        await watched.goto(`${new URL(link).origin}/tasks/honest`)
        await watched.getByText('Gate opened').first().waitFor({ timeout: 120_000 })
        await watched.getByText('Completed', { exact: true }).first().waitFor({ timeout: 120_000 })
      }
      // Both at the same time: only the newest refusals stay in the list.
      const firstTrick = refusals.getByText(/cheating.* PLAN/).first()
      await Promise.all([follow(), firstTrick.waitFor()])
      const tricks = refusals.getByRole('listitem').filter({ hasText: /cheating/ })
      await expect.poll(() => tricks.count(), { timeout: 60_000 }).toBeGreaterThan(3)
      expect(complaints).toEqual([])
      expect((await closed)[0], said).toBe(0)
    },
    MS,
  )
})
