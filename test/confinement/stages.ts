import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { afterAll, beforeAll } from 'vitest'
import { accounts } from './account.js'
import { copyProgram, type Program } from './program.js'
import { openStage, type Setting, type Stage, type StageOptions, settings } from './stage.js'

const OPEN_MS_MAX = 120_000

export interface Stages {
  of(setting: Setting): Stage
  readonly program: () => Program
}

/** Opens a stage for every setting before the tests of a file, all at once, and closes them afterwards. */
export function openStages(options: (setting: Setting) => StageOptions = () => ({})): Stages {
  const open = new Map<string, Stage>()
  let program: Program | null = null
  beforeAll(async () => {
    installBubblewrap()
    const made = await copyProgram(accounts())
    program = made
    const opened = settings().map(async (one) => open.set(one.name, await openStage(made, one, options(one))))
    const failed = (await Promise.allSettled(opened)).find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }, OPEN_MS_MAX)
  afterAll(async () => {
    await Promise.all([...open.values()].map((stage) => stage.stop()))
    program?.remove()
  })
  return {
    of: ({ name }) => {
      const stage = open.get(name)
      if (stage === undefined) throw new Error(`there is no stage for ${name}`)
      return stage
    },
    program: () => {
      if (program === null) throw new Error('the program was not copied')
      return program
    },
  }
}

/** Bubblewrap is a package of its own. Tests that run as root can have it. */
function installBubblewrap(): void {
  if (existsSync('/usr/bin/bwrap') || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return
  spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'bubblewrap'], { stdio: 'ignore' })
}
