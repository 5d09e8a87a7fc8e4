import type { JsonObject } from '../json.js'
import type { RefusalFields } from '../task/event.js'

/** Why a field counts for more than the agent's word: the file that was read, or the command that was run. */
export type EvidenceProof =
  | {
      readonly grade: 'artifact'
      readonly files: readonly { readonly path: string; readonly sha256: string; readonly bytes: number }[]
    }
  | { readonly grade: 'observed' | 'proved'; readonly command: string }

/** Evidence as it was handed in; the whole of it lies in the store under `sha256`. */
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
      RefusalFields & {
        readonly type: 'checkpoint_refused'
        /** The first of them; `problemCount` says how many there are. */
        readonly problems: readonly string[]
        readonly problemCount: number
        readonly leaseSeconds: number
      })
  /** One of the tasks of a phase that hands them out in order. */
  | {
      readonly type: 'phase_task_finished'
      readonly agentId: string
      readonly task: string
      readonly leaseSeconds: number
    }
