import { sha256Hex } from '../../base/sha256.js'
import { countTokens } from '../../contract/documents/tokens.js'
import type { Contract, EvidenceField, Phase } from '../../core/contract/contract.js'
import { listOrderedTasks, openTasks } from '../../core/gates/phase-tasks.js'
import { formatPhaseName, mayRead } from '../../core/gates/phase-visibility.js'
import type { Json, JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import { requirePhase } from '../../core/tool-calls/offered-tools.js'
import type { App } from '../app.js'
import { buildPrompt, formatDocument } from '../identity/grant.js'
import { readAcceptedEvidence } from './checkpoint.js'

const OUTPUT_BYTES_MAX = 64 * 1024
const OUTPUTS_READ_BYTES_MAX = 1024 * 1024
const COUNTS_KEPT_MAX = 200

/** The content of a phase for an agent that may read it: its whole document, or its prompt. */
export async function buildPhaseContent(
  app: App,
  contract: Contract,
  state: TaskState,
  id: string,
): Promise<JsonObject> {
  if (!mayRead(state, id)) throw new Error(`the content of ${id} was asked for while it is not open`)
  const phase = requirePhase(contract, id)
  const { document } = phase
  const content = document === undefined ? await buildPrompt(app, contract, state, id) : formatDocument(phase, state)
  const isWhole = document !== undefined && content === document.content
  return {
    content,
    sources: (document?.sources ?? []).map(({ file, line }) => (line === 1 ? file : `${file}:${line}`)),
    total_tokens: isWhole ? document.totalTokens : await countTextTokens(content),
  }
}

/** Progress of a phase that hands out its tasks in order; empty for other phases. */
export function toTasksView(phase: Phase, state: TaskState): JsonObject {
  const ordered = listOrderedTasks(phase)
  if (ordered.length === 0 || phase.id !== state.phase) return {}
  const [current] = openTasks(phase, state)
  return {
    tasks: {
      current: current === undefined ? null : { id: current.id, title: current.title, content: current.content },
      done: state.tasksDone,
      total: ordered.length,
    },
  }
}

const counts = new Map<string, number>()

async function countTextTokens(text: string): Promise<number> {
  const key = sha256Hex(text)
  const known = counts.get(key)
  if (known !== undefined) return known
  const [count = 0] = await countTokens([text])
  if (counts.size >= COUNTS_KEPT_MAX) counts.delete(counts.keys().next().value ?? '')
  counts.set(key, count)
  return count
}

/** The artifacts of completed phases, by phase. */
export async function collectOutputs(app: App, contract: Contract, state: TaskState): Promise<JsonObject> {
  const all: [string, JsonObject][] = []
  for (const id of state.completedPhases)
    all.push([String(formatPhaseName(contract, id)), await collectOutputsOfPhase(app, state, id)])
  return Object.fromEntries(all)
}

async function collectOutputsOfPhase(app: App, state: TaskState, id: string): Promise<JsonObject> {
  const checkpoint = state.checkpoints.get(id)
  // Every view of a phase includes this: large files are named, not read.
  if (checkpoint !== undefined && checkpoint.bytes > OUTPUTS_READ_BYTES_MAX)
    return toOmittedView({
      bytes: checkpoint.bytes,
      ...(checkpoint.sha256 === null ? {} : { sha256: checkpoint.sha256 }),
    })
  const outputs = new Map<string, Json>()
  for (const [type, kept] of state.artifacts) {
    if (kept.phase !== id) continue
    outputs.set(type, await readArtifact(app, kept))
  }
  for (const [name, value] of Object.entries(await readAcceptedEvidence(app, state, id))) {
    const bytes = Buffer.byteLength(JSON.stringify(value))
    outputs.set(name, bytes > OUTPUT_BYTES_MAX ? toOmittedView({ bytes }) : value)
  }
  return Object.fromEntries(outputs)
}

/** The content of an artifact; large ones are named only. */
export async function readArtifact(app: App, kept: { readonly sha256: string; readonly bytes: number }): Promise<Json> {
  const content = kept.bytes > OUTPUT_BYTES_MAX ? null : await app.ledger.store.readBlob(kept.sha256)
  return content === null ? toOmittedView({ bytes: kept.bytes, sha256: kept.sha256 }) : (JSON.parse(content) as Json)
}

// Truncated to keep answers readable; the ledger has the whole.
function toOmittedView(about: { readonly bytes: number; readonly sha256?: string }): JsonObject {
  return { omitted: true, bytes: about.bytes, ...(about.sha256 === undefined ? {} : { sha256: about.sha256 }) }
}

/** The evidence that a phase asks for, field by field. */
export function buildRequiredFormat(phase: Phase): JsonObject {
  return Object.fromEntries([...phase.evidence].map(([name, field]) => [name, toFieldView(field)]))
}

export function buildCriteria(phase: Phase): JsonObject {
  const { minVerified = 0 } = phase
  return { required_evidence: buildRequiredFormat(phase), ...(minVerified === 0 ? {} : { min_verified: minVerified }) }
}

function toFieldView(field: EvidenceField): JsonObject {
  const { type, description, optional, grade = 'reported', min, max, minLength, pattern, above, mayBeFalse } = field
  const all: Record<string, Json | undefined | null> = {
    min,
    max,
    above,
    min_length: minLength,
    pattern,
    enum: field.enum,
    must_be: field.mustBe,
    may_be_false: mayBeFalse,
    rules: field.rules,
    source: field.source === undefined ? undefined : `${field.source.file}:${field.source.line}`,
  }
  const given = Object.entries(all).filter(
    (entry): entry is [string, Json] => entry[1] !== undefined && entry[1] !== null,
  )
  return { type, description, required: !optional, grade, ...Object.fromEntries(given) }
}

/** The task's progress, in the fields of phase answers. */
export function toProgressView(contract: Contract, state: TaskState): JsonObject {
  return {
    completed: state.completedPhases.map((id) => formatPhaseName(contract, id)),
    current: formatPhaseName(contract, state.phase),
    total: contract.phases.size,
  }
}
