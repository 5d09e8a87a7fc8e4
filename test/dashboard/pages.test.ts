import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PLAN, Walker } from '../e2e/walker.js'
import { findBarriers, findBrowser, findOverflow, openStage, type Page, type Stage, takePictures } from './browser.js'
import { walkRecordPages } from './record-pages.suite.js'

// One server and one browser for the main path of every page. Pages that need more have a file of their own.
describe.skipIf(findBrowser() === null)('the pages of the dashboard', () => {
  let stage: Stage
  let page: Page
  let agent: Walker

  beforeAll(async () => {
    stage = await openStage()
    agent = await Walker.claim(stage.server, 'sum')
    await stage.server.call('POST', '/tasks', stage.server.operator, { title: 'A second task', id: 'second' })
    page = await stage.logIn()
  }, 120_000)
  afterAll(() => stage?.close())

  function makeTree(name: string): string {
    const tree = join(stage.place.dir, name)
    mkdirSync(tree)
    return tree
  }

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
    // Back to the page that was asked for before the login.
    await other.getByRole('heading', { name: 'Board', level: 1 }).waitFor()
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

  it('[REQ-DASH-2] inbox: an approval arrives live, is given in place, and the agent goes on', async () => {
    await page.getByText('Nothing waits for you').waitFor()
    expect(await page.title()).toBe('Inbox · Phaselock')
    const asked = await agent.move('TDD', { plan_document: PLAN })
    expect(asked).toMatchObject({ pending_approval: {} })
    const row = page.getByRole('listitem').filter({ hasText: 'Approval' })
    await row.getByRole('button', { name: 'Approve…' }).click()
    expect(await page.title()).toBe('(1) Inbox · Phaselock')
    await takePictures(page, 'inbox')
    expect(await findBarriers(page)).toEqual([])
    expect(await findOverflow(page)).toBe(0)
    await row.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByText('Nothing waits for you').waitFor()
    expect(await agent.move('TDD', { plan_document: PLAN })).toMatchObject({ allowed: true, phase: 'TDD' })
  })

  it('[REQ-DASH-3] board: tasks stand in the columns of their phases, and the palette finds them', async () => {
    await page.keyboard.press('g')
    await page.keyboard.press('b')
    await page
      .getByRole('region', { name: /^TDD, 1 tasks/ })
      .getByText('Sum up sum')
      .waitFor()
    await page
      .getByRole('region', { name: /^PLAN, 1 tasks/ })
      .getByText('A second task')
      .waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePictures(page, 'board')
    await page.getByLabel('Filter by text').fill('second')
    await page.getByText('Sum up sum').waitFor({ state: 'detached' })
    await page.getByLabel('Filter by text').fill('')
    await page.getByLabel('Filter by text').blur()
    await page.keyboard.press('/')
    await page.getByRole('combobox', { name: 'Find tasks' }).fill('sum up')
    await takePictures(page, 'palette')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/tasks/sum')
  })

  it('[REQ-DASH-2] inbox: buttons wait for the evidence, which would push them away', async () => {
    const other = await Walker.claim(stage.server, 'pushed', { workspace: makeTree('pushed') })
    let isHeld = true
    await page.route('**/api/v1/approvals/*', async (route) => {
      while (isHeld) await new Promise((resolve) => setTimeout(resolve, 20))
      await route.continue()
    })
    await page.goto('/')
    await other.move('TDD', { plan_document: PLAN })
    const row = page.getByRole('listitem').filter({ hasText: 'Approval' })
    await row.getByText('Loading what the checks found').waitFor()
    expect(await row.getByRole('button').count()).toBe(0)
    isHeld = false
    await row.getByRole('button', { name: 'Approve…' }).waitFor()
    expect(await row.getByText(/checks? holds?/).count()).toBe(1)
    await page.unroute('**/api/v1/approvals/*')
    await row.getByRole('button', { name: 'Approve…' }).click()
    await row.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByText('Nothing waits for you').waitFor()
  })

  it('[REQ-DASH-TASK-12] approval and task: read, approved by key, and the agent goes on', async () => {
    // In a tree of its own: the other task of these walks has the first one.
    const agent = await Walker.claim(stage.server, 'read', { workspace: makeTree('other') })
    const asked = await agent.move('TDD', { plan_document: PLAN })
    expect(asked, JSON.stringify(asked)).toMatchObject({ pending_approval: {} })
    const { id } = asked.pending_approval as { id: string }
    await page.goto(`/approvals/${id}`)
    await page.getByText(PLAN.title).waitFor()
    await page.getByText('What you see is what you sign.').waitFor()
    await page.getByRole('region', { name: 'Checks' }).getByText('plan_has_acceptance_criteria').waitFor()
    await page.keyboard.press('a')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('Approved: the agent may go on').waitFor()
    await agent.enters('TDD', { plan_document: PLAN })
    await page.goto('/tasks/read')
    await page.getByText('Gate opened').waitFor()
    await page.getByRole('region', { name: 'Phases' }).getByText('TDD').waitFor()
    await page.keyboard.press('[')
    await page.getByRole('button', { name: 'Back to now' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
  })

  walkRecordPages(() => ({ stage, page }))

  it('[REQ-DASH-4] nothing on these pages is loaded from elsewhere, refused by the policy or broken', () => {
    expect(stage.complaints).toEqual([])
  })
})
