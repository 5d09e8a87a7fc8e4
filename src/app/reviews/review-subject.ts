import { createHash } from 'node:crypto'
import { toCanonicalJson } from '../../contract/fingerprint.js'
import { isObserved } from '../../core/evidence/inverted-run.js'
import type { ArtifactOffered } from '../../core/task/command.js'
import type { TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
import { boundTree } from '../approvals/approval-tree-hash.js'

/**
 * Hash of what there is to review: what was handed in during this visit, and the work tree. A report is bound to it, so
 * that nobody changes the work after it was looked at. What Phaselock made itself follows from the rest.
 */
export async function hashReviewSubject(
  app: App,
  state: TaskState,
  offered: readonly ArtifactOffered[] = [],
  /** The work tree, where it was looked at already. */
  seen?: string,
): Promise<string> {
  const artifacts: Record<string, string> = {}
  for (const { type, sha256, grade, visit } of state.artifacts.values())
    if (visit === state.visit && !isObserved(grade)) artifacts[type] = sha256
  for (const { type, sha256, grade, problems } of offered)
    if (problems.length === 0 && !isObserved(grade)) artifacts[type] = sha256
  const tree = seen ?? (await boundTree(app, state.workspace))
  return createHash('sha256')
    .update(toCanonicalJson({ task: state.id, visit: state.visit, artifacts, tree }))
    .digest('hex')
}
