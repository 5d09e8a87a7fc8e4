import { sha256Hex } from '../../base/sha256.js'
import { AGENTS_MAX, DEFAULT_OPTIONS, type RunOptions, runOptions } from '../../core/councils/options.js'
import type { JsonObject } from '../../core/json.js'
import type { CouncilAgent } from '../../participants/read-agents.js'
import type { Blob } from '../../store/store.js'
import type { Resources } from '../resources.js'

/** The participants of a council and what they may read. Stored with the council, so that it survives a restart. */
export type CouncilFile = {
  readonly agents: readonly CouncilAgent[]
  readonly tools: readonly string[]
  /** The work tree that the question is about; participants see no other. */
  readonly tree?: string
}

/** Secrets removed. The stored value is also the value used, so that a restart changes nothing. */
export function packCouncil(
  council: CouncilFile,
  redact: Resources['redact'],
): { readonly blob: Blob; readonly council: CouncilFile } {
  const plain = redact(council)
  const content = JSON.stringify(plain)
  const sha256 = sha256Hex(content)
  return { blob: { sha256, content }, council: plain as CouncilFile }
}

export function readCouncil(content: string): CouncilFile {
  return JSON.parse(content) as CouncilFile
}

const COUNT: JsonObject = { type: 'integer', minimum: 1 }

/** Options that an operator may set, by wire name: the schema and the name in the core. */
const OPTIONS: Readonly<Record<string, readonly [keyof RunOptions, JsonObject]>> = {
  max_new_answers_per_agent: ['maxNewAnswersPerAgent', COUNT],
  max_new_answers_global: ['maxNewAnswersGlobal', { ...COUNT, type: ['integer', 'null'] }],
  novelty: ['novelty', { enum: ['lenient', 'balanced', 'strict'] }],
  max_attempts: ['maxAttempts', COUNT],
  round_timeout_seconds: ['roundTimeoutSeconds', COUNT],
  timeout_seconds: ['timeoutSeconds', COUNT],
  quorum: ['quorum', { ...COUNT, type: ['integer', 'null'], maximum: AGENTS_MAX }],
  skip_voting: ['skipVoting', { type: 'boolean' }],
  allow_self_vote: ['allowSelfVote', { type: 'boolean' }],
  final_presentation: ['finalPresentation', { type: 'boolean' }],
}

/** Schemas of the options, by wire name. */
export const OPTION_SCHEMAS: Readonly<Record<string, JsonObject>> = Object.fromEntries(
  Object.entries(OPTIONS).map(([name, [key, schema]]) => [
    name,
    { ...schema, description: `Default: ${String(DEFAULT_OPTIONS[key] ?? 'none')}.` },
  ]),
)

/** The options under their core names; unknown names are dropped. */
export function readOptions(given: JsonObject): RunOptions {
  const said = Object.entries(OPTIONS).flatMap(([name, [key]]) =>
    given[name] === undefined ? [] : [[key, given[name]]],
  )
  return runOptions(Object.fromEntries(said))
}

export function toOptionsView(options: RunOptions): JsonObject {
  return Object.fromEntries(Object.entries(OPTIONS).map(([name, [key]]) => [name, options[key]]))
}
