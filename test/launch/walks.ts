import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { depth } from '../depth.js'
import type { Script } from '../real-agents/model.js'
import { CODE, CODE_TEXT, honest, TEST } from '../real-agents/work.js'
import { Desk } from './desk.js'
import { sleep } from './terminal.js'
import { findReason, nameGroup, type TriedCli } from './tried-cli.js'

const RUN_MS_MAX = 400_000
const TASK = '"[[script:honest]] Sum up the prices of a cart"'
const BUNDLED = new URL('../../contracts/tdd.yaml', import.meta.url)
const ASKED = /go from PLAN to TDD/

let desk: Desk
async function openDesk({ found, act }: TriedCli, scripts: Readonly<Record<string, Script>>): Promise<Desk> {
  const acted = Object.entries(scripts).map(([name, script]) => [name, act(script)] as const)
  desk = await Desk.open(found.ok ? [found.program] : [], Object.fromEntries(acted))
  return desk
}

/** What people do and do not do while a session waits for them. */
export function describeWalks(cli: TriedCli): void {
  const reason = findReason(cli.found)
  describe.skipIf(reason !== null)(nameGroup(`phaselock ${cli.title}`, reason), () => {
    afterEach(() => desk.close())
    it(
      '[REQ-LAUNCH-5] an approval in the other terminal lets the waiting call go on, and the form decides nothing more',
      () => approveElsewhere(cli),
      RUN_MS_MAX,
    )
    it(
      '[REQ-LAUNCH-5] a rejection in the chat reaches the agent with its comment, and the session says where the task is',
      () => rejectInChat(cli),
      RUN_MS_MAX,
    )
    it(
      '[REQ-LAUNCH-6] a new task beside an unfinished one in the same work tree is asked about',
      () => beginBeside(cli),
      RUN_MS_MAX,
    )
    it('[REQ-LAUNCH-6] a person who thinks longer than the lease loses nothing', () => thinkLong(cli), RUN_MS_MAX)
    it(
      '[REQ-LAUNCH-6] a killed CLI and a killed command are both taken up again; an open session keeps its task',
      () => killBoth(cli),
      RUN_MS_MAX,
    )
  })
}

async function beginBeside(cli: TriedCli): Promise<void> {
  const plan: Script = (talk) => (talk.step < 2 ? honest({ ...talk, phase: 'PLAN' }) : null)
  const desk = await openDesk(cli, { plan })
  const window = desk.window()
  await cli.start(window, '"[[script:plan]] Sum up the prices of a cart"')
  await cli.answer(window, 'approve')
  await window.shows(/Done\./)
  await window.enter(cli.leave)
  await window.shows(/is not completed: it is in TDD/)
  const task = await desk.taskId()
  await window.enter(`phaselock ${cli.name} "Something else"`)
  await window.shows(new RegExp(`Task ${task} is unfinished in this work tree, in TDD`))
  await window.shows(/Begin another task in the same work tree all the same\? \[y\/N\]/)
  await window.enter('')
  await window.shows(/Nothing was started\./)
  expect((await desk.get('/tasks')).tasks).toHaveLength(1)
}

async function approveElsewhere(cli: TriedCli): Promise<void> {
  const desk = await openDesk(cli, { honest })
  const window = desk.window()
  await cli.start(window, TASK)
  await window.shows(ASKED)
  expect(desk.phaselock('approve', await desk.approval(), '--yes')).toContain('is approved')
  const task = await desk.taskId()
  await desk.reaches(task, 'completed')
  await cli.answerLate(window)
  await window.shows(/Done\./)
  await window.enter(cli.leave)
  await window.shows(/is completed\./)
  expect(await desk.events(task, 'approval_decided')).toMatchObject([{ decision: 'approve', channel: 'cli' }])
}

