import { matchesGlob } from '../../contract/glob.js'
import type { Contract } from '../../core/contract/contract.js'
import { makeBlocker } from '../../core/gates/blockers.js'
import type { JsonObject } from '../../core/json.js'
import { findUnledgeredBlockers } from '../../core/task/reconcile.js'
import type { TaskState } from '../../core/task/state.js'
import type { TreeIndex } from '../../tree/tree-contents.js'
import type { App } from '../app.js'
import { toBlockerView } from '../tasks/views.js'
import { buildRedAgainWarnings } from '../test-runs/red-again.js'
import { makeTaskContext } from '../tool-calls/contract-paths.js'
import { judgeAgentCliFiles, type UnledgeredChange } from './agent-cli-files.js'
import type { TreeComparison } from './trees.js'

interface ComparedTree {
  readonly index: TreeIndex
  /** Changes that no allowed call explains, without paths that the contract ignores. */
  readonly unledgered: readonly UnledgeredChange[]
  readonly namesRunner: ReadonlySet<string>
}

/**
 * Compares the work tree with what allowed calls explain; null if the contract does not reconcile. A comparison that
 * was just made is used instead of another.
 */
export async function compareTree(
  app: App,
  contract: Contract,
  state: TaskState,
  comparison: TreeComparison | null = null,
): Promise<ComparedTree | null> {
  if (contract.enforcement.reconcile === 'off') return null
  const compared = comparison ?? (await app.trees.compare(state.workspace))
  const { index, namesRunner } = compared
  const isIgnored = (path: string): boolean =>
    contract.enforcement.reconcileIgnore.some((pattern) => matchesGlob(pattern, path))
  const differences = app.trees.tasks.listUnexplained(state, compared)
  const counted = differences.filter(({ path }) => !isIgnored(path))
  const unledgered = await judgeAgentCliFiles(app, state.workspace, { differences: counted, index })
  return { index, unledgered, namesRunner }
}

/**
 * Compares the work tree for an agent that resumes its claim, and records unexplained changes. The claim holds in any
 * case: the agent is told now, and its next transition is blocked.
 */
export async function reconcileResumed(app: App, contract: Contract, state: TaskState): Promise<readonly JsonObject[]> {
  // Tools of the previous claim are stopped first, so that their last writes are in the tree.
  await app.running.settle(state.id, 0)
  const { changed, context, warnings } = await findUnledgered(app, contract, state)
  if (warnings.length > 0)
    await app.ledger.apply({ taskId: state.id, contract }, { type: 'report_unledgered', changed }, context, {
      // An agent that has claimed the task by now is told by its own claim.
      guard: ({ epoch }) =>
        epoch === state.epoch ? null : { code: 'token_stale', detail: 'The claim was superseded.' },
    })
  return [...warnings.map(toBlockerView), ...buildRedAgainWarnings(app, contract, state)]
}

/** For a client that lost the answer to its claim: reported again, but not recorded again. */
export async function repeatResumeWarnings(
  app: App,
  contract: Contract,
  state: TaskState,
): Promise<readonly JsonObject[]> {
  const { warnings } = await findUnledgered(app, contract, state)
  return [...warnings.map(toBlockerView), ...buildRedAgainWarnings(app, contract, state)]
}

async function findUnledgered(app: App, contract: Contract, state: TaskState) {
  const actor = `agent:${state.held?.agentId ?? ''}`
  const context = makeTaskContext(app, actor, { contract, state })
  try {
    const changed = (await compareTree(app, contract, state))?.unledgered ?? []
    return { changed, context, warnings: findUnledgeredBlockers(contract, state, changed, context) }
  } catch (error) {
    // The agent already holds its task: tell it what will block its next transition.
    const why = error instanceof Error ? error.message : 'unreadable'
    return {
      changed: [],
      context,
      warnings: [makeBlocker('check_error', { message: `The work tree cannot be compared: ${why}` })],
    }
  }
}
