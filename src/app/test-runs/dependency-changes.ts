import { isAtOrBelow } from '../../base/is-at-or-below.js'
import { isData } from '../../checks/test-files/test-files.js'
import { askGit, QUIET_GIT } from '../../confinement/changes/git-listing.js'
import { matchesGlob } from '../../contract/glob.js'
import type { Contract } from '../../core/contract/contract.js'
import { getWritable } from '../../core/paths/writable.js'
import type { TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
import { openSandbox } from '../tool-calls/contract-sandbox.js'
import { pickIgnored } from '../tool-calls/ignored-paths.js'

/** Dependencies and ignored files that changed, but for those that a phase of the contract names as writable. */
export async function findChangedDependencies(
  app: App,
  contract: Contract,
  state: TaskState,
  isIgnored: (path: string) => boolean,
): Promise<readonly string[]> {
  return omitWritable((await readDependencyChanges(app, contract, state)) ?? [], contract, isIgnored)
}

/** Dependencies and ignored files that changed since work began; null if unknown. */
export async function readDependencyChanges(
  app: App,
  contract: Contract,
  { id, workspace }: TaskState,
): Promise<readonly string[] | null> {
  return contract.enforcement.reconcile === 'off' ? null : app.views.findDependencyChanges(id, workspace)
}

export function omitWritable(
  changed: readonly string[],
  contract: Contract,
  isIgnored: (path: string) => boolean,
): readonly string[] {
  const named = pickIgnored(
    [...contract.phases.values()].flatMap((phase) => getWritable(phase).allowed),
    isIgnored,
  )
  const isNamed = (path: string): boolean =>
    named.some((pattern) => matchesGlob(pattern, path) || matchesGlob(pattern, `${path}/x`))
  return changed.filter((path) => !isNamed(path))
}

/**
 * Data that earlier runs of the tests left at ignored paths beside them: a run may write it again. What came since work
 * began may be the agent's, and what git tracks is a fixture: both are held like a test.
 */
export async function findRunOutputs(
  app: App,
  contract: Contract,
  state: TaskState,
  about: {
    readonly paths: Iterable<string>
    readonly changed: readonly string[] | null
    readonly isIgnored: (path: string) => boolean
  },
): Promise<ReadonlySet<string>> {
  const { paths, changed, isIgnored } = about
  if (changed === null) return new Set()
  const isNew = (path: string): boolean => changed.some((one) => isAtOrBelow(one, path))
  const data = [...paths].filter((path) => isData(path) && isIgnored(path) && !isNew(path))
  if (data.length === 0) return new Set()
  const tracked = await listTrackedFiles(app, contract, state.workspace)
  return new Set(tracked === null ? [] : data.filter((path) => !tracked.has(path)))
}

/** Null if git does not answer. */
async function listTrackedFiles(app: App, contract: Contract, tree: string): Promise<ReadonlySet<string> | null> {
  const signal = new AbortController().signal
  const place = { confinement: await openSandbox(app, contract), tree, hidden: [], signal }
  const { exitCode, stdout, truncated } = await askGit(place, ['git', ...QUIET_GIT, 'ls-files', '-z'])
  return exitCode === 0 && !truncated ? new Set(stdout.split('\0')) : null
}
