import { createHash } from 'node:crypto'
import { AGENTS_MAX, DEFAULT_OPTIONS, type RunOptions, runOptions } from '../../core/councils/options.js'
import type { Json, JsonObject } from '../../core/json.js'
import type { CouncilAgent } from '../../participants/read-agents.js'
import type { Blob } from '../../store/store.js'
import type { App } from '../app.js'

/** Who stands behind the agents of a run, and what they may look at. Kept with the run, so that it outlives a restart. */
export interface CouncilFile {
  readonly agents: readonly CouncilAgent[]
  readonly tools: readonly string[]
  /** The work tree that they are asked about: of any other they see nothing. */
  readonly tree?: string
}

/** As it is kept: without secrets. What is kept is also what is used, so that a restart changes nothing. */
export function packCouncil(
  council: CouncilFile,
  redact: App['redact'],
): { readonly blob: Blob; readonly council: CouncilFile } {
  const plain = redact(council as unknown as Json)
  const content = JSON.stringify(plain)
  const sha256 = createHash('sha256').update(content).digest('hex')
  return { blob: { sha256, content }, council: plain as unknown as CouncilFile }
}

export function readCouncil(content: string): CouncilFile {
  return JSON.parse(content) as CouncilFile
}

const COUNT: JsonObject = { type: 'integer', minimum: 1 }

/** What an operator may set, by its name outside: its schema, and its name in the core. */
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

/** Schemas of the options, by their names outside. */
export const OPTION_SCHEMAS: Readonly<Record<string, JsonObject>> = Object.fromEntries(
  Object.entries(OPTIONS).map(([name, [key, schema]]) => [
    name,
    { ...schema, description: `Default: ${String(DEFAULT_OPTIONS[key] ?? 'none')}.` },
  ]),
)

/** The options in the words of the core; names that are none are left out. */
export function readOptions(given: JsonObject): RunOptions {
  const said = Object.entries(OPTIONS).flatMap(([name, [key]]) =>
    given[name] === undefined ? [] : [[key, given[name]]],
  )
  return runOptions(Object.fromEntries(said))
}

export function toOptionsView(options: RunOptions): JsonObject {
  return Object.fromEntries(Object.entries(OPTIONS).map(([name, [key]]) => [name, options[key]]))
}
