import { runCommand } from '../confinement/run-command.js'
import type { ObservePlace } from './observed-runs/run-in-view.js'

const GIT_MS_MAX = 30_000
const KEPT = { headBytes: 4096, tailBytes: 0 }

/** When the newest commit of the tree was made, in Unix milliseconds; null: no git repository. */
export async function readNewestCommitTime(place: ObservePlace): Promise<number | null> {
  const asked = await runCommand(
    place.confinement,
    {
      tree: place.tree,
      argv: ['git', '--no-optional-locks', '-c', 'core.fsmonitor=false', 'log', '-1', '--format=%ct'],
      cwd: '.',
      env: { GIT_TERMINAL_PROMPT: '0' },
      network: false,
      writes: 'discard',
      git: 'read',
      hidden: place.hidden,
      signal: place.signal,
      timeoutMs: GIT_MS_MAX,
    },
    KEPT,
  )
  if (asked.exitCode === 0 && /^\d{1,12}\n?$/.test(asked.stdout)) return Number(asked.stdout) * 1000
  // A repository without a commit has no newest one; a folder that is not a repository cannot answer.
  return /does not have any commits yet/.test(asked.stderr) ? 0 : null
}
