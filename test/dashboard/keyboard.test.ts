import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeRepository } from '../e2e/projects.js'
import { PLAN, Walker } from '../e2e/walker.js'
import { findBrowser, openStage, type Page, type Stage } from './browser.js'

const STOPS_MAX = 80

/** Run in the page: where the focus is and whether it can be seen. */
const DESCRIBE_FOCUS = `(() => {
  const at = document.activeElement
  if (at === null || at === document.body) return { name: '', visible: false }
  const shown = at.id === 'main' ? document.querySelector('h1') : at
  const isRing = (element) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element)
    return (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1) || boxShadow.includes('inset')
  }
  const { width, height, top, bottom } = shown.getBoundingClientRect()
  const name = (at.getAttribute('aria-label') ?? at.labels?.[0]?.textContent ?? at.textContent ?? '').trim()
  return {
    tag: at.tagName.toLowerCase(),
    role: at.getAttribute('role'),
    name: name.replace(/\\s+/g, ' ').slice(0, 120),
    visible: (isRing(shown) || isRing(at.closest('.palette__in, .pick') ?? shown)) && width > 0 && height > 0,
    isOnScreen: bottom > 0 && top < innerHeight,
  }
})()`

interface Focus {
  readonly tag?: string
  readonly role?: string | null
  readonly name: string
  readonly visible: boolean
  readonly isOnScreen?: boolean
}

