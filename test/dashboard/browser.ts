import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import AxeSource, { type AxeResults } from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { makePlace, type Place, type Served, serve } from '../e2e/process.js'

const KNOWN = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
]
const STEP_MS_MAX = 25_000

/** Where pictures go, when they are asked for. */
const PICTURES = process.env.PHASELOCK_PICTURES

let found: string | null | undefined

/** The path of a Chromium, or null. `npm test` installs one where it can. */
export function findBrowser(): string | null {
  if (found !== undefined) return found
  const given = process.env.PHASELOCK_CHROMIUM
  found = [...(given === undefined ? [] : [given]), ...KNOWN].find((path) => existsSync(path)) ?? null
  if (found === null)
    process.stderr.write(
      'No browser: the dashboard is NOT tested. Install chromium, or name one with PHASELOCK_CHROMIUM.\n',
    )
  return found
}

/** A server of its own, and a browser to look at it. */
export interface Stage {
  readonly place: Place
  readonly url: string
  readonly browser: Browser
  server: Served
  /** What pages complained about: errors, refused loads, requests to elsewhere. */
  readonly complaints: string[]
  /** A browser of its own, logged in with a one-time code. */
  logIn(options?: Parameters<Browser['newContext']>[0]): Promise<Page>
  /** A browser of its own, not logged in. */
  open(options?: Parameters<Browser['newContext']>[0]): Promise<Page>
  /** A link that logs in once. */
  makeLink(): Promise<string>
  /** Stops the server and starts it again on the same port and state. */
  restart(): Promise<void>
  close(): Promise<void>
}

interface StageOptions {
  readonly contract?: string
  /** Instead of `contract`: a file that `prepare` wrote, below the directory of the place. */
  readonly contractFile?: string
  readonly environment?: NodeJS.ProcessEnv
  /** More options of `serve`. */
  readonly args?: readonly string[]
  /** Called with the place before the server starts. */
  readonly prepare?: (place: Place) => void
}

/** Starts a server with `bin/phaselock` and a browser. */
export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const place = await makePlace()
  options.prepare?.(place)
  const contract = options.contractFile === undefined ? options.contract : join(place.dir, options.contractFile)
  const start = (): Promise<Served> => serve(place, contract ?? 'tdd', options.environment, options.args)
  const [server, browser] = await Promise.all([start(), launchBrowser()])
  const url = `http://localhost:${place.port}`
  const complaints: string[] = []
  const stage: Stage = {
    ...{ place, url, browser, server, complaints },
    open: async (context = {}) => {
      const made = await browser.newContext({ baseURL: url, ...context })
      return watchPage(await made.newPage(), url, complaints)
    },
    logIn: async (context) => {
      const page = await stage.open(context)
      await page.goto(await stage.makeLink())
      await page.getByRole('navigation', { name: 'Pages' }).first().waitFor({ state: 'attached' })
      return page
    },
    makeLink: async () => {
      const { body } = await stage.server.call('POST', '/login/codes', stage.server.operator, {})
      return `${url}/login#code=${String(body.code)}`
    },
    restart: async () => {
      await stage.server.stop()
      stage.server = await start()
    },
    close: async () => {
      await browser.close()
      await stage.server.stop()
      place.remove()
    },
  }
  return stage
}

export function launchBrowser(): Promise<Browser> {
  const executablePath = findBrowser()
  if (executablePath === null) throw new Error('there is no browser; ask findBrowser first')
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

/** Notes what a page complains about. */
export function watchPage(page: Page, url: string, complaints: string[]): Page {
  page.setDefaultTimeout(STEP_MS_MAX)
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('console', (message) => {
    const text = message.text()
    // A browser reports every refusal of the server; those that a test provokes are its own business.
    if (message.type() === 'error' && !/Failed to load resource|net::ERR_/.test(text))
      complaints.push(`console: ${text}`)
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:'))
      complaints.push(`request: ${request.url()}`)
  })
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  return page
}

/** Gives a page Chromium's own authenticator, which says yes at once. */
export async function addAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  })
}

/** Serious and critical findings of axe, each with where it is. */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  await page.evaluate(AxeSource.source)
  const { violations } = await page.evaluate<AxeResults>("axe.run(document, { resultTypes: ['violations'] })")
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    )
}

const WIDTHS = [
  { width: 1440, height: 1000 },
  { width: 1024, height: 900 },
  { width: 390, height: 844 },
] as const

/** Takes pictures of a page in all widths, light and dark, when PHASELOCK_PICTURES names a folder. */
export async function takePictures(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return
  mkdirSync(PICTURES, { recursive: true })
  for (const size of WIDTHS)
    for (const theme of ['light', 'dark'] as const) {
      await page.setViewportSize(size)
      await page.emulateMedia({ colorScheme: theme })
      await page.screenshot({ path: join(PICTURES, `${name}-${size.width}-${theme}.png`), animations: 'disabled' })
    }
  await page.setViewportSize(WIDTHS[0])
}

/** The whole page does not scroll sideways. */
export function findOverflow(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')
}

export type { BrowserContext, Page }
