import { readPlanExamples } from '../../checks/examples/read-examples.js'
import { describeShape, wrapBareList } from '../../core/contract/artifact-shape.js'
import type { Contract, RequiredArtifact } from '../../core/contract/contract.js'
import { OBSERVED_ARTIFACT } from '../../core/gates/blockers.js'
import type { Needs } from '../../core/gates/needs.js'
import { isObject, type Json, type JsonObject } from '../../core/json.js'
import { REVIEW_ARTIFACTS } from '../../core/reviews/review.js'
import type { ArtifactOffered } from '../../core/task/command.js'
import type { TaskState } from '../../core/task/state.js'
import type { Blob } from '../../store/store.js'
import type { App } from '../app.js'
import { blobOf } from '../blobs.js'
import { hasExampleGate } from '../test-runs/held-out.js'
import { omitObservedFields } from './checkpoint.js'

export interface Offer {
  /** Already redacted, so that the judged content is the stored content. */
  readonly artifacts: ReadonlyMap<string, Json>
  readonly evidence: JsonObject
}

/** What the agent sends, without artifacts that Phaselock observes or gets from reviewers. */
export function omitObserved(contract: Contract, needed: Needs, offer: Offer): Offer {
  const isOthers = (type: string): boolean =>
    (type === 'test_run_result' && contract.commands.has('tests')) ||
    (needed.reviews !== null && REVIEW_ARTIFACTS.includes(type))
  return { ...offer, artifacts: new Map([...offer.artifacts].filter(([type]) => !isOthers(type))) }
}

/** Validates each artifact that was sent; valid ones are stored. */
export async function judgeOffered(
  app: App,
  contract: Contract,
  work: { readonly needed: Needs; readonly offer: Offer },
): Promise<{ readonly offered: readonly ArtifactOffered[]; readonly blobs: readonly Blob[] }> {
  const offered: ArtifactOffered[] = []
  const blobs: Blob[] = []
  for (const [type, content] of work.offer.artifacts) {
    const required = work.needed.artifacts.find((artifact) => artifact.type === type)
    const blob = blobOf(content)
    const validate =
      required?.schema === null || required === undefined
        ? requireJsonObject
        : await app.contracts.getValidator(contract.hash, required.schema)
    const schema = getSchema(contract, required)
    const problems = [
      ...validate(content).map((problem) => addShape(problem, { type, schema, content })),
      ...findExampleProblems(contract, type, content),
    ]
    const bytes = Buffer.byteLength(blob.content)
    offered.push({ type, sha256: blob.sha256, bytes, grade: 'reported', problems })
    if (required !== undefined && problems.length === 0) blobs.push(blob)
  }
  return { offered, blobs }
}

function getSchema(contract: Contract, required: RequiredArtifact | undefined): JsonObject | boolean | undefined {
  return contract.schemas.get(required?.schema ?? '')
}

/** What the agent sends, with bare lists in the objects that their schemas ask for. */
export function wrapBareLists(contract: Contract, needed: Needs, artifacts: Offer['artifacts']): Offer['artifacts'] {
  return new Map(
    [...artifacts].map(([type, content]) => {
      const required = needed.artifacts.find((artifact) => artifact.type === type)
      return [type, wrapBareList(getSchema(contract, required), content)]
    }),
  )
}

type Problem = ArtifactOffered['problems'][number]

function addShape(
  problem: Problem,
  {
    type,
    schema,
    content,
  }: { readonly type: string; readonly schema: JsonObject | boolean | undefined; readonly content: Json },
): Problem {
  const shape = problem.pointer === '' && !isObject(content) ? describeShape(type, schema) : null
  return shape === null ? problem : { ...problem, shape }
}

// A contract that runs no examples may use the word for something else.
function findExampleProblems(contract: Contract, type: string, content: Json): ArtifactOffered['problems'] {
  return type === 'plan_document' && hasExampleGate(contract) ? readPlanExamples(content).problems : []
}

function requireJsonObject(value: unknown): readonly { pointer: string; message: string }[] {
  return isObject(value) ? [] : [{ pointer: '', message: 'must be an object' }]
}

/**
 * The artifacts of the task by type. Checks also judge an artifact that its schema rejects: the gate stays closed
 * anyway, and the agent learns more.
 */
export async function readContents(
  app: App,
  state: TaskState,
  work: { readonly needed: Needs; readonly offer: Offer },
): Promise<{ ofVisit: Map<string, Json>; all: Map<string, Json> }> {
  const all = new Map<string, Json>()
  const ofVisit = new Map<string, Json>()
  for (const [type, kept] of state.artifacts) {
    const text = await app.ledger.store.readBlob(kept.sha256)
    if (text === null) continue
    const content = JSON.parse(text) as Json
    all.set(type, content)
    if (kept.visit === state.visit) ofVisit.set(type, content)
  }
  for (const { type } of work.needed.artifacts) {
    const content = work.offer.artifacts.get(type)
    if (content === undefined) continue
    all.set(type, content)
    ofVisit.set(type, content)
  }
  return { all, ofVisit }
}

interface Bound {
  readonly state: TaskState
  readonly needed: Needs
  readonly offer: Offer
  /** The artifacts that an approval is bound to. */
  readonly bound: readonly ArtifactOffered[]
  readonly contents: { readonly ofVisit: ReadonlyMap<string, Json> }
  readonly treeHash: string | null
}

/** What an approver sees is what is bound: where it leads, the artifacts and evidence of the visit, and the work tree. */
export function computeApprovalDigest({ state, needed, offer, bound, contents, treeHash: tree }: Bound): string {
  const artifacts: Record<string, Json> = {}
  for (const type of contents.ofVisit.keys()) {
    // A run's result follows from the tree, which is already bound; its duration does not.
    if (needed.observesTests && type === OBSERVED_ARTIFACT) continue
    artifacts[type] =
      bound.find((offered) => offered.type === type)?.sha256 ?? state.artifacts.get(type)?.sha256 ?? null
  }
  const to = needed.demand.transition?.to ?? state.phase
  const evidence = omitObservedFields(needed, offer.evidence)
  return blobOf({ task: state.id, visit: state.visit, to, artifacts, evidence, tree }).sha256
}
