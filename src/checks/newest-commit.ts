import { askGit, type GitPlace, QUIET_GIT } from '../confinement/changes/git-listing.js'

const KEPT = { headBytes: 4096, tailBytes: 0 }

/** When the newest commit of the tree was made, in Unix milliseconds; null: no git repository. */
export async function readNewestCommitTime(place: GitPlace): Promise<number | null> {
  const asked = await askGit(place, ['git', ...QUIET_GIT, 'log', '-1', '--format=%ct'], { kept: KEPT })
  if (asked.exitCode === 0 && /^\d{1,12}\n?$/.test(asked.stdout)) return Number(asked.stdout) * 1000
  // A repository without a commit has no newest one; a folder that is not a repository cannot answer.
  return /does not have any commits yet/.test(asked.stderr) ? 0 : null
}
