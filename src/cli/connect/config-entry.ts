import type { Json } from '../../core/json.js'

/** What Phaselock writes into a configuration file: a value under a name, or items of a list. */
export type ConfigEntry =
  | { readonly kind: 'set'; readonly path: readonly string[]; readonly value: Json }
  | {
      readonly kind: 'add'
      readonly path: readonly string[]
      readonly items: readonly Json[]
      /** Recognises our items also where somebody has changed them. */
      readonly mark: string | null
    }

/** `json`: its CLI reads no comments. `jsonc`: it does. */
export type ConfigFormat = 'json' | 'jsonc' | 'toml'

/** One configuration file of an agent CLI, and what belongs into it. */
export interface ConfigPlan {
  /** Absolute. */
  readonly file: string
  readonly format: ConfigFormat
  readonly entries: readonly ConfigEntry[]
}

/** Why a file cannot be edited, in words that follow its name. */
export class ConfigProblem extends Error {
  override readonly name = 'ConfigProblem'
}
