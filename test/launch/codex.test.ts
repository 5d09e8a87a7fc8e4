import { afterEach, describe, expect, it } from 'vitest'
import { codex } from '../participants/real-agents.js'
import type { Script } from '../real-agents/model.js'
import type { Call, Talk } from '../real-agents/talk.js'
import { CODE, honest, own } from '../real-agents/work.js'
import { Desk, hasTmux, keepModel, openRestricted } from './terminal.js'

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
      // The comment comes first and stays empty.
      window.press('C-n')
      await window.shows(/1\. approve/)
      window.press('Enter')
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

  it.each([
    ['gpt-5.5', withPatch],
    ['gpt-6.1-sol', inCode],
  ])(
    '[REQ-LAUNCH-1] goes to a committed task with the model %s, whose own tools change nothing',
    async (model, script) => {
      desk = await Desk.open(found.ok ? [found.program] : [], { honest: script })
      const window = desk.window()
      await window.enter(`phaselock codex "[[script:honest]] Sum up the prices of a cart" -- --model ${model}`)
      await openRestricted(window)
      await keepModel(window)
      await window.shows(/may codex-\w+ go from PLAN to TDD/)
      // What it did with its own tools in PLAN left nothing.
      expect(desk.git('status', '--porcelain', '--ignored')).toBe('')
      window.press('C-n')
      await window.shows(/1\. approve/)
      window.press('Enter')
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

const PATCH = `*** Begin Patch\n*** Add File: ${CODE}\n+export const sum = () => 12\n*** End Patch\n`

/** A model with a patch tool tries it first. */
function withPatch(talk: Talk): ReturnType<Script> {
  return talk.step === 0 ? { ...own('apply_patch', {}), text: PATCH } : honest({ ...talk, step: talk.step - 1 })
}

/** A model that writes programs: its tools are functions in them. */
async function inCode(talk: Talk): Promise<Call | null> {
  // An approval may take longer than Codex waits for a program by default.
  const write = (text: string): Call => ({ ...own('exec', {}), text: `// @exec: {"yield_time_ms": 200000}\n${text}` })
  if (talk.step === 0)
    return write(`try { await tools.apply_patch(${JSON.stringify(PATCH)}) } catch (error) { text(String(error)) }`)
  const made = await honest({ ...talk, step: talk.step - 1 })
  return made === null
    ? null
    : write(`text(JSON.stringify(await tools.mcp__phaselock__${made.name}(${JSON.stringify(made.input)})))`)
}
