import type { Confinement, ProviderName } from '../confinement/confinement.js'
import type { Contract, Enforcement } from '../core/contract/contract.js'
import type { JsonObject } from '../core/json.js'
import type { Store } from '../store/store.js'

export interface OrchestratorOptions {
  readonly store: Store
  readonly stateDir: string
  readonly workspace: string
  readonly contract: {
    readonly contract: Contract
    readonly document: JsonObject
    readonly origin: string
    /** False: no operator vouched for it. */
    readonly isTrusted?: boolean
  }
  /** The least confinement that a contract may ask for; null: any. */
  readonly minConfinement?: Enforcement['confinement'] | null
  /** After how long a request whose gates are still being checked is told so. */
  readonly answerWithinMs?: number
  readonly environment: NodeJS.ProcessEnv
  readonly now?: () => number
  readonly onFault: (error: unknown) => void
  /** Something that the operator should read in the log. */
  readonly onNotice?: (text: string) => void
  /** The file that the contract was read from; null when it is a bundled one. */
  readonly contractFile?: string | null
  /** Schemas and guides that were looked up beside it, relative to its folder. */
  readonly contractParts?: readonly string[]
  /** Where commands run. Opened when it is first needed. */
  readonly confinement?: () => Promise<Confinement>
  /** The one provider to be used; otherwise the strongest that the machine has. */
  readonly provider?: ProviderName | null
  /** More folders that transcripts of Claude Code are read from. */
  readonly transcripts?: readonly string[]
}
