import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Confinement } from '../../src/confinement/confinement.js'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import { type CommandRun, runCommand } from '../../src/confinement/run-command.js'
import { buildInsideCommand } from '../../src/gateway/inside-command.js'

const RUN_MS_MAX = 300_000

/** A wall, and a folder that agents run in behind it. */
export interface Behind {
  readonly home: string
  run(options: Parameters<typeof buildInsideCommand>[0], shown?: readonly string[]): Promise<CommandRun>
  close(): Promise<void>
}

export async function openBehind(): Promise<Behind> {
  // Not /tmp: behind the wall there is another one.
  const dir = realpathSync(mkdtempSync('/var/tmp/phaselock-behind-'))
  const home = join(dir, 'home')
  for (const folder of [home, join(home, 'work'), join(dir, 'state')]) mkdirSync(folder, { mode: 0o700 })
  const wall: Confinement = await openConfinement({ stateDir: join(dir, 'state'), only: null })
  if (wall.missing.length > 0) throw new Error(JSON.stringify(wall.missing))
  return {
    home,
    run: async (options, shown = []) => {
      const inside = buildInsideCommand(options)
      return runCommand(wall, {
        ...{ tree: home, cwd: 'work', writes: 'discard', git: 'read', hidden: [], timeoutMs: RUN_MS_MAX },
        ...{ ...inside, shown: [...inside.shown, ...shown], signal: new AbortController().signal },
      })
    },
    close: async () => {
      await wall.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
