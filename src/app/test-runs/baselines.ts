import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { makeDirectory, writeFileAtomically } from '../../base/atomic-file.js'
import type { Contract } from '../../core/contract/contract.js'
import type { Baseline } from '../../core/evidence/observed-run.js'
import { comparesWithStart } from '../../core/evidence/red-gate.js'
import type { TaskState } from '../../core/task/state.js'
import type { TreeIndex } from '../../tree/tree-contents.js'
import type { Resources } from '../resources.js'
import { isWorthRunning, makeBaseline, type NoBaseline } from './baseline.js'

const KEPT_MAX = 500
/** How often a background run is restarted because the agent changed files during it. */
const BACKGROUND_MAX = 2

/** Whether gates of the contract distinguish old failures from new ones. */
export function needsBaseline(contract: Contract): boolean {
  return contract.commands.has('tests') && comparesWithStart(contract)
}

/** Baseline runs: those in progress, and the folder of those that other tasks can reuse. */
export class Baselines {
  readonly #running = new Map<string, Promise<Baseline | NoBaseline>>()
  readonly #ending = new AbortController()

  constructor(
    private readonly dir: string,
    private readonly onFault: (error: unknown) => void,
  ) {}

  /**
   * Starts the baseline in the background; RED will wait for it. `found`: the tree at the first claim, if not recorded.
   */
  begin(app: Resources, contract: Contract, state: TaskState, found: TreeIndex | null): void {
    if (!needsBaseline(contract) || state.baseline !== null) return
    if (this.#running.has(state.id)) return
    const again = async (): Promise<Baseline | NoBaseline> => {
      await nextTurn()
      if (!isWorthRunning(app, state, found)) return null
      for (let attempt = 1; ; attempt += 1) {
        const made = await makeBaseline(app, contract, state, { signal: this.#ending.signal, shared: this, found })
        if (made !== null || attempt === BACKGROUND_MAX || this.#ending.signal.aborted) return made
      }
    }
    this.#run(state.id, again).catch(this.onFault)
  }

  /** Joins the baseline run in progress, or starts one. Called while nothing else changes the tree. */
  async getOrRun(app: Resources, contract: Contract, state: TaskState): Promise<Baseline | NoBaseline> {
    const joined = await this.#running.get(state.id)?.catch(() => null)
    return (
      joined ??
      this.#run(state.id, () => makeBaseline(app, contract, state, { signal: this.#ending.signal, shared: this }))
    )
  }

  /** The baseline that another task ran under the same key; null: none that still exists. */
  async kept(key: string | null, read: (sha256: string) => Promise<string | null>): Promise<Baseline | null> {
    if (key === null || !existsSync(join(this.dir, key))) return null
    const content = await read(readFileSync(join(this.dir, key), 'utf8').trim())
    return content === null ? null : (JSON.parse(content) as Baseline)
  }

  keep(key: string | null, sha256: string): void {
    if (key === null) return
    makeDirectory(this.dir)
    writeFileAtomically(join(this.dir, key), sha256)
    this.#dropOldest()
  }

  async close(): Promise<void> {
    this.#ending.abort()
    await Promise.allSettled(this.#running.values())
  }

  #run(taskId: string, work: () => Promise<Baseline | NoBaseline>): Promise<Baseline | NoBaseline> {
    const run = work().finally(() => this.#running.delete(taskId))
    this.#running.set(taskId, run)
    return run
  }

  #dropOldest(): void {
    const names = readdirSync(this.dir)
    if (names.length <= KEPT_MAX) return
    const aged = names.map((name) => ({ name, at: statSync(join(this.dir, name)).mtimeMs }))
    for (const { name } of aged.sort((a, b) => a.at - b.at).slice(0, names.length - KEPT_MAX))
      rmSync(join(this.dir, name), { force: true })
  }
}
