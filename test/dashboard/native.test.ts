import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConfirmationCheck } from '../../src/app/identity/verify-confirmations.js'
import { APPROVED_CONTRACT, type Asked, approve, askForApproval, refusal } from '../operators/confirming.js'
import { addAuthenticator, findBrowser, type Page } from './browser.js'
import { type LocalStage, openLocalStage } from './local-stage.js'

interface Sent {
  readonly digest: string
  readonly confirmation: { readonly id: string; readonly assertion: unknown }
}

// The default setting, and an agent that has a shell of its own: it may have read the operator's token.
describe.skipIf(findBrowser() === null)('under --confirm native, with an agent bound by hooks', () => {
  let stage: LocalStage
  let page: Page
  const decisions: Sent[] = []

  beforeAll(async () => {
    stage = await openLocalStage({ contract: APPROVED_CONTRACT, confirm: 'native' })
    page = await stage.logInFirst()
    await addAuthenticator(page)
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/decision')) {
        const body = request.postDataJSON() as Sent
        if (body.confirmation !== undefined) decisions.push(body)
      }
    })
    await page.goto('/settings')
    await page.getByLabel('Name of a new passkey').fill('laptop')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByRole('button', { name: 'Remove the passkey laptop' }).waitFor()
  }, 120_000)
  afterAll(() => stage?.close())

  const click = async ({ id }: Asked) => {
    await page.goto(`/approvals/${id}`)
    await page.getByRole('button', { name: 'Approve…' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click()
  }
  const showStatus = async ({ id }: Asked) =>
    (await stage.run.call('GET', `/approvals/${id}`, stage.run.operator)).body.status

  it('[REQ-CONFIRM-1] a task of another agent is approved without the passkey', async () => {
    const asked = await askForApproval(stage.run)
    await click(asked)
    await page.getByText('Approved: the agent may go on').waitFor()
    expect(decisions).toEqual([])
  })

  it('[REQ-CONFIRM-1] its own task is not: neither with the stolen token, nor with a session made from it', async () => {
    const asked = await askForApproval(stage.run, true)
    expect(await approve(stage.run, asked)).toMatchObject(refusal(403, 'confirmation_required'))
    // With the token the agent logs in, and its browser has no passkey.
    const thief = await stage.logIn()
    await thief.goto(`/approvals/${asked.id}`)
    await thief.getByRole('button', { name: 'Approve…' }).first().click()
    await thief.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click()
    const dialog = thief.getByRole('dialog', { name: 'Confirm' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await thief.getByText('Not confirmed: nothing was changed.').waitFor()
    await thief.goto('/settings')
    await thief.getByText('laptop').first().waitFor()
    await thief.context().close()
    expect(await showStatus(asked)).toBe('pending')
    await click(asked)
    await page.getByRole('button', { name: 'Confirm with passkey' }).click()
    await page.getByText('Approved: the agent may go on').waitFor()
    expect(decisions).toMatchObject([{ digest: asked.digest, confirmation: { assertion: {} } }])
  })

  it('[REQ-CONFIRM-6] what the passkey signed is refused for another digest, another approval, and a second time', async () => {
    const [seen] = decisions as [Sent]
    const asked = await askForApproval(stage.run, true)
    expect(await approve(stage.run, asked, seen.confirmation)).toMatchObject(refusal(403, 'confirmation_invalid'))
    // Signed for what is shown, and sent for something else on the way.
    await page.route('**/decision', async (route) => {
      const body = route.request().postDataJSON() as Partial<Sent>
      if (body.confirmation === undefined) return route.continue()
      return route.continue({ postData: JSON.stringify({ ...body, digest: 'f'.repeat(64) }) })
    })
    await click(asked)
    await page.getByRole('button', { name: 'Confirm with passkey' }).click()
    await page.getByText('confirmation_invalid').waitFor()
    await page.unroute('**/decision')
    const [, signed] = decisions as [Sent, Sent]
    const other = await askForApproval(stage.run, true)
    for (const replayed of [asked, other])
      expect(await approve(stage.run, replayed, signed.confirmation)).toMatchObject(
        refusal(403, 'confirmation_invalid'),
      )
    expect(await showStatus(asked)).toBe('pending')
    expect(await showStatus(other)).toBe('pending')
  })

  it('[REQ-CONFIRM-7] the stored assertion is verified from the ledger alone, and fails for another digest', async () => {
    const events = await stage.run.app.ledger.store.readAll(0, 1000)
    const check = async (digest?: string) => {
      const checking = new ConfirmationCheck()
      for (const event of events) {
        const { confirmation } = event.data as { confirmation?: object }
        const isChanged = digest !== undefined && event.type === 'approval_decided' && confirmation !== undefined
        const data = isChanged ? { ...event.data, digest, confirmation: { ...confirmation, digest } } : event.data
        await checking.take({ ...event, data })
      }
      return checking.checked.filter(({ act }) => act === 'decideApproval')
    }
    expect(await check()).toMatchObject([{ method: 'passkey', problem: null }])
    expect(await check('f'.repeat(64))).toMatchObject([{ problem: expect.stringContaining('signature') }])
    expect(stage.complaints).toEqual([])
    expect(stage.run.faults).toEqual([])
  })
})
