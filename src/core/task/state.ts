import type { Mode } from '../contract/contract.js'
import type { AlertCondition, Slot } from '../contract/contract-parts.js'
import type { EvidenceProof } from '../evidence/checkpoint-event.js'
import type { JsonObject } from '../json.js'
import type { Violation as RuleViolation } from '../rules/evaluate.js'
import type { Facts } from '../rules/facts.js'
import type { Rule } from '../rules/rule.js'
import type {
  ArtifactRef,
  BlockerFound,
  CheckSeen,
  DecisionChannel,
  HeldOutRef,
  ReviewStatus,
  UpstreamRef,
} from './fact-parts.js'
import type { NewWorktree } from './tree-event.js'

/** An alert that was raised and has not cleared. */
interface RaisedAlert {
  readonly condition: AlertCondition
  readonly limit: number
  readonly message: string
  readonly since: number
}

interface HeldOut extends HeldOutRef {
  /** Failures since an operator last looked at the task. */
  readonly failures: number
  /** Where the outcome of the last failure is stored. */
  readonly run: string | null
}

/** A task's own work tree and its status. */
export interface Worktree extends NewWorktree {
  readonly status: 'open' | 'merged' | 'handed_over' | 'discarded'
  /** The branch's commit when its work was last merged; null: never. */
  readonly commit: string | null
}

/** What the rules of a phase evaluate, for one visit; reset with the visit. */
export interface Watch {
  readonly facts: Facts
  /** Progress counter: changes when the work tree or the set of failing tests changed. */
  readonly mark: number
  /** Digest of the failed tests of the newest run; null before the first. */
  readonly failing: string | null
  /** The violation that was shown and not acknowledged. */
  readonly open: OpenViolation | null
  /** Rules whose violation was reported to the agent and not acknowledged. */
  readonly reported: ReadonlySet<string>
  /** Acknowledged rules, with the time. */
  readonly acknowledged: ReadonlyMap<string, number>
  /** How often each rule was acknowledged. */
  readonly continues: ReadonlyMap<string, number>
  /** Shadow rules that were recorded. */
  readonly shadowed: ReadonlySet<string>
  /** Ids of facts that agent CLIs reported, newest last. */
  readonly seen: ReadonlySet<string>
}

interface OpenViolation {
  readonly rule: string
  readonly action: Rule['onViolation']
  readonly violation: RuleViolation
  readonly at: number
}

export type TaskStatus =
  | 'queued'
  | 'active'
  | 'awaiting_approval'
  | 'interrupted'
  | 'parked'
  | 'completed'
  | 'cancelled'

interface ApprovalDecision {
  readonly by: string
  readonly decision: 'approve' | 'reject'
  readonly comment: string
  readonly at: number
  /** Null: over the API. Absent in states that an earlier version kept. */
  readonly channel?: DecisionChannel | null
}

export interface Approval {
  readonly id: string
  /** The requesting agent and its phase: both may have changed by now. */
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
  /** The hash of the work tree that the digest covers; absent: it covers none. */
  readonly treeHash?: string
  /** Every check of the request with its outcome; absent: none was recorded. */
  readonly checks?: readonly CheckSeen[]
  /** Failed checks that do not block. */
  readonly warnings: readonly BlockerFound[]
  readonly decisions: readonly ApprovalDecision[]
  readonly status: 'pending' | 'approved' | 'rejected' | 'expired' | 'used' | 'void'
}

/** An agent's question to the operators. */
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

/** A reviewer's report; its content is stored under `sha256`. */
interface ReviewReport {
  readonly status: ReviewStatus
  readonly sha256: string
  readonly bytes: number
  readonly comments: number
  readonly blockingIssues: number
  /** Hash of the reviewed work: the artifacts of the visit and the work tree. */
  readonly subject: string
  readonly at: number
  /** How often the agent had been refused when it came. */
  readonly turnedBack: number
}

