import { renderPrompt } from '../../contract/prompt.js'
import type { Contract, Phase } from '../../core/contract/contract.js'
import { listShownTasks } from '../../core/gates/phase-tasks.js'
import type { Json, JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import { requirePhase } from '../../core/tool-calls/offered-tools.js'
import type { App } from '../app.js'
import type { Grant } from '../kept-answer.js'
import { listAllowedTools } from '../tasks/views.js'
import { toIsoTime } from '../wire.js'

export function makeGrant(state: TaskState, agentId: string): Grant {
  return { agentId, taskId: state.id, phase: state.phase, epoch: state.epoch, contract: state.contract.hash }
}

/** The members of every answer that changes the phase: `phase_token, expires_at, allowed_tools`. */
export async function issuePhaseToken(app: App, grant: Grant): Promise<JsonObject> {
  const contract = await app.contracts.get(grant.contract)
  const tools = listAllowedTools(contract, { phase: grant.phase } as TaskState)
  const { tokenExpirySeconds: expirySeconds } = contract.enforcement
  const minted = app.tokens.mintPhaseToken({ ...grant, allowedTools: tools, expirySeconds }, app.now())
  return { phase_token: minted.token, expires_at: toIsoTime(minted.expiresAt), allowed_tools: tools }
}

/** The answer to a renewal; also sent again to a client that lost it. */
export async function buildRenewedAnswer(app: App, grant: Grant): Promise<JsonObject> {
  return { phase: grant.phase, ...(await issuePhaseToken(app, grant)) }
}

/** The prompt of the task's phase, or of another one that it may read, with the artifacts of earlier phases. */
export async function buildPrompt(app: App, contract: Contract, state: TaskState, id = state.phase): Promise<string> {
  const phase = requirePhase(contract, id)
  const artifacts: Record<string, Json> = {}
  if (phase.prompt.includes('{{'))
    for (const [type, kept] of state.artifacts) {
      const content = phase.prompt.includes(type) ? await app.ledger.store.readBlob(kept.sha256) : null
      if (content !== null) artifacts[type] = JSON.parse(content) as Json
    }
  const rendered = renderPrompt(phase.prompt, {
    task: { title: state.title, description: state.description },
    artifacts,
    guides: contract.guides,
    variables: {},
  })
  // A phase that is written as a document shows the document, unless it has its own prompt.
  return phase.prompt === '' ? formatDocument(phase, state) : [rendered, ...listTaskTexts(phase, state)].join('\n\n')
}

/** The document of a phase with those of its tasks that may be shown; empty if there is none. */
export function formatDocument(phase: Phase, state: TaskState): string {
  return [phase.document?.content ?? '', ...listTaskTexts(phase, state)].join('\n\n')
}

function listTaskTexts(phase: Phase, state: TaskState): readonly string[] {
  return listShownTasks(phase, state).map((task) => task.content)
}
