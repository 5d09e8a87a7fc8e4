import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { APPROVED_CONTRACT, type Asked, askForApproval, PASSPHRASE } from '../operators/confirming.js'
import { findBarriers, findBrowser, type Page, takePictures } from './browser.js'
import { type LocalStage, openLocalStage } from './local-stage.js'

const SECOND = 'quite another passphrase'

describe.skipIf(findBrowser() === null)('a passphrase in the browser, under --confirm always', () => {
  let stage: LocalStage
  let page: Page

  beforeAll(async () => {
    stage = await openLocalStage({ contract: APPROVED_CONTRACT, confirm: 'always' })
    page = await stage.logInFirst()
  }, 120_000)
  afterAll(() => stage?.close())

  const showStatus = async ({ id }: Asked) =>
    (await stage.run.call('GET', `/approvals/${id}`, stage.run.operator)).body.status
  const openDialog = async ({ id }: Asked) => {
    await page.goto(`/approvals/${id}`)
    await page.getByRole('button', { name: 'Approve…' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Confirm' })
    await dialog.getByLabel('Your passphrase').waitFor()
    return dialog
  }

  it('[REQ-DASH-9] a session from a later code is told where a first passphrase comes from, and sets none', async () => {
    const later = await stage.logIn()
    await later.goto('/settings')
    await later.getByLabel('New passphrase').fill(PASSPHRASE)
    await later.getByLabel('Repeat the passphrase').fill(PASSPHRASE)
    await later.getByRole('button', { name: 'Set the passphrase' }).click()
    await later.getByRole('alert').getByText('--first-code').waitFor()
    await later.getByText('none is set').waitFor()
    await later.context().close()
  })

  it('[REQ-DASH-9] the form takes no short one, no different second one, then sets it', async () => {
    await page.goto('/settings')
    const set = page.getByRole('button', { name: 'Set the passphrase' })
    await page.getByLabel('New passphrase').fill('too short')
    await page.getByLabel('Repeat the passphrase').fill('too short')
    expect(await set.isDisabled()).toBe(true)
    await page.getByLabel('New passphrase').fill(PASSPHRASE)
    await page.getByText('The two differ').waitFor()
    expect(await set.isDisabled()).toBe(true)
    await page.getByLabel('Repeat the passphrase').fill(PASSPHRASE)
    await set.click()
    await page.getByText('The passphrase is set.').waitFor()
    await page.getByText('one is set').waitFor()
    expect(await page.getByLabel('New passphrase').inputValue()).toBe('')
  })

  it('[REQ-DASH-9] a wrong one approves nothing and can be corrected; the right one approves', async () => {
    const asked = await askForApproval(stage.run)
    const dialog = await openDialog(asked)
    expect(await findBarriers(page)).toEqual([])
    await takePictures(page, 'confirm-passphrase')
    await dialog.getByLabel('Your passphrase').fill('not the right one')
    await page.keyboard.press('Enter')
    await dialog.getByText('confirmation_invalid').waitFor()
    expect(await showStatus(asked)).toBe('pending')
    await dialog.getByLabel('Your passphrase').fill(PASSPHRASE)
    await page.keyboard.press('Enter')
    await page.getByText('Approved: the agent may go on').waitFor()
    const { body } = await stage.run.call('GET', '/audit/query?type=approval_decided', stage.run.operator)
    expect(JSON.stringify(body)).toContain('"method":"passphrase"')
    expect(JSON.stringify(body)).not.toContain(PASSPHRASE)
  })

  it('[REQ-DASH-9] changing it needs the old one, and then only the new one confirms', async () => {
    await page.goto('/settings')
    await page.getByLabel('New passphrase').fill(SECOND)
    await page.getByLabel('Repeat the passphrase').fill(SECOND)
    await page.getByRole('button', { name: 'Change the passphrase…' }).click()
    const confirm = page.getByRole('dialog', { name: 'Confirm' })
    await confirm.getByLabel('Your passphrase').fill(SECOND)
    await page.keyboard.press('Enter')
    await confirm.getByText('confirmation_invalid').waitFor()
    await confirm.getByLabel('Your passphrase').fill(PASSPHRASE)
    await page.keyboard.press('Enter')
    await page.getByText('The passphrase is set.').waitFor()
    const asked = await askForApproval(stage.run)
    const dialog = await openDialog(asked)
    await dialog.getByLabel('Your passphrase').fill(PASSPHRASE)
    await page.keyboard.press('Enter')
    await dialog.getByText('confirmation_invalid').waitFor()
    await dialog.getByLabel('Your passphrase').fill(SECOND)
    await page.keyboard.press('Enter')
    await page.getByText('Approved: the agent may go on').waitFor()
  })

  it('[REQ-DASH-9] after five wrong ones the page says how long to wait, and nothing is approved', async () => {
    const asked = await askForApproval(stage.run)
    const dialog = await openDialog(asked)
    for (let tries = 0; tries < 8 && (await page.getByText('rate_limited').count()) === 0; tries += 1) {
      await dialog.getByLabel('Your passphrase').fill(`guess number ${tries}`)
      const answer = page.waitForResponse((response) => response.url().endsWith('/decision'))
      await page.keyboard.press('Enter')
      await answer
      await page
        .getByText(/confirmation_invalid|rate_limited/)
        .first()
        .waitFor()
    }
    await page.getByText('rate_limited').first().waitFor()
    await page
      .getByText(/wait \d+ s/)
      .first()
      .waitFor()
    expect(await showStatus(asked)).toBe('pending')
    expect(stage.complaints).toEqual([])
    expect(stage.run.faults).toEqual([])
  })
})
