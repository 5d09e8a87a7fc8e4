import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Composition, ViewEntry } from '../../confinement/confinement.js'
import type { Contract } from '../../core/contract/contract.js'
import type { TaskState } from '../../core/task/state.js'
import type { TreeIndex } from '../../tree/tree-contents.js'
import type { Resources } from '../resources.js'
import { startOfWork } from '../test-runs/start-of-work.js'

/**
 * What to add to and remove from a view of the work tree so that these paths are as they were when work on the task
 * began. `unknown` lists the files whose content was not stored.
 */
export async function composeFilesAtStart(
  app: Resources,
  contract: Contract,
  state: TaskState,
  { start, paths }: { readonly start: TreeIndex; readonly paths: readonly string[] },
): Promise<Pick<Composition, 'put' | 'leftOut'> & { readonly unknown: readonly string[] }> {
  const before = startOfWork(app, contract, state).tree
  const put: ViewEntry[] = []
  const leftOut: string[] = []
  const unknown: string[] = []
  for (const path of paths) {
    const entry = start.entries[path]
    const [, target] = /^link (.+)$/s.exec(entry ?? '') ?? []
    const content = entry === undefined || target !== undefined ? null : await before.read(path)
    if (entry === undefined) leftOut.push(path)
    else if (target !== undefined) put.push({ path, type: 'link', target })
    else if (content !== null) put.push({ path, type: 'file', content, mode: readMode(join(state.workspace, path)) })
    else unknown.push(path)
  }
  return { put, leftOut, unknown }
}

// Modes are not recorded: use the file's current mode, or an executable one.
function readMode(file: string): number {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats?.isFile() === true ? stats.mode & 0o777 : 0o755
}
