import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { claudeCode } from '../participants/real-agents.js'
import { CODE, CODE_TEXT, TEST } from '../real-agents/work.js'
import { Desk } from './desk.js'
import { choosePassphrase, follow, nativeCalls, PASSPHRASE, SNEAKY } from './native-work.js'
import { hasTmux, until } from './terminal.js'

const RUN_MS_MAX = 400_000
const found = claudeCode()
const reason = found.ok ? (hasTmux ? null : 'tmux is not installed') : found.reason
let desk: Desk
afterEach(() => desk.close())

describe.skipIf(reason !== null)(`phaselock claude --native${reason === null ? '' : ` (skipped: ${reason})`}`, () => {
  it(
    '[REQ-NATIVE-1] goes to a committed task with its own tools, and what a command sneaks in is found at once',
    async () => {
      desk = await Desk.open(found.ok ? [found.program] : [], { native: follow(() => nativeCalls(desk.repository)) })
      const window = desk.window()
      await window.enter('phaselock claude --native "[[script:native]] Sum up the prices of a cart"')
      await choosePassphrase(window)
      const approval = await desk.approval()
      const task = await desk.taskId()
      await window.shows(/waits for you/)
      // The token alone approves nothing, and neither does the chat.
      expect(desk.phaselock('approve', approval, '--yes')).toContain('passphrase')
      const file = join(desk.dir, 'passphrase')
      writeFileSync(file, PASSPHRASE)
      expect(desk.phaselock('approve', approval, '--yes', '--passphrase-file', file)).toContain('is approved')
      await desk.reaches(task, 'completed')
      await window.shows(/Done\./)
      // The page that Claude Code still offers decides nothing more.
      window.press('Escape')
      await until(
        () => window.screen(),
        (screen) => !screen.includes('wants to open a URL'),
      )
      await window.enter('/exit')
      await window.shows(/is completed\./)
      const results = desk.model.talks.at(-1)?.results ?? []
      const texts = results.map(({ text }) => text)
      expect(texts[1]).toContain('[forbidden_tool]')
      expect(await desk.events(task, 'unledgered_change_found')).toMatchObject([
        { by: expect.stringContaining(SNEAKY.slice(0, 20)), paths: [CODE], counted: true },
      ])
      expect(desk.model.sent.join('\n')).toContain('changed files that TDD does not allow')
      expect(desk.read(CODE)).toBe(CODE_TEXT)
      expect(desk.git('show', '--name-only', '--format=%s', 'HEAD').trim().split('\n').sort()).toEqual(
        ['Sum up prices', '', CODE, TEST].sort(),
      )
      expect(desk.git('status', '--porcelain', '--ignored')).toBe('')
      expect(desk.leftOver()).toEqual([])
    },
    RUN_MS_MAX,
  )
})
