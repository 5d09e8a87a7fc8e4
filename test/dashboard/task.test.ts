import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PLAN, Walker } from '../e2e/walker.js'
import { findBarriers, findBrowser, findOverflow, openStage, type Page, type Stage, takePictures } from './browser.js'

describe.skipIf(findBrowser() === null)('the page of a task', () => {
  let stage: Stage
  let page: Page
  let agent: Walker

  beforeAll(async () => {
    stage = await openStage({
      prepare: ({ workspace }) => writeFileSync(join(workspace, 'README.md'), 'one\ntwo\nthree\n'),
    })
    agent = await Walker.claim(stage.server, 'walk')
    await agent.use('write_files', { files: [{ path: 'src/early.js', content: '1' }] })
    await agent.does('read_files', { paths: ['README.md'] })
    await agent.does('grep', { pattern: 'two' })
    await agent.plan()
    await agent.does('write_files', { files: [{ path: 'test/sum.test.js', content: "test('sums', () => {})\n" }] })
    page = await stage.logIn()
  }, 180_000)
  afterAll(() => stage?.close())

  it('[REQ-DASH-TASK-5] the timeline folds calls, opens raw events, filters by kind, and follows live', async () => {
    await page.goto('/tasks/walk')
    await page.getByRole('button', { name: '2 calls: ' }).first().click()
    await page.getByText('grep').first().waitFor()
    const before = Number(
      await page
        .getByRole('tab', { name: /^Timeline/ })
        .locator('.n')
        .textContent(),
    )
    await agent.does('grep', { pattern: 'three' })
    await expect
      .poll(
        async () =>
          Number(
            await page
              .getByRole('tab', { name: /^Timeline/ })
              .locator('.n')
              .textContent(),
          ),
        { timeout: 30_000 },
      )
      .toBeGreaterThan(before)
    await page.getByRole('button', { name: /^Refusals/ }).click()
    expect(page.url()).toContain('kind=refusal')
    await page.getByText('forbidden_tool').first().waitFor()
    await page
      .getByRole('button', { name: /^Raw event/ })
      .first()
      .click()
    await page.getByText('"type": "tool_denied"').waitFor()
    await page.getByRole('button', { name: /^All/ }).click()
    expect(await findBarriers(page)).toEqual([])
    expect(await findOverflow(page)).toBe(0)
    await takePictures(page, 'task')
  })

  it('[REQ-DASH-TASK-6] the slider goes back in time by keyboard, and the address keeps the moment', async () => {
    await page.goto('/tasks/walk')
    const phases = page.getByRole('region', { name: 'Phases' })
    await expect.poll(() => phases.locator('[aria-current=step]').textContent(), { timeout: 30_000 }).toContain('TDD')
    await page.getByRole('slider').waitFor()
    await page.keyboard.press('[')
    await page.getByRole('button', { name: 'Back to now' }).waitFor()
    const { body } = await stage.server.call('GET', '/tasks/walk/timeline?limit=1000', stage.server.operator)
    const denied = (body.events as { seq: number; type: string }[]).find(({ type }) => type === 'tool_denied')
    await page.goto(`/tasks/walk?at=${denied?.seq}`)
    await expect.poll(() => phases.locator('[aria-current=step]').textContent(), { timeout: 30_000 }).toContain('PLAN')
    await takePictures(page, 'task-past')
    await page.getByRole('tab', { name: /^Changes/ }).click()
    await page.getByText(`0 changed paths at event ${denied?.seq}`).waitFor()
    await page.getByRole('button', { name: 'Back to now' }).click()
    await page.getByRole('region', { name: 'Changed lines of test/sum.test.js' }).waitFor()
    expect(page.url()).toContain('tab=changes')
  })

  it('[REQ-DASH-TASK-7] tabs by keys: changes with signs, evidence by version, the prompt, the terminal', async () => {
    await page.goto('/tasks/walk')
    await page.getByRole('tab', { name: /^Timeline/ }).waitFor()
    await page.keyboard.press('2')
    await page
      .getByRole('region', { name: 'Changed lines of test/sum.test.js' })
      .getByText('+', { exact: true })
      .waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePictures(page, 'task-changes')
    await page.keyboard.press('3')
    await page
      .getByRole('button', { name: /plan_document/ })
      .first()
      .click()
    await page.getByText(PLAN.title).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePictures(page, 'task-evidence')
    await page.keyboard.press('4')
    await page.getByText('Next step:').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePictures(page, 'task-prompt')
    await page.keyboard.press('5')
    await page.getByText('Phaselock did not start agent-walk').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.press('u')
    await page.waitForURL('**/board')
  })

  it('[REQ-DASH-TASK-8] actions say what they will do: pause, resume, rewind, reassign, cancel', async () => {
    await page.goto('/tasks/walk')
    const act = async (button: string, confirm: string, says: RegExp): Promise<void> => {
      await page.getByRole('button', { name: button }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText(says).waitFor()
      await dialog.getByLabel('Reason').fill('a test of the page')
      await dialog.getByRole('button', { name: confirm }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    await act('Pause…', 'Pause', /refused until you resume/)
    expect(await agent.use('grep', { pattern: 'x' })).toMatchObject({ body: { code: 'task_not_active' } })
    await page.getByText('Parked: a test of the page').waitFor()
    await takePictures(page, 'task-parked')
    await act('Resume…', 'Resume', /goes on in TDD/)
    await act('Rewind…', 'Rewind to PLAN', /every token with them/)
    await page.getByText('Rewound').waitFor()
    await act('Reassign…', 'Reassign', /can claim it/)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: /Cancel/ }).click()
    await page.getByRole('dialog').getByText('ends for good').waitFor()
    await takePictures(page, 'task-dialog')
    await page.keyboard.press('Escape')
    expect((await stage.server.call('GET', '/tasks/walk', stage.server.operator)).body.status).toBe('queued')
    expect(stage.complaints).toEqual([])
  })
})
