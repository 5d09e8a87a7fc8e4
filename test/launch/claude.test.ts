import { afterEach, describe, expect, it } from 'vitest'
import { claudeCode } from '../participants/real-agents.js'
import { CODE, CODE_TEXT, honest, TEST } from '../real-agents/work.js'
import { answerForm, Desk, hasTmux } from './terminal.js'

const RUN_MS_MAX = 300_000
const found = claudeCode()
const reason = found.ok ? (hasTmux ? null : 'tmux is not installed') : found.reason
let desk: Desk | null = null
afterEach(() => {
  desk?.close()
  desk = null
})

describe(`phaselock claude${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  it.skipIf(reason !== null)(
    '[REQ-LAUNCH-1] one command goes from a fresh repository to a committed task, with the approval in the chat',
    async () => {
      desk = await Desk.open(found.ok ? [found.program] : [], { honest })
      const window = desk.window()
      await window.enter('phaselock claude "[[script:honest]] Sum up the prices of a cart"')
      await window.shows(/may claude-\w+ go from PLAN to TDD/)
      await answerForm(window, 'approve')
      await window.shows(/Done\./)
      await window.enter('/exit')
      const [, task = ''] = /Task (task-\w+) is completed\./.exec(await window.shows(/is completed\./)) ?? []
      expect(await desk.get(`/tasks/${task}`)).toMatchObject({ status: 'completed' })
      expect(await desk.events(task, 'approval_decided')).toMatchObject([{ decision: 'approve', channel: 'in_chat' }])
      expect(desk.read(CODE)).toBe(CODE_TEXT)
      expect(desk.git('show', '--name-only', '--format=%s', 'HEAD').trim().split('\n').sort()).toEqual(
        ['Sum up prices', '', CODE, TEST].sort(),
      )
      // Nothing was written into the repository, nothing stays behind, and the project's instructions reached the model.
      expect(desk.git('status', '--porcelain', '--ignored')).toBe('')
      expect(desk.leftOver()).toEqual([])
      expect(desk.model.sent.join('\n')).toContain('RULES-OF-THE-PROJECT')
      const tools = desk.model.talks.flatMap((talk) => talk.tools)
      expect(tools.filter((name) => !name.startsWith('mcp__phaselock__'))).toEqual([])
    },
    RUN_MS_MAX,
  )
})
