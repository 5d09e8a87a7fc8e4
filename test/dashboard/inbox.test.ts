import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { makeRepository } from '../e2e/projects.js'
import { PLAN, Walker } from '../e2e/walker.js'
import { findBarriers, findBrowser, findOverflow, openStage, type Page, type Stage, takePictures } from './browser.js'

describe.skipIf(findBrowser() === null)('what waits is acted on in the inbox', () => {
  let stage: Stage
  let page: Page

  beforeAll(async () => {
    stage = await openStage({
      prepare: ({ workspace }) =>
        makeRepository(workspace, { 'package.json': '{"type":"module"}\n', 'src/old.mjs': 'export const old = 1\n' }),
    })
    page = await stage.logIn()
  }, 120_000)
  afterAll(() => stage?.close())
  afterEach(() => expect(stage.complaints.splice(0)).toEqual([]))

  const show = async (task: string) =>
    (await stage.server.call('GET', `/tasks/${task}`, stage.server.operator)).body as Record<string, unknown>
  const row = (kind: string, task: string) => page.locator('.item').filter({ hasText: kind }).filter({ hasText: task })
  const start = async (task: string): Promise<Walker> => Walker.claim(stage.server, task, { worktree: true })

  it('[REQ-DASH-2] an approval is rejected with a comment that the agent gets', async () => {
    const agent = await start('rejected')
    await agent.move('TDD', { plan_document: PLAN })
    await row('Approval', 'rejected').getByRole('button', { name: 'Reject…' }).click()
    const reject = row('Approval', 'rejected').getByRole('button', { name: 'Reject', exact: true })
    expect(await reject.isDisabled()).toBe(true)
    await page.getByLabel('What has to change').fill('Name the unit of the sum.')
    await reject.click()
    await row('Approval', 'rejected').waitFor({ state: 'detached' })
    const told = await agent.move('TDD', { plan_document: PLAN })
    expect(JSON.stringify(told)).toContain('Name the unit of the sum.')
  })

  it('[REQ-DASH-2] a question is answered with one of its options, and another in words', async () => {
    const agent = await start('asking')
    const ask = (question: string, options: readonly string[]) =>
      agent.use('ask_user_question', { question, ...(options.length === 0 ? {} : { options }) })
    await ask('Round up or down?', ['Up', 'Down'])
    await row('Question', 'Round up').getByRole('button', { name: 'Down' }).click()
    await row('Question', 'Round up').waitFor({ state: 'detached' })
    await ask('Which currency?', ['Euro', 'Franc'])
    await row('Question', 'Which currency').getByLabel('Another answer').fill('Crown')
    await takePictures(page, 'inbox-question')
    await row('Question', 'Which currency').getByRole('button', { name: 'Answer' }).click()
    await row('Question', 'Which currency').waitFor({ state: 'detached' })
    const { body } = await stage.server.call('GET', '/questions?status=answered', stage.server.operator)
    expect(body.questions).toMatchObject([{ answer: 'Down' }, { answer: 'Crown' }])
  })

  it('[REQ-DASH-2] a parked task is resumed', async () => {
    const agent = await start('parked')
    for (let tries = 0; tries < 12 && (await show('parked')).status !== 'parked'; tries += 1)
      await agent.use('write_files', { files: [{ path: `src/try-${tries}.mjs`, content: 'export {}\n' }] })
    const parked = row('Parked', 'parked')
    await parked.getByRole('button', { name: 'Resume…' }).click()
    await takePictures(page, 'inbox-parked')
    await parked.getByLabel('Reason').fill('It knows better now')
    await parked.getByRole('button', { name: 'Resume', exact: true }).click()
    await parked.waitFor({ state: 'detached' })
    expect((await show('parked')).status).not.toBe('parked')
  })

  it('[REQ-DASH-2] unexplained changes are reverted', async () => {
    const agent = await start('touched')
    const tree = String((await show('touched')).workspace)
    writeFileSync(join(tree, 'src/old.mjs'), 'export const old = 2\n')
    expect(await agent.move('TDD', { plan_document: PLAN })).toMatchObject({ allowed: false })
    const changed = row('Unexplained change', 'touched')
    await changed.getByRole('button', { name: 'Revert…' }).click()
    await changed.getByRole('button', { name: 'Revert', exact: true }).click()
    await changed.waitFor({ state: 'detached' })
    const read = await agent.does('read_files', { paths: ['src/old.mjs'] })
    expect(JSON.stringify(read)).toContain('old = 1')
  })

  it('[REQ-DASH-6] keys alone: choose the approval, open it to approve, confirm', async () => {
    const agent = await start('typed')
    await agent.move('TDD', { plan_document: PLAN })
    await row('Approval', 'typed').waitFor()
    await page.reload()
    await row('Approval', 'typed').waitFor()
    for (let steps = 0; steps < 9 && (await page.locator('.item--sel', { hasText: 'typed' }).count()) === 0; steps += 1)
      await page.keyboard.press('j')
    await page.locator('.item--sel').filter({ hasText: 'typed' }).waitFor()
    await page.keyboard.press('a')
    expect(await findBarriers(page)).toEqual([])
    expect((await show('typed')).phase).toBe('PLAN')
    await page.keyboard.press('Enter')
    await row('Approval', 'typed').waitFor({ state: 'detached' })
    expect(await agent.move('TDD', { plan_document: PLAN })).toMatchObject({ allowed: true, phase: 'TDD' })
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Go to Board').waitFor()
    await takePictures(page, 'keys')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  it('[REQ-DASH-6] letters do nothing in a field, and can be switched off', async () => {
    await page.goto('/board')
    await page.getByLabel('Filter by text').pressSequentially('n g i ? /')
    expect(new URL(page.url()).pathname).toBe('/board')
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.getByLabel('Filter by text').fill('')
    await page.getByLabel('Filter by text').blur()
    await page.keyboard.press('?')
    await page.getByLabel('Single letters are shortcuts').uncheck()
    await page.keyboard.press('Escape')
    await page.keyboard.press('n')
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Find tasks' }).waitFor()
    await page.keyboard.press('Escape')
    await page.evaluate("localStorage.removeItem('phaselock-preferences')")
  })

  it('[REQ-DASH-2] a new task is created from the board, and a title of an agent is only text', async () => {
    const title = '<img src=x onerror=alert(1)> [a](javascript:alert(2)) \u202Egnp.exe'
    await page.goto('/board')
    await page.getByRole('button', { name: 'New task' }).click()
    await page.locator('input:focus').fill(title)
    expect(await page.getByLabel('Title').inputValue()).toBe(title)
    await takePictures(page, 'new-task')
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('button', { name: 'Create' }).click()
    await page.waitForURL('**/tasks/*')
    await page.goto('/board')
    await page.getByText('<img src=x onerror=alert(1)>').waitFor()
    await page.getByText('⟨U+202E⟩gnp.exe').waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    await page.goto('/')
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await findOverflow(page)).toBe(0)
    await page.setViewportSize({ width: 1440, height: 900 })
  })
})
