import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBarriers, findBrowser, openStage, type Page, type Stage, takePictures } from './browser.js'
import { walkRecordPages } from './record-pages.suite.js'

// One server and one browser for the main path of every page. Pages that need more have a file of their own.
describe.skipIf(findBrowser() === null)('the pages of the dashboard', () => {
  let stage: Stage
  let page: Page

  beforeAll(async () => {
    stage = await openStage()
    page = await stage.logIn()
  }, 120_000)
  afterAll(() => stage?.close())

  it('[REQ-DASH-1] login: the code leaves the address, and a used or invented one says what to do', async () => {
    expect(page.url()).toBe(`${stage.url}/`)
    const other = await stage.open()
    await other.goto('/board')
    await other.getByRole('heading', { name: 'Phaselock' }).waitFor()
    const link = await stage.makeLink()
    await other.goto(`${stage.url}/login#code=invented`)
    await other.getByText('login_failed').waitFor()
    expect(other.url()).toBe(`${stage.url}/login`)
    await other.goto('about:blank')
    await other.goto(link)
    await other.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor()
    const third = await stage.open()
    await third.goto(link)
    await third.getByText('login_failed').waitFor()
    await third.getByText('was used already').waitFor()
    await takePictures(third, 'login')
    await third.getByLabel('Code or operator token').fill(stage.server.operator)
    await third.getByRole('button', { name: 'Log in' }).click()
    await third.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor()
    expect(await findBarriers(third)).toEqual([])
  })

  walkRecordPages(() => ({ stage, page }))

  it('[REQ-DASH-4] nothing on these pages is loaded from elsewhere, refused by the policy or broken', () => {
    expect(stage.complaints).toEqual([])
  })
})
