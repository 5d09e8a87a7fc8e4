import { type EvidenceJudged, judgeEvidence } from '../../checks/evidence.js'
import { lookAtFiles } from '../../checks/evidence-files.js'
import type { Contract } from '../../core/contract/contract.js'
import type { ObservedRun } from '../../core/evidence/observed-run.js'
import type { Needs } from '../../core/gates/needs.js'
import type { JsonObject } from '../../core/json.js'
import type { GateFacts } from '../../core/task/command.js'
import type { TaskState } from '../../core/task/state.js'
import type { Blob } from '../../store/store.js'
import type { App } from '../app.js'
import { blobOf } from '../blobs.js'
import { getReserved, isHiddenBy } from '../tool-calls/contract-paths.js'

interface CheckpointScene {
  readonly contract: Contract
  readonly state: TaskState
  readonly needed: Needs
  readonly given: JsonObject
}

/** Judges the evidence of a request against the current work tree and the runs so far. */
export async function judgeCheckpoint(
  app: App,
  scene: CheckpointScene,
  runs: ReadonlyMap<string, ObservedRun> | null,
): Promise<EvidenceJudged> {
  const { contract, state, needed, given } = scene
  const { workspace: root, visitStartedAt } = state
  const isHidden = isHiddenBy(getReserved(app, contract, root))
  const files = await lookAtFiles({ root, visitStartedAt, isHidden }, needed.evidence, given)
  const { evidence: fields, minVerified, tasksOpen } = needed
  return judgeEvidence({ fields, minVerified, tasksOpen, commands: [...contract.commands.keys()] }, given, {
    files,
    runs,
  })
}

/** What is stored of judged evidence: the facts of the request, and its whole content separately. */
export function packEvidence(judged: EvidenceJudged): {
  readonly facts: Pick<GateFacts, 'evidence' | 'evidenceProblems' | 'evidenceOpen' | 'evidenceRef' | 'proofs'>
  readonly blobs: readonly Blob[]
} {
  const { evidence, problems: evidenceProblems, open: evidenceOpen, proofs } = judged
  const facts = { evidence, evidenceProblems, evidenceOpen, proofs }
  if (Object.keys(evidence).length === 0) return { facts, blobs: [] }
  const blob = blobOf(evidence)
  const evidenceRef = { sha256: blob.sha256, bytes: Buffer.byteLength(blob.content) }
  return { facts: { ...facts, evidenceRef }, blobs: [blob] }
}

/** Evidence without the fields that Phaselock derives from the work tree. */
export function omitObservedFields(needed: Needs, evidence: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(evidence).filter(([name]) => needed.evidence.get(name)?.grade !== 'observed'),
  )
}

/** The evidence to judge: the sent one or, if none was sent, the one accepted in this visit. */
export async function gatherEvidence(
  app: App,
  state: TaskState,
  one: { readonly needed: Needs; readonly sent: JsonObject | null },
): Promise<JsonObject> {
  if (one.sent !== null) return app.redact(one.sent) as JsonObject
  if (one.needed.evidence.size === 0 || state.checkpoints.get(state.phase)?.visit !== state.visit) return {}
  return omitObservedFields(one.needed, await readAcceptedEvidence(app, state, state.phase))
}

/** The accepted evidence of a phase, in full. */
export async function readAcceptedEvidence(app: App, state: TaskState, phase: string): Promise<JsonObject> {
  const sha256 = state.checkpoints.get(phase)?.sha256 ?? null
  const content = sha256 === null ? null : await app.ledger.store.readBlob(sha256)
  return content === null ? (state.evidence.get(phase) ?? {}) : (JSON.parse(content) as JsonObject)
}
