import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { findBarriers, findOverflow, type Page, type Stage, takePictures } from './browser.js'
import { askForApproval, holdCouncil } from './sample-run.js'

/** The main paths of agents, councils, contracts, audit, insights and settings, in the browser of the common walk. */
export function walkRecordPages(given: () => { readonly stage: Stage; readonly page: Page }): void {
  describe('records and settings', () => {
    let stage: Stage
    let page: Page
    let councilId = ''

    beforeAll(async () => {
      ;({ stage, page } = given())
      // A work tree of its own: other walks hold paths of the first one.
      const workspace = join(stage.place.dir, 'records')
      mkdirSync(workspace)
      await askForApproval(stage.server, workspace)
      councilId = await holdCouncil(stage.server)
    }, 120_000)

    const show = async (heading: string, picture: string): Promise<void> => {
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
      expect(await page.title()).toContain('Phaselock')
      expect(await findBarriers(page)).toEqual([])
      expect(await findOverflow(page)).toBe(0)
      await takePictures(page, picture)
    }

    it('[REQ-PAGES-31] agents: who there is and what each was refused; one agent with its latest events', async () => {
      await page.goto('/agents')
      await page
        .getByRole('row', { name: /coder-1/ })
        .getByRole('link', { name: 'cart-total' })
        .waitFor()
      await show('Agents', 'agents')
      await page.getByRole('link', { name: 'coder-1' }).click()
      await page.getByRole('button', { name: /tool_denied.*forbidden_tool/ }).click()
      await page.getByText('"prev_hash"').waitFor()
      await show('coder-1', 'agent')
    })

    it('[REQ-PAGES-32] councils: the list leads to rounds, votes, refused responses and the winner', async () => {
      await page.goto('/coordinations')
      await page.getByText('ada won').waitFor()
      await show('Councils', 'councils')
      await page.getByRole('link', { name: 'Do carts need a cache?' }).click()
      await page.waitForURL(`**/coordinations/${councilId}`)
      await page.getByRole('columnheader', { name: 'Round 2' }).waitFor()
      await page
        .getByRole('row', { name: /Votes that count/ })
        .getByText('2')
        .waitFor()
      await show('Council', 'council')
    })

    it('[REQ-PAGES-33] contracts: phases and gates with what is in them now, and the text', async () => {
      await page.goto('/contracts')
      await show('Contracts', 'contracts')
      await page
        .getByRole('link', { name: /^Version/ })
        .first()
        .click()
      await page.getByRole('link', { name: /^PLAN/ }).waitFor()
      await show('tdd 1.0', 'contract')
      await page.getByRole('tab', { name: 'Text' }).click()
      await page.getByText('name: tdd').first().waitFor()
      expect(page.url()).toContain('tab=text')
    })

    it('[REQ-PAGES-34] audit: a filter is in the address, an event opens, and the chain is verified', async () => {
      await page.goto('/audit')
      await page.getByLabel('Type').selectOption('approval_requested')
      await page.waitForURL('**type=approval_requested')
      await page.getByRole('button', { name: 'Verify the chain' }).click()
      await page.getByText(/Intact: /).waitFor()
      await show('Audit', 'audit')
    })

    it('[REQ-PAGES-35] insights: a number leads to the tasks behind it', async () => {
      await page.goto('/insights')
      await page.getByRole('link', { name: /^forbidden_tool \d+ refusals/ }).click()
      await page
        .getByRole('region', { name: 'Refused with forbidden_tool' })
        .getByRole('link', { name: 'Sum up carts' })
        .waitFor()
      await show('Insights', 'insights')
    })

    it('[REQ-PAGES-36] settings: sessions, operators, tokens, webhooks, doctor and the theme', async () => {
      await page.goto('/settings')
      await page.getByText('this browser', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Dark', exact: true }).click()
      expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
      await page.getByRole('button', { name: 'System', exact: true }).click()
      await show('Settings', 'settings')
      await page.getByRole('tab', { name: 'Operators' }).click()
      await page.getByText('admin', { exact: true }).first().waitFor()
      await page.getByRole('tab', { name: 'Agents' }).click()
      await page.getByRole('button', { name: 'Revoke the tokens of coder-1' }).waitFor()
      await page.getByRole('tab', { name: 'Webhooks' }).click()
      await page.getByText('No contract names a webhook').waitFor()
      await page.getByRole('tab', { name: 'Server' }).click()
      await page.getByText('sandbox').first().waitFor()
      await show('Settings', 'settings-server')
    })
  })
}
