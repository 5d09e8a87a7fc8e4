import { afterEach, describe, expect, it } from 'vitest'
import { answerForm } from '../launch/claude-session.js'
import { Desk } from '../launch/desk.js'
import { hasTmux } from '../launch/terminal.js'
import { claudeCode } from '../participants/real-agents.js'
import type { Script } from '../real-agents/model.js'
import { CODE, CODE_TEXT, call, honest, own } from '../real-agents/work.js'
import { answerBegin } from './begin-form.js'

const RUN_MS_MAX = 300_000
const found = claudeCode()
const reason = found.ok ? (hasTmux ? null : 'tmux is not installed') : found.reason
let desk: Desk | null = null
afterEach(() => {
  desk?.close()
  desk = null
})

/** Tries its own tools, begins a task, claims it, and does the work. */
const FIRST = [
  own('Bash', { command: 'touch evil' }),
  own('Write', { file_path: 'evil.js', content: 'x' }),
  own('Read', { file_path: 'package.json' }),
  call('begin_task', { title: 'Sum up the prices of a cart' }),
  call('claim_task', {}),
]
const connected: Script = (talk) => FIRST[talk.step] ?? honest({ ...talk, step: talk.step - FIRST.length })

describe(`phaselock connect claude${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  it.skipIf(reason !== null)(
    '[REQ-CONNECT-5] a connected repository binds the session that a person opens, from the task to the commit, and disconnects cleanly',
    async () => {
      desk = await Desk.open(found.ok ? [found.program] : [], { connected })
      const window = desk.window()
      await window.enter('phaselock connect claude')
      await window.shows(/Write these 2 files\? \[y\/N\]/)
      await window.enter('y')
      await window.shows(/Claude Code is connected in/)
      desk.git('add', '-A')
      desk.git('-c', 'user.name=P', '-c', 'user.email=p@example.com', 'commit', '-qm', 'connect Claude Code')
      await window.enter('claude "[[script:connected]] Sum up the prices of a cart"')
      await answerBegin(window)
      await window.shows(/May the agent go from PLAN to TDD/)
      expect(desk.phaselock('agents')).toMatch(/claude-\w+ +working .* project /)
      await answerForm(window, 'approve')
      await window.shows(/Done\./)
      const task = await desk.taskId()
      await desk.reaches(task, 'completed')
      await window.enter('/exit')
      expect(desk.read(CODE)).toBe(CODE_TEXT)
      expect(desk.git('log', '-1', '--format=%s').trim()).toBe('Sum up prices')
      expect(desk.git('status', '--porcelain', '--ignored')).toBe('')
      // Its own tools did nothing.
      const results = desk.model.talks.at(-1)?.results.slice(0, 3) ?? []
      expect(results.map(({ isError }) => isError)).toEqual([true, true, true])
      expect(desk.phaselock('disconnect', 'claude', '--yes')).toContain('is disconnected')
      expect(
        desk
          .git('status', '--porcelain')
          .trim()
          .split('\n')
          .map((line) => line.trim()),
      ).toEqual(['D .claude/settings.json', 'D .mcp.json'])
    },
    RUN_MS_MAX,
  )
})
