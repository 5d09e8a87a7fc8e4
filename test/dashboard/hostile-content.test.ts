import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PLAN, Walker } from '../e2e/walker.js'
import { findBrowser, findOverflow, openStage, type Page, type Stage, takePictures } from './browser.js'

const HOSTILE = [
  '<script>window.hacked = 1</script>',
  '<img src="https://elsewhere.example/x.png" onerror="window.hacked = 1">',
  '[click](javascript:window.hacked=1) ![picture](https://elsewhere.example/p.png) <https://elsewhere.example/>',
  '<svg onload="window.hacked = 1"><a href="https://elsewhere.example">x</a></svg>',
  '\u001b[31mred\u001b[0m \u001b]8;;https://elsewhere.example\u0007link\u001b]8;;\u0007',
  'left\u202eright\u200b\u2066\ufeff',
].join('\n\n')
const LONG_LINE = 'x'.repeat(1_000_000)
/** A longer diff is printed in part. */
const PRINTED_LINES = 5000
const LINES = 100_000

/** Run in the page: the addresses of links that lead elsewhere. */
const FOREIGN_LINKS = `[...document.querySelectorAll('main a')]
  .map((link) => link.getAttribute('href') ?? '')
  .filter((href) => !/^[/#]/.test(href) || href.startsWith('//'))`

