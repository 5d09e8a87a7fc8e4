import { findInstalledAt } from '../../core/dependencies/package-managers.js'
import type { Change } from '../../tree/change.js'

const NAMED_MAX = 10
const PARTS_MAX = 1000

/** The changes of an install that are kept, and the manifests, lock files and package folders that they belong to. */
interface InstallChanges {
  readonly kept: readonly Change[]
  readonly paths: readonly string[]
  /** The package folders among `paths`. */
  readonly folders: readonly string[]
}

/** Sorts the changes of an install. Returns a text if it changed something that an install may not change. */
export function sortInstallChanges(
  changes: readonly Change[],
  about: {
    readonly program: string
    readonly isLeft: (path: string, isDirectory: boolean) => boolean
    /** Whether a path is a pinned test, which an install may not change. */
    readonly isPinned: (path: string) => boolean
  },
): InstallChanges | string {
  const kept: Change[] = []
  const refused: string[] = []
  const [paths, folders] = [new Set<string>(), new Set<string>()]
  for (const change of changes) {
    const isDirectory = change.type === 'directory'
    if (about.isLeft(change.path, isDirectory)) continue
    const found = findInstalledAt(about.program, change.path)
    if (found === null || change.problem !== null || (found.kind === 'manifest' && change.type === 'link')) {
      if (!isDirectory || change.problem !== null) refused.push(describe(change))
      continue
    }
    if (about.isPinned(change.path)) refused.push(`${change.path} (part of the tests)`)
    kept.push(change)
    paths.add(found.at)
    if (found.kind === 'packages') folders.add(found.at)
  }
  if (refused.length > 0) {
    const more = refused.length > NAMED_MAX ? ` and ${refused.length - NAMED_MAX} more` : ''
    return `it changed more than manifests, lock files and installed packages: ${refused.slice(0, NAMED_MAX).join(', ')}${more}`
  }
  if (paths.size > PARTS_MAX) return `it changed more than ${PARTS_MAX} manifests and folders of packages`
  return { kept, paths: [...paths].sort(), folders: [...folders].sort() }
}

function describe({ path, problem }: Change): string {
  return problem === null ? path : `${path} ${problem}`
}
