import type { TaskEvent } from './event.js'
import type { TaskState } from './state.js'

/** The state that a stream begins with. */
export function created(event: TaskEvent & { type: 'task_created' }): TaskState {
  return {
    id: event.id,
    version: 1,
    title: event.title,
    description: event.description,
    contract: { name: event.contractName, version: event.contractVersion, hash: event.contractHash },
    workspace: event.workspace,
    dependsOn: event.dependsOn,
    requires: event.requires,
    metadata: event.metadata,
    mode: event.mode,
    upstream: event.upstream ?? null,
    priority: event.priority,
    status: 'queued',
    phase: event.start,
    epoch: 0,
    visit: 0,
    visitStartedAt: event.at,
    held: null,
    reservedFor: null,
    holders: [],
    completedPhases: [],
    artifacts: new Map(),
    evidence: new Map(),
    approvals: new Map(),
    questions: new Map(),
    reviewers: new Map(),
    refusals: new Map(),
    denialsInARow: 0,
    refusalsTotal: 0,
    visitBytes: 0,
    pinnedTests: null,
    pinnedRun: null,
    parkedReason: null,
    createdAt: event.at,
    updatedAt: event.at,
  }
}