async function rejectInChat(cli: TriedCli): Promise<void> {
  const desk = await openDesk(cli, { honest: (talk) => (talk.step < 2 ? honest(talk) : null) })
  const window = desk.window()
  await cli.start(window, TASK)
  await cli.answer(window, 'reject', 'Say what an empty cart costs')
  await window.shows(/Done\./)
  const result = desk.model.talks.at(-1)?.results.at(-1)
  expect(result?.text).toContain('Say what an empty cart costs')
  if (cli.tellsErrors) expect(result?.isError).toBe(true)
  await window.enter(cli.leave)
  await window.shows(/is not completed: it is in PLAN\./)
  await window.shows(new RegExp(`Go on with: phaselock ${cli.name} --task task-`))
}

async function thinkLong(cli: TriedCli): Promise<void> {
  const desk = await openDesk(cli, { honest })
  const contract = join(desk.dir, 'tdd.yaml')
  const bundled = readFileSync(BUNDLED, 'utf8').replace(/^enforcement:.*\n(?:[ ]+.*\n)*/m, '')
  writeFileSync(contract, `${bundled}\nenforcement: { lease_seconds: 10 }\n`)
  const window = desk.window()
  await cli.start(window, `${TASK} --contract ${contract}`)
  await window.shows(ASKED)
  const task = await desk.taskId()
  await sleep(depth(25_000, 150_000))
  await cli.answer(window, 'approve')
  await desk.reaches(task, 'completed')
  expect(desk.model.sent.join('\n')).not.toContain('moved to the background')
  expect(await desk.events(task, 'lease_lapsed')).toEqual([])
  await window.enter(cli.leave)
  await window.shows(/is completed\./)
}

async function killBoth(cli: TriedCli): Promise<void> {
  const desk = await openDesk(cli, { honest })
  const window = desk.window()
  await cli.start(window, TASK)
  await window.shows(ASKED)
  const task = await desk.taskId()
  const other = desk.window()
  await other.enter(`phaselock ${cli.name} --task ${task}`)
  await other.shows(/is open in another terminal/)
  desk.kill(cli.running)
  await window.shows(/is not completed: it is in PLAN and waits for your approval/)
  expect(desk.leftOver()).toEqual([])
  // What the killed CLI asked the terminal for may have been answered into the shell.
  window.press('C-c')
  await window.enter('clear')
  await cli.start(window, `--task ${task}`)
  await window.shows(ASKED)
  const before = (await desk.get(`/tasks/${task}`)).agent_id
  desk.kill(`phaselock ${cli.name} --task ${task}`)
  desk.kill(cli.running)
  await other.enter('clear')
  await cli.start(other, `--task ${task}`)
  await cli.answer(other, 'approve')
  expect((await desk.get(`/tasks/${task}`)).agent_id).toBe(before)
  await desk.reaches(task, 'completed')
  await other.enter(cli.leave)
  await other.shows(/is completed\./)
  expect(desk.leftOver()).toEqual([])
}

/** What happens to a session: its server is restarted, its conversation is emptied, another one works beside it. */
export function describeRestarts(cli: TriedCli): void {
  const reason = findReason(cli.found)
  describe.skipIf(reason !== null)(nameGroup(`phaselock ${cli.title}`, reason), () => {
    afterEach(() => desk.close())
    it('[REQ-LAUNCH-6] a server that is restarted in the middle is waited for', () => restartServer(cli), RUN_MS_MAX)
    it('[REQ-LAUNCH-6] the task goes on after compaction and after /clear', () => clearTalk(cli), RUN_MS_MAX)
    it(
      '[REQ-LAUNCH-6] two sessions work on two tasks of one repository, each in its own work tree',
      () => workBeside(cli),
      RUN_MS_MAX,
    )
  })
}

async function restartServer(cli: TriedCli): Promise<void> {
  let isRestarted = false
  const desk = await openDesk(cli, {
    honest: (talk) => {
      // After the plan was approved: the next call meets no server, and another one at another port a moment later.
      if (talk.step === 3 && !isRestarted) {
        isRestarted = true
        desk.phaselock('down')
        setTimeout(() => desk.phaselock('up', '--port', '0'), 3000)
      }
      return honest(talk)
    },
  })
  const window = desk.window()
  await cli.start(window, TASK)
  await cli.answer(window, 'approve')
  await window.shows(/Done\./)
  expect(isRestarted).toBe(true)
  await window.enter(cli.leave)
  await window.shows(/is completed\./)
}

