import type { App } from '../app.js'
import { recoverWorktrees } from '../worktrees/recover-worktrees.js'
import { recoverTreeChanges } from './tree-changes.js'

/** Finishes what a killed server had begun with the trees of this node's tasks. */
export async function recoverTrees(app: App, onFault: (error: unknown) => void): Promise<void> {
  await app.fence.run(async () => {
    await recoverTreeChanges(app, onFault)
    await recoverWorktrees(app, onFault)
  })
}
