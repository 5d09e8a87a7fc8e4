import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBarriers, findBrowser, type Page } from './browser.js'
import { type LocalStage, openLocalStage } from './local-stage.js'

describe.skipIf(findBrowser() === null)('contracts and their webhooks in the browser', () => {
  let stage: LocalStage
  let page: Page
  let receiver: Server
  let status = 204

  const write = (version: string, more: string) => `
name: shop
version: "${version}"
phases:
  - {id: WORK, description: "plain\u202egnp.exe", allowed_tools: [${more}]}
  - {id: DONE, allowed_tools: []}
enforcement: {confinement: "off", reconcile: "off"}
webhooks: [{url: "http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook", events: [task_created]}]
`

  beforeAll(async () => {
    receiver = createServer((_request, response) => response.writeHead(status).end())
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    stage = await openLocalStage({ contract: write('1', 'read_files'), isTrusted: false })
    page = await stage.logIn()
  }, 120_000)
  afterAll(async () => {
    await stage?.close()
    receiver.close()
  })

  const list = async () =>
    (await stage.run.call('GET', '/contracts', stage.run.operator)).body.contracts as readonly {
      readonly hash: string
      readonly version: string
      readonly trusted: boolean
    }[]

  it('[REQ-PAGES-40] an untrusted contract sends nothing to private addresses, and the settings say why', async () => {
    await stage.run.addTask({ title: 'Before it is trusted' })
    await page.goto('/settings?tab=webhooks')
    await page.getByText(/127\.0\.0\.1:\d+/).waitFor()
    await page
      .getByText(/private/)
      .first()
      .waitFor()
    expect(await page.getByText('delivered', { exact: true }).count()).toBe(0)
  })

  it('[REQ-PAGES-40] it waits in the inbox, is read, says what trusting means, and is trusted', async () => {
    await page.goto('/')
    const row = page.locator('.item').filter({ hasText: 'Contract shop 1 is not trusted' })
    await row.getByRole('link', { name: 'Read it' }).click()
    await page.getByText('Nobody has trusted this contract').waitFor()
    await page.getByRole('tab', { name: 'Text' }).click()
    await page.getByText('name: shop').first().waitFor()
    // What would turn the text around is shown by its code: what is trusted is what is read.
    await page.locator('.hidden-char', { hasText: 'U+202E' }).first().waitFor()
    await page.goBack()
    await page.goto('/')
    await row.getByRole('button', { name: 'Trust…' }).click()
    await row
      .getByText(/private addresses/)
      .first()
      .waitFor()
    await row.getByRole('button', { name: 'Cancel' }).click()
    expect(await list()).toMatchObject([{ trusted: false }])
    await row.getByRole('button', { name: 'Trust…' }).click()
    await row.getByRole('button', { name: 'Trust', exact: true }).click()
    await row.waitFor({ state: 'detached' })
    expect(await list()).toMatchObject([{ trusted: true }])
    const { body } = await stage.run.call('GET', '/audit/query?type=contract_registered', stage.run.operator)
    expect(JSON.stringify(body)).toContain('operator:admin')
  })

  it('[REQ-PAGES-40] deliveries are listed as they go: delivered, and failing with the answer', async () => {
    await stage.run.addTask({ title: 'Trusted now' })
    await page.goto('/settings?tab=webhooks')
    await page.getByText('delivered', { exact: true }).first().waitFor()
    status = 500
    await stage.run.addTask({ title: 'The receiver is broken' })
    await page.getByText(/500/).first().waitFor()
    expect(await findBarriers(page)).toEqual([])
  })

  it('[REQ-PAGES-41] what a changed version adds and removes, from the list of contracts and by address', async () => {
    const added = await stage.run.call('POST', '/contracts', stage.run.operator, {
      source: write('2', 'read_files, grep'),
    })
    expect(added).toMatchObject({ status: 201 })
    await page.goto('/contracts')
    await page.getByRole('link', { name: 'What changed last' }).click()
    await page.getByText('shop 1 to shop 2').waitFor()
    const lines = page.locator('.con-diff-line')
    await lines.filter({ hasText: 'added:' }).filter({ hasText: 'grep' }).waitFor()
    await lines.filter({ hasText: 'removed:' }).filter({ hasText: 'version: "1"' }).waitFor()
    const url = page.url()
    await page.goto('/board')
    await page.goto(url)
    await page.getByText('shop 1 to shop 2').waitFor()
    const [first, second] = await list()
    await page.goto(`/contracts/${first?.hash}?tab=difference&to=${second?.hash}`)
    await page.getByText('shop 2 to shop 1').waitFor()
    await lines.filter({ hasText: 'removed:' }).filter({ hasText: 'grep' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.goto(`/contracts/${first?.hash}?tab=difference&to=unknown`)
    await page.getByText('shop 2 to shop 1').waitFor()
  })

  it('[REQ-PAGES-23] in the browser, no name of the graph touches a line or another name', async () => {
    const added = await stage.run.call('POST', '/contracts', stage.run.operator, { source: MANY_WAYS })
    expect(added).toMatchObject({ status: 201 })
    await page.goto(`/contracts/${String(added.body.hash)}`)
    await page.locator('.con-gate text', { hasText: 'claim_from_4_to_1' }).waitFor()
    const names = page.locator('.con-gate text')
    expect(await names.count()).toBe(10)
    expect(await page.evaluate<readonly string[]>(FIND_TOUCHING)).toEqual([])
    expect(stage.complaints).toEqual([])
    expect(stage.run.faults).toEqual([])
  })
})

/** Six phases, each with ways back to all before it. */
const MANY_WAYS = `
name: many-ways
version: "1"
phases: [${[0, 1, 2, 3, 4, 5].map((phase) => `{id: P${phase}, allowed_tools: []}`).join(', ')}]
transitions:
${[0, 1, 2, 3, 4].map((phase) => `  - {from: P${phase}, to: P${phase + 1}}`).join('\n')}
${[1, 2, 3, 4]
  .flatMap((from) =>
    Array.from({ length: from }, (_, to) => `  - {from: P${from}, to: P${to}, when: claim_from_${from}_to_${to}}`),
  )
  .join('\n')}
enforcement: {confinement: "off", reconcile: "off"}
`

/** Names whose letters meet a line or another name, as the browser has laid them out. */
const FIND_TOUCHING = `(() => {
  const names = [...document.querySelectorAll('.con-gate text')].map((text) => ({ said: text.textContent, box: text.getBBox() }))
  const points = [...document.querySelectorAll('.con-way')].flatMap((line) =>
    Array.from({ length: Math.ceil(line.getTotalLength()) }, (_, at) => line.getPointAtLength(at)))
  const holds = (box, { x, y }) => x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height
  const meet = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
  return names
    .filter(({ box }, index) =>
      points.some((point) => holds(box, point)) || names.slice(index + 1).some((other) => meet(box, other.box)))
    .map(({ said }) => said)
})()`
