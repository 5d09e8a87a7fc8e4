import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { APPROVED_CONTRACT, askForApproval } from '../operators/confirming.js'
import { findBrowser, type Page } from './browser.js'
import { type LocalStage, openLocalStage } from './local-stage.js'

const HOUR_MS = 3600 * 1000

describe.skipIf(findBrowser() === null)('sessions in the browser', () => {
  let stage: LocalStage
  beforeAll(async () => {
    stage = await openLocalStage({ contract: APPROVED_CONTRACT })
  }, 120_000)
  afterAll(() => stage?.close())
  afterEach(() => {
    stage.run.now = null
    expect(stage.run.faults).toEqual([])
    expect(stage.complaints.splice(0)).toEqual([])
  })

  const countTasks = async (): Promise<number> =>
    ((await stage.run.call('GET', '/tasks', stage.run.operator)).body.tasks as unknown[]).length

  it('[REQ-DASH-8] an expired session says so, changes nothing, and a login leads back to the very page', async () => {
    const page = await stage.logIn()
    const { id, digest } = await askForApproval(stage.run)
    await page.goto(`/audit?type=approval_requested`)
    await page.goto(`/approvals/${id}`)
    await page.getByLabel(/^Reject, and tell/).fill('Not like this')
    stage.run.now = Date.now() + 12 * HOUR_MS + 1
    await page.getByRole('button', { name: 'Reject', exact: true }).click()
    await page.getByText('Your session has ended').waitFor()
    stage.run.now = null
    const { body } = await stage.run.call('GET', `/approvals/${id}`, stage.run.operator)
    expect(body).toMatchObject({ digest, decisions: [] })
    await page.getByLabel('Code or operator token').fill(stage.run.operator)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: `Approval ${id}`, level: 1 }).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/approvals/${id}`)
    await page.context().close()
  })

  it('[REQ-DASH-8] a link with a code leads back to the page with its filters, in this tab and in the others', async () => {
    const page = await stage.logIn()
    const tab = await page.context().newPage()
    await tab.goto('/insights')
    await page.goto('/audit?type=task_created')
    await page.getByText('1 event, that is all').waitFor()
    // What a browser does with a cookie whose time is over.
    await page.context().clearCookies()
    await page.reload()
    await page.getByText('Your session has ended').waitFor()
    const { body } = await stage.run.call('POST', '/login/codes', stage.run.operator, {})
    await page.goto(`/login#code=${String(body.code)}`)
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()
    expect(page.url()).toBe(`${stage.url}/audit?type=task_created`)
    await tab.getByRole('heading', { name: 'Insights', level: 1 }).waitFor()
    await page.context().close()
  })

  it('[REQ-DASH-8] who logs out is told that, and not that a session ended', async () => {
    const page = await stage.logIn()
    await page.goto('/settings')
    await page.getByRole('button', { name: /^Log out admin/ }).click()
    await page.getByText('You are logged out').waitFor()
    expect(await page.getByText('Your session has ended').count()).toBe(0)
    await page.context().close()
  })

  it('[REQ-LOGIN-7] an operator with the role ci sees and ends no session of others', async () => {
    const other = await stage.logIn()
    const added = await stage.run.call('POST', '/operators', stage.run.operator, { name: 'robot', role: 'ci' })
    const robot = await stage.logIn(String(added.body.operator_token))
    await robot.goto('/settings')
    await robot.getByText('this browser', { exact: true }).waitFor()
    expect(await robot.getByRole('button', { name: /^Revoke the session of/ }).count()).toBe(0)
    const { session_id } = await ask<{ session_id: string }>(other, 'GET', '/session')
    expect(await ask(robot, 'POST', `/sessions/${session_id}/revoke`)).toMatchObject({ code: 'not_found' })
    expect(await ask(robot, 'POST', '/operators', { name: 'mallory' })).toMatchObject({ code: 'not_permitted' })
    await other.goto('/board')
    await other.getByRole('heading', { name: 'Board', level: 1 }).waitFor()
    await Promise.all([robot.context().close(), other.context().close()])
  })

  it('[REQ-LOGIN-5] no change without the CSRF token, and none from a page of another port, in a frame or a form', async () => {
    const page = await stage.logIn()
    const before = await countTasks()
    for (const headers of [{}, { 'x-csrf-token': 'guessed' }])
      expect(await send(page, headers)).toMatchObject({ status: 403, code: 'csrf_token_missing' })
    const elsewhere = await serveAttack(stage.url)
    try {
      // Localhost with another port is the same site for a browser: it sends the cookie along.
      const attack = await page.context().newPage()
      await attack.goto(`http://localhost:${(elsewhere.address() as AddressInfo).port}/`)
      await expect.poll(() => attack.title()).toBe('tried')
      for (const frame of attack.frames().slice(1)) expect(await frame.locator('#root').count()).toBe(0)
    } finally {
      elsewhere.close()
    }
    expect(await countTasks()).toBe(before)
    expect(await ask(page, 'POST', '/tasks', { title: 'From our own page' })).toMatchObject({ status: 'queued' })
    await page.context().close()
  })

  it('[REQ-DASH-2] a comment that is too long is not cut: the page says by how much, the API refuses it', async () => {
    const page = await stage.logIn()
    const { id, digest } = await askForApproval(stage.run)
    const comment = 'x'.repeat(4012)
    const refused = await ask(page, 'POST', `/approvals/${id}/decision`, { decision: 'reject', digest, comment })
    expect(refused).toMatchObject({ status: 400, code: 'invalid_request' })
    await page.goto(`/approvals/${id}`)
    const reject = page.getByRole('button', { name: 'Reject', exact: true })
    await page.getByLabel(/^Reject, and tell/).fill(comment)
    await page.getByText('Too long by 12 characters: at most 4,000').waitFor()
    expect(await reject.isDisabled()).toBe(true)
    await page.getByLabel(/^Reject, and tell/).fill(comment.slice(12))
    await reject.click()
    await page.getByText('Rejected: the agent was told why').waitFor()
    const { body } = await stage.run.call('GET', `/approvals/${id}`, stage.run.operator)
    expect(body.decisions).toMatchObject([{ comment: comment.slice(12) }])
    await page.context().close()
  })
})

