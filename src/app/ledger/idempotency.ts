import type { Json, JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import type { App, Once } from '../app.js'
import { buildStartedAnswer } from '../councils/operate-councils.js'
import { type AddedOperator, buildAgentAnswer, repeatOperatorAnswer } from '../identity/administer.js'
import { buildRenewedAnswer, type Grant } from '../identity/grant.js'
import { ok, type Problem, type Result, refuse } from '../result.js'
import { buildReviewerAnswer, type ReviewGrant } from '../reviews/reviews.js'
import { claimAnswer } from '../tasks/claim-task.js'
import { addPrompt } from '../tasks/prompts.js'
import { toSpawnView } from '../tasks/spawn-view.js'
import { repeatAdvancedAnswer } from '../transitions/auto-advance.js'
import { buildCompletionAnswer } from '../transitions/phase-answer.js'
import { repeatResumeWarnings } from '../trees/compare-tree.js'

export interface RecalledAnswer {
  readonly status: number
  readonly result: Result<JsonObject>
}

/** Kept in place of an answer: the call is made again, and does nothing twice by itself. */
export const AGAIN = { again: true } as const

/** The answer that was given to the same call before; null when it is new. Tokens in it are minted anew. */
export async function recall(app: App, once: Once): Promise<RecalledAnswer | 'again' | null> {
  const kept = await app.ledger.store.recall({ principal: once.principal, key: once.key })
  if (kept === null) return null
  if (kept.bodyHash !== once.bodyHash)
    return {
      status: 422,
      result: refuse('idempotency_mismatch', 'This Idempotency-Key was used for another request.'),
    }
  if ((kept.answer as JsonObject).again === true) return 'again'
  return { status: kept.status, result: await rebuildAnswer(app, kept.answer as JsonObject) }
}

async function rebuildAnswer(app: App, answer: JsonObject): Promise<Result<JsonObject>> {
  if (answer.problem !== undefined) return { ok: false, problem: answer.problem as unknown as Problem }
  if (answer.claim !== undefined) return repeatClaimAnswer(app, answer)
  if (answer.renewed !== undefined) return repeatRenewedAnswer(app, answer.renewed as unknown as Grant)
  if (answer.operator !== undefined) return repeatOperatorAnswer(app, answer.operator as unknown as AddedOperator)
  if (answer.agent !== undefined)
    return ok(buildAgentAnswer(app, answer.agent as unknown as { id: string; instance: string; expiresAt: number }))
  if (answer.reviewer !== undefined) return ok(buildReviewerAnswer(app, answer.reviewer as unknown as ReviewGrant))
  if (answer.spawn !== undefined) return repeatSpawnAnswer(app, answer.spawn as JsonObject)
  if (answer.coordination !== undefined) return buildStartedAnswer(app, String(answer.coordination))
  if (answer.ran !== undefined)
    return ok({ ...(answer.body as JsonObject), ...(await repeatAdvancedAnswer(app, answer.ran as unknown as Grant)) })
  const again = await buildCompletionAnswer(app, answer)
  return ok(answer.prompt_of === undefined ? again : await addPrompt(app, again, String(answer.prompt_of)))
}

// The answer shows the task as it is now: it is for the agent that still holds it at that epoch, and for nobody else.
async function repeatClaimAnswer(app: App, answer: JsonObject): Promise<Result<JsonObject>> {
  const grant = answer.claim as unknown as Grant
  const state = await findHeldAtEpoch(app, grant)
  if (state === null) return refuse('token_stale', `The claim of task ${grant.taskId} was superseded; claim again.`)
  const contract = await app.contracts.get(state.contract.hash)
  const warnings = answer.resumed === true ? await repeatResumeWarnings(app, contract, state) : []
  return ok(await claimAnswer(app, grant, warnings))
}

async function repeatRenewedAnswer(app: App, grant: Grant): Promise<Result<JsonObject>> {
  return (await findHeldAtEpoch(app, grant)) === null
    ? refuse('token_stale', `The token of task ${grant.taskId} was superseded; claim again.`)
    : ok(await buildRenewedAnswer(app, grant))
}

async function findHeldAtEpoch(app: App, grant: Grant): Promise<TaskState | null> {
  const state = await app.ledger.read(grant.taskId)
  return state?.epoch === grant.epoch && state.held?.agentId === grant.agentId ? state : null
}

// It is written down before the agent has its task: one that never got it was refused, and still is. (REQ-SPAWNATTACK-3)
function repeatSpawnAnswer(app: App, answer: JsonObject): Result<JsonObject> {
  const spawn = app.ledger.registry.spawns.get(String(answer.agent_id))
  if (spawn === undefined || spawn.taskId !== answer.task_id) return ok(answer)
  if (spawn.starts === 0 && spawn.ended?.outcome === 'failed')
    return refuse('conflict', `Agent ${spawn.agentId} was not started: ${spawn.ended.reason}`)
  return ok({ agent_id: spawn.agentId, ...toSpawnView(spawn) })
}

/** Makes concurrent calls under one key wait for each other, so that the second finds what the first did. */
export class InFlight {
  readonly #running = new Map<string, Promise<unknown>>()

  async run<T>(once: Once, work: () => Promise<T>): Promise<T> {
    const id = JSON.stringify([once.principal, once.key])
    for (let before = this.#running.get(id); before !== undefined; before = this.#running.get(id))
      await before.catch(ignore)
    const mine = work()
    this.#running.set(id, mine)
    try {
      return await mine
    } finally {
      this.#running.delete(id)
    }
  }
}

// The failure is the other caller's answer, not ours.
function ignore(): Json {
  return null
}
