import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PLAN, Walker } from '../e2e/walker.js'
import { findBarriers, findBrowser, findOverflow, openStage, type Page, type Stage, takePictures } from './browser.js'

describe.skipIf(findBrowser() === null)('deciding an approval in the browser', () => {
  let stage: Stage
  let page: Page
  let agent: Walker

  beforeAll(async () => {
    stage = await openStage()
    agent = await Walker.claim(stage.server, 'decide')
    page = await stage.logIn()
  }, 180_000)
  afterAll(() => stage?.close())

  const ask = async (title: string): Promise<string> => {
    const asked = await agent.move('TDD', { plan_document: { ...PLAN, title } })
    expect(asked, JSON.stringify(asked)).toMatchObject({ pending_approval: {} })
    return (asked.pending_approval as { id: string }).id
  }
  const open = async (id: string, where = page): Promise<void> => {
    await where.goto(`/approvals/${id}`)
    await where.getByRole('region', { name: 'Your decision' }).waitFor()
  }

  it('[REQ-DASH-TASK-1] a rejection needs a comment, which the agent gets', async () => {
    await agent.use('write_files', { files: [{ path: 'src/a.js', content: 'no' }] })
    const id = await ask('A plan that is too short')
    await open(id)
    await page.getByText('A plan that is too short').waitFor()
    await page.getByRole('region', { name: 'Refused on the way' }).getByText('forbidden_tool').waitFor()
    expect(await page.getByRole('button', { name: 'Reject', exact: true }).isDisabled()).toBe(true)
    await page.keyboard.press('r')
    await page.keyboard.type('Say how <b>rounding</b> works.')
    await page.getByRole('button', { name: 'Reject', exact: true }).click()
    await page.getByText('Rejected: the agent was told why').waitFor()
    const again = await agent.move('TDD', { plan_document: { ...PLAN, title: 'A plan that is too short' } })
    expect(JSON.stringify(again)).toContain('Say how <b>rounding</b> works.')
  })

  it('[REQ-DASH-TASK-2] a second request says what changed, what was refused, and what the digest covers', async () => {
    const id = await ask('A longer plan, with rounding')
    await open(id)
    const main = page.locator('main')
    await main.getByText('“Say how <b>rounding</b> works.”').waitFor()
    await main.getByText('Changed: plan_document.').waitFor()
    await main.getByText('What you see is what you sign.').waitFor()
    await main
      .getByRole('region', { name: 'Refused on the way' })
      .getByText('Cannot leave PLAN for TDD')
      .first()
      .waitFor()
    expect(await findBarriers(page)).toEqual([])
    expect(await findOverflow(page)).toBe(0)
    await takePictures(page, 'approval')
  })

  it('[REQ-DASH-TASK-3] what one browser decides, the other shows at once, and the agent goes on', async () => {
    const id = page.url().split('/').at(-1) ?? ''
    const other = await stage.logIn()
    await open(id, other)
    await page.keyboard.press('a')
    const dialog = page.getByRole('dialog', { name: 'Approve this?' })
    await dialog.waitFor()
    expect((await stage.server.call('GET', `/approvals/${id}`, stage.server.operator)).body.status).toBe('pending')
    await page.keyboard.press('Enter')
    await page.getByText('Approved: the agent may go on').waitFor()
    await other.getByText('Approved: the agent may go on').waitFor()
    expect(await other.getByRole('button', { name: 'Approve…' }).count()).toBe(0)
    await agent.enters('TDD', { plan_document: { ...PLAN, title: 'A longer plan, with rounding' } })
    await page.getByText('Approved, and the gate has opened').waitFor()
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await findBarriers(page)).toEqual([])
    await other.context().close()
  })

  it('[REQ-DASH-TASK-4] an approval or task that does not exist has a clear page', async () => {
    await page.goto('/approvals/apr-9-nowhere')
    await page.getByText('There is no such approval').waitFor()
    await page.goto('/tasks/nowhere')
    await page.getByText('There is no such task').waitFor()
    expect(stage.complaints).toEqual([])
  })
})
