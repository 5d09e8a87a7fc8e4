// The dashboard in a browser: how soon a page shows something useful with many tasks and events, and how long its main
// thread is busy at a stretch while events stream in.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { fillLedger } from './fill-ledger.mjs'
import { line, median, round } from './measure.mjs'
import { claimed, phaselock, place } from './servers.mjs'

const BROWSERS = [process.env.PHASELOCK_CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome']
const RATE = 50
const PAINT_MS_MAX = 2000
const BUSY_MS_MAX = 200
/** A page that shows nothing for so long is a fault of its own, and named. */
const WAIT_MS_MAX = 60_000

/** What has to be there before a page is of use. */
const PAGES = {
  inbox: { path: '/', shows: '.doing, .rail .muted' },
  board: { path: '/board', shows: '.card' },
  'task with 10,000 events': { path: '/tasks/long', shows: '.tl li' },
  audit: { path: '/audit', shows: '.aud-line' },
  insights: { path: '/insights', shows: 'main .panel' },
}

export async function benchPages({ rounds, seconds, tasks, events, ledger }) {
  const executablePath = BROWSERS.find((path) => path !== undefined && existsSync(path))
  if (executablePath === undefined) return { skipped: 'no Chromium: install it, or name one with PHASELOCK_CHROMIUM' }
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
  try {
    return {
      lines: [
        ...(await measureMany({ browser, rounds, seconds, tasks, events })),
        ...(await measureLedger({ browser, rounds, ledger })),
      ],
    }
  } finally {
    await browser.close()
  }
}

/** Starts a server on a ledger that was filled before, and a browser that is logged in. */
async function openFilled(browser, fillings) {
  const at = place()
  await (await phaselock(at.dir)).stop()
  for (const filling of fillings) await fillLedger(join(at.dir, 'state'), { at: Date.now() - 3_600_000, ...filling })
  const server = await phaselock(at.dir)
  const { code } = await server.call('POST', '/login/codes', server.operator, {})
  const url = `http://localhost:${server.port}`
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1440, height: 1000 } })
  await context.addInitScript(WATCH_BUSY)
  const page = await context.newPage()
  await page.goto(`/login#code=${code}`)
  await page.locator('h1').first().waitFor()
  const close = async () => {
    await context.close()
    await server.stop()
    at.remove()
  }
  return { server, page, dir: at.dir, close }
}

// Chromium reports what keeps the main thread busy for more than 50 ms.
const WATCH_BUSY = `window.busy = []
new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) window.busy.push({ startTime, duration })
}).observe({ type: 'longtask', buffered: true })`

/** Milliseconds from the begin of the navigation until the page shows something useful. */
async function measurePaint(page, { path, shows }) {
  await page.goto(path, { waitUntil: 'commit', timeout: WAIT_MS_MAX })
  const found = await page.waitForFunction(
    (selector) => (document.querySelector(selector) === null ? null : { at: performance.now() }),
    shows,
    { polling: 'raf', timeout: WAIT_MS_MAX },
  )
  return (await found.jsonValue()).at
}

/** Lines that are said as soon as they are measured: a later part that fails takes none of them away. */
class Lines extends Array {
  push(...added) {
    for (const { name, value } of added) console.error(`  ${name}: ${value}`)
    return super.push(...added)
  }
}

async function measureMany({ browser, rounds, seconds, tasks, events }) {
  const lines = new Lines()
  const { server, page, dir, close } = await openFilled(browser, [
    { events, tasks },
    { events: 10_000, tasks: 1, name: () => 'long' },
  ])
  try {
    const agents = await claimed(server, 20)
    for (const [name, shown] of Object.entries(PAGES)) {
      const took = []
      for (let round = 0; round < rounds; round += 1) took.push(await measurePaint(page, shown))
      lines.push(
        line(`${name}: first useful paint, ${tasks} tasks and ${events + 10_000} events, against 2 s`, {
          ...{ value: `${round(median(took))} ms`, baseline: `${PAINT_MS_MAX} ms` },
          ...{ ratio: round(median(took) / PAINT_MS_MAX), goal: '≤ 1' },
        }),
      )
    }
    for (const [name, shown] of Object.entries(PAGES)) {
      await measurePaint(page, shown)
      // What loading the page takes is not what is asked here.
      await page.waitForTimeout(2000)
      await page.evaluate('window.busy = []')
      await sendCalls(server, agents, seconds)
      const busy = await page.evaluate('window.busy.map(({ duration }) => duration)')
      const longest = Math.max(0, ...busy)
      lines.push(
        line(`${name}: longest task on the main thread with ${RATE} events a second, against 200 ms`, {
          ...{ value: `${round(longest)} ms (${busy.length} over 50 ms)`, baseline: `${BUSY_MS_MAX} ms` },
          ...{ ratio: round(longest / BUSY_MS_MAX), goal: '≤ 1' },
        }),
      )
    }
    lines.push(await measureApproval(server, page, join(dir, 'own')))
  } finally {
    await close()
  }
  return lines
}

