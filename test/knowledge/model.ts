import { installModel as install } from '../../src/knowledge/install-model.js'

export const PACKAGED = { type: 'packaged', folder: null } as const

/** The packages of the model are optional: tests that use them install them first. */
export async function installModel(): Promise<void> {
  const done = await install({ onOutput: (text) => process.stderr.write(text) })
  if (!done.ok) throw new Error(`${done.detail}. ${done.remedy}`)
}
