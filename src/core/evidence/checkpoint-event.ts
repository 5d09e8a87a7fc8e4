import type { JsonObject } from '../json.js'
import type { Refused } from '../task/fact-parts.js'

/** Why a field has a higher grade than reported: the file that was read, or the command that was run. */
export type EvidenceProof =
  | {
      readonly grade: 'artifact'
      readonly files: readonly { readonly path: string; readonly sha256: string; readonly bytes: number }[]
    }
  | { readonly grade: 'observed' | 'proved'; readonly command: string }

/** Submitted evidence; its full content is stored under `sha256`. */
interface EvidenceGiven {
  readonly agentId: string
  readonly evidence: JsonObject
  readonly sha256?: string
  readonly bytes?: number
}

export type CheckpointFact =
  | (EvidenceGiven & {
      readonly type: 'checkpoint_passed'
      readonly proofs?: Readonly<Record<string, EvidenceProof>>
    })
  | (EvidenceGiven &
      Refused & {
        readonly type: 'checkpoint_refused'
        /** The first ones; `problemCount` has the total. */
        readonly problems: readonly string[]
        readonly problemCount: number
        readonly leaseSeconds: number
      })
  /** One task of a phase that hands them out in order. */
  | {
      readonly type: 'phase_task_finished'
      readonly agentId: string
      readonly task: string
      readonly leaseSeconds: number
    }
