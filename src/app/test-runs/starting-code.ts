import { sha256Hex } from '../../base/sha256.js'
import { isTestLike } from '../../checks/test-files/test-files.js'
import { readTestSetup } from '../../checks/test-setup/test-setup.js'
import type { Contract } from '../../core/contract/contract.js'
import { isDependencyFile } from '../../core/dependencies/package-managers.js'
import type { PinnedRun } from '../../core/evidence/observed-run.js'
import { findSetupKind } from '../../core/paths/test-setup-names.js'
import type { TaskState } from '../../core/task/state.js'
import type { TreeIndex } from '../../tree/tree-contents.js'
import { openWorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import { composeFilesAtStart } from '../trees/files-at-start.js'
import { WORK_BEGAN } from '../trees/trees.js'
import type { ComposedView } from './compose-view.js'
import { addInlineTests } from './inline-view.js'

/**
 * The view of a later RED run: current tests and test setup, everything else as it was when work on the task began. A
 * text says why the view cannot be made.
 */
export async function composeStartingCode(
  app: App,
  contract: Contract,
  state: TaskState,
  {
    composed,
    now,
    pinned,
  }: { readonly composed: ComposedView; readonly now: TreeIndex; readonly pinned: PinnedRun | null },
): Promise<ComposedView | string> {
  const start = app.trees.readMark(state.workspace, state.id, WORK_BEGAN)
  if (start === null) return NOT_KNOWN
  const tree = openWorkTree(state.workspace)
  const setup = new Set(Object.keys({ ...pinned?.harness, ...(await readTestSetup(tree, contract)) }))
  const isCode = (path: string): boolean =>
    !setup.has(path) && findSetupKind(path) === null && !isTestLike(contract, path) && !isDependencyFile(path)
  const moved = [...new Set([...Object.keys(start.entries), ...Object.keys(now.entries)])]
    .filter((path) => start.entries[path] !== now.entries[path] && isCode(path))
    .sort()
  const files = await composeFilesAtStart(app, contract, state, { start, paths: moved })
  const [unknown] = files.unknown
  if (unknown !== undefined)
    return `The content of ${JSON.stringify(unknown)} when work began was not recorded, and the tests need it`
  const { composition } = composed
  const isOut = new Set(composition.leftOut)
  const leftOut = files.leftOut.filter((path) => !isOut.has(path))
  const parts = [composed.digest, moved.map((path) => [path, start.entries[path] ?? null])]
  return {
    ...composed,
    composition: {
      ...composition,
      put: [...composition.put, ...(await addInlineTests(tree, files.put))],
      leftOut: [...composition.leftOut, ...leftOut],
      pinned: composition.pinned.filter((path) => !leftOut.includes(path)),
    },
    digest: sha256Hex(JSON.stringify(parts)),
  }
}

const NOT_KNOWN = 'The work tree as it was when work began was not recorded, and the tests need that code'
