import type { Mode } from '../contract/contract.js'
import type { EvidenceProof } from '../evidence/checkpoint-event.js'
import type { HeldOut } from '../evidence/held-out.js'
import type { JsonObject } from '../json.js'
import type { Slot } from '../reviews/reviewer-slots.js'
import type { Watch } from '../watch/watch.js'
import type { RaisedAlert } from './alerts.js'
import type { ReviewStatus, UpstreamRef } from './command.js'
import type { ArtifactRef, BlockerFound } from './event.js'
import type { Worktree } from './worktree.js'

export type TaskStatus =
  | 'queued'
  | 'active'
  | 'awaiting_approval'
  | 'interrupted'
  | 'parked'
  | 'completed'
  | 'cancelled'

export interface ApprovalDecision {
  readonly by: string
  readonly decision: 'approve' | 'reject'
  readonly comment: string
  readonly at: number
}

export interface Approval {
  readonly id: string
  /** Who asked, and in which phase: the task may be in another one and with another agent by now. */
  readonly agentId: string | null
  readonly phase: string
  readonly gate: string
  readonly to: string
  readonly visit: number
  readonly digest: string
  readonly approvers: readonly string[]
  readonly minApprovals: number
  readonly requestedAt: number
  readonly expiresAt: number
  readonly artifacts: readonly ArtifactRef[]
  readonly evidence: JsonObject
  /** What does not hold and blocks nothing. */
  readonly warnings: readonly BlockerFound[]
  readonly decisions: readonly ApprovalDecision[]
  readonly status: 'pending' | 'approved' | 'rejected' | 'expired' | 'used' | 'void'
}

/** What an agent asked the operators. */
export interface Question {
  readonly id: string
  readonly agentId: string
  readonly phase: string
  readonly visit: number
  readonly question: string
  /** Empty: any text answers it. */
  readonly options: readonly string[]
  readonly askedAt: number
  readonly status: 'open' | 'answered' | 'withdrawn'
  readonly answer: { readonly text: string; readonly by: string; readonly at: number } | null
}

/** What a reviewer sent; its words lie in the store under `sha256`. */
export interface ReviewReport {
  readonly status: ReviewStatus
  readonly sha256: string
  readonly bytes: number
  readonly comments: number
  readonly blockingIssues: number
  /** Hash of what was reviewed: the artifacts of the visit and the work tree. */
  readonly subject: string
  readonly at: number
  /** How often the agent had been turned back when it came. */
  readonly turnedBack: number
}

/** Somebody else than the agent who looks at the task, for one visit of a phase. */
export interface Reviewer {
  readonly name: string
  readonly phase: string
  readonly visit: number
  /** The one review token that is alive carries this. */
  readonly grant: string
  readonly expiresAt: number
  readonly addedAt: number
  readonly status: 'open' | 'finished' | 'revoked'
  /** Refusals under this token. */
  readonly denials: number
  /** Reports sent in this visit, replaced ones included. */
  readonly reports: number
  readonly report: ReviewReport | null
  /** True when its newest token is of a process that Phaselock starts, and not of somebody whom an operator let in. */
  readonly isStarted: boolean
  /** How often Phaselock has started it in this visit. */
  readonly starts: number
}

export interface TaskHolder {
  readonly agentId: string
  readonly instance: string
  readonly capabilities: readonly string[]
  readonly leaseExpiresAt: number
  /** Phaselock started the agent for this task. */
  readonly isSpawned?: true
}

/** An artifact as handed in, with the phase and visit it belongs to. */
export interface KeptArtifact extends ArtifactRef {
  readonly phase: string
  readonly visit: number
}

/** Checkpoint evidence that was accepted. It counts for the visit it was handed in. */
export interface Checkpoint {
  readonly visit: number
  readonly at: number
  /** Where the whole evidence lies; null: what the event says is all of it. */
  readonly sha256: string | null
  readonly bytes: number
  readonly proofs: Readonly<Record<string, EvidenceProof>>
}

