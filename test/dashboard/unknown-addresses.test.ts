import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { APPROVED_CONTRACT } from '../operators/confirming.js'
import { findBarriers, findBrowser, type Page } from './browser.js'
import { type LocalStage, openLocalStage } from './local-stage.js'

describe.skipIf(findBrowser() === null)('addresses of nothing', () => {
  let stage: LocalStage
  let page: Page
  beforeAll(async () => {
    stage = await openLocalStage({ contract: APPROVED_CONTRACT })
    page = await stage.logIn()
  }, 120_000)
  afterAll(() => stage?.close())

  it('[REQ-DASH-10] an unknown path is a clear page, also below known ones, and leads on', async () => {
    for (const path of ['/nowhere', '/tasks/a/b/c', '/settings/secret', '/tasks', '/%2e%2e/etc/passwd', '/<script>']) {
      const answer = await page.goto(path)
      expect(answer?.status(), path).toBe(404)
      await page.getByText('There is no such page').waitFor()
      expect(await page.title()).toBe('Not found · Phaselock')
    }
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('link', { name: 'Open the inbox' }).click()
    await page.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor()
  })

  it('[REQ-DASH-10] every page that shows one thing says so when there is none of that name', async () => {
    const says: Readonly<Record<string, string>> = {
      '/tasks/gone': 'There is no such task',
      '/tasks/gone?tab=changes&at=4': 'There is no such task',
      '/tasks/%3Cb%3E': 'There is no such task',
      '/approvals/apr-1-gone': 'There is no such approval',
      '/agents/gone': 'There is no agent gone',
      '/coordinations/gone': 'There is no council gone',
      '/contracts/0000': 'This server does not know this contract',
    }
    for (const [path, text] of Object.entries(says)) {
      await page.goto(path)
      await page.getByText(text).waitFor()
    }
    expect(stage.complaints).toEqual([])
  })

  it('[REQ-DASH-10] a task that never had that event, or a tab that does not exist, is still the task', async () => {
    const id = await stage.run.addTask({ title: 'A real one' })
    for (const search of ['?at=999999', '?at=-1', '?at=x', '?tab=nothing', '?kind=%00', '?from=99']) {
      await page.goto(`/tasks/${id}${search}`)
      await page.getByRole('heading', { name: 'A real one' }).waitFor()
      expect(await page.getByText('could not be loaded').count(), search).toBe(0)
    }
    expect(stage.complaints).toEqual([])
  })

  it('[REQ-DASH-10] whoever is not logged in gets the login page first, then the page that is not there', async () => {
    const other = await stage.open()
    await other.goto('/nowhere')
    await other.getByLabel('Code or operator token').fill(stage.run.operator)
    await other.keyboard.press('Enter')
    await other.getByText('There is no such page').waitFor()
    await other.context().close()
  })
})
