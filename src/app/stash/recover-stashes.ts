import { existsSync } from 'node:fs'
import { assertUnreachable } from '../../core/unreachable.js'
import type { App } from '../app.js'
import { formatStream } from '../ledger/entries.js'
import { bringTo, findStrayPaths } from './stash-steps.js'
import { type Stash, StashShelf } from './stash-store.js'

const NAMED_MAX = 20

/** Finishes or undoes what a killed server had begun. Called before the server accepts requests. */
export async function recoverStashes(app: App, onFault: (error: unknown) => void): Promise<void> {
  const shelf = new StashShelf(app.keptDir)
  // What is unfinished in a shared folder may be another node's, which is writing it.
  if (app.sharedTrees === null) shelf.sweep()
  // A stash that cannot be finished stays as it is, with its task parked, until an operator looks at it.
  for (const stash of shelf.list())
    if (stash.stage !== 'saved' && !(await app.ledger.isElsewhere(formatStream(stash.taskId))))
      await finishStash(app, shelf, stash).catch(onFault)
}

/**
 * Completes or undoes an interrupted stash operation, depending on whether the ledger has its event. Returns why it
 * cannot be done; null when it is done.
 */
export async function finishStash(app: App, shelf: StashShelf, stash: Stash): Promise<string | null> {
  const isAside = (await app.ledger.peek(stash.taskId))?.stash === stash.id
  switch (stash.stage) {
    case 'saved':
      return null
    case 'saving':
      // Files are moved only after the ledger records the stash.
      return isAside ? settle(app, shelf, stash) : removeStash(shelf, stash)
    case 'popping':
      // The task resumes only when all of its work is restored.
      return isAside ? settle(app, shelf, stash) : removeStash(shelf, stash)
    case 'dropping':
      if (!isAside) return removeStash(shelf, stash)
      shelf.setStage(stash, 'saved')
      return null
    default:
      return assertUnreachable(stash.stage)
  }
}

async function settle(app: App, shelf: StashShelf, stash: Stash): Promise<string | null> {
  if (!existsSync(stash.tree)) return `The work tree ${stash.tree} of stash ${stash.id} does not exist.`
  const { index } = await app.trees.compare(stash.tree)
  // A path may be missing in the middle of a replacement.
  const stray = findStrayPaths(stash, index.entries, ['was', 'now']).filter((path) => index.entries[path] !== undefined)
  if (stray.length > 0)
    return `Stash ${stash.id} was interrupted, and these paths changed since: ${stray.slice(0, NAMED_MAX).join(', ')}. Put each back as it was, then try again.`
  const done = await bringTo(app, shelf, stash, 'was')
  if (!done.ok) return `Stash ${stash.id} was interrupted and cannot be finished: ${done.why}.`
  shelf.setStage(stash, 'saved')
  return null
}

function removeStash(shelf: StashShelf, stash: Stash): null {
  shelf.remove(stash.id)
  return null
}