/** An independent reviewer of the task, for one visit of a phase. */
export interface Reviewer {
  readonly name: string
  readonly phase: string
  readonly visit: number
  /** The only valid review token carries this. */
  readonly grant: string
  readonly expiresAt: number
  readonly addedAt: number
  readonly status: 'open' | 'finished' | 'revoked'
  /** Refusals under this token. */
  readonly denials: number
  /** Reports sent in this visit, replaced ones included. */
  readonly reports: number
  readonly report: ReviewReport | null
  /**
   * True when its newest token belongs to a process that Phaselock starts, not to a reviewer that an operator admitted.
   */
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

/** Accepted checkpoint evidence. It counts for the visit it was handed in. */
interface Checkpoint {
  readonly visit: number
  readonly at: number
  /** Where the full evidence is stored; null: the event contains all of it. */
  readonly sha256: string | null
  readonly bytes: number
  readonly proofs: Readonly<Record<string, EvidenceProof>>
}

/** The complete state of one task, folded from its stream. */
export interface TaskState {
  readonly id: string
  /** Number of events folded. */
  readonly version: number
  readonly title: string
  readonly description: string
  readonly contract: { readonly name: string; readonly version: string; readonly hash: string }
  readonly workspace: string
  /** The work tree made for it; null: it uses an existing one. */
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
  /** When the newest visits began, oldest first. */
  readonly visitStarts: readonly number[]
  /** What the rules of this visit evaluate. */
  readonly watch: Watch
  /** Who works on it; kept while parked, so that the agent can continue on resume. */
  readonly held: TaskHolder | null
  /** Who lost it by lease expiry and can resume with its next call; null unless `interrupted`. */
  readonly lapsed: TaskHolder | null
  /** Only this agent may claim it; set by a reassignment. */
  readonly reservedFor: string | null
  /** Every agent that ever held it: none of them may review it. */
  readonly holders: readonly string[]
  readonly completedPhases: readonly string[]
  /** Newest artifact of each type, from this visit and the phases before it. */
  readonly artifacts: ReadonlyMap<string, KeptArtifact>
  /** Accepted checkpoint evidence by phase. */
  readonly evidence: ReadonlyMap<string, JsonObject>
  /** When and how the evidence of a phase was accepted, by phase. */
  readonly checkpoints: ReadonlyMap<string, Checkpoint>
  /** Tasks of the phase done in this visit, if it hands them out in order. */
  readonly tasksDone: readonly string[]
  /** All approvals, by id. */
  readonly approvals: ReadonlyMap<string, Approval>
  /** Questions to the operators, by id, oldest first. */
  readonly questions: ReadonlyMap<string, Question>
  /** Reviewers of the newest visit that had some, by name. */
  readonly reviewers: ReadonlyMap<string, Reviewer>
  /** How often Phaselock has started a reviewer for it, in all visits since an operator last rewound it. */
  readonly reviewStarts: number
  /** The councils requested in the newest visit that had some, oldest first. */
  readonly consensus: {
    readonly visit: number
    readonly runs: readonly { readonly id: string; readonly subject: string }[]
    /** How many were requested in all visits, since an operator last rewound the task. */
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
  /** Hash under which the baseline tests are stored; null: not known yet. */
  readonly baseline: string | null
  /** Held-out examples; absent: none. */
  readonly heldOut?: HeldOut
  /** Tests were observed failing in an earlier visit: code written since is not part of the next RED run. */
  readonly wasRed?: true
  /** How often the inverted run refused its tests since an operator last looked at the task. */
  readonly testsDoubted?: number
  /** How often each way back was taken since an operator last resumed the task. */
  readonly waysBack?: Readonly<Record<string, number>>
  readonly parkedReason: string | null
  /** The id under which 0.2.0 stashed its work; null: its work is in the work tree. */
  readonly stash: string | null
  /** Reviewer slots that opened with this visit. */
  readonly wanted: readonly Slot[]
  /** Leases lost since the phase was entered or an operator resumed the task. */
  readonly crashes: number
  /** Nobody gets the task before this time; null: no back-off. */
  readonly claimableAt: number | null
  /** Alerts that were raised and have not cleared, by name. */
  readonly alerts: ReadonlyMap<string, RaisedAlert>
  /** The checks of the newest request to leave a phase; absent: none was recorded. */
  readonly checksSeen?: readonly CheckSeen[]
  /** Changes that no call explains, as the newest comparison found them; absent: none, or settled since. */
  readonly unexplained?: { readonly detail: string; readonly since: number }
  /** Gate decisions of the whole task; waiting for others does not count. */
  readonly gates: { readonly passed: number; readonly blocked: number }
  /** The epoch that `auto_advance` began; null when the newest one began otherwise. */
  readonly advancedTo: number | null
  readonly createdAt: number
  readonly updatedAt: number
}
