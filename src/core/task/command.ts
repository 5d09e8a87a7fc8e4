import type { ApprovedTool } from '../approvals/tool-approval.js'
import type { Code } from '../codes.js'
import type { CheckName } from '../contract/contract.js'
import type { HookRecord } from '../contract/git-rules.js'
import type { InstallCommand } from '../dependencies/install-command.js'
import type { EvidenceProof } from '../evidence/checkpoint-event.js'
import type { TestsCommand } from '../evidence/tests-command.js'
import type { JsonObject } from '../json.js'
import type { AgentCliFile } from '../paths/agent-cli-files.js'
import type { ConsensusSeen } from '../reviews/consensus-event.js'
import type { CallFacts } from '../tool-calls/call-facts.js'
import type {
  ArtifactRef,
  ChangedPath,
  ChangeRef,
  DecisionChannel,
  GitAccess,
  Grade,
  ReviewStatus,
  UpstreamRef,
  UsageSaid,
} from './fact-parts.js'

/** The caller, the time, and functions that the core is given. */
export interface Context {
  /** Unix milliseconds. */
  readonly now: number
  /**
   * `agent:ID`, `operator:NAME`, `reviewer:NAME`, `orchestrator` for what Phaselock decides for an agent, or `system`.
   */
  readonly actor: string
  readonly matchesGlob: (pattern: string, path: string) => boolean
  /** Whether a regular expression matches a text; linear in time. */
  readonly matches: (pattern: string, text: string) => boolean
  /** Paths of the work tree that contain the contract. */
  readonly reservedPaths?: readonly string[]
  /** Inner repositories that contain a path of the command, if commits are required. */
  readonly innerRepositories?: readonly string[]
  /** How many bytes a task may add to its work tree; absent: the default. */
  readonly taskBytesMax?: number
}

/** A submitted artifact: stored content and the result of its schema; `shape` is what should be sent instead. */
export interface ArtifactOffered extends ArtifactRef {
  readonly problems: readonly { readonly pointer: string; readonly message: string; readonly shape?: string }[]
}

export type CheckOutcome =
  /** `notes`: information that does not block. */
  | { readonly result: 'holds'; readonly found: string; readonly grade: Grade; readonly notes?: readonly string[] }
  /** `run`: the run because of which the check failed, in wire format. */
  | {
      readonly result: 'fails'
      readonly found: string
      readonly grade: Grade
      readonly run?: JsonObject
      readonly remedy?: string
      /** The check runs once nothing else blocks. */
      readonly isPostponed?: true
    }
  | { readonly result: 'error'; readonly found: string; readonly grade: Grade }

interface UnledgeredPath {
  readonly path: string
  readonly kind: 'created' | 'modified' | 'deleted'
  /** For a file that an agent CLI writes for itself: the effect of its change. */
  readonly agentCli?: AgentCliFile
}

/** Facts gathered for one request to leave a phase. Valid only for the visit they were gathered in. */
export interface GateFacts {
  readonly visit: number
  readonly artifacts: readonly ArtifactOffered[]
  /** By `checkKey`. A check without an outcome blocks. */
  readonly checks: ReadonlyMap<string, CheckOutcome>
  /** Problems of the checkpoint evidence, one text per field. */
  readonly evidenceProblems: readonly string[]
  readonly evidence: JsonObject
  /** Fields that only a run can fill, while nothing has run because something else blocks. */
  readonly evidenceOpen?: readonly string[]
  /** Where the full evidence is stored; absent if none was given. */
  readonly evidenceRef?: { readonly sha256: string; readonly bytes: number }
  readonly proofs?: Readonly<Record<string, EvidenceProof>>
  /** Read failures, such as an unreadable work tree. Each closes the gate. */
  readonly problems: readonly string[]
  /** SHA-256 over the canonical artifacts and the work tree, which approvals are bound to. */
  readonly digest: string
  /** The hash of the work tree in that digest; null or absent: it is not bound to the tree. */
  readonly treeHash?: string | null
  /** Test files and their hashes, if a gate pins them. */
  readonly testFiles: Readonly<Record<string, string>> | null
  /** Paths that differ from the expected tree. */
  readonly unledgered?: readonly UnledgeredPath[]
  /** The agent's own tools are bound by hooks, which saw no call of it in this visit. */
  readonly areHooksSilent?: boolean
  /** `formatReviewsKey` of the state from which the reviews were gathered, if the phase requires some. */
  readonly reviewsKey?: string
  /** The decision of voting reviewers, if the phase has some. */
  readonly consensus?: ConsensusSeen | null
  /** Runs that Phaselock made for this request. */
  readonly observed?: readonly JsonObject[]
  /** Where the tests of an observed RED run are stored. */
  readonly pinnedRun?: string | null
  /** Shown to approvers with the artifacts. Derived from the work tree, which is already bound. */
  readonly shown?: readonly ArtifactRef[]
}

