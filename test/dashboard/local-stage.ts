import type { Browser, Page } from 'playwright-core'
import { type Running, type StartOptions, start } from '../http/harness.js'
import { launchBrowser, watchPage } from './browser.js'

/** A server in this process, whose clock can be moved, and a browser to look at it. */
export interface LocalStage {
  readonly run: Running
  readonly url: string
  readonly browser: Browser
  readonly complaints: string[]
  /** A browser of its own, not logged in. */
  open(): Promise<Page>
  /** A browser of its own, logged in with a one-time code. */
  logIn(operator?: string): Promise<Page>
  /** The same with the code that the first start prints: this session may register the first passkey. */
  logInFirst(): Promise<Page>
  close(): Promise<void>
}

export async function openLocalStage(options: StartOptions = {}): Promise<LocalStage> {
  const [run, browser] = await Promise.all([start(options), launchBrowser()])
  const url = `http://localhost:${run.port}`
  const complaints: string[] = []
  const open = async (): Promise<Page> => {
    const context = await browser.newContext({ baseURL: url })
    return watchPage(await context.newPage(), url, complaints)
  }
  const enter = async (code: string): Promise<Page> => {
    const page = await open()
    await page.goto(`/login#code=${code}`)
    await page.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor()
    return page
  }
  return {
    ...{ run, url, browser, complaints, open },
    logIn: async (operator = run.operator) =>
      enter(String((await run.call('POST', '/login/codes', operator, {})).body.code)),
    logInFirst: () => enter(run.app.operators.codes.makeAtStart(true).code),
    close: async () => {
      await browser.close()
      await run.stop()
    },
  }
}
