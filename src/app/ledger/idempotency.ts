import type { JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
import { buildStartedAnswer } from '../councils/operate-councils.js'
import { buildAgentAnswer, repeatOperatorAnswer } from '../identity/administer.js'
import { buildRenewedAnswer } from '../identity/grant.js'
import type { Grant, KeptAnswer, Once } from '../kept-answer.js'
import { ok, type Result, refuse } from '../result.js'
import { buildReviewerAnswer } from '../reviews/reviews.js'
import { claimAnswer } from '../tasks/claim-task.js'
import { addPrompt } from '../tasks/prompts.js'
import { toSpawnView } from '../tasks/spawn-view.js'
import { repeatAdvancedAnswer } from '../transitions/auto-advance.js'
import { buildCompletionAnswer } from '../transitions/phase-answer.js'
import { moveAnswer } from '../transitions/request-transition.js'
import { repeatResumeWarnings } from '../trees/compare-tree.js'

interface RecalledAnswer {
  readonly status: number
  readonly result: Result<JsonObject>
}

/** The answer to the same call made before; null when the call is new. Its tokens are minted again. */
export async function recall(app: App, once: Once): Promise<RecalledAnswer | 'again' | null> {
  const kept = await app.ledger.store.recall({ principal: once.principal, key: once.key })
  if (kept === null) return null
  if (kept.bodyHash !== once.bodyHash)
    return {
      status: 422,
      result: refuse('idempotency_mismatch', 'This Idempotency-Key was used for another request.'),
    }
  const answer = kept.answer as KeptAnswer
  // It still runs here: the caller waits for it like the first one.
  if ('began' in answer && app.running.isCallRunning(once)) return null
  return 'again' in answer ? 'again' : { status: kept.status, result: await rebuild(app, answer) }
}

async function rebuild(app: App, answer: Exclude<KeptAnswer, { readonly again: true }>): Promise<Result<JsonObject>> {
  if ('began' in answer) return refuseInterrupted(answer.began)
  if ('problem' in answer) return { ok: false, problem: answer.problem }
  if ('claim' in answer) return repeatClaimAnswer(app, answer)
  if ('renewed' in answer) return repeatRenewedAnswer(app, answer.renewed)
  if ('operator' in answer) return repeatOperatorAnswer(app, answer.operator)
  if ('agent' in answer) return ok(buildAgentAnswer(app, answer.agent))
  if ('reviewer' in answer) return ok(buildReviewerAnswer(app, answer.reviewer))
  if ('spawn' in answer) return repeatSpawnAnswer(app, answer.spawn)
  if ('coordination' in answer) return buildStartedAnswer(app, answer.coordination)
  if ('completion' in answer) return ok(await buildCompletionAnswer(app, answer.completion))
  if ('ran' in answer) return ok({ ...answer.body, ...(await repeatAdvancedAnswer(app, answer.ran)) })
  const moved = await moveAnswer(app, answer)
  return ok(answer.prompt_of === undefined ? moved : await addPrompt(app, moved, answer.prompt_of))
}

function refuseInterrupted({ task, tool }: { readonly task: string; readonly tool: string }): Result<never> {
  const detail = `The server ended while ${tool} ran. Whether it acted outside the work tree is not known; in the work tree nothing was changed.`
  return refuse('outcome_unknown', detail, { task_id: task })
}

// The answer shows the task's current state, so only the agent that still holds it at that epoch gets it.
async function repeatClaimAnswer(
  app: App,
  { claim: grant, resumed }: Extract<KeptAnswer, { readonly claim: Grant }>,
): Promise<Result<JsonObject>> {
  const state = await findHeldAtEpoch(app, grant)
  if (state === null) return refuse('token_stale', `The claim of task ${grant.taskId} was superseded; claim again.`)
  const contract = await app.contracts.get(state.contract.hash)
  return ok(await claimAnswer(app, grant, resumed ? await repeatResumeWarnings(app, contract, state) : []))
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

// The answer is stored before the agent has its task: an agent that never got it was refused, and still is.
// (REQ-SPAWNATTACK-3)
function repeatSpawnAnswer(
  app: App,
  kept: { readonly agent_id: string; readonly task_id: string },
): Result<JsonObject> {
  const spawn = app.ledger.registry.spawns.get(kept.agent_id)
  if (spawn === undefined || spawn.taskId !== kept.task_id) return ok(kept)
  if (spawn.starts === 0 && spawn.ended?.outcome === 'failed')
    return refuse('conflict', `Agent ${spawn.agentId} was not started: ${spawn.ended.reason}`)
  return ok({ agent_id: spawn.agentId, ...toSpawnView(spawn) })
}

/** Serializes concurrent calls under one key, so that the second finds the result of the first. */
export class InFlight {
  readonly #running = new Map<string, Promise<unknown>>()

  async run<T>(once: Once, work: () => Promise<T>): Promise<T> {
    const id = JSON.stringify([once.principal, once.key])
    for (let before = this.#running.get(id); before !== undefined; before = this.#running.get(id))
      // The failure is reported to the other caller.
      await before.catch(() => null)
    const mine = work()
    this.#running.set(id, mine)
    try {
      return await mine
    } finally {
      this.#running.delete(id)
    }
  }
}
