import { afterEach, describe, expect, it } from 'vitest'
import { claudeCode } from '../participants/real-agents.js'
import type { Script } from '../real-agents/model.js'
import { honest } from '../real-agents/work.js'
import { answerForm, Desk, hasTmux, pressUntil, until } from './terminal.js'

const RUN_MS_MAX = 400_000
const found = claudeCode()
const reason = found.ok ? (hasTmux ? null : 'tmux is not installed') : found.reason
let desk: Desk
afterEach(() => desk.close())

async function openDesk(scripts: Readonly<Record<string, Script>>): Promise<Desk> {
  desk = await Desk.open(found.ok ? [found.program] : [], scripts)
  return desk
}

describe.skipIf(reason !== null)(`phaselock claude${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  it(
    '[REQ-LAUNCH-6] a server that is restarted in the middle is waited for',
    async () => {
      let isRestarted = false
      await openDesk({
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
      await window.enter('phaselock claude "[[script:honest]] Sum up the prices of a cart"')
      await answerForm(window, 'approve')
      await window.shows(/Done\./)
      expect(isRestarted).toBe(true)
      await window.enter('/exit')
      await window.shows(/is completed\./)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-LAUNCH-6] the task goes on after /clear and after compaction',
    async () => {
      await openDesk({ plan: (talk) => (talk.step < 2 ? honest({ ...talk, phase: 'PLAN' }) : null), honest })
      const window = desk.window()
      await window.enter('phaselock claude "[[script:plan]] Sum up the prices of a cart"')
      await answerForm(window, 'approve')
      await window.shows(/Done\./)
      await window.enter('/compact')
      await window.shows(/[Cc]ompacted/)
      await window.enter('/clear')
      await until(
        () => window.screen(),
        (screen) => !/Done\./.test(screen.slice(-400)),
      )
      await window.enter('[[script:honest]] The task is in phase TDD. Go on.')
      await desk.reaches(await desk.taskId(), 'completed')
      await window.enter('/exit')
      await window.shows(/is completed\./)
      // The instructions of the session are there again.
      expect(desk.model.sent.at(-1)).toContain('Phaselock leads this session')
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-LAUNCH-6] two sessions work on two tasks of one repository, each in its own work tree',
    async () => {
      await openDesk({ honest })
      const [first, second] = [desk.window(), desk.window()]
      await first.enter('phaselock claude "[[script:honest]] Sum up the prices of a cart"')
      await first.shows(/go from PLAN to TDD/)
      await second.enter('phaselock claude --worktree "[[script:honest]] Sum up the prices of another cart"')
      // A folder that Claude Code has not seen before.
      if (/Yes, I trust/.test(await second.shows(/Yes, I trust|go from PLAN to TDD/))) {
        await pressUntil(second, 'Down', (screen) => screen.includes('❯ Yes, I trust'))
        await pressUntil(second, 'Enter', (screen) => !screen.includes('Yes, I trust'))
      }
      await second.shows(/go from PLAN to TDD/)
      await answerForm(second, 'approve')
      await answerForm(first, 'approve')
      const { tasks } = await desk.get('/tasks')
      const ids = (tasks as readonly { readonly id: string }[]).map(({ id }) => id)
      expect(ids).toHaveLength(2)
      for (const id of ids) await desk.reaches(id, 'completed')
      const trees = await Promise.all(ids.map(async (id) => (await desk.get(`/tasks/${id}`)).workspace))
      expect(new Set(trees).size).toBe(2)
      for (const window of [first, second]) {
        await window.shows(/Done\./)
        await window.enter('/exit')
        await window.shows(/is completed\./)
      }
    },
    RUN_MS_MAX,
  )
})
