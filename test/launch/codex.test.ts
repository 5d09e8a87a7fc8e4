import { afterEach, describe, expect, it } from 'vitest'
import { codex } from '../participants/real-agents.js'
import { honest } from '../real-agents/work.js'
import { answerCodexForm, CODEX_MODELS, openCodex } from './codex-session.js'
import { Desk, hasTmux, openRestricted } from './terminal.js'

const RUN_MS_MAX = 300_000
const OWN = ['list_mcp_resources', 'list_mcp_resource_templates', 'read_mcp_resource', 'request_user_input']
const found = codex()
const reason = found.ok ? (hasTmux ? null : 'tmux is not installed') : found.reason
let desk: Desk
afterEach(() => desk.close())

describe.skipIf(reason !== null)(`phaselock codex${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  it(
    '[REQ-LAUNCH-1] one command goes from a fresh repository to a committed task, with the approval in the chat',
    async () => {
      desk = await Desk.open(found.ok ? [found.program] : [], { honest })
      const window = desk.window()
      await window.enter('phaselock codex "[[script:honest]] Sum up the prices of a cart"')
      await openRestricted(window)
      await window.shows(/may codex-\w+ go from PLAN to TDD/)
      await answerCodexForm(window, 'approve')
      const task = await desk.taskId()
      await desk.reaches(task, 'completed')
      await window.shows(/Done\./)
      await window.enter('/quit')
      await window.shows(/is completed\./)
      expect(await desk.events(task, 'approval_decided')).toMatchObject([{ decision: 'approve', channel: 'in_chat' }])
      expect(desk.git('log', '-1', '--format=%s').trim()).toBe('Sum up prices')
      expect(desk.git('status', '--porcelain', '--ignored')).toBe('')
      expect(desk.leftOver()).toEqual([])
      expect(desk.model.sent.join('\n')).toContain('AGENTS-RULES')
      const tools = new Set(desk.model.talks.flatMap((talk) => talk.tools))
      expect([...tools].filter((name) => !name.startsWith('mcp__phaselock__')).sort()).toEqual([...OWN].sort())
    },
    RUN_MS_MAX,
  )

  it.each(CODEX_MODELS)(
    '[REQ-LAUNCH-1] goes to a committed task with the model %s, whose own tools change nothing',
    async (model, act) => {
      desk = await Desk.open(found.ok ? [found.program] : [], { honest: act(honest) })
      const window = desk.window()
      await openCodex(window, '"[[script:honest]] Sum up the prices of a cart"', model)
      await window.shows(/may codex-\w+ go from PLAN to TDD/)
      // What it did with its own tools in PLAN left nothing.
      expect(desk.git('status', '--porcelain', '--ignored')).toBe('')
      await answerCodexForm(window, 'approve')
      const task = await desk.taskId()
      await desk.reaches(task, 'completed')
      await window.shows(/Done\./)
      await window.enter('/quit')
      await window.shows(/is completed\./)
      expect(desk.git('log', '-1', '--format=%s').trim()).toBe('Sum up prices')
      expect(desk.git('status', '--porcelain', '--ignored')).toBe('')
    },
    RUN_MS_MAX,
  )
})
