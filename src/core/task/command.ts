import type { Code } from '../codes.js'
import type { CheckName } from '../contract/contract.js'
import type { HookRecord } from '../contract/git-rules.js'
import type { EvidenceProof } from '../evidence/checkpoint-event.js'
import type { TestsCommand } from '../evidence/tests-command.js'
import type { JsonObject } from '../json.js'
import type { AgentCliFile } from '../paths/agent-cli-files.js'
import type { ConsensusSeen } from '../reviews/consensus-event.js'
import type { CallFacts } from '../tool-calls/call-facts.js'
import type { ArtifactRef, ChangedPath, GitAccess, Grade, ReviewStatus, UpstreamRef, UsageSaid } from './fact-parts.js'

/** Who asks, when, and the functions the core is lent because it has none of its own. */
export interface Context {
  /** Unix milliseconds. */
  readonly now: number
  /** `agent:ID`, `operator:NAME`, `reviewer:NAME`, `orchestrator` for what Phaselock decides in an agent's place, or `system`. */
  readonly actor: string
  readonly matchesGlob: (pattern: string, path: string) => boolean
  /** Whether a regular expression is found in a text; linear in time. */
  readonly matches: (pattern: string, text: string) => boolean
  /** Paths of the work tree that hold the contract itself. */
  readonly reservedPaths?: readonly string[]
  /** Repositories inside the work tree that hold a path of the command, where commits are demanded. */
  readonly innerRepositories?: readonly string[]
  /** How many bytes a task may add to its work tree; the default where it is not given. */
  readonly taskBytesMax?: number
}

/** An artifact as it came with a request: stored content and what its schema says of it. */
export interface ArtifactOffered extends ArtifactRef {
  readonly problems: readonly { readonly pointer: string; readonly message: string }[]
}

export type CheckOutcome =
  /** `notes`: what is worth knowing and blocks nothing. */
  | { readonly result: 'holds'; readonly found: string; readonly grade: Grade; readonly notes?: readonly string[] }
  /** `run`: the run that the check failed for, in the words of the wire. */
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
  /** Where an agent CLI writes the file for itself: what its change does. */
  readonly agentCli?: AgentCliFile
}

/** What the shell gathered for one request to leave a phase. It counts only for the visit it was gathered in. */
export interface GateFacts {
  readonly visit: number
  readonly artifacts: readonly ArtifactOffered[]
  /** By `checkKey`. A check without an outcome blocks. */
  readonly checks: ReadonlyMap<string, CheckOutcome>
  /** Problems of the checkpoint evidence, one text a field. */
  readonly evidenceProblems: readonly string[]
  readonly evidence: JsonObject
  /** Fields that only a run can fill, while nothing was run because something else does not hold yet. */
  readonly evidenceOpen?: readonly string[]
  /** Where the whole evidence is stored; absent where none was given. */
  readonly evidenceRef?: { readonly sha256: string; readonly bytes: number }
  readonly proofs?: Readonly<Record<string, EvidenceProof>>
  /** What could not be looked at, such as a work tree that cannot be read. Each closes the gate. */
  readonly problems: readonly string[]
  /** SHA-256 over the canonical artifacts and the work tree: what an approval is bound to. */
  readonly digest: string
  /** Test files and their hashes, where a gate pins them. */
  readonly testFiles: Readonly<Record<string, string>> | null
  /** Paths that differ from how the tree should look after every allowed call. */
  readonly unledgered?: readonly UnledgeredPath[]
  /** `formatReviewsKey` of the state that the reviews were gathered from, where the phase asks for some. */
  readonly reviewsKey?: string
  /** What the reviewers that vote say, where the phase has some. */
  readonly consensus?: ConsensusSeen | null
  /** What Phaselock ran itself for this request. */
  readonly observed?: readonly JsonObject[]
  /** Where the tests of an observed RED run are stored. */
  readonly pinnedRun?: string | null
  /** What approvers are shown beside the artifacts. It follows from the work tree, which is bound already. */
  readonly shown?: readonly ArtifactRef[]
}

