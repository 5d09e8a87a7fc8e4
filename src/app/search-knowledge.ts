import type { Contract } from '../core/contract/contract.js'
import { mayRead } from '../core/gates/phase-visibility.js'
import type { JsonObject } from '../core/json.js'
import { KnowledgeUnavailable } from '../knowledge/knowledge.js'
import type { SearchAnswer } from '../knowledge/protocol.js'
import type { App } from './app.js'
import { findTask } from './find-task.js'
import { admitCall } from './identity/agent-call.js'
import type { Party } from './identity/identity.js'

import { ok, type Result, refuse } from './result.js'

const RESULTS_DEFAULT = 5

interface KnowledgeRequest {
  readonly taskId?: string | undefined
  readonly query: string
  readonly phase?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly workflow?: string | undefined
  readonly results?: number | undefined
}

/** For reading only: gates, requirements and phase contents never depend on the results. */
export async function searchKnowledge(app: App, party: Party, request: KnowledgeRequest): Promise<Result<JsonObject>> {
  const place = await placeOf(app, party, request.taskId)
  if (!place.ok) return place
  const { contract, workspace, visible } = place.value
  const knowledge = app.library.openFor(contract, workspace)
  if (knowledge === null)
    return refuse('not_found', `The contract ${contract.name} names no documents (knowledge.sources).`)
  try {
    const answer = await knowledge.search({
      query: request.query,
      phase: request.phase ?? null,
      tags: request.tags ?? [],
      workflow: request.workflow ?? null,
      limit: request.results ?? RESULTS_DEFAULT,
      visible,
    })
    return ok(answerView(answer, app.library.takeInstallHint(answer)))
  } catch (error) {
    if (!(error instanceof KnowledgeUnavailable)) throw error
    return refuse('knowledge_unavailable', 'The index of the documents does not answer.')
  }
}

interface Place {
  readonly contract: Contract
  readonly workspace: string
  readonly visible: readonly string[] | null
}

// An agent sees the documents of phases that its task has completed or is in, and those that belong to no phase.
async function placeOf(app: App, party: Party, taskId: string | undefined): Promise<Result<Place>> {
  if (party.kind === 'agent') {
    const admitted = await admitCall(app, party.bearer, taskId)
    if (!admitted.ok) return admitted
    const { contract, state } = admitted.value
    const visible = [...contract.phases.keys()].filter((phase) => mayRead(state, phase))
    return ok({ contract, workspace: state.workspace, visible })
  }
  if (taskId === undefined)
    return ok({ contract: await app.contracts.get(app.defaultContract), workspace: app.workspace, visible: null })
  const task = await findTask(app, taskId)
  if (!task.ok) return task
  const { contract, state } = task.value
  return ok({ contract, workspace: state.workspace, visible: null })
}

function answerView(answer: SearchAnswer, hint: string | null): JsonObject {
  return {
    results: answer.results.map((result) => ({
      content: result.content,
      file: result.file,
      section: result.section,
      start_line: result.startLine,
      score: result.score,
      tokens: result.tokens,
      tags: result.tags,
      phase: result.phase,
    })),
    total_tokens: answer.totalTokens,
    retrieval_method: answer.method,
    ...(answer.isDegraded ? { degraded: true } : {}),
    ...(hint === null ? {} : { hint }),
    query_time_ms: Math.round(answer.queryTimeMs * 100) / 100,
    index_version: answer.indexVersion,
  }
}
