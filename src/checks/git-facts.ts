import { runCommand } from '../confinement/run-command.js'
import type { ObservePlace } from './observe.js'

const GIT_MS_MAX = 60_000
const DIFF_KEPT = { headBytes: 8 * 1024 * 1024, tailBytes: 0 }
const QUIET = '-c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.quotePath=false -c diff.renames=false'

/** What git says of a work tree, asked behind the wall. */
export interface GitFacts {
  readonly isRepository: boolean
  /** Paths that differ from the last commit, untracked ones among them; ignored ones are not. */
  readonly changed: readonly string[]
  /** Lines that were added since the last commit, by path. */
  readonly added: ReadonlyMap<string, readonly string[]>
  readonly isCut: boolean
}

export async function gitFacts(place: ObservePlace): Promise<GitFacts> {
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
        // Thrown away with everything else: git notes new files in its index to compare them.
        git: 'write',
        hidden: place.hidden,
        signal: place.signal,
        timeoutMs: GIT_MS_MAX,
      },
      DIFF_KEPT,
    )
  const git = `git --no-optional-locks ${QUIET}`
  const status = await ask(`${git} status --porcelain=v1 -z --untracked-files=all`)
  if (status.exitCode !== 0) return { isRepository: false, changed: [], added: new Map(), isCut: false }
  const changed = status.stdout
    .split('\0')
    .filter((entry) => entry !== '')
    .map((entry) => entry.slice(3))
  // Without a commit everything is new, and git has nothing to compare with.
  const base = `$(${git} rev-parse --verify -q HEAD || ${git} hash-object -t tree /dev/null)`
  const diff = await ask(
    `${git} add --intent-to-add . 2>/dev/null; ${git} diff --no-ext-diff --no-textconv --unified=0 ${base}`,
  )
  return { isRepository: true, changed, added: addedLines(diff.stdout), isCut: diff.truncated || status.truncated }
}

function addedLines(diff: string): ReadonlyMap<string, readonly string[]> {
  const added = new Map<string, string[]>()
  let current: string[] | null = null
  for (const line of diff.split('\n')) {
    const [, path] = /^\+\+\+ b\/(.+?)\t?$/.exec(line) ?? []
    if (path !== undefined) {
      current = added.get(path) ?? []
      added.set(path, current)
    } else if (line.startsWith('diff --git ')) current = null
    else if (line.startsWith('+') && current !== null) current.push(line.slice(1))
  }
  return added
}
