import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { listGit } from '../../checks/git-facts.js'
import type { Contract } from '../../core/contract/contract.js'
import { commitScope, usesCommits } from '../../core/paths/commit-scope.js'
import type { TaskState } from '../../core/task/state.js'
import { openWorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import type { EarlierChanges } from '../test-runs/task-views.js'
import { openSandbox, refuseWithoutConfinement } from '../tool-calls/contract-sandbox.js'
import { commitRulesOf } from './commit-rules.js'
import { isThere } from './earlier-changes.js'

const PATHS_MAX = 10_000

/**
 * Lists uncommitted changes that people made before work on a task began; null if unknown. Called before the claim, so
 * that it contains nothing of the task.
 */
export async function listEarlierChanges(
  app: App,
  contract: Contract,
  state: TaskState,
): Promise<EarlierChanges | null> {
  if (!usesCommits(contract) || !existsSync(join(state.workspace, '.git'))) return null
  const confinement = await openSandbox(app, contract)
  if (refuseWithoutConfinement({ contract }, confinement) !== null) return null
  const place = { confinement, tree: state.workspace, hidden: [], signal: new AbortController().signal }
  const listing = await listGit(place).catch(() => null)
  if (listing === null) return null
  const { changed } = commitScope(listing, await commitRulesOf(app, contract, state))
  if (changed.length > PATHS_MAX) return null
  const hashes = await openWorkTree(state.workspace).hashEach(changed.map(({ path }) => path))
  const isKnown = ([path, hash]: readonly [string, string | null]): boolean =>
    hash !== null || !isThere(state.workspace, path)
  return [...hashes].filter(isKnown)
}