/** Calls the API with the session of a page, as its own code does. */
function ask<T = Record<string, unknown>>(page: Page, method: string, path: string, body: object = {}): Promise<T> {
  return page.evaluate<T>(`(async () => {
    const { csrf_token } = await (await fetch('/api/v1/session')).json()
    const headers = { 'content-type': 'application/json', 'x-csrf-token': csrf_token }
    const body = ${method === 'GET' ? 'undefined' : JSON.stringify(JSON.stringify(body))}
    return (await fetch('/api/v1${path}', { method: '${method}', headers, body })).json()
  })()`)
}

function send(page: Page, headers: object): Promise<unknown> {
  return page.evaluate(`(async () => {
    const headers = { 'content-type': 'application/json', ...${JSON.stringify(headers)} }
    return (await fetch('/api/v1/tasks', { method: 'POST', headers, body: '{"title":"x"}' })).json()
  })()`)
}

/** A page of another port that tries everything a page can. */
function serveAttack(url: string): Promise<Server> {
  const document = `<!doctype html><title>trying</title><iframe src="${url}/settings"></iframe>
<iframe name="answer"></iframe>
<form method="post" enctype="text/plain" action="${url}/api/v1/tasks" target="answer"><input name='{"title":"form","x":"' value='"}'></form>
<script type="module">
  const body = '{"title":"fetched"}'
  const tries = [
    { method: 'POST', credentials: 'include', mode: 'no-cors', body },
    { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' }, body },
    { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json', 'x-csrf-token': 'x' }, body },
  ]
  for (const one of tries) await fetch('${url}/api/v1/tasks', one).catch(() => undefined)
  document.forms[0].submit()
  setTimeout(() => { document.title = 'tried' }, 500)
</script>`
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(document)
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}
