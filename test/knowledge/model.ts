import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('../../scripts/embedding.mjs', import.meta.url))
export const PACKAGED = { type: 'packaged', folder: null } as const

/** The packages of the model are optional: whoever tests with them installs them first. */
export function installModel(): void {
  const done = spawnSync(process.execPath, [SCRIPT], { stdio: ['ignore', 'ignore', 'inherit'], timeout: 300_000 })
  if (done.status !== 0) throw new Error('the packages of the embedding model could not be installed')
}
