import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { answerCodexForm } from '../launch/codex-session.js'
import { Desk } from '../launch/desk.js'
import { hasTmux } from '../launch/terminal.js'
import { codex } from '../participants/real-agents.js'
import type { Script } from '../real-agents/model.js'
import { CODE, CODE_TEXT, call, honest, own } from '../real-agents/work.js'

const RUN_MS_MAX = 300_000
const found = codex()
const reason = found.ok ? (hasTmux ? null : 'tmux is not installed') : found.reason
let desk: Desk | null = null
afterEach(() => {
  desk?.close()
  desk = null
})

const FIRST = [
  own('exec_command', { cmd: 'touch evil' }),
  call('begin_task', { title: 'Sum up the prices of a cart' }),
  call('claim_task', {}),
]
const connected: Script = (talk) => FIRST[talk.step] ?? honest({ ...talk, step: talk.step - FIRST.length })

describe(`phaselock connect codex${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  it.skipIf(reason !== null)(
    '[REQ-CONNECT-5] a connected repository binds the session that a person opens, from the task to the commit, and disconnects cleanly',
    async () => {
      desk = await Desk.open(found.ok ? [found.program] : [], { connected })
      appendFileSync(
        join(desk.home, '.codex/config.toml'),
        `\n[projects.${JSON.stringify(desk.repository)}]\ntrust_level = "trusted"\n`,
      )
      expect(desk.phaselock('connect', 'codex', '--yes')).toContain('Codex is connected in')
      const window = desk.window()
      await window.enter('codex "[[script:connected]] Sum up the prices of a cart"')
      await window.shows(/1\. yes/)
      window.press('Enter')
      await window.shows(/May the agent go from PLAN to TDD/)
      await answerCodexForm(window, 'approve')
      const task = await desk.taskId()
      await desk.reaches(task, 'completed')
      await window.shows(/Done\./)
      await window.enter('/quit')
      expect(desk.read(CODE)).toBe(CODE_TEXT)
      expect(desk.git('log', '-1', '--format=%s').trim()).toBe('Sum up prices')
      expect(desk.model.talks.at(-1)?.results[0]).toMatchObject({ isError: true })
      expect(desk.phaselock('disconnect', 'codex', '--yes')).toContain('is disconnected')
      expect(desk.git('status', '--porcelain', '--ignored')).toBe('')
    },
    RUN_MS_MAX,
  )
})
