import type { Confinement, ProviderName } from '../confinement/confinement.js'
import type { Contract, Enforcement } from '../core/contract/contract.js'
import type { ConfirmSetting } from '../core/identity/sensitive-acts.js'
import type { JsonObject } from '../core/json.js'
import type { SharedFolder } from '../store/shared-trees/shared-folder.js'
import type { Store } from '../store/store.js'

export interface OrchestratorOptions {
  readonly store: Store
  readonly stateDir: string
  /** Where what is kept about work trees is shared with other nodes. */
  readonly sharedTrees?: SharedFolder | null
  readonly workspace: string
  readonly contract: {
    readonly contract: Contract
    readonly document: JsonObject
    readonly origin: string
    /** False: no operator trusted it. */
    readonly isTrusted?: boolean
  }
  /** The minimum confinement of contracts; null: any. */
  readonly minConfinement?: Enforcement['confinement'] | null
  /** How long a request waits for its gates before it is answered with `checking`. */
  readonly answerWithinMs?: number
  readonly environment: NodeJS.ProcessEnv
  readonly now?: () => number
  readonly onFault: (error: unknown) => void
  /** A message for the server log. */
  readonly onNotice?: (text: string) => void
  /** The contract's file; null when it is bundled. */
  readonly contractFile?: string | null
  /** Files that it extends: absolute paths. */
  readonly contractBases?: readonly string[]
  /** Schemas and guides found next to it, relative to its folder. */
  readonly contractParts?: readonly string[]
  /** Runs commands. Opened on first use. */
  readonly confinement?: () => Promise<Confinement>
  /** The only provider to use; by default the strongest one available. */
  readonly provider?: ProviderName | null
  /** When a sensitive act needs a passkey or passphrase besides the token; default `native`. */
  readonly confirm?: ConfirmSetting
  /** Additional folders with transcripts of Claude Code. */
  readonly transcripts?: readonly string[]
}