export type Command =
  | {
      readonly type: 'claim'
      readonly agentId: string
      readonly instance: string
      readonly capabilities: readonly string[]
      /** Incomplete dependencies. */
      readonly openDependencies: readonly string[]
      /** Phaselock claims it for an agent that it starts. */
      readonly isSpawned?: boolean
    }
  | { readonly type: 'park'; readonly reason: string }
  /** The process of an agent that Phaselock started has ended. */
  | { readonly type: 'drop_agent'; readonly agentId: string; readonly instance: string; readonly reason: string }
  | {
      readonly type: 'use_tool'
      readonly tool: string
      readonly args: JsonObject
      readonly call: CallFacts
      readonly execute: boolean
      /** Set if the caller is not the agent. */
      readonly reviewer?: string
    }
  | {
      readonly type: 'finish_tool'
      readonly tool: string
      readonly success: boolean
      /** Why it failed; null if it succeeded. */
      readonly code: Code | null
      readonly detail: string | null
      readonly durationMs: number
      readonly exitCode: number | null
      /** Its changes; checked against the phase's rules before any of them reaches the tree. */
      readonly changed: readonly (ChangedPath & { readonly sha256: string | null })[]
      /** By how much its changes grow the work tree. */
      readonly addedBytes?: number
      /** The changes are already in the tree: they were checked before. */
      readonly isWritten?: true
      readonly git: GitAccess
      /** Guarantees that were not enforced while it ran. */
      readonly unenforced: readonly string[]
      readonly failing?: string
      readonly hooks?: HookRecord
      readonly commit?: string
      readonly reviewer?: string
    }
  /** The agent asks for its prompt or to continue; `stays`: its statements lead nowhere. */
  | {
      readonly type: 'watch'
      readonly at: 'prompt' | 'next'
      readonly stays: boolean
      readonly committedAt: number | null
    }
  | { readonly type: 'acknowledge' }
  | { readonly type: 'finish_task'; readonly task: string }
  | (UsageSaid & { readonly type: 'record_usage' })
  | {
      readonly type: 'record_fact'
      readonly source: string
      readonly tool: string
      readonly command: string | null
      readonly paths: readonly string[]
      readonly success: boolean
      readonly durationMs: number | null
      readonly factId: string | null
      /** What it changed in the work tree, as the tree shows it. */
      readonly changes?: readonly ChangeRef[]
      readonly changeCount?: number
    }
  | {
      readonly type: 'transition'
      readonly target: string
      readonly currentPhase: string | null
      readonly claims: readonly string[]
      /** Phaselock asks: the task moves or nothing is recorded, never a refusal of the agent. */
      readonly auto?: true
      /** The agent completes the phase: its evidence is judged first, and stored when only gates block. */
      readonly completes?: true
      /** Time of the newest commit; null: no git repository, or no rule needs it. */
      readonly committedAt?: number | null
      /** null if the transition is refused anyway, by `needs` or by a rule. */
      readonly facts: GateFacts | null
    }
  | {
      readonly type: 'decide_approval'
      readonly approvalId: string
      readonly decision: 'approve' | 'reject'
      readonly digest: string
      readonly comment: string
      readonly by: Approver
      readonly channel?: DecisionChannel
    }
  | TestsCommand
  | InstallCommand
  | {
      readonly type: 'ask_tool_approval'
      readonly tool: ApprovedTool
      readonly digest: string
      readonly artifact: ArtifactRef
    }
  | { readonly type: 'ask_question'; readonly question: string; readonly options: readonly string[] }
  | {
      readonly type: 'answer_question'
      readonly questionId: string
      readonly answer: string
      /** The answer is free text and need not be one of the options. */
      readonly other: boolean
      readonly by: Exclude<Approver, { kind: 'reviewer' }>
    }
  | {
      readonly type: 'refuse_token'
      readonly agentId?: string
      readonly reviewer?: string
      readonly code: Code
      readonly detail: string
    }
  | { readonly type: 'add_reviewer'; readonly reviewer: string; readonly grant: string; readonly expiresAt: number }
  | { readonly type: 'revoke_reviewer'; readonly reviewer: string; readonly reason: string }
  | {
      readonly type: 'submit_review'
      readonly reviewer: string
      readonly report: {
        readonly status: ReviewStatus
        readonly sha256: string
        readonly bytes: number
        readonly comments: number
        readonly blockingIssues: number
      }
      /** Hash of the work to review now. */
      readonly subject: string
      /** Hash of the work the reviewer says it read; null: not given. */
      readonly seen: string | null
    }
  /** Unexplained paths found when a claim was resumed, or after a call of an agent CLI. */
  | {
      readonly type: 'report_unledgered'
      readonly changed: NonNullable<GateFacts['unledgered']>
      /** What changed them, in words: then it is a refusal of the agent. */
      readonly by?: string
      /** Somebody else may have done it: nothing is taken from the denial budget. */
      readonly isUncounted?: true
    }
  | { readonly type: 'extend_lease' }
  | { readonly type: 'renew_token' }
  | { readonly type: 'release'; readonly reason: string }
  | { readonly type: 'lapse_lease' }
  | { readonly type: 'expire_approval' }
  | { readonly type: 'check_alerts' }
  | { readonly type: 'cancel'; readonly reason: string }
  | {
      readonly type: 'resume'
      readonly reason: string
      readonly agentIsFree: boolean
      /** The folder that still holds the work of a task that 0.2.0 stashed. */
      readonly stashFolder?: string
    }
  | {
      readonly type: 'rewind'
      readonly to: string
      readonly reason: string
      readonly agentIsFree: boolean
      /** The paths of the work tree that go back with the task. */
      readonly restored?: { readonly paths: readonly string[]; readonly pathCount: number }
    }
  | { readonly type: 'reassign'; readonly agentId: string | null; readonly reason: string }
  | {
      readonly type: 'tree_accepted' | 'tree_reverted'
      readonly paths: readonly string[]
      readonly pathCount: number
      readonly reason: string
    }
  | {
      readonly type: 'end_worktree'
      readonly end: 'merge' | 'hand_over' | 'discard'
      readonly commit?: string
      readonly into?: string
      readonly result?: string
      readonly force: boolean
      readonly reason: string
    }
  | { readonly type: 'accept_tools'; readonly upstream: UpstreamRef; readonly reason: string }
  | {
      readonly type: 'update'
      readonly title?: string
      readonly description?: string
      readonly metadata?: JsonObject
      readonly priority?: number
    }

/** Who answers an approval or a question. Includes agents, so that their attempt is refused and recorded. */
export type Approver =
  | { readonly kind: 'operator'; readonly name: string; readonly role: string | null }
  | { readonly kind: 'agent'; readonly name: string }
  | { readonly kind: 'reviewer'; readonly name: string }

/** The key of one check's outcome in `GateFacts.checks`, for a gate or an artifact. */
export function checkKey(place: {
  readonly gate: string | null
  readonly artifact: string | null
  readonly index: number
  readonly check: CheckName
}): string {
  return JSON.stringify([place.gate, place.artifact, place.index, place.check])
}