// No pointer and no focus() from here: whatever is reached is reached by keys.
describe.skipIf(findBrowser() === null)('with the keyboard alone', () => {
  let stage: Stage
  let page: Page
  let agent: Walker

  beforeAll(async () => {
    stage = await openStage({
      prepare: ({ workspace }) => {
        makeRepository(workspace, { 'package.json': '{"type":"module"}\n', 'notes.md': 'one\ntwo\n' })
      },
    })
    agent = await Walker.claim(stage.server, 'keyed')
    await agent.use('write_files', { files: [{ path: 'src/early.js', content: '1' }] })
    await agent.does('read_files', { paths: ['notes.md'] })
    await agent.does('grep', { pattern: 'two' })
    // Something to read as a diff; nobody explains it, and the operator will see that.
    writeFileSync(join(stage.place.workspace, 'docs.md'), 'a file that the agent has not written\n')
    page = await stage.logIn()
  }, 120_000)
  afterAll(() => stage?.close())

  const look = () => page.evaluate<Focus>(DESCRIBE_FOCUS)

  /** Presses a key until the focus is on something of this name; every stop has to be seen. */
  const tabTo = async (name: RegExp, key = 'Tab'): Promise<Focus> => {
    const stops: string[] = []
    for (let stop = 0; stop < STOPS_MAX; stop += 1) {
      await page.keyboard.press(key)
      const focus = await look()
      stops.push(`${focus.tag} ${focus.name}`)
      // From the last control the focus leaves the page for the browser's own bar, and comes back.
      if (focus.name === '' && focus.tag === undefined) continue
      expect(focus, `after ${stops.slice(-3).join(' > ')}`).toMatchObject({ visible: true, isOnScreen: true })
      if (name.test(focus.name)) return focus
    }
    throw new Error(`${key} never reached ${name}: ${stops.join(' > ')}`)
  }
  const expectFocus = (name: RegExp): Promise<void> =>
    expect
      .poll(async () => ((await look()).visible ? (await look()).name : 'nothing that can be seen'), {
        timeout: 10_000,
      })
      .toMatch(name)

  it('[REQ-DASH-6] the first Tab offers to skip to the content, and Enter does it', async () => {
    await page.reload()
    await page.getByText('Nothing waits for you').waitFor()
    await tabTo(/^Skip to the content$/)
    await page.keyboard.press('Enter')
    await tabTo(/^All$/)
  })

  it('[REQ-DASH-6] inbox: the approval is reached by Tab, and its page has the focus when it opens', async () => {
    expect(await agent.move('TDD', { plan_document: PLAN })).toMatchObject({ allowed: false })
    await page.getByText('Unexplained change').first().waitFor()
    await tabTo(/^Revert…$/)
    await page.keyboard.press('Enter')
    await expectFocus(/^Reason, for the ledger/)
    await page.keyboard.press('Escape')
    await expectFocus(/^Revert…/)
    await page.keyboard.press('Enter')
    await tabTo(/^Revert$/)
    await page.keyboard.press('Enter')
    // It was the only thing that waited: the focus goes to the content, not to nowhere.
    await page.getByText('Nothing waits for you').waitFor()
    await expectFocus(/^Inbox$/)
    await agent.move('TDD', { plan_document: PLAN })
    await page.getByText('Approve PLAN → TDD').waitFor()
    await tabTo(/^Review/)
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Your decision' }).waitFor()
    await expectFocus(/^Approval apr-/)
  })

  it('[REQ-DASH-6] approval: every part is read, approved with a comment, and what came of it has the focus', async () => {
    await page.getByText(PLAN.title).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    expect(await page.evaluate<number>('window.scrollY')).toBeGreaterThan(0)
    await page.keyboard.press('k')
    await tabTo(/^Approve…/)
    await page.keyboard.press('Enter')
    await expectFocus(/^Approve$/)
    await tabTo(/^Comment/, 'Shift+Tab')
    await page.keyboard.type('Read it all, a and r are letters here.')
    await tabTo(/^Not yet$/)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expectFocus(/^Approve…/)
    await page.keyboard.press('Enter')
    await tabTo(/^Comment/, 'Shift+Tab')
    await page.keyboard.type('Fine like this.')
    await page.keyboard.press('Control+Enter')
    await page.getByText('Approved: the agent may go on').waitFor()
    await expectFocus(/^Approved: the agent may go on/)
    await page.getByText('“Fine like this.”').waitFor()
    await agent.enters('TDD', { plan_document: PLAN })
    const decided = JSON.stringify((await stage.server.call('GET', '/approvals', stage.server.operator)).body)
    expect(decided).not.toContain('letters here')
  })

  it('[REQ-DASH-6] what is typed before the palette is loaded is found, and no letter acts on the page', async () => {
    const slow = await stage.logIn()
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await slow.route(/assets\/palette/, async (route) => {
      await held
      await route.continue()
    })
    await slow.goto('/board')
    await slow.getByRole('button', { name: /New task/ }).waitFor()
    await slow.keyboard.press('/')
    // Each of these would do something on this page: "n" makes a new task, "g i" goes to the inbox.
    await slow.keyboard.type('n g isu')
    for (let back = 0; back < 7; back += 1) await slow.keyboard.press('Backspace')
    await slow.keyboard.type('keyed')
    release()
    await slow.getByRole('option', { name: /Sum up keyed/ }).waitFor()
    expect(await slow.getByRole('combobox', { name: /^Find tasks/ }).inputValue()).toBe('keyed')
    expect(await slow.getByRole('dialog', { name: 'New task' }).count()).toBe(0)
    await slow.keyboard.type('!')
    expect(await slow.getByRole('combobox', { name: /^Find tasks/ }).inputValue()).toBe('keyed!')
    await slow.keyboard.press('Escape')
    expect(slow.url()).toContain('/board')
    await slow.close()
  })

  it('[REQ-DASH-6] task: found by the palette, walked through its timeline, back in time and by its tabs', async () => {
    await agent.does('write_files', { files: [{ path: 'test/sum.test.js', content: "test('sums', () => {})\n" }] })
    await page.keyboard.press('/')
    await expectFocus(/Find/)
    await page.keyboard.type('sum up keyed')
    await page.getByRole('option', { name: /Sum up keyed/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/tasks/keyed')
    await expectFocus(/^keyed$/)
    // The slider.
    await page.getByRole('slider').waitFor()
    await tabTo(/^Go back in time/)
    for (let steps = 0; steps < 3; steps += 1) await page.keyboard.press('ArrowLeft')
    await page.getByRole('button', { name: 'Back to now' }).waitFor()
    expect(page.url()).toContain('at=')
    await expectFocus(/^Go back in time/)
    await tabTo(/^Back to now$/)
    await page.keyboard.press('Enter')
    await expect.poll(() => page.url()).not.toContain('at=')
    await expectFocus(/^Go back in time/)
    // The tabs, by arrows: one stop for all of them.
    await tabTo(/^Timeline/)
    await page.keyboard.press('ArrowRight')
    await expectFocus(/^Changes/)
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Changed lines of test/sum.test.js' }).waitFor()
    await expectFocus(/^Changes/)
    await tabTo(/sum\.test\.js/)
    await page.keyboard.press('1')
    await page.getByRole('tab', { name: /^Timeline/, selected: true }).waitFor()
    await tabTo(/^Refusals/)
    await page.keyboard.press('Space')
    await page.getByText('forbidden_tool').first().waitFor()
    await tabTo(/^Raw event/)
    await page.keyboard.press('Enter')
    // The newest refusal is a gate that stayed closed.
    await page.getByText('"type": "gate_blocked"').first().waitFor()
    await expectFocus(/^Raw event/)
  })

  it('[REQ-DASH-6] an action opens and closes by keys, and gives the focus back', async () => {
    await tabTo(/^Pause…$/, 'Shift+Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Pause this task' }).waitFor()
    await tabTo(/^Reason/)
    await page.keyboard.type('Lunch')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expectFocus(/^Pause…$/)
    await tabTo(/^More actions$/)
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: /Cancel/ }).waitFor()
    await page.keyboard.press('Escape')
    await expectFocus(/^More actions$/)
    await page.keyboard.press('g')
    await page.keyboard.press('b')
    await page.waitForURL('**/board')
    await expectFocus(/^Board$/)
    expect(stage.complaints).toEqual([])
  })
})
