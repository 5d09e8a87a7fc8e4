import type { QuestionFact } from '../approvals/question-event.js'
import type { Code } from '../codes.js'
import type { AlertCondition } from '../contract/contract-parts.js'
import type { HookRecord } from '../contract/git-rules.js'
import type { InstallFact } from '../dependencies/install-command.js'
import type { CheckpointFact } from '../evidence/checkpoint-event.js'
import type { TestsFact } from '../evidence/tests-event.js'
import type { JsonObject } from '../json.js'
import type { ConsensusFact, ConsensusProof } from '../reviews/consensus-event.js'
import type { ReviewFact } from '../reviews/review-event.js'
import type { WatchFact } from '../watch/watch-event.js'
import type {
  ArtifactRef,
  BlockerFound,
  ChangeRef,
  CheckSeen,
  DecisionChannel,
  NewTask,
  Refused,
  UpstreamRef,
  Violation,
} from './fact-parts.js'
import type { TreeFact } from './tree-event.js'

/** The caller: the agent or a reviewer. */
interface Caller {
  readonly agentId?: string
  readonly reviewer?: string
}

/** Details of a task whose agent has ended. */
interface Interrupted {
  /** Nobody gets the task before this time, if there is a back-off. */
  readonly claimableAt?: number
  /** It waits for the same agent. */
  readonly isReserved?: true
}

interface ToolCall extends Caller {
  readonly toolName: string
  /** Bounded, redacted arguments as the caller gave them. */
  readonly args: JsonObject
}

