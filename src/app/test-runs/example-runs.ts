import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { abortCheck } from '../../checks/check-inputs.js'
import type { Example, ExampleOutcome, ExamplesSeen } from '../../checks/examples/example.js'
import { checkExamplesHold } from '../../checks/examples/examples-hold.js'
import { readPlanExamples } from '../../checks/examples/read-examples.js'
import { type ExamplePlace, runExample } from '../../checks/examples/run-example.js'
import type { Contract } from '../../core/contract/contract.js'
import { needsReview } from '../../core/evidence/held-out.js'
import type { Needs } from '../../core/gates/needs.js'
import { isOpenButForExamples } from '../../core/gates/open-so-far.js'
import type { Json } from '../../core/json.js'
import type { CheckOutcome, GateFacts } from '../../core/task/command.js'
import type { TaskState } from '../../core/task/state.js'
import { findTouched } from '../../tree/stamps.js'
import type { TreeIndex } from '../../tree/tree-contents.js'
import type { WorkTree } from '../../tree/work-tree.js'
import { type App, contextOf } from '../app.js'
import { blobOf } from '../blobs.js'
import { getReserved, makeTaskContext } from '../tool-calls/contract-paths.js'
import { openSandbox, refuseWithoutConfinement } from '../tool-calls/contract-sandbox.js'
import { formatLeftOut } from '../transitions/run-checks.js'
import { composeViewOf } from './compose-view.js'
import { loadHeldOutExamples } from './held-out.js'
import { readPinnedRun } from './pinned-run.js'

/** Time limit for all examples of a gate. */
const EXAMPLES_MS_MAX = 600_000
/**
 * A failure of held-out examples is answered after a delay of this length, doubled repeatedly, so that timing reveals
 * little.
 */
const ANSWER_STEP_MS = 5000

interface Scene {
  readonly contract: Contract
  readonly state: TaskState
  readonly needed: Needs
  readonly tree: WorkTree
  readonly all: ReadonlyMap<string, Json>
  readonly index: TreeIndex | null
  /** Phaselock itself made the request. Such requests are not counted, so held-out examples are not run. */
  readonly isAuto: boolean
}

/** Runs the examples of a gate once nothing else keeps it closed. */
export async function judgeExamples(app: App, scene: Scene, facts: GateFacts): Promise<GateFacts> {
  const { contract, state, needed } = scene
  const context = makeTaskContext(app, 'system', scene)
  const keys = needed.checks.filter(({ blocker }) => blocker.check === 'examples_hold').map(({ key }) => key)
  const visible = readPlanExamples(scene.all.get('plan_document')).examples
  const isNothing = visible.length === 0 && state.heldOut === undefined
  if (keys.length === 0 || isNothing || !isOpenButForExamples(contract, state, { needed, facts, context })) return facts
  const outcome = await runAndJudgeExamples(app, scene, visible)
  const checks = new Map(facts.checks)
  for (const key of keys) checks.set(key, outcome)
  return { ...facts, checks }
}

async function runAndJudgeExamples(app: App, scene: Scene, visible: readonly Example[]): Promise<CheckOutcome> {
  const { contract, state, all } = scene
  const confinement = await openSandbox(app, contract)
  const refused = refuseWithoutConfinement({ contract }, confinement)
  if (refused !== null && !refused.ok) return abortCheck(refused.detail)
  const needsSandbox = state.heldOut !== undefined || visible.some(({ expect }) => expect.http !== null)
  if (needsSandbox && confinement.provider === 'none')
    return abortCheck('held-out examples and those with http need the sandbox')
  if (scene.isAuto && state.heldOut !== undefined)
    return abortCheck('held-out examples are run when the transition is requested')
  if (needsReview(state)) return abortCheck('held-out examples failed too often. An operator must look at the task')
  try {
    const composed = await composeViewOf(app, contract, state, { ...scene, pinnedRun: await readPinnedRun(app, state) })
    const before = await app.trees.compare(state.workspace, { stamps: true })
    const place: ExamplePlace = {
      confinement,
      tree: state.workspace,
      hidden: getReserved(app, contract, state.workspace).hidden,
      signal: new AbortController().signal,
      redact: (text) => String(app.redact(text)),
      view: composed,
      env: contract.commands.get('tests')?.env ?? {},
      deadline: performance.now() + EXAMPLES_MS_MAX,
    }
    const seen = await seeExamples(app, scene, { place, visible })
    const after = await app.trees.compare(state.workspace, { stamps: true })
    const touched = findTouched(before.stamps, after.stamps)
    if (touched.length > 0)
      return abortCheck(`${touched[0]} changed while the examples ran. Request the transition again`)
    const outcome = checkExamplesHold({ all, examples: seen, hasHeldOut: true })
    return {
      ...outcome,
      found: String(app.redact(`${outcome.found}${formatLeftOutNote(outcome, seen, composed.leftOut)}`)),
    }
  } catch (error) {
    return abortCheck(`the examples could not be run: ${error instanceof Error ? error.message : 'unknown error'}`)
  }
}

async function seeExamples(
  app: App,
  { contract, state }: Scene,
  { place, visible }: { readonly place: ExamplePlace; readonly visible: readonly Example[] },
): Promise<ExamplesSeen> {
  const seen: ExampleOutcome[] = []
  for (const example of visible) seen.push({ example, difference: await runExample(place, example) })
  if (state.heldOut === undefined || seen.some(isFailed)) return { visible: seen, heldOut: [] }
  const begun = performance.now()
  const heldOut: ExampleOutcome[] = []
  // Anything that code under test can break counts and is reported as a failure.
  for (const example of await loadHeldOutExamples(app, state))
    heldOut.push({ example, difference: await runExample(place, example).catch(formatFailure) })
  if (heldOut.some(isFailed)) {
    await recordFailure(app, { contract, state }, heldOut)
    await sleep(waitAfter(performance.now() - begun))
  }
  return { visible: seen, heldOut }
}

function formatFailure(error: unknown): string {
  return `could not be run: ${error instanceof Error ? error.message : 'unknown error'}`
}

function isFailed({ difference }: ExampleOutcome): boolean {
  return difference !== null
}

function waitAfter(passedMs: number): number {
  let answeredAt = ANSWER_STEP_MS
  while (answeredAt < passedMs) answeredAt *= 2
  return answeredAt - passedMs
}

// Salted like the examples: the ledger contains its hash, and agents read the ledger.
async function recordFailure(
  app: App,
  { contract, state }: Pick<Scene, 'contract' | 'state'>,
  heldOut: readonly ExampleOutcome[],
): Promise<void> {
  const outcomes = heldOut.map(({ example: { criterion, number }, difference }) => ({ criterion, number, difference }))
  const blob = blobOf({ salt: randomBytes(16).toString('hex'), outcomes })
  const command = { type: 'record_held_out', run: blob.sha256 } as const
  await app.ledger.apply({ taskId: state.id, contract }, command, contextOf(app, 'system'), { blobs: [blob] })
}

// The result of a held-out example, and what it lacked, is never reported.
function formatLeftOutNote(outcome: CheckOutcome, { heldOut }: ExamplesSeen, leftOut: readonly string[]): string {
  return outcome.result === 'holds' || heldOut.length > 0 ? '' : formatLeftOut(leftOut)
}
