import { afterEach, describe, it } from 'vitest'
import { claudeCode, codex, type Found, gemini, opencode } from '../participants/real-agents.js'
import { Desk } from './desk.js'
import { pressUntil, until, type Window } from './terminal.js'
import { findReason, nameGroup } from './tried-cli.js'

const RUN_MS_MAX = 200_000

interface Plain {
  readonly command: string
  readonly found: Found
  /** What the agent CLI asks at the start; its first choice trusts the folder. */
  readonly asks?: RegExp
}

const PLAIN: readonly Plain[] = [
  { command: 'claude', found: claudeCode() },
  { command: 'codex', found: codex(), asks: /1\. Trust and continue/ },
  { command: 'gemini --model scripted-1', found: gemini() },
  { command: 'opencode', found: opencode() },
]

let desk: Desk
afterEach(() => desk.close())

// The sessions of the other files follow no settings of the repository. Here is what these would do.
for (const { command, found, asks } of PLAIN) {
  const name = command.replace(/ --.*$/, '')
  const reason = findReason(found)
  describe.skipIf(reason !== null)(nameGroup(`${name} opened without Phaselock`, reason), () => {
    it(
      '[REQ-LAUNCH-1] runs the program that settings of the repository name',
      async () => {
        desk = await Desk.open(found.ok ? [found.program] : [], {})
        desk.plantProjectSettings()
        const window = desk.window()
        await window.enter(command)
        if (asks !== undefined) await trustFolder(window, asks)
        await until(
          () => (desk.ranPlantedByRepository ? '' : window.screen()),
          (screen) => screen === '',
        )
      },
      RUN_MS_MAX,
    )
  })
}

async function trustFolder(window: Window, asks: RegExp): Promise<void> {
  await window.shows(asks)
  await pressUntil(window, 'Enter', (screen) => !asks.test(screen))
}
