import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Contract } from '../../core/contract/contract.js'
import type { Baseline } from '../../core/evidence/observed-run.js'
import { hasRedGate } from '../../core/evidence/red-gate.js'
import type { TaskState } from '../../core/task/state.js'
import type { TreeIndex } from '../../tree/tree-contents.js'
import type { App } from '../app.js'
import { isWorthRunning, makeBaseline, type NoBaseline } from './baseline.js'

const KEPT_MAX = 500
/** How often a run in the background is begun again because the agent changed files under it. */
const BACKGROUND_MAX = 2

/** Whether gates of the contract tell old failures from new ones. */
export function needsBaseline(contract: Contract): boolean {
  return contract.commands.has('tests') && hasRedGate(contract)
}

/** Runs of the trees that work began with: those that go on, and where those lie that other tasks can use. */
export class Baselines {
  readonly #running = new Map<string, Promise<Baseline | NoBaseline>>()
  readonly #ending = new AbortController()

  constructor(
    private readonly dir: string,
    private readonly onFault: (error: unknown) => void,
  ) {}

  /** Begins in the background what RED will wait for. Nobody waits for this. `found`: the tree at the first claim, if not recorded. */
  begin(app: App, contract: Contract, state: TaskState, found: TreeIndex | null): void {
    if (!needsBaseline(contract) || state.baseline !== null) return
    if (this.#running.has(state.id)) return
    const again = async (): Promise<Baseline | NoBaseline> => {
      await nextTurn()
      if (!isWorthRunning(app, state, found)) return null
      for (let attempt = 1; ; attempt += 1) {
        const made = await makeBaseline(app, contract, state, { signal: this.#ending.signal, found })
        if (made !== null || attempt === BACKGROUND_MAX || this.#ending.signal.aborted) return made
      }
    }
    this.#run(state.id, again).catch(this.onFault)
  }

  /** Joins the run that goes on, or makes one. Called while nothing else changes the tree. */
  async getOrRun(app: App, contract: Contract, state: TaskState): Promise<Baseline | NoBaseline> {
    const joined = await this.#running.get(state.id)?.catch(() => null)
    return joined ?? this.#run(state.id, () => makeBaseline(app, contract, state, { signal: this.#ending.signal }))
  }

  /** The one that another task has run under the same key; null: none that is still there. */
  async kept(key: string | null, read: (sha256: string) => Promise<string | null>): Promise<Baseline | null> {
    if (key === null || !existsSync(join(this.dir, key))) return null
    const content = await read(readFileSync(join(this.dir, key), 'utf8').trim())
    return content === null ? null : (JSON.parse(content) as Baseline)
  }

  keep(key: string | null, sha256: string): void {
    if (key === null) return
    mkdirSync(this.dir, { recursive: true, mode: 0o700 })
    const file = join(this.dir, key)
    writeFileSync(`${file}.new`, sha256, { mode: 0o600 })
    renameSync(`${file}.new`, file)
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
