import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { listGit } from '../../checks/git-facts.js'
import type { Contract } from '../../core/contract/contract.js'
import { commitScope, type GitListing, usesCommits } from '../../core/paths/commit-scope.js'
import type { TaskState } from '../../core/task/state.js'
import { openWorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import type { EarlierChanges } from '../test-runs/task-views.js'
import { openSandbox, refuseWithoutConfinement } from '../tool-calls/contract-sandbox.js'
import { commitRulesOf } from './commit-rules.js'
import { isThere } from './earlier-changes.js'

const PATHS_MAX = 10_000

/** The differences from the last commit according to git; null if unknown, or if the contract makes no commits. */
export async function listUncommitted(app: App, contract: Contract, state: TaskState): Promise<GitListing | null> {
  if (!usesCommits(contract) || !existsSync(join(state.workspace, '.git'))) return null
  const confinement = await openSandbox(app, contract)
  if (refuseWithoutConfinement({ contract }, confinement) !== null) return null
  const place = { confinement, tree: state.workspace, hidden: [], signal: new AbortController().signal }
  return listGit(place).catch(() => null)
}

/**
 * Those of the uncommitted changes that people made before work on a task began; null if unknown. Called before the
 * claim, so that it contains nothing of the task.
 */
export async function listEarlierChanges(
  app: App,
  { contract, state }: { readonly contract: Contract; readonly state: TaskState },
  uncommitted: GitListing | null,
): Promise<EarlierChanges | null> {
  if (uncommitted === null) return null
  const { changed } = commitScope(uncommitted, await commitRulesOf(app, contract, state))
  if (changed.length > PATHS_MAX) return null
  const hashes = await openWorkTree(state.workspace).hashEach(changed.map(({ path }) => path))
  const isKnown = ([path, hash]: readonly [string, string | null]): boolean =>
    hash !== null || !isThere(state.workspace, path)
  return [...hashes].filter(isKnown)
}