describe.skipIf(findBrowser() === null)('hostile content of agents', () => {
  let stage: Stage
  let page: Page
  let agent: Walker
  let approval: string

  beforeAll(async () => {
    stage = await openStage({ prepare: ({ workspace }) => writeFileSync(join(workspace, 'README.md'), 'one\n') })
    agent = await Walker.claim(stage.server, 'hostile', { title: 'A <b>title</b> with \u202e turned text' })
    await agent.use('bash', { command: `echo '${HOSTILE.replaceAll("'", '')}'` })
    await agent.does('ask_user_question', { question: HOSTILE, options: ['<i>yes</i>', 'no\u202e'] })
    const asked = await agent.move('TDD', {
      plan_document: {
        ...PLAN,
        title: HOSTILE.slice(0, 150),
        implementation_steps: [HOSTILE, LONG_LINE.slice(0, 200_000)],
      },
    })
    approval = (asked.pending_approval as { id: string }).id
    page = await stage.logIn()
  }, 180_000)
  afterAll(() => stage?.close())

  const expectHarmless = async (): Promise<void> => {
    expect(await page.evaluate('window.hacked')).toBe(undefined)
    expect(await page.locator('main img, main svg a, main script, main iframe').count()).toBe(0)
    expect(await page.evaluate(FOREIGN_LINKS)).toEqual([])
    expect(await findOverflow(page)).toBe(0)
    expect(stage.complaints).toEqual([])
  }

  it('[REQ-DASH-TASK-9] an approval shows it as text: markup, links, colours and turned text by their codes', async () => {
    await page.goto(`/approvals/${approval}`)
    await page.getByText('<script>window.hacked = 1</script>').first().waitFor()
    await page.getByText('U+202E').first().waitFor()
    await page.getByText('javascript:window.hacked=1').first().waitFor()
    await expectHarmless()
    await takePictures(page, 'approval-hostile')
  })

  it('[REQ-DASH-TASK-10] so do the timeline, the question and the evidence of the task', async () => {
    await page.goto('/tasks/hostile')
    await page.getByRole('region', { name: 'Question' }).getByText('<script>window.hacked = 1</script>').waitFor()
    await page.getByRole('button', { name: '<i>yes</i>' }).waitFor()
    await expectHarmless()
    await takePictures(page, 'task-hostile')
    await page.keyboard.press('3')
    await page
      .getByRole('button', { name: /plan_document/ })
      .first()
      .click()
    await page.getByText('window.hacked = 1').first().waitFor()
    await expectHarmless()
  })

  it('[REQ-DASH-TASK-10] megabytes in titles, questions, options and reasons are cut aloud in the inbox', async () => {
    const other = await Walker.claim(stage.server, 'loud', { workspace: mkdtempSync(join(stage.place.dir, 'loud-')) })
    const long = LONG_LINE.slice(0, 9000)
    const asked = await other.use('ask_user_question', {
      question: `${HOSTILE} ${LONG_LINE}`,
      options: [LONG_LINE, 'b'],
    })
    if (asked.status !== 200)
      await other.does('ask_user_question', { question: `${HOSTILE} ${long}`.slice(0, 4000), options: ['a', 'b'] })
    await other.use('write_files', { files: [{ path: LONG_LINE, content: LONG_LINE }] })
    const reason = `${HOSTILE} ${LONG_LINE}`.slice(0, 2000)
    await stage.server.call('POST', '/tasks/loud/park', stage.server.operator, { reason })
    await page.goto('/')
    await page.locator('.item').filter({ hasText: 'loud' }).filter({ hasText: 'Parked' }).waitFor()
    await page.getByText('<script>window.hacked = 1</script>').first().waitFor()
    await expectHarmless()
    for (const item of await page.locator('.item').all())
      expect((await item.boundingBox())?.height ?? 0).toBeLessThan(900)
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await findOverflow(page)).toBe(0)
    await takePictures(page, 'inbox-hostile')
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto('/board')
    await page.locator('.card').first().waitFor()
    await expectHarmless()
  })

  it('[REQ-DASH-TASK-11] a diff of 100,000 lines and a line of a megabyte never freeze the page', async () => {
    const decided = await stage.server.call('GET', `/approvals/${approval}`, stage.server.operator)
    await stage.server.call('POST', `/approvals/${approval}/decision`, stage.server.operator, {
      ...{ decision: 'approve', digest: decided.body.digest },
    })
    const steps = {
      ...PLAN,
      title: HOSTILE.slice(0, 150),
      implementation_steps: [HOSTILE, LONG_LINE.slice(0, 200_000)],
    }
    await agent.enters('TDD', { plan_document: steps })
    // Written beside the agent: the page has to show what is in the tree, explained or not.
    const { workspace } = stage.place
    writeFileSync(join(workspace, 'long.test.js'), `${LONG_LINE}\n${HOSTILE}\n`)
    const lines = Array.from({ length: LINES }, (_, index) => `line ${index}`)
    writeFileSync(join(workspace, 'many.test.js'), lines.join('\n'))
    await page.goto('/tasks/hostile?tab=changes')
    const many = page.getByRole('article').filter({ hasText: 'many.test.js' })
    await many.waitFor()
    const load = many.getByRole('button', { name: 'Show this file' })
    if ((await load.count()) > 0) await load.click()
    await many.getByText('line 0', { exact: true }).waitFor()
    const shown = page.locator('.diff tr[aria-rowindex]')
    expect(await shown.count()).toBeLessThan(1000)
    // On paper nothing can be scrolled to. The page may be laid out just then, and sees for itself that it is printed.
    await page.evaluate("window.layingOut = setInterval(() => window.dispatchEvent(new Event('resize')), 1)")
    for (let time = 0; time < 3; time += 1) {
      await page.emulateMedia({ media: 'print' })
      await expect.poll(() => shown.count()).toBeGreaterThanOrEqual(PRINTED_LINES)
      await page.emulateMedia({ media: 'screen' })
      await expect.poll(() => shown.count()).toBeLessThan(1000)
    }
    await page.evaluate('clearInterval(window.layingOut)')
    await page.getByRole('article').filter({ hasText: 'long.test.js' }).waitFor()
    await expectHarmless()
    await page.getByText('No allowed call wrote this.').first().waitFor()
    await takePictures(page, 'changes-hostile')
    // The page still answers: a key pressed now is acted on.
    await page.keyboard.press('1')
    await page.getByRole('tab', { name: /^Timeline/, selected: true }).waitFor()
  })
})
