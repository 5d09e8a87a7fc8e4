import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { git, makeRepository } from '../e2e/projects.js'
import { AGENT } from '../spawn/agent.js'
import { contractWith } from '../spawn/stage.js'
import { findBarriers, findBrowser, openStage, type Page, type Stage, takePictures } from './browser.js'

const ESCAPES = '\u001b[31mred\u001b[0m <img src=x onerror=document.title=1> \u202eturned'

describe.skipIf(findBrowser() === null)('started agents, and how tasks end', () => {
  let stage: Stage
  let page: Page
  let program = ''

  beforeAll(async () => {
    stage = await openStage({
      prepare: ({ dir, workspace }) => {
        makeRepository(workspace, { 'a.txt': 'a\n' })
        git(workspace, 'branch', '-M', 'main')
        mkdirSync(join(dir, 'program'))
        program = join(dir, 'program', 'agent.mjs')
        writeFileSync(program, AGENT)
        writeFileSync(join(dir, 'contract.yaml'), contractWith())
      },
      contractFile: 'contract.yaml',
    })
    page = await stage.logIn()
  }, 120_000)
  afterAll(() => stage?.close())
  afterEach(() => expect(stage.complaints.splice(0)).toEqual([]))

  const call = (method: string, path: string, body?: object) =>
    stage.server.call(method, path, stage.server.operator, body)
  const spawn = async (id: string, words: readonly string[]): Promise<string> => {
    const { status, body } = await call('POST', '/agents/spawn', {
      ...{ harness: 'command', command: 'node', args: [program, ...words], task: { title: `Do ${id}`, id } },
    })
    expect(status, JSON.stringify(body)).toBe(201)
    return String(body.agent_id)
  }
  const act = async (item: string, confirm: string, ticks: readonly string[] = []): Promise<void> => {
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: item }).click()
    const dialog = page.getByRole('dialog')
    for (const tick of ticks) await dialog.getByLabel(tick).check()
    await dialog.getByLabel('Reason').fill('enough')
    await dialog.getByRole('button', { name: confirm }).click()
  }

  it('[REQ-PAGES-42] what a started agent writes is followed on its task and on its own page, as text', async () => {
    const agent = await spawn('spoken', ['claim', 'say:first words', 'sleep:6000', `say:${ESCAPES}`, 'beat'])
    await page.goto('/tasks/spoken?tab=terminal')
    await page.getByText('first words').waitFor()
    await page.getByText('is running').waitFor()
    // Live: written after the page was opened.
    await page.getByText('<img src=x onerror=document.title=1>').waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    await takePictures(page, 'task-terminal')
    await page.goto(`/agents/${agent}`)
    await page
      .getByRole('log', { name: `Output of ${agent}` })
      .getByText('first words')
      .waitFor()
    await page.getByText('<img src=x onerror=document.title=1>').waitFor()
    expect(await page.title()).toContain(agent)
    expect(await findBarriers(page)).toEqual([])
    await takePictures(page, 'agent-output')
  })

  it('[REQ-PAGES-42] it is stopped, its task parked, and the pages say so without a reload', async () => {
    const [agent] = (await call('GET', '/agents')).body.agents as readonly { agent_id: string }[]
    const watched = await page.context().newPage()
    await watched.goto('/tasks/spoken')
    await watched.getByRole('button', { name: 'Pause…' }).waitFor()
    await page.getByText('can then be claimed by others').waitFor()
    await page.getByLabel('Park its task').check()
    await page.getByText('is parked until somebody resumes it').waitFor()
    await page.getByLabel('Reason').fill('It talks too much')
    await page.getByRole('button', { name: `Stop ${agent?.agent_id}` }).click()
    await page.getByText('it has ended').waitFor()
    await page.getByRole('button', { name: /^Stop/ }).waitFor({ state: 'detached' })
    await watched.getByRole('button', { name: 'Resume…' }).waitFor()
    await watched.getByText('It talks too much').first().waitFor()
    expect((await call('GET', '/tasks/spoken')).body.status).toBe('parked')
    await watched.close()
  })

  it('[REQ-PAGES-43] a task is cancelled: it ends for good, and its page offers nothing more', async () => {
    await page.goto('/tasks/spoken')
    await act('Cancel…', 'Cancel the task')
    await page.getByText('Cancelled', { exact: true }).first().waitFor()
    expect((await call('GET', '/tasks/spoken')).body.status).toBe('cancelled')
    for (const name of ['Pause…', 'Resume…', 'Reassign…', 'Rewind…'])
      expect(await page.getByRole('button', { name }).count(), name).toBe(0)
    await page.getByRole('button', { name: 'More actions' }).click()
    expect(await page.getByRole('menuitem', { name: /^(Cancel|Merge)/ }).count()).toBe(0)
    await page.keyboard.press('Escape')
  })

  it('[REQ-PAGES-44] a merge that is refused changes nothing and says what to do; a proper one brings the work in', async () => {
    const { body } = await call('POST', '/tasks', { title: 'Write b', id: 'merged', worktree: true })
    writeFileSync(join(String(body.workspace), 'b.txt'), 'b\n')
    await page.goto('/tasks/merged')
    await act('Merge…', 'Merge')
    const dialog = page.getByRole('dialog')
    await dialog
      .getByText(/not completed/)
      .last()
      .waitFor()
    const head = git(stage.place.workspace, 'rev-parse', 'main')
    await takePictures(page, 'task-merge-refused')
    await page.keyboard.press('Escape')
    await act('Merge…', 'Merge', ['Merge although the task is not completed', 'Commit uncommitted changes first'])
    await dialog.waitFor({ state: 'detached' })
    expect(git(stage.place.workspace, 'rev-parse', 'main')).not.toBe(head)
    expect(readFileSync(join(stage.place.workspace, 'b.txt'), 'utf8')).toBe('b\n')
    await expect
      .poll(async () => JSON.stringify((await call('GET', '/tasks/merged')).body.worktree))
      .toContain('merged')
    await page
      .getByText(/Merged/)
      .first()
      .waitFor()
  })
})