/** The data of each event type, without time, actor, phase and epoch. */
export type TaskFact =
  | (NewTask & {
      readonly type: 'task_created'
      readonly contractHash: string
      readonly contractName: string
      readonly contractVersion: string
      readonly start: string
    })
  | { readonly type: 'tools_accepted'; readonly upstream: UpstreamRef; readonly reason: string }
  | {
      readonly type: 'task_updated'
      readonly title: string
      readonly description: string
      readonly metadata: JsonObject
      readonly priority: number
    }
  | {
      readonly type: 'task_claimed'
      readonly agentId: string
      readonly instance: string
      readonly capabilities: readonly string[]
      readonly leaseSeconds: number
      readonly resumed: boolean
      /** Phaselock started the agent for it. */
      readonly isSpawned?: true
    }
  | { readonly type: 'lease_extended'; readonly agentId: string; readonly leaseSeconds: number }
  | { readonly type: 'token_renewed'; readonly agentId: string; readonly leaseSeconds: number }
  | ({ readonly type: 'lease_lapsed'; readonly agentId: string } & Interrupted)
  /** The process of an agent that Phaselock started ended before its task was done. */
  | ({ readonly type: 'agent_dropped'; readonly agentId: string; readonly reason: string } & Interrupted)
  | { readonly type: 'task_released'; readonly agentId: string; readonly reason: string }
  | { readonly type: 'task_reassigned'; readonly agentId: string | null; readonly reason: string }
  | {
      readonly type: 'task_parked'
      readonly reason: string
      readonly code: Code | null
      /** Only 0.2.0 wrote it. Its work was stashed under this id and must be restored first; null: the stash was dropped. */
      readonly stash?: string | null
    }
  | {
      readonly type: 'task_resumed'
      readonly reason: string
      readonly keepsAgent: boolean
      readonly leaseSeconds: number
    }
  | { readonly type: 'task_cancelled'; readonly reason: string }
  | { readonly type: 'task_rewound'; readonly to: string; readonly reason: string; readonly keepsAgent: boolean }
  | { readonly type: 'task_completed' }
  | (ToolCall & {
      readonly type: 'tool_allowed'
      readonly success: true
      readonly execute: boolean
      /** The command line it runs, if its arguments do not contain it. */
      readonly runs?: string
      readonly violation: Violation | null
      readonly leaseSeconds: number
    })
  | (ToolCall & Refused & { readonly type: 'tool_denied'; readonly leaseSeconds: number })
  | (Caller & {
      readonly type: 'tool_finished'
      readonly toolName: string
      readonly success: boolean
      readonly code: Code | null
      readonly durationMs: number
      readonly detail?: string | null
      readonly exitCode?: number | null
      /** The first changes by path; `changeCount` has the number, `addedBytes` the size. */
      readonly changes?: readonly ChangeRef[]
      readonly changeCount?: number
      readonly addedBytes?: number
      readonly violation?: Violation | null
      readonly unenforced?: readonly string[]
      /** Digest of the failed tests, if it ran tests. */
      readonly failing?: string
      /** Which hooks of the repository were run before a commit, and which were not. */
      readonly hooks?: HookRecord
      /** The id of the commit that it made. */
      readonly commit?: string
      readonly leaseSeconds?: number
    })
  | (Refused & {
      readonly type: 'changes_dropped'
      readonly toolName: string
      readonly agentId: string
      readonly durationMs: number
      readonly exitCode: number | null
      /** The first of the paths that may not change. */
      readonly paths: readonly string[]
      readonly pathCount: number
      readonly leaseSeconds: number
    })
  | {
      readonly type: 'transition_requested'
      readonly agentId: string
      readonly to: string
      /** Artifacts that match their schema; stored for the visit. */
      readonly artifacts: readonly ArtifactRef[]
      readonly claims: readonly string[]
      readonly leaseSeconds: number
      /** Size of the submitted checkpoint evidence, which is stored like artifacts. */
      readonly evidenceBytes?: number
      /** Runs of the contract's commands in wire format; each record is stored under its `sha256`. */
      readonly observed?: readonly JsonObject[]
      /** Every check of the request with its outcome. Absent: none, or recorded by an earlier version. */
      readonly checks?: readonly CheckSeen[]
      /** Phaselock made it automatically (`auto_advance`). */
      readonly auto?: true
    }
  | (Refused & {
      readonly type: 'transition_refused'
      readonly agentId: string
      readonly to: string
      readonly leaseSeconds: number
    })
  | (Refused & {
      readonly type: 'gate_blocked'
      readonly agentId: string
      readonly to: string
      readonly gate: string | null
      readonly blockers: readonly BlockerFound[]
      readonly warnings: readonly BlockerFound[]
    })
  | {
      readonly type: 'gate_passed'
      readonly agentId: string
      readonly to: string
      readonly gate: string | null
      readonly warnings: readonly BlockerFound[]
      readonly violations: readonly BlockerFound[]
      readonly approvalId: string | null
      readonly digest: string
      readonly success: true
      /** The decision of the phase's voting reviewers, if it has some. */
      readonly consensus?: ConsensusProof
    }
  | {
      readonly type: 'phase_entered'
      readonly from: string | null
      readonly to: string
      readonly visit: number
      /** Artifacts of the phase that was left. */
      readonly artifacts: readonly ArtifactRef[]
      readonly back: boolean
      readonly auto?: true
    }
  | { readonly type: 'reviewers_wanted'; readonly names: readonly string[]; readonly awaited: readonly string[] }
  | {
      readonly type: 'alert_raised'
      readonly alert: string
      readonly condition: AlertCondition
      readonly limit: number
      readonly value: number
      readonly message: string
    }
  | { readonly type: 'alert_cleared'; readonly alert: string; readonly condition: AlertCondition }
  | {
      readonly type: 'approval_requested'
      readonly approvalId: string
      readonly gate: string
      readonly to: string
      readonly digest: string
      readonly approvers: readonly string[]
      readonly minApprovals: number
      readonly expiresAt: number
      readonly artifacts: readonly ArtifactRef[]
      readonly evidence: JsonObject
      readonly warnings: readonly BlockerFound[]
      /** The hash of the work tree that the digest covers. Absent: it covers none. */
      readonly treeHash?: string
    }
  | {
      readonly type: 'approval_decided'
      readonly approvalId: string
      readonly decision: 'approve' | 'reject'
      readonly by: string
      readonly comment: string
      readonly digest: string
      /** Where the person decided. Absent: over the API, or recorded by an earlier version. */
      readonly channel?: DecisionChannel
    }
  | (Refused & { readonly type: 'approval_refused'; readonly approvalId: string; readonly by: string })
  | (Caller & { readonly type: 'token_refused'; readonly code: Code; readonly detail: string; readonly success: false })
  | { readonly type: 'approval_expired'; readonly approvalId: string; readonly action: 'park' | 'reject' }
  | { readonly type: 'approval_voided'; readonly approvalId: string; readonly reason: string }
  | CheckpointFact
  | ConsensusFact
  | QuestionFact
  | ReviewFact
  | TestsFact
  | InstallFact
  | TreeFact
  | WatchFact

/** An event of one task. `at` is Unix milliseconds. */
export type TaskEvent = TaskFact & {
  readonly at: number
  readonly actor: string
  readonly epoch: number
  readonly phase: string
  readonly contract: string
}
