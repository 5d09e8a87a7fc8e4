import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PLAN, Walker } from '../e2e/walker.js'
import { findBrowser, openStage, type Page, type Stage, takePictures } from './browser.js'
import { holdCouncil } from './sample-run.js'

describe.skipIf(findBrowser() === null)('pages stay true while the world changes', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  }, 120_000)
  afterAll(() => stage?.close())

  const listen = (page: Page) => {
    const streams: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/api/v1/events')) streams.push(request.url())
    })
    return streams
  }

  it('[REQ-DASH-7] what one browser decides, another sees; tabs of one browser share a stream', async () => {
    const agent = await Walker.claim(stage.server, 'shared')
    const [one, two] = [await stage.logIn(), await stage.logIn()]
    const tab = await two.context().newPage()
    const inTab = listen(tab)
    await tab.goto(`${stage.url}/`)
    await agent.move('TDD', { plan_document: PLAN })
    for (const page of [one, two, tab]) await page.getByText('Approve PLAN → TDD').waitFor()
    await one.getByRole('button', { name: 'Approve…' }).click()
    await one.getByRole('button', { name: 'Approve', exact: true }).click()
    for (const page of [one, two, tab]) await page.getByText('Nothing waits for you').waitFor()
    expect(inTab).toEqual([])
    // The tab that read the stream goes; the other one takes over.
    await two.close()
    await expect.poll(() => inTab.length, { timeout: 30_000 }).toBe(1)
    await agent.use('write_files', { files: [{ path: '../outside', content: '' }] })
    await tab
      .getByLabel('Latest refusals')
      .getByText(/^agent-shared/)
      .first()
      .waitFor()
    await Promise.all([one.context().close(), tab.context().close()])
  })

  it('[REQ-DASH-7] a council that nobody sees holds no connection, and goes on where it stopped when it is seen', async () => {
    const page = await stage.logIn()
    const ended: string[] = []
    page.on('requestfailed', (request) => ended.push(request.url()))
    const id = await holdCouncil(stage.server, 4000)
    await page.goto(`/coordinations/${id}`)
    await page.getByText('Running', { exact: true }).waitFor()
    const setHidden = (isHidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} })
        document.dispatchEvent(new Event('visibilitychange'))`)
    await setHidden(true)
    await expect.poll(() => ended.filter((url) => url.endsWith(`/${id}/stream`)).length).toBe(1)
    await setHidden(false)
    await page.getByRole('heading', { name: 'ada won' }).waitFor({ timeout: 60_000 })
    await page.context().close()
  })

  it('[REQ-DASH-7] a restarted server is found again, and what was missed appears without a reload', async () => {
    const page = await stage.logIn()
    await page.evaluate('window.stays = true')
    await page.getByText('Live', { exact: true }).waitFor()
    await stage.server.stop()
    await page.getByText('Connection lost', { exact: true }).waitFor()
    await page.getByText(/Connection lost at/).waitFor()
    await takePictures(page, 'connection-lost')
    await stage.restart()
    await stage.server.call('POST', '/tasks', stage.server.operator, {
      title: 'Made while nobody looked',
      id: 'missed',
    })
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Board' }).first().click()
    await page.getByText('Made while nobody looked').waitFor()
    expect(await page.evaluate('window.stays')).toBe(true)
    await page.context().close()
  })

  it('[REQ-DASH-8] a revoked session shows the login page at once, and after a login the page that was open', async () => {
    const page = await stage.logIn()
    await page.getByRole('link', { name: 'Board' }).first().click()
    await page.getByRole('heading', { name: 'Board', level: 1 }).waitFor()
    const { body } = await stage.server.call('GET', '/sessions', stage.server.operator)
    for (const { id } of body.sessions as readonly { id: string }[])
      await stage.server.call('POST', `/sessions/${id}/revoke`, stage.server.operator, {})
    await page.getByLabel('Code or operator token').fill(stage.server.operator)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('heading', { name: 'Board', level: 1 }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/board')
    await page.context().close()
  })

  it('[REQ-DASH-8] logging out in the palette ends the session, also in the other tab', async () => {
    const page = await stage.logIn()
    const tab = await page.context().newPage()
    await tab.goto(`${stage.url}/board`)
    await tab.getByRole('heading', { name: 'Board', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Find tasks' }).fill('log out')
    await page.keyboard.press('Enter')
    await page.getByLabel('Code or operator token').waitFor()
    await tab.getByLabel('Code or operator token').waitFor()
    expect(stage.complaints).toEqual([])
    await page.context().close()
  })
})
