import { randomBytes } from 'node:crypto'
import { sha256Hex } from '../../base/sha256.js'
import type { Example } from '../../checks/examples/example.js'
import { readHeldOutExamples } from '../../checks/examples/read-examples.js'
import { toCanonicalJson } from '../../contract/fingerprint.js'
import type { Contract } from '../../core/contract/contract.js'
import type { Json, JsonObject } from '../../core/json.js'
import type { HeldOutRef } from '../../core/task/fact-parts.js'
import type { TaskState } from '../../core/task/state.js'
import type { Blob } from '../../store/store.js'
import type { App } from '../app.js'
import { blobOf } from '../blobs.js'
import { admitCall } from '../identity/agent-call.js'
import type { TaskPrincipal } from '../identity/identity.js'
import { noTask, ok, type Result, refuse } from '../result.js'
import { openSandbox } from '../tool-calls/contract-sandbox.js'

const PROBLEMS_TOLD_MAX = 5
const HELD_OUT_BYTES_MAX = 512 * 1024

/** Reads the held-out examples of a new task. Errors name the place, never the content. */
export async function readHeldOut(
  app: App,
  contract: Contract,
  given: JsonObject,
): Promise<Result<{ readonly ref: HeldOutRef; readonly blob: Blob }>> {
  const { examples, problems } = readHeldOutExamples(given)
  const told = problems.slice(0, PROBLEMS_TOLD_MAX).map(({ pointer, message }) => `held_out${pointer} ${message}`)
  if (told.length > 0) return refuse('invalid_request', `${told.join('; ')}.`)
  if (examples.length === 0) return refuse('invalid_request', 'held_out/examples: is empty.')
  if (!hasExampleGate(contract))
    return refuse(
      'invalid_request',
      `held_out: no gate of the contract ${contract.name} has the check examples_hold, so nothing would run them.`,
    )
  if (toCanonicalJson(app.redact(given)) !== toCanonicalJson(given))
    return refuse('invalid_request', 'held_out: holds what looks like a secret; use made-up values.')
  if ((await openSandbox(app, contract)).provider === 'none')
    return refuse('invalid_request', 'held_out: needs the sandbox, and commands of this contract run without one.')
  const salt = randomBytes(16).toString('hex')
  const blob = blobOf({ salt, examples: given.examples ?? [] })
  if (Buffer.byteLength(blob.content) > HELD_OUT_BYTES_MAX)
    return refuse('invalid_request', `held_out: larger than ${HELD_OUT_BYTES_MAX} bytes of JSON.`)
  return ok({ ref: { sha256: blob.sha256, count: examples.length }, blob })
}

/** Whether a gate of the contract runs examples. */
export function hasExampleGate(contract: Contract): boolean {
  return [...contract.phases.values()].some((phase) =>
    [
      ...phase.gates.flatMap((gate) => gate.blockers),
      ...phase.requiredArtifacts.flatMap((artifact) => artifact.checks),
    ].some(({ check }) => check === 'examples_hold'),
  )
}

/** The held-out examples of a task as they were when it was created. Throws when the stored content differs. */
export async function loadHeldOutExamples(app: App, state: TaskState): Promise<readonly Example[]> {
  return state.heldOut === undefined
    ? []
    : readHeldOutExamples({ examples: await readStoredExamples(app, state) }).examples
}

async function readStoredExamples(app: App, { heldOut }: TaskState): Promise<Json> {
  if (heldOut === undefined) return []
  const content = await app.ledger.store.readBlob(heldOut.sha256)
  if (content === null || sha256Hex(content) !== heldOut.sha256)
    throw new Error('the held-out examples differ from what was recorded')
  return (JSON.parse(content) as { examples: Json }).examples
}

/** Held-out examples with their latest failures, for operators and reviewers. */
export async function buildHeldOutView(app: App, state: TaskState): Promise<JsonObject> {
  const { heldOut } = state
  if (heldOut === undefined) return { sha256: null, count: 0, failures: 0, examples: [], last_failure: null }
  const run = heldOut.run === null ? null : await app.ledger.store.readBlob(heldOut.run)
  return {
    sha256: heldOut.sha256,
    count: heldOut.count,
    failures: heldOut.failures,
    examples: await readStoredExamples(app, state),
    last_failure: run === null ? null : (JSON.parse(run) as { outcomes: Json }).outcomes,
  }
}

/** Only for operators and reviewers of the task. */
export async function showHeldOut(
  app: App,
  principal: Exclude<TaskPrincipal, { kind: 'agent' }>,
  taskId: string,
): Promise<Result<JsonObject>> {
  if (principal.kind === 'reviewer') {
    const admitted = await admitCall(app, principal.bearer, taskId)
    if (!admitted.ok) return admitted
  }
  const state = await app.ledger.read(taskId)
  if (state === null) return noTask(taskId)
  return ok({ task_id: state.id, ...(await buildHeldOutView(app, state)) })
}
