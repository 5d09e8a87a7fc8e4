import { runCommand } from '../confinement/run-command.js'
import type { TreeIndex } from '../tree/tree-contents.js'
import type { ObservePlace } from './observe.js'

const GIT_MS_MAX = 60_000
const OUTPUT_KEPT = { headBytes: 8 * 1024 * 1024, tailBytes: 0 }
const QUIET = '-c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.quotePath=false -c diff.renames=false'

/** What git says of a work tree, asked behind the wall. */
export interface GitFacts {
  readonly isRepository: boolean
  /** Paths that differ from the last commit, untracked ones among them; ignored ones are not. */
  readonly changed: readonly string[]
  /** Those of them that count for the task, and files that only an edited rule hides from git. */
  readonly uncommitted: readonly string[]
  readonly isCut: boolean
}

/** Looks at the tree with git. `index` knows what was ignored when work began; null: git's own rules count. */
export async function gitFacts(place: ObservePlace, index: TreeIndex | null = null): Promise<GitFacts> {
  const ask = (script: string) =>
    runCommand(
      place.confinement,
      {
        tree: place.tree,
        argv: ['bash', '-c', script],
        cwd: '.',
        env: { GIT_TERMINAL_PROMPT: '0' },
        network: false,
        writes: 'discard',
        git: 'read',
        hidden: place.hidden,
        signal: place.signal,
        timeoutMs: GIT_MS_MAX,
      },
      OUTPUT_KEPT,
    )
  const git = `git --no-optional-locks ${QUIET}`
  const status = await ask(`${git} status --porcelain=v1 -z --untracked-files=all`)
  if (status.exitCode !== 0) return NO_REPOSITORY
  const entries = namesIn(status.stdout)
  const changed = entries.map((entry) => entry.slice(3))
  const ignored = await ask(`${git} ls-files --others --ignored --exclude-standard --directory -z`)
  const counted = entries.filter((entry) => counts(entry, index)).map((entry) => entry.slice(3))
  const uncommitted = [...new Set([...counted, ...hiddenIn(namesIn(ignored.stdout), index)])]
  const isCut = status.truncated || ignored.truncated || ignored.exitCode !== 0
  return { isRepository: true, changed, uncommitted, isCut }
}

const NO_REPOSITORY: GitFacts = { isRepository: false, changed: [], uncommitted: [], isCut: false }

function namesIn(output: string): readonly string[] {
  return output.split('\0').filter((entry) => entry !== '')
}

// A file that is there, and that the index left out, was ignored when work began.
function counts(entry: string, index: TreeIndex | null): boolean {
  const path = entry.slice(3)
  if (index === null || !entry.startsWith('?? ') || path.endsWith('/')) return true
  return (
    Object.hasOwn(index.entries, path) || Object.keys(index.packages).some((folder) => path.startsWith(`${folder}/`))
  )
}

function hiddenIn(ignored: readonly string[], index: TreeIndex | null): readonly string[] {
  const files = new Set(ignored.filter((path) => !path.endsWith('/')))
  const folders = ignored.filter((path) => path.endsWith('/'))
  return Object.keys(index?.entries ?? {}).filter(
    (path) => files.has(path) || folders.some((folder) => path.startsWith(folder)),
  )
}
