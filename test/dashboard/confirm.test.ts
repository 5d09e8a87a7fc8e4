import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PLAN, Walker } from '../e2e/walker.js'
import {
  addAuthenticator,
  findBarriers,
  findBrowser,
  openStage,
  type Page,
  type Stage,
  takePictures,
} from './browser.js'

const PASSPHRASE = 'a long enough passphrase'

describe.skipIf(findBrowser() === null)('decisions that have to be confirmed', () => {
  let stage: Stage
  let page: Page

  beforeAll(async () => {
    stage = await openStage({ args: ['--confirm', 'always'] })
    page = await stage.open()
    // The code that the first start printed may register the first passkey.
    const findLink = () => /https?:\/\/localhost:\d+\/login#code=\S+/.exec(stage.server.output())?.[0]
    while (findLink() === undefined) await new Promise((resolve) => setTimeout(resolve, 50))
    await addAuthenticator(page)
    await page.goto(findLink() ?? '')
    await page.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor()
  }, 120_000)
  afterAll(() => stage?.close())

  const approve = async (task: string) => {
    const row = page.locator('.item').filter({ hasText: task })
    await row.getByRole('button', { name: 'Approve…' }).click()
    await row.getByRole('button', { name: 'Approve', exact: true }).click()
    return row
  }
  const ask = async (task: string): Promise<Walker> => {
    const agent = await Walker.claim(stage.server, task)
    await agent.move('TDD', { plan_document: PLAN })
    return agent
  }
  const showPhase = async (task: string) =>
    (await stage.server.call('GET', `/tasks/${task}`, stage.server.operator)).body.pending_approval

  it('[REQ-DASH-9] without a passkey or passphrase the dialog says how to get one, and nothing is approved', async () => {
    await ask('unconfirmed')
    const row = await approve('unconfirmed')
    const dialog = page.getByRole('dialog', { name: 'Confirm' })
    await dialog.getByText('You have no passkey and no passphrase yet').waitFor()
    await takePictures(page, 'confirm-none')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await row.getByText('Not confirmed: nothing was changed.').waitFor()
    expect(await showPhase('unconfirmed')).not.toBeNull()
    await row.getByRole('button', { name: 'Cancel' }).click()
  })

  it('[REQ-DASH-9] a passkey is added under Settings and approves; the stolen operator token alone does not', async () => {
    await page.goto('/settings')
    await page.getByLabel('Name of a new passkey').fill('laptop')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByRole('button', { name: 'Remove the passkey laptop' }).waitFor()
    await page.goto('/')
    const stolen = await stage.server.call('GET', '/approvals', stage.server.operator)
    const [{ id, digest }] = stolen.body.approvals as [{ id: string; digest: string }]
    const decision = { decision: 'approve', digest }
    expect(
      (await stage.server.call('POST', `/approvals/${id}/decision`, stage.server.operator, decision)).body,
    ).toMatchObject({ code: 'confirmation_required' })
    const row = await approve('unconfirmed')
    const dialog = page.getByRole('dialog', { name: 'Confirm' })
    await takePictures(page, 'confirm-passkey')
    expect(await findBarriers(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Confirm with passkey' }).click()
    await row.waitFor({ state: 'detached' })
    const { body } = await stage.server.call('GET', '/tasks/unconfirmed/timeline?limit=1000', stage.server.operator)
    const decided = (body.events as { type: string; data: Record<string, unknown> }[]).find(
      ({ type }) => type === 'approval_decided',
    )
    expect(JSON.stringify(decided)).toContain('passkey')
  })

  it('[REQ-DASH-9] an operator with a passkey needs it for a passphrase, and closing the dialog approves nothing', async () => {
    const agent = await ask('spoken')
    await page.goto('/settings')
    const set = await page.evaluate<number>(
      `(async () => {
        const { csrf_token } = await (await fetch('/api/v1/session')).json()
        const headers = { 'content-type': 'application/json', 'x-csrf-token': csrf_token }
        const body = JSON.stringify({ passphrase: ${JSON.stringify(PASSPHRASE)} })
        return (await fetch('/api/v1/passphrase', { method: 'POST', headers, body })).status
      })()`,
    )
    // An operator with a passkey needs it for a passphrase.
    expect(set).toBe(403)
    await page.goto('/')
    await approve('spoken')
    const dialog = page.getByRole('dialog', { name: 'Confirm' })
    expect(await dialog.getByLabel('Your passphrase').count()).toBe(0)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await agent.move('TDD', { plan_document: PLAN })).toMatchObject({ allowed: false })
    expect(stage.complaints).toEqual([])
  })
})
