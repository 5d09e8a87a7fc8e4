import type { Contract } from '../core/contract/contract.js'
import { mayRead } from '../core/gates/phase-visibility.js'
import type { JsonObject } from '../core/json.js'
import type { EmbedderChoice } from '../knowledge/embedder.js'
import { INSTALL_COMMAND } from '../knowledge/install-model.js'
import { type Knowledge, KnowledgeUnavailable, openKnowledge } from '../knowledge/knowledge.js'
import type { SearchAnswer } from '../knowledge/protocol.js'
import type { App } from './app.js'
import { admitCall } from './identity/agent-call.js'
import type { Party } from './identity/identity.js'
import { ok, type Result, refuse } from './result.js'
import { getReserved, type Places } from './tool-calls/contract-paths.js'

export const RESULTS_MAX = 50
const RESULTS_DEFAULT = 5
const OPEN_MAX = 8
const MODEL_HINT = `The embedding model is not installed, so knowledge search compares words only. Install it with \`${INSTALL_COMMAND}\`, then restart the server.`

/** The indexes of the documents that contracts name: one for each contract and work tree, opened when it is first needed. */
export class Library {
  readonly #places: Places
  readonly #embedder: EmbedderChoice
  readonly #onNotice: (text: string) => void
  readonly #open = new Map<string, Knowledge>()
  #isClosed = false
  #isHinted = false

  constructor(places: Places, environment: NodeJS.ProcessEnv, onNotice: (text: string) => void) {
    this.#places = places
    this.#embedder = chooseEmbedder(environment)
    this.#onNotice = onNotice
  }

  /** How to install the model: said in one answer and one line of the log for each run of the server. */
  takeInstallHint(answer: SearchAnswer): string | null {
    if (this.#isHinted || !answer.isModelMissing) return null
    this.#isHinted = true
    this.#onNotice(MODEL_HINT)
    return MODEL_HINT
  }

  /** null when the contract names no documents. */
  openFor(contract: Contract, workspace: string): Knowledge | null {
    const sources = contract.knowledge ?? []
    if (sources.length === 0 || this.#isClosed) return null
    const owners = listOwners(contract)
    const { hidden } = getReserved(this.#places, contract, workspace)
    // Versions of a contract that name the same documents share one.
    const key = JSON.stringify([workspace, sources, owners, hidden])
    const known = this.#open.get(key)
    if (known !== undefined) {
      this.#open.delete(key)
      this.#open.set(key, known)
      return known
    }
    const [oldest] = this.#open
    if (oldest !== undefined && this.#open.size >= OPEN_MAX) {
      this.#open.delete(oldest[0])
      oldest[1].close().catch(() => undefined)
    }
    const opened = openKnowledge({
      stateDir: this.#places.stateDir,
      root: workspace,
      sources,
      owners,
      hidden,
      embedder: this.#embedder,
    })
    this.#open.set(key, opened)
    return opened
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#open.values()].map((knowledge) => knowledge.close()))
    this.#open.clear()
  }
}

export interface KnowledgeRequest {
  readonly taskId?: string | undefined
  readonly query: string
  readonly phase?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly workflow?: string | undefined
  readonly results?: number | undefined
}

/** For reading alone: no gate, requirement or phase content is ever decided by what is found. */
export async function searchKnowledge(app: App, party: Party, request: KnowledgeRequest): Promise<Result<JsonObject>> {
  const place = await findPlace(app, party, request.taskId)
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
    return ok(toAnswerView(answer, app.library.takeInstallHint(answer)))
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

// An agent sees the documents of the phases that its task has completed or is in, and those that belong to none.
async function findPlace(app: App, party: Party, taskId: string | undefined): Promise<Result<Place>> {
  if (party.kind === 'agent') {
    const admitted = await admitCall(app, party.bearer, taskId)
    if (!admitted.ok) return admitted
    const { contract, state } = admitted.value
    const visible = [...contract.phases.keys()].filter((phase) => mayRead(state, phase))
    return ok({ contract, workspace: state.workspace, visible })
  }
  if (taskId === undefined)
    return ok({ contract: await app.contracts.get(app.defaultContract), workspace: app.workspace, visible: null })
  const state = await app.ledger.peek(taskId)
  if (state === null) return refuse('not_found', `There is no task ${taskId}.`)
  return ok({ contract: await app.contracts.get(state.contract.hash), workspace: state.workspace, visible: null })
}

function toAnswerView(answer: SearchAnswer, hint: string | null): JsonObject {
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

// What a phase is given to read from is that phase's, wherever the file lies.
function listOwners(contract: Contract): Readonly<Record<string, readonly string[]>> {
  const owners = new Map<string, Set<string>>()
  for (const phase of contract.phases.values())
    for (const { file } of phase.document?.sources ?? [])
      owners.set(file, (owners.get(file) ?? new Set()).add(phase.id))
  return Object.fromEntries([...owners].map(([file, phases]) => [file, [...phases]]))
}

/** What the environment asks for. */
export function chooseEmbedder(environment: NodeJS.ProcessEnv): EmbedderChoice {
  const url = environment.PHASELOCK_EMBEDDINGS_URL
  if (environment.PHASELOCK_EMBEDDINGS === 'none') return { type: 'none' }
  if (url === undefined || url === '') return { type: 'packaged', folder: null }
  const model = environment.PHASELOCK_EMBEDDINGS_MODEL ?? ''
  return { type: 'endpoint', url, model, key: environment.PHASELOCK_EMBEDDINGS_KEY ?? null }
}
