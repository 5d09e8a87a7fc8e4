import { voidPendingApprovals } from '../approvals/evolve-approval.js'
import { resetHeldOutFailures } from '../evidence/held-out.js'
import { startVisit } from '../watch/evolve-watch.js'
import type { TaskEvent } from './event.js'
import type { TaskState } from './state.js'

export function applyTaskRewound(state: TaskState, event: TaskEvent & { type: 'task_rewound' }): TaskState {
  const completedPhases = takePhasesBefore(state.completedPhases, event.to)
  const artifacts = new Map([...state.artifacts].filter(([, artifact]) => completedPhases.includes(artifact.phase)))
  const evidence = new Map([...state.evidence].filter(([phase]) => completedPhases.includes(phase)))
  const checkpoints = new Map([...state.checkpoints].filter(([phase]) => completedPhases.includes(phase)))
  return {
    ...voidPendingApprovals(state),
    ...resetHeldOutFailures(state),
    testsDoubted: 0,
    checkpoints,
    phase: event.to,
    epoch: event.epoch,
    visit: state.visit + 1,
    ...startVisit(state, event.at),
    status: event.keepsAgent ? 'active' : 'queued',
    held: event.keepsAgent ? state.held : null,
    completedPhases,
    artifacts,
    evidence,
    refusals: new Map(),
    denialsInARow: 0,
    pinnedTests: artifacts.has('test_files') ? state.pinnedTests : null,
    pinnedRun: artifacts.has('test_files') ? state.pinnedRun : null,
    parkedReason: null,
    stash: null,
    wanted: [],
    crashes: 0,
    claimableAt: null,
    advancedTo: null,
    reviewStarts: 0,
    consensus: state.consensus === null ? null : { ...state.consensus, asked: 0 },
  }
}

export function leaseLost(state: TaskState, event: TaskEvent & { type: 'lease_lapsed' | 'agent_dropped' }): TaskState {
  const claimableAt = event.claimableAt ?? null
  const reservedFor = event.isReserved === true ? event.agentId : state.reservedFor
  // Phaselock starts its own agents again; others go on with their next call.
  const lapsed = event.type === 'lease_lapsed' || state.held?.isSpawned !== true ? state.held : null
  return { ...state, status: 'interrupted', held: null, lapsed, crashes: state.crashes + 1, claimableAt, reservedFor }
}

export function applyTaskReassigned(state: TaskState, event: TaskEvent & { type: 'task_reassigned' }): TaskState {
  return {
    ...state,
    ...resetHeldOutFailures(state),
    testsDoubted: 0,
    status: 'queued',
    held: null,
    reservedFor: event.agentId,
    epoch: event.epoch,
    parkedReason: null,
    stash: null,
    refusals: new Map(),
    denialsInARow: 0,
    crashes: 0,
    claimableAt: null,
    advancedTo: null,
  }
}

export function applyTaskResumed(state: TaskState, event: TaskEvent & { type: 'task_resumed' }): TaskState {
  const held =
    event.keepsAgent && state.held !== null
      ? { ...state.held, leaseExpiresAt: event.at + event.leaseSeconds * 1000 }
      : null
  return {
    ...state,
    ...resetHeldOutFailures(state),
    testsDoubted: 0,
    status: held === null ? 'queued' : 'active',
    held,
    parkedReason: null,
    stash: null,
    refusals: new Map(),
    denialsInARow: 0,
    crashes: 0,
    claimableAt: null,
  }
}

/** A task that is also parked for another reason keeps its stash. */
export function stashAfter(state: TaskState, event: TaskEvent & { type: 'task_parked' }): string | null {
  return event.stash === undefined ? state.stash : event.stash
}

export function addPhase(phases: readonly string[], phase: string): readonly string[] {
  return phases.includes(phase) ? phases : [...phases, phase]
}

export function takePhasesBefore(phases: readonly string[], phase: string): readonly string[] {
  const index = phases.indexOf(phase)
  return index === -1 ? phases : phases.slice(0, index)
}

export function updateAlerts(
  state: TaskState,
  event: TaskEvent & { type: 'alert_raised' | 'alert_cleared' },
): TaskState['alerts'] {
  const alerts = new Map(state.alerts)
  if (event.type === 'alert_cleared') alerts.delete(event.alert)
  else {
    const { alert, condition, limit, message, at } = event
    alerts.set(alert, { condition, limit, message, since: at })
  }
  return alerts
}
