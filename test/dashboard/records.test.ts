import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBarriers, findBrowser, findOverflow, openStage, type Page, type Stage } from './browser.js'
import { HOSTILE, holdCouncil, makeSample, type Sample } from './sample-run.js'

const PAGES = ['/agents', '/agents/coder-3', '/coordinations', '/contracts', '/audit', '/insights', '/settings']

describe.skipIf(findBrowser() === null)('agents, councils, contracts, audit, insights and settings', () => {
  let stage: Stage
  let page: Page
  let sample: Sample

  beforeAll(async () => {
    stage = await openStage()
    page = await stage.logIn()
    await page.goto('/agents')
    await page.getByText('No agent has been registered yet').waitFor()
    await page.goto('/coordinations')
    await page.getByText('No council has met yet').waitFor()
    await page.goto('/insights')
    await page.getByText('Nothing happened in this time').waitFor()
    sample = await makeSample(stage.server)
  }, 180_000)
  afterAll(() => stage?.close())

  it('[REQ-PAGES-1] what agents wrote is text on every page', async () => {
    await page.goto('/audit?type=tool_denied')
    await page
      .getByRole('button', { name: /tool_denied/ })
      .nth(2)
      .click()
    await page.getByText('onerror').first().waitFor()
    await page.goto(`/coordinations/${sample.councilId}`)
    await page.getByText(`Cache everything ${HOSTILE}`).first().waitFor()
    await page.goto('/insights?show=agent%3Acoder-3')
    await page.getByRole('link', { name: `Break ${HOSTILE} out` }).waitFor()
    expect(await page.title()).toContain('Insights')
    expect(stage.complaints).toEqual([])
  })

  it('[REQ-PAGES-2] axe finds no barrier, in light and dark, and nothing is wider than a phone', async () => {
    const findings: string[] = []
    for (const path of [...PAGES, `/coordinations/${sample.councilId}`, ...(await listSettings())])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize(colorScheme === 'light' ? { width: 1440, height: 900 } : { width: 390, height: 844 })
        await page.goto(path)
        await page.getByRole('status').getByText('Loading').first().waitFor({ state: 'detached' })
        findings.push(...(await findBarriers(page)).map((finding) => `${path} ${colorScheme} ${finding}`))
        const wider = await findOverflow(page)
        if (wider > 0) findings.push(`${path} is ${wider} px too wide`)
      }
    expect(findings).toEqual([])
    await page.setViewportSize({ width: 1440, height: 900 })
  }, 180_000)

  it('[REQ-PAGES-3] filters of the audit stand in the address, and the address alone shows the same', async () => {
    await page.goto('/audit')
    await page.getByLabel('Code').selectOption('forbidden_tool')
    await page.waitForURL('**/audit?code=forbidden_tool')
    await page.getByRole('textbox', { name: 'Agent' }).fill('coder-3')
    await page.waitForURL('**agent_id=coder-3**')
    await page.getByText(/events, that is all/).waitFor()
    const shown = await page.getByRole('button', { name: /tool_denied/ }).count()
    expect(shown).toBeGreaterThan(2)
    const other = await stage.logIn()
    await other.goto(page.url())
    await other.getByText(/events, that is all/).waitFor()
    expect(await other.getByRole('button', { name: /tool_denied/ }).count()).toBe(shown)
    await other.getByLabel('Text', { exact: true }).fill('no such word anywhere')
    await other.getByText('No event fits').waitFor()
    await other.getByRole('button', { name: 'Clear the filters' }).click()
    await other.waitForURL('**/audit')
  })

  it('[REQ-PAGES-4] a council is followed live: rounds, refused responses with reasons, votes, the winner', async () => {
    const id = await holdCouncil(stage.server, 400)
    await page.goto(`/coordinations/${id}`)
    await page.getByText('Running', { exact: true }).waitFor()
    await page.getByText('vote_no_answers').click()
    await page.getByText('It voted although there is no answer yet.').waitFor()
    await page.getByRole('heading', { name: 'ada won' }).waitFor()
    expect(await page.getByRole('columnheader', { name: /^Round/ }).count()).toBeGreaterThan(1)
    const votes = page.getByRole('region', { name: 'Votes' }).last()
    expect(await votes.getByText('voted', { exact: true }).count()).toBe(2)
    await page.goto('/coordinations/nobody')
    await page.getByText('There is no council nobody').waitFor()
  })

  it('[REQ-PAGES-5] events that come while the ledger is read wait until they are asked for', async () => {
    await page.goto('/audit?type=task_created')
    await page.getByText(/events, that is all/).waitFor()
    const before = await page.getByRole('button', { name: /task_created/ }).count()
    await stage.server.call('POST', '/tasks', stage.server.operator, { title: 'One more' })
    await page.getByRole('button', { name: /new event/ }).click()
    await expect.poll(() => page.getByRole('button', { name: /task_created/ }).count()).toBe(before + 1)
  })

  it('[REQ-PAGES-6] a session that is revoked is logged out in its browser at once', async () => {
    const other = await stage.logIn({ userAgent: 'Mozilla/5.0 (Windows NT 10.0) Firefox/140.0' })
    await other.goto('/agents')
    await other.getByRole('heading', { name: 'Agents', level: 1 }).waitFor()
    await page.goto('/settings')
    await page.getByRole('button', { name: /Revoke the session of .* in Firefox on Windows/ }).click()
    await other.getByLabel('Code or operator token').waitFor()
    await page.getByText('Firefox on Windows').waitFor({ state: 'detached' })
  })

  it('[REQ-PAGES-7] all agents are paused and let go on; a new operator and its token are shown once', async () => {
    await page.goto('/settings?tab=agents')
    await page.getByLabel('Reason').fill('maintenance')
    // Another browser is told without a reload.
    const other = await stage.logIn()
    await other.getByText('Waiting for you').first().waitFor()
    expect(await other.getByText('All agents are paused').count()).toBe(0)
    await page.getByRole('button', { name: 'Pause all agents' }).click()
    await other.getByText('All agents are paused').waitFor()
    await other.getByText('“maintenance”').waitFor()
    await page.getByRole('button', { name: 'Let all agents go on' }).click()
    await page.getByRole('button', { name: 'Pause all agents' }).waitFor()
    await other.getByText('All agents are paused').waitFor({ state: 'detached' })
    await other.close()
    await page.goto('/settings?tab=operators')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('second')
    await page.getByRole('button', { name: 'Add…' }).click()
    await page.getByText('plop_').waitFor()
    await page.getByRole('button', { name: 'Revoke second' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke second' }).click()
    await page.getByText('revoked', { exact: true }).waitFor()
  })

  it('[REQ-PAGES-8] a page whose data cannot be loaded says what failed, and loads it when asked again', async () => {
    await page.route('**/api/v1/agents', (route) =>
      route.fulfill({ status: 503, body: '{"code":"store_unavailable"}' }),
    )
    await page.goto('/agents')
    await page.getByText('The list of agents could not be loaded').waitFor()
    await page.unroute('**/api/v1/agents')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'coder-1' }).waitFor()
  })

  async function listSettings(): Promise<readonly string[]> {
    const { body } = await stage.server.call('GET', '/contracts', stage.server.operator)
    const [contract] = body.contracts as readonly { readonly hash: string }[]
    const tabs = ['operators', 'agents', 'webhooks', 'server'].map((tab) => `/settings?tab=${tab}`)
    return [...tabs, `/contracts/${contract?.hash}`, `/contracts/${contract?.hash}?tab=text`]
  }
})
