import { isData } from '../../checks/test-files/test-files.js'
import { matchesGlob } from '../../contract/glob.js'
import type { Contract } from '../../core/contract/contract.js'
import { getWritable } from '../../core/paths/writable.js'
import type { TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
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
 * Matches data that earlier runs of the tests left at ignored paths beside them: a run may write it again. What came
 * since work began may be the agent's and is held like a test.
 */
export function makeOutputMatcher(
  changed: readonly string[] | null,
  isIgnored: (path: string) => boolean,
): (path: string) => boolean {
  if (changed === null) return () => false
  const isNew = (path: string): boolean => changed.some((one) => path === one || path.startsWith(`${one}/`))
  return (path) => isData(path) && isIgnored(path) && !isNew(path)
}
