import { isObserved } from '../../core/evidence/inverted-run.js'
import type { ArtifactOffered } from '../../core/task/command.js'
import type { TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
import { hashApprovalTree } from '../approvals/approval-tree-hash.js'
import { blobOf } from '../blobs.js'

/**
 * Hash of the work to review: the artifacts of this visit and the work tree. A report is bound to it, so that the work
 * cannot change after the review. Artifacts that Phaselock derives are left out.
 */
export async function hashReviewSubject(
  app: App,
  state: TaskState,
  offered: readonly ArtifactOffered[] = [],
  /** The work tree, if it was already read. */
  seen?: string,
): Promise<string> {
  const artifacts: Record<string, string> = {}
  for (const { type, sha256, grade, visit } of state.artifacts.values())
    if (visit === state.visit && !isObserved(grade)) artifacts[type] = sha256
  for (const { type, sha256, grade, problems } of offered)
    if (problems.length === 0 && !isObserved(grade)) artifacts[type] = sha256
  const tree = seen ?? (await hashApprovalTree(app, state.workspace))
  return blobOf({ task: state.id, visit: state.visit, artifacts, tree }).sha256
}
