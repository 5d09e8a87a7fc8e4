import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { codex } from '../participants/real-agents.js'
import type { Script } from '../real-agents/model.js'
import { honest } from '../real-agents/work.js'
import { answerCodexForm, CODEX_MODELS, openCodex } from './codex-session.js'
import { Desk, hasTmux, pressUntil, sleep } from './terminal.js'

const RUN_MS_MAX = 400_000
const TASK = '"[[script:honest]] Sum up the prices of a cart"'
const BUNDLED = new URL('../../contracts/tdd.yaml', import.meta.url)
const RUNNING = 'codex.*mcp_servers.phaselock'
const found = codex()
const reason = found.ok ? (hasTmux ? null : 'tmux is not installed') : found.reason
let desk: Desk
afterEach(() => desk.close())

async function openDesk(scripts: Readonly<Record<string, Script>>): Promise<Desk> {
  desk = await Desk.open(found.ok ? [found.program] : [], scripts)
  return desk
}

const title = `phaselock codex with $0${reason === null ? '' : ` (skipped: ${reason})`}`
describe.skipIf(reason !== null).each(CODEX_MODELS)(title, (model, act) => {
  it(
    '[REQ-LAUNCH-5] an approval in the other terminal lets the waiting call go on, and the form decides nothing more',
    async () => {
      await openDesk({ honest: act(honest) })
      const window = desk.window()
      await openCodex(window, TASK, model)
      await window.shows(/go from PLAN to TDD/)
      expect(desk.phaselock('approve', await desk.approval(), '--yes')).toContain('is approved')
      const task = await desk.taskId()
      await desk.reaches(task, 'completed')
      await pressUntil(window, 'Escape', (screen) => !/esc to cancel/.test(screen))
      await window.shows(/Done\./)
      await window.enter('/quit')
      await window.shows(/is completed\./)
      expect(await desk.events(task, 'approval_decided')).toMatchObject([{ decision: 'approve', channel: 'cli' }])
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-LAUNCH-5] a rejection in the chat reaches the agent with its comment, and the session says where the task is',
    async () => {
      await openDesk({ honest: act((talk) => (talk.step < 2 ? honest(talk) : null)) })
      const window = desk.window()
      await openCodex(window, TASK, model)
      await answerCodexForm(window, 'reject', 'Say what an empty cart costs')
      await window.shows(/Done\./)
      expect(desk.model.talks.at(-1)?.results.at(-1)?.text).toContain('Say what an empty cart costs')
      await window.enter('/quit')
      await window.shows(/is not completed: it is in PLAN\./)
      await window.shows(/Go on with: phaselock codex --task task-/)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-LAUNCH-6] a person who thinks longer than the lease loses nothing',
    async () => {
      await openDesk({ honest: act(honest) })
      const contract = join(desk.dir, 'tdd.yaml')
      const bundled = readFileSync(BUNDLED, 'utf8').replace(/^enforcement:.*\n(?:[ ]+.*\n)*/m, '')
      writeFileSync(contract, `${bundled}\nenforcement: { lease_seconds: 10 }\n`)
      const window = desk.window()
      await openCodex(window, `${TASK} --contract ${contract}`, model)
      await window.shows(/go from PLAN to TDD/)
      const task = await desk.taskId()
      await sleep(25_000)
      await answerCodexForm(window, 'approve')
      await desk.reaches(task, 'completed')
      expect(await desk.events(task, 'lease_lapsed')).toEqual([])
      await window.enter('/quit')
      await window.shows(/is completed\./)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-LAUNCH-6] a killed CLI and a killed command are both taken up again; an open session keeps its task',
    async () => {
      await openDesk({ honest: act(honest) })
      const window = desk.window()
      await openCodex(window, TASK, model)
      await window.shows(/go from PLAN to TDD/)
      const task = await desk.taskId()
      const other = desk.window()
      await other.enter(`phaselock codex --task ${task}`)
      await other.shows(/is open in another terminal/)
      desk.kill(RUNNING)
      await window.shows(/is not completed: it is in PLAN and waits for your approval/)
      expect(desk.leftOver()).toEqual([])
      window.press('C-c')
      await window.enter('clear')
      await openCodex(window, `--task ${task}`, model)
      await window.shows(/go from PLAN to TDD/)
      const before = (await desk.get(`/tasks/${task}`)).agent_id
      desk.kill(`phaselock codex --task ${task}`)
      desk.kill(RUNNING)
      await other.enter('clear')
      await openCodex(other, `--task ${task}`, model)
      await answerCodexForm(other, 'approve')
      expect((await desk.get(`/tasks/${task}`)).agent_id).toBe(before)
      await desk.reaches(task, 'completed')
      await other.enter('/quit')
      await other.shows(/is completed\./)
      expect(desk.leftOver()).toEqual([])
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-LAUNCH-6] a server that is restarted in the middle is waited for',
    async () => {
      let isRestarted = false
      const script: Script = (talk) => {
        // After the plan was approved: the next call meets no server, and another one at another port a moment later.
        if (talk.step === 3 && !isRestarted) {
          isRestarted = true
          desk.phaselock('down')
          setTimeout(() => desk.phaselock('up', '--port', '0'), 3000)
        }
        return honest(talk)
      }
      await openDesk({ honest: act(script) })
      const window = desk.window()
      await openCodex(window, TASK, model)
      await answerCodexForm(window, 'approve')
      await window.shows(/Done\./)
      expect(isRestarted).toBe(true)
      await window.enter('/quit')
      await window.shows(/is completed\./)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-LAUNCH-6] the task goes on after compaction and after /clear',
    async () => {
      await openDesk({
        plan: act((talk) => (talk.step < 2 ? honest({ ...talk, phase: 'PLAN' }) : null)),
        honest: act(honest),
      })
      const window = desk.window()
      await openCodex(window, '"[[script:plan]] Sum up the prices of a cart"', model)
      await answerCodexForm(window, 'approve')
      await window.shows(/Done\./)
      await window.enter('/compact')
      await window.shows(/[Cc]ompacted/)
      await window.enter('/clear')
      await sleep(3000)
      await window.enter('[[script:honest]] The task is in phase TDD. Go on.')
      await desk.reaches(await desk.taskId(), 'completed')
      await window.enter('/quit')
      await window.shows(/is completed\./)
      // The instructions of the session are there again.
      expect(desk.model.sent.at(-1)).toContain('Phaselock leads this session')
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-LAUNCH-6] two sessions work on two tasks of one repository, each in its own work tree',
    async () => {
      await openDesk({ honest: act(honest) })
      const [first, second] = [desk.window(), desk.window()]
      await openCodex(first, TASK, model)
      await first.shows(/go from PLAN to TDD/)
      await openCodex(second, `--worktree ${TASK}`, model)
      await second.shows(/go from PLAN to TDD/)
      await answerCodexForm(second, 'approve')
      await answerCodexForm(first, 'approve')
      const { tasks } = await desk.get('/tasks')
      const ids = (tasks as readonly { readonly id: string }[]).map(({ id }) => id)
      expect(ids).toHaveLength(2)
      for (const id of ids) await desk.reaches(id, 'completed')
      const trees = await Promise.all(ids.map(async (id) => (await desk.get(`/tasks/${id}`)).workspace))
      expect(new Set(trees).size).toBe(2)
      for (const window of [first, second]) {
        await window.shows(/Done\./)
        await window.enter('/quit')
        await window.shows(/is completed\./)
      }
    },
    RUN_MS_MAX,
  )
})