/** Everything that is known of one task: the fold of its stream, nothing else. */
export interface TaskState {
  readonly id: string
  /** Number of events folded. */
  readonly version: number
  readonly title: string
  readonly description: string
  readonly contract: { readonly name: string; readonly version: string; readonly hash: string }
  readonly workspace: string
  /** The work tree that was made for it; null: it works in one that was there. */
  readonly worktree: Worktree | null
  readonly dependsOn: readonly string[]
  readonly requires: readonly string[]
  readonly metadata: JsonObject
  /** The upstream tools that were accepted; null: none. */
  readonly upstream: UpstreamRef | null
  readonly mode: Mode | null
  readonly priority: number
  readonly status: TaskStatus
  readonly phase: string
  readonly epoch: number
  /** Number of the current stay in a phase, from 1; 0 before the first claim. */
  readonly visit: number
  readonly visitStartedAt: number
  /** When the newest visits began, this one last. */
  readonly visitStarts: readonly number[]
  /** What the rules of this visit look at. */
  readonly watch: Watch
  /** Who works on it; kept while parked so that the agent can go on when the task is resumed. */
  readonly held: TaskHolder | null
  /** Who lost it by the end of the lease and can take it up again with the next call; null unless `interrupted`. */
  readonly lapsed: TaskHolder | null
  /** Only this agent may claim it; set by a reassignment. */
  readonly reservedFor: string | null
  /** Every agent that ever held it: none of them reviews it. */
  readonly holders: readonly string[]
  readonly completedPhases: readonly string[]
  /** Newest artifact of each type, from this visit and from the phases that led here. */
  readonly artifacts: ReadonlyMap<string, KeptArtifact>
  /** Accepted checkpoint evidence by phase. */
  readonly evidence: ReadonlyMap<string, JsonObject>
  /** When and how the evidence of a phase was accepted, by phase. */
  readonly checkpoints: ReadonlyMap<string, Checkpoint>
  /** Tasks of the phase that were done in this visit, where it hands them out in order. */
  readonly tasksDone: readonly string[]
  /** All approvals, by id. */
  readonly approvals: ReadonlyMap<string, Approval>
  /** Questions to the operators, by id, oldest first. */
  readonly questions: ReadonlyMap<string, Question>
  /** Reviewers of the newest visit that had some, by name. */
  readonly reviewers: ReadonlyMap<string, Reviewer>
  /** How often Phaselock has started a reviewer for it, in all visits since an operator last rewound it. */
  readonly reviewStarts: number
  /** The runs of reviewers that were asked for in the newest visit that had some, oldest first. */
  readonly consensus: {
    readonly visit: number
    readonly runs: readonly { readonly id: string; readonly subject: string }[]
    /** How many were asked for in all visits, since an operator last rewound the task. */
    readonly asked: number
  } | null
  /** Refusals of this visit by kind. */
  readonly refusals: ReadonlyMap<string, number>
  /** Refusals since the last progress that count toward the denial budget. */
  readonly denialsInARow: number
  readonly refusalsTotal: number
  /** How many bytes its calls have added to the work tree. */
  readonly bytesAdded: number
  /** Bytes of artifacts handed in during this visit, replaced ones included. */
  readonly visitBytes: number
  /** Test files at the RED gate: path to SHA-256; null before RED. */
  readonly pinnedTests: ReadonlyMap<string, string> | null
  /** Hash under which the tests of the observed RED run are stored; null: none were observed. */
  readonly pinnedRun: string | null
  /** Hash under which the tests of the tree that work began with are stored; null: not known yet. */
  readonly baseline: string | null
  /** Examples that no agent sees; absent: none. */
  readonly heldOut?: HeldOut
  /** Tests have been seen failing before, in whatever visit: code that was written since is not part of the next RED run. */
  readonly wasRed?: true
  /** How often each way back was taken since an operator last resumed the task. */
  readonly waysBack?: Readonly<Record<string, number>>
  readonly parkedReason: string | null
  /** Where its work lies while it is put aside; null: it is in the work tree. */
  readonly stash: string | null
  /** Places for reviewers that opened with this visit. */
  readonly wanted: readonly Slot[]
  /** Leases lost since the phase was entered or an operator let the task go on. */
  readonly crashes: number
  /** Nobody gets the task before; null: no back-off. */
  readonly claimableAt: number | null
  /** Alerts that were raised and have not cleared, by name. */
  readonly alerts: ReadonlyMap<string, RaisedAlert>
  /** Gate decisions of the whole task; waiting for others is none. */
  readonly gates: { readonly passed: number; readonly blocked: number }
  /** The epoch that `auto_advance` began; null when the newest one began otherwise. */
  readonly advancedTo: number | null
  readonly createdAt: number
  readonly updatedAt: number
}