export type Command =
  | {
      readonly type: 'claim'
      readonly agentId: string
      readonly instance: string
      readonly capabilities: readonly string[]
      /** Dependencies that are not completed. */
      readonly openDependencies: readonly string[]
      /** Phaselock claims it for an agent that it starts. */
      readonly isSpawned?: boolean
    }
  | { readonly type: 'park'; readonly reason: string }
  /** The process of an agent that Phaselock started is gone. */
  | { readonly type: 'drop_agent'; readonly agentId: string; readonly instance: string; readonly reason: string }
  | {
      readonly type: 'use_tool'
      readonly tool: string
      readonly args: JsonObject
      readonly call: CallFacts
      readonly execute: boolean
      /** Set where it is not the agent that calls. */
      readonly reviewer?: string
    }
  | {
      readonly type: 'finish_tool'
      readonly tool: string
      readonly success: boolean
      /** Why it failed; null when it did not. */
      readonly code: Code | null
      readonly detail: string | null
      readonly durationMs: number
      readonly exitCode: number | null
      /** What it changed; held against what the phase may change before any of it reaches the tree. */
      readonly changed: readonly (ChangedPath & { readonly sha256: string | null })[]
      /** By how much its changes make the work tree grow. */
      readonly addedBytes?: number
      /** The changes are in the tree already: whether they may be was asked before. */
      readonly isWritten?: true
      readonly git: GitAccess
      /** Guarantees that nothing enforced while it ran. */
      readonly unenforced: readonly string[]
      readonly failing?: string
      readonly hooks?: HookRecord
      readonly reviewer?: string
    }
  /** The agent asks for its prompt, or to go on; `stays`: no claim of it leads anywhere. */
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
    }
  | {
      readonly type: 'transition'
      readonly target: string
      readonly currentPhase: string | null
      readonly claims: readonly string[]
      /** Phaselock asks by itself: passed or nothing at all, never a refusal of the agent. */
      readonly auto?: true
      /** The agent completes the phase: its evidence is judged before anything else, and kept when only gates are in the way. */
      readonly completes?: true
      /** When the newest commit was made; null: no git repository, or no rule asks. */
      readonly committedAt?: number | null
      /** null where the transition is refused anyway, by `needs` or by a rule. */
      readonly facts: GateFacts | null
    }
  | {
      readonly type: 'decide_approval'
      readonly approvalId: string
      readonly decision: 'approve' | 'reject'
      readonly digest: string
      readonly comment: string
      readonly by: Approver
    }
  | TestsCommand
  | { readonly type: 'ask_question'; readonly question: string; readonly options: readonly string[] }
  | {
      readonly type: 'answer_question'
      readonly questionId: string
      readonly answer: string
      /** The answer is the operator's own and need not be one of the options. */
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
      /** Hash of what there is to review now. */
      readonly subject: string
      /** Hash of what the reviewer says it looked at; null: it does not say. */
      readonly seen: string | null
    }
  /** The tree was compared when a claim was resumed: paths that no allowed call explains. */
  | { readonly type: 'report_unledgered'; readonly changed: NonNullable<GateFacts['unledgered']> }
  | { readonly type: 'extend_lease' }
  | { readonly type: 'renew_token' }
  | { readonly type: 'release'; readonly reason: string }
  | { readonly type: 'lapse_lease' }
  | { readonly type: 'expire_approval' }
  | { readonly type: 'check_alerts' }
  | { readonly type: 'cancel'; readonly reason: string }
  /** `stash`: what was put aside under this id is back in the work tree. */
  | { readonly type: 'resume'; readonly reason: string; readonly agentIsFree: boolean; readonly stash?: string }
  | { readonly type: 'stash' | 'drop_stash'; readonly stash: string; readonly reason: string }
  | { readonly type: 'rewind'; readonly to: string; readonly reason: string; readonly agentIsFree: boolean }
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

/** Who answers an approval or a question. Agents are named too, so that their attempt is refused and recorded. */
export type Approver =
  | { readonly kind: 'operator'; readonly name: string; readonly role: string | null }
  | { readonly kind: 'agent'; readonly name: string }
  | { readonly kind: 'reviewer'; readonly name: string }

/** Where the outcome of one check of one gate (or of one artifact) is found in `GateFacts.checks`. */
export function checkKey(place: {
  readonly gate: string | null
  readonly artifact: string | null
  readonly index: number
  readonly check: CheckName
}): string {
  return JSON.stringify([place.gate, place.artifact, place.index, place.check])
}