async function clearTalk(cli: TriedCli): Promise<void> {
  const plan: Script = (talk) => (talk.step < 2 ? honest({ ...talk, phase: 'PLAN' }) : null)
  const desk = await openDesk(cli, { plan, honest })
  const window = desk.window()
  await cli.start(window, '"[[script:plan]] Sum up the prices of a cart"')
  await cli.answer(window, 'approve')
  await window.shows(/Done\./)
  await window.enter('/compact')
  await window.shows(/[Cc]ompacted/)
  await cli.clear(window)
  await window.enter('[[script:honest]] The task is in phase TDD. Go on.')
  await desk.reaches(await desk.taskId(), 'completed')
  await window.enter(cli.leave)
  await window.shows(/is completed\./)
  // The instructions of the session are there again.
  expect(desk.model.sent.at(-1)).toContain('Phaselock leads this session')
}

async function workBeside(cli: TriedCli): Promise<void> {
  const desk = await openDesk(cli, { honest })
  const [first, second] = [desk.window(), desk.window()]
  await cli.start(first, TASK)
  await first.shows(ASKED)
  await cli.start(second, `--worktree ${TASK}`)
  await second.shows(ASKED)
  await cli.answer(second, 'approve')
  await cli.answer(first, 'approve')
  const { tasks } = await desk.get('/tasks')
  const ids = (tasks as readonly { readonly id: string }[]).map(({ id }) => id)
  expect(ids).toHaveLength(2)
  for (const id of ids) await desk.reaches(id, 'completed')
  const trees = await Promise.all(ids.map(async (id) => (await desk.get(`/tasks/${id}`)).workspace))
  expect(new Set(trees).size).toBe(2)
  for (const window of [first, second]) {
    await window.shows(/Done\./)
    await window.enter(cli.leave)
    await window.shows(/is completed\./)
  }
}

/** From a fresh repository to a committed task, with the approval in the chat; `check` looks at what is special. */
export function describeWhole(cli: TriedCli, check: (desk: Desk) => void = () => undefined): void {
  const reason = findReason(cli.found)
  describe.skipIf(reason !== null)(nameGroup(`phaselock ${cli.title}`, reason), () => {
    afterEach(() => desk.close())
    it(
      '[REQ-LAUNCH-1] one command goes from a fresh repository to a committed task, with the approval in the chat',
      async () => check(await goWhole(cli)),
      RUN_MS_MAX,
    )
  })
}

async function goWhole(cli: TriedCli): Promise<Desk> {
  const desk = await openDesk(cli, { honest })
  desk.plantProjectSettings()
  const window = desk.window()
  await cli.start(window, TASK)
  await window.shows(new RegExp(`May the agent ${ASKED.source}`))
  // What its model did with own tools in PLAN left nothing.
  expect(desk.git('status', '--porcelain', '--ignored')).toBe('')
  await cli.answer(window, 'approve')
  const task = await desk.taskId()
  await desk.reaches(task, 'completed')
  await window.shows(/Done\./)
  if (cli.hasStatusLine === true) await window.shows(new RegExp(`Phaselock: completed · ${task}`))
  await window.enter(cli.leave)
  await window.shows(new RegExp(`Task ${task} is completed\\.`))
  expect(await desk.events(task, 'approval_decided')).toMatchObject([{ decision: 'approve', channel: 'in_chat' }])
  expect(desk.model.sent.join('\n')).toContain('This session was for one task.')
  expect(desk.read(CODE)).toBe(CODE_TEXT)
  expect(desk.git('show', '--name-only', '--format=%s', 'HEAD').trim().split('\n').sort()).toEqual(
    ['Sum up prices', '', CODE, TEST].sort(),
  )
  // Nothing was written into the repository, nothing stays behind, and the settings of others were not followed.
  expect(desk.git('status', '--porcelain', '--ignored')).toBe('')
  expect([desk.leftOver(), desk.ranPlanted]).toEqual([[], false])
  return desk
}
