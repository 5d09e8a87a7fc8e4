import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { addAuthenticator, findBrowser, openStage, type Page, type Stage } from './browser.js'
import { askForApproval } from './sample-run.js'

describe.skipIf(findBrowser() === null)('passkeys, under --confirm always', () => {
  let stage: Stage
  let page: Page
  let waiting = ''

  beforeAll(async () => {
    stage = await openStage({ args: ['--confirm', 'always'] })
    // The link of the first start: only a session that comes from it may add the first passkey.
    const link = await findFirstLink(stage)
    page = await stage.open()
    await page.goto(link)
    await page.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor()
    await addAuthenticator(page)
    waiting = await askForApproval(stage.server)
  }, 180_000)
  afterAll(() => stage?.close())

  it('[REQ-PAGES-11] an approval without a passkey is refused, with the token and in the browser', async () => {
    const { body } = await stage.server.call('GET', `/approvals/${waiting}`, stage.server.operator)
    const decided = { decision: 'approve', digest: body.digest }
    const refused = await stage.server.call('POST', `/approvals/${waiting}/decision`, stage.server.operator, decided)
    expect(refused).toMatchObject({ status: 403, body: { code: 'confirmation_required' } })
  })

  it('[REQ-PAGES-12] a passkey is added in the session of the first start, and in no other', async () => {
    const other = await stage.logIn()
    await other.goto('/settings')
    await other
      .getByText('To add the first one, log in with the link that the server printed at its first start')
      .waitFor()
    expect(await other.getByLabel('Name of a new passkey').count()).toBe(0)
    await page.goto('/settings')
    await page.getByLabel('Name of a new passkey').fill('laptop')
    await page.getByRole('button', { name: 'Add a passkey…' }).click()
    await page.getByRole('button', { name: 'Remove the passkey laptop' }).waitFor()
  })

  it('[REQ-PAGES-13] the passkey confirms an approval, and the assertion is in the ledger', async () => {
    await page.goto('/')
    const row = page.getByRole('listitem').filter({ hasText: 'Approval' })
    await row.getByRole('button', { name: 'Approve…' }).click()
    await row.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByRole('button', { name: 'Confirm with passkey' }).click()
    await page.getByText('Nothing waits for you').waitFor()
    const { body } = await stage.server.call('GET', '/audit/query?type=approval_decided', stage.server.operator)
    expect(JSON.stringify(body)).toContain('"method":"passkey"')
  })

  it('[REQ-PAGES-14] a closed confirmation changes nothing, and a confirmed one removes the passkey', async () => {
    await page.goto('/settings')
    await page.getByRole('button', { name: 'Remove the passkey laptop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Not confirmed: nothing was changed.').waitFor()
    await page.getByRole('button', { name: 'Remove the passkey laptop' }).click()
    await page.getByRole('button', { name: 'Confirm with passkey' }).click()
    await page.getByText('No passkey yet').waitFor()
    expect(stage.complaints).toEqual([])
  })
})

const LINK = /http:\/\/localhost:\d+\/login#code=[\w-]+/

/** The server is ready a moment before it has printed the link. */
async function findFirstLink({ server }: Stage): Promise<string> {
  await vi.waitUntil(() => LINK.test(server.output()), { timeout: 60_000 })
  return LINK.exec(server.output())?.[0] ?? ''
}
