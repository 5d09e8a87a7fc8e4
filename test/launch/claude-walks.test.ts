import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { claudeCode } from '../participants/real-agents.js'
import type { Script } from '../real-agents/model.js'
import { honest } from '../real-agents/work.js'
import { answerForm, Desk, hasTmux, sleep } from './terminal.js'

const RUN_MS_MAX = 400_000
const TASK = '[[script:honest]] Sum up the prices of a cart'
const BUNDLED = new URL('../../contracts/tdd.yaml', import.meta.url)
const found = claudeCode()
const reason = found.ok ? (hasTmux ? null : 'tmux is not installed') : found.reason
let desk: Desk
afterEach(() => desk.close())

async function openDesk(script: Script = honest): Promise<Desk> {
  desk = await Desk.open(found.ok ? [found.program] : [], { honest: script })
  return desk
}

describe.skipIf(reason !== null)(`phaselock claude${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  it(
    '[REQ-LAUNCH-5] an approval in the other terminal lets the waiting call go on, and the form decides nothing more',
    async () => {
      await openDesk()
      const window = desk.window()
      await window.enter(`phaselock claude "${TASK}"`)
      await window.shows(/go from PLAN to TDD/)
      expect(desk.phaselock('approve', await desk.approval(), '--yes')).toContain('is approved')
      const task = await desk.taskId()
      await desk.reaches(task, 'completed')
      await answerForm(window, 'reject')
      await window.shows(/Done\./)
      await window.enter('/exit')
      await window.shows(/is completed\./)
      expect(await desk.events(task, 'approval_decided')).toMatchObject([{ decision: 'approve', channel: 'cli' }])
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-LAUNCH-5] a rejection in the chat reaches the agent with its comment, and the session says where the task is',
    async () => {
      await openDesk((talk) => (talk.step < 2 ? honest(talk) : null))
      const window = desk.window()
      await window.enter(`phaselock claude "${TASK}"`)
      await answerForm(window, 'reject', 'Say what an empty cart costs')
      await window.shows(/Done\./)
      expect(desk.model.talks.at(-1)?.results.at(-1)).toMatchObject({
        isError: true,
        text: expect.stringContaining('Say what an empty cart costs'),
      })
      await window.enter('/exit')
      await window.shows(/is not completed: it is in PLAN\./)
      await window.shows(/Go on with: phaselock claude --task task-/)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-LAUNCH-6] a person who thinks longer than the lease loses nothing',
    async () => {
      await openDesk()
      const contract = join(desk.dir, 'tdd.yaml')
      writeFileSync(
        contract,
        `${readFileSync(BUNDLED, 'utf8').replace(/^enforcement:.*\n(?:[ ]+.*\n)*/m, '')}\nenforcement: { lease_seconds: 10 }\n`,
      )
      const window = desk.window()
      await window.enter(`phaselock claude "${TASK}" --contract ${contract}`)
      await window.shows(/go from PLAN to TDD/)
      const task = await desk.taskId()
      await sleep(25_000)
      await answerForm(window, 'approve')
      await desk.reaches(task, 'completed')
      expect(await desk.events(task, 'lease_lapsed')).toEqual([])
      await window.enter('/exit')
      await window.shows(/is completed\./)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-LAUNCH-6] a killed CLI and a killed command are both taken up again; an open session keeps its task',
    async () => {
      await openDesk()
      const window = desk.window()
      await window.enter(`phaselock claude "${TASK}"`)
      await window.shows(/go from PLAN to TDD/)
      const task = await desk.taskId()
      const other = desk.window()
      await other.enter(`phaselock claude --task ${task}`)
      await other.shows(/is open in another terminal/)
      desk.kill('claude.*--strict-mcp-config')
      await window.shows(/is not completed: it is in PLAN and waits for your approval/)
      expect(desk.leftOver()).toEqual([])
      await window.enter(`clear; phaselock claude --task ${task}`)
      await window.shows(/go from PLAN to TDD/)
      const before = (await desk.get(`/tasks/${task}`)).agent_id
      desk.kill(`phaselock claude --task ${task}`)
      desk.kill('claude.*--strict-mcp-config')
      await other.enter(`clear; phaselock claude --task ${task}`)
      await answerForm(other, 'approve')
      expect((await desk.get(`/tasks/${task}`)).agent_id).toBe(before)
      await desk.reaches(task, 'completed')
      await other.enter('/exit')
      await other.shows(/is completed\./)
      expect(desk.leftOver()).toEqual([])
    },
    RUN_MS_MAX,
  )
})