/** Calls of agents at a steady rate: each is one event. */
async function sendCalls(server, agents, seconds) {
  const running = []
  for (let index = 0; index < RATE * seconds; index += 1) {
    const { taskId, token } = agents[index % agents.length]
    const body = { task_id: taskId, tool_name: 'read_files', args: { path: `src/${index}.ts` } }
    running.push(server.call('POST', '/tools/check', token, body))
    await new Promise((resolve) => setTimeout(resolve, 1000 / RATE))
  }
  await Promise.all(running)
}

const PLAN = {
  title: 'A plan that is long enough',
  acceptance_criteria: [{ id: 'AC1', criterion: 'It works as it is described', how_to_verify: 'a unit test' }],
  implementation_steps: ['write it'],
  scope: { in_scope: ['all'], out_of_scope: ['nothing'] },
}

/** From the click that approves until the agent, which asks ten times a second, is let through. */
async function measureApproval(server, page, workspace) {
  mkdirSync(workspace)
  const task = await server.call('POST', '/tasks', server.operator, { title: 'Approve it', workspace })
  const { agent_token: agent } = await server.call('POST', '/agents', server.operator, { agent_id: 'asks' })
  const { phase_token: token } = await server.call('POST', '/tasks/claim', agent, {
    agent_id: 'asks',
    task_id: task.id,
  })
  const body = { task_id: task.id, target_phase: 'TDD', artifacts: { plan_document: PLAN } }
  const ask = () => server.call('POST', '/tasks/transition', token, body)
  let asked = await ask()
  while (asked.checking === true) asked = await ask()
  const { pending_approval: pending } = asked
  if (pending === undefined) throw new Error(JSON.stringify(asked))
  await page.goto(`/approvals/${pending.id}`)
  await page.getByRole('button', { name: 'Approve…' }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click()
  const began = performance.now()
  while ((await ask()).allowed !== true) {
    if (performance.now() - began > WAIT_MS_MAX) throw new Error('the agent was not let go on')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const took = performance.now() - began
  return line('an approval given in the browser lets the agent go on, against 1 s', {
    ...{ value: `${round(took)} ms`, baseline: '1000 ms', ratio: round(took / 1000), goal: '≤ 1' },
  })
}

async function measureLedger({ browser, rounds, ledger }) {
  const name = (number) => (number === 0 ? 'oldest-of-all' : `fill-${number}`)
  const { page, close } = await openFilled(browser, [{ events: ledger, tasks: ledger / 100, name }])
  const lines = new Lines()
  const add = (name, took, most) =>
    lines.push(
      line(`audit with ${ledger} events: ${name}, against ${most / 1000} s`, {
        ...{
          value: `${round(median(took))} ms`,
          baseline: `${most} ms`,
          ratio: round(median(took) / most),
          goal: '≤ 1',
        },
      }),
    )
  try {
    const some = '.aud-line'
    // Says how far it is until all was searched.
    const progress = '.aud-progress, .aud-line'
    const searches = {
      'inbox, first useful paint': { path: '/', shows: PAGES.inbox.shows },
      'first useful paint': { path: '/audit', shows: some },
      'one type of event': { path: '/audit?type=task_created', shows: some },
      'one task': { path: '/audit?task_id=fill-7', shows: some },
      'one agent': { path: '/audit?agent_id=a', shows: some },
      'a word that is everywhere': { path: '/audit?q=main.ts', shows: some },
      'a word that is nowhere, until it says how far it is': { path: '/audit?q=nowhere', shows: progress },
      'a word that only the oldest event has, until it is found': { path: '/audit?q=oldest-of-all', shows: some },
    }
    for (const [name, shown] of Object.entries(searches)) {
      const took = []
      for (let round = 0; round < rounds; round += 1) took.push(await measurePaint(page, shown))
      add(name, took, PAINT_MS_MAX)
    }
    await measurePaint(page, PAGES.audit)
    // What loading the page takes is not what is asked here.
    await page.waitForTimeout(2000)
    await page.evaluate('window.busy = []')
    for (let pages = 0; pages < 20; pages += 1) {
      await page.mouse.wheel(0, 4000)
      await page.waitForTimeout(150)
    }
    const busy = await page.evaluate('window.busy.map(({ duration }) => duration)')
    add('longest task on the main thread while it is scrolled', [Math.max(0, ...busy)], BUSY_MS_MAX)
  } finally {
    await close()
  }
  return lines
}
