import { spawnSync } from 'node:child_process'
import { CONTRACT_FILE } from '../places.js'

const GIT_MS_MAX = 10_000

/** Said when a session begins: a work tree of its own, and a clone, have only what is committed. */
export const UNCOMMITTED = `${CONTRACT_FILE} is not committed as it is: git add ${CONTRACT_FILE} && git commit`

/** Whether git sees a contract in this folder that is new or changed. Nothing where git cannot say. */
export function isContractUncommitted(folder: string): boolean {
  // Nothing that the configuration of a repository names is run.
  const args = ['-c', 'core.fsmonitor=false', '--no-optional-locks', 'status', '--porcelain', '--', CONTRACT_FILE]
  const ran = spawnSync('git', args, { cwd: folder, encoding: 'utf8', timeout: GIT_MS_MAX })
  return ran.status === 0 && ran.stdout.trim() !== ''
}
