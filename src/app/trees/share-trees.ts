import { refuseUnshared } from '../../store/shared-trees/shared-folder.js'
import { NO_FENCE, NodeFence } from '../../store/shared-trees/tree-fence.js'
import type { OrchestratorOptions } from '../orchestrator-options.js'
import type { Resources } from '../resources.js'

interface Kept {
  readonly kept: Pick<Resources, 'keptDir' | 'sharedTrees' | 'fence'>
  readonly closeKept: () => void
}

/** Where what is kept about trees lies, and what fences it: the state directory and nothing, unless trees are shared. */
export async function shareTrees({ store, stateDir, sharedTrees = null }: OrchestratorOptions): Promise<Kept> {
  const { cluster } = store
  if (sharedTrees === null || cluster === undefined) {
    refuseUnshared(stateDir)
    await cluster?.declareSharedTrees(null)
    return { kept: { keptDir: stateDir, sharedTrees: null, fence: NO_FENCE }, closeKept: () => undefined }
  }
  const { id, folder, keptDir } = sharedTrees
  const lock = sharedTrees.lockOf(cluster.nodeId)
  const fence = new NodeFence(lock, cluster)
  try {
    // An earlier start of this node may be in the middle of a change: its lock is waited for.
    await fence.run(() => cluster.declareSharedTrees({ id, folder }))
  } catch (error) {
    lock.close()
    throw error
  }
  return { kept: { keptDir, sharedTrees, fence }, closeKept: () => lock.close() }
}
