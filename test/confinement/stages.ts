import { chmodSync, copyFileSync, lchownSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { accounts, quoted } from './account.js'
import { copyProgram, type Program } from './program.js'
import { type Scene, setScene } from './scene.js'
import { openStage, type Places, type Setting, type Stage, someSettings } from './stage.js'

const OPEN_MS_MAX = 180_000

export interface Stages {
  of(setting: Setting): Stage
  sceneOf(setting: Setting): Scene
  readonly program: () => Program
}

/** Opens a stage for each of the settings before the tests of a file, all at once, and closes them afterwards. */
export function openStages(wanted: readonly Setting[] = someSettings()): Stages {
  const open = new Map<string, Stage>()
  const scenes = new Map<string, Scene>()
  let program: Program | null = null
  const prepareFor =
    (setting: Setting) =>
    async (places: Places): Promise<void> => {
      scenes.set(setting.name, await setScene(places, setting.account))
      addSetuidProgram(join(places.tree, 'id-of-root'))
    }
  beforeAll(async () => {
    const made = await copyProgram(accounts())
    program = made
    const opened = wanted.map(async (one) =>
      open.set(one.name, await openStage(made, one, { wrap: inTerminal, prepare: prepareFor(one) })),
    )
    const failed = (await Promise.allSettled(opened)).find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }, OPEN_MS_MAX)
  afterAll(async () => {
    for (const scene of scenes.values()) scene.close()
    await Promise.all([...open.values()].map((stage) => stage.stop()))
    program?.remove()
  })
  return {
    of: ({ name }) => {
      const stage = open.get(name)
      if (stage === undefined) throw new Error(`there is no stage for ${name}`)
      return stage
    },
    sceneOf: ({ name }) => {
      const scene = scenes.get(name)
      if (scene === undefined) throw new Error(`there is no scene for ${name}`)
      return scene
    },
    program: () => {
      if (program === null) throw new Error('the program was not copied')
      return program
    },
  }
}

/** Words that run a command at a terminal of its own. */
export function inTerminal(words: readonly string[]): readonly string[] {
  return ['script', '--quiet', '--return', '--command', words.map(quoted).join(' '), '/dev/null']
}

function addSetuidProgram(file: string): void {
  copyFileSync('/usr/bin/id', file)
  if (process.getuid?.() === 0) lchownSync(file, 0, 0)
  chmodSync(file, 0o4755)
}
