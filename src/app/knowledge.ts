import type { Contract } from '../core/contract/contract.js'
import type { EmbedderChoice } from '../knowledge/embedder.js'
import { INSTALL_COMMAND } from '../knowledge/install-model.js'
import { type Knowledge, openKnowledge } from '../knowledge/knowledge.js'
import type { SearchAnswer } from '../knowledge/protocol.js'
import { getReserved, type Places } from './tool-calls/contract-paths.js'

export const RESULTS_MAX = 50
const OPEN_MAX = 8
const MODEL_HINT = `The embedding model is not installed, so knowledge search compares words only. Install it with \`${INSTALL_COMMAND}\`, then restart the server.`

/** Indexes of the documents that contracts name, one per contract and work tree, opened on first use. */
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

  /** How to install the model: shown in one answer and one log line per server start. */
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

// Documents given to a phase belong to that phase, wherever the file lies.
function listOwners(contract: Contract): Readonly<Record<string, readonly string[]>> {
  const owners = new Map<string, Set<string>>()
  for (const phase of contract.phases.values())
    for (const { file } of phase.document?.sources ?? [])
      owners.set(file, (owners.get(file) ?? new Set()).add(phase.id))
  return Object.fromEntries([...owners].map(([file, phases]) => [file, [...phases]]))
}

/** Settings from the environment. */
export function chooseEmbedder(environment: NodeJS.ProcessEnv): EmbedderChoice {
  const url = environment.PHASELOCK_EMBEDDINGS_URL
  if (environment.PHASELOCK_EMBEDDINGS === 'none') return { type: 'none' }
  if (url === undefined || url === '') return { type: 'packaged', folder: null }
  const model = environment.PHASELOCK_EMBEDDINGS_MODEL ?? ''
  return { type: 'endpoint', url, model, key: environment.PHASELOCK_EMBEDDINGS_KEY ?? null }
}
