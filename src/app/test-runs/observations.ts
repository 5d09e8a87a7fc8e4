import type { InvertedRun } from '../../core/evidence/inverted-run.js'
import type { ObservedRun } from '../../core/evidence/observed-run.js'

const KEPT_MAX = 200

/** Observed runs, keyed by what they depend on: an unchanged tree is not tested twice. In memory only. */
export class Observations {
  readonly #runs = new Map<string, ObservedRun>()
  readonly #inverted = new Map<string, InvertedRun>()
  readonly #doubts = new Map<string, number>()

  get(key: string): ObservedRun | undefined {
    return this.#runs.get(key)
  }

  set(key: string, run: ObservedRun): void {
    keep(this.#runs, key, run)
  }

  getInverted(key: string): InvertedRun | undefined {
    return this.#inverted.get(key)
  }

  setInverted(key: string, run: InvertedRun): void {
    keep(this.#inverted, key, run)
  }

  /** How often an inverted run of the task gave reason to doubt its tests. */
  countDoubts(task: string): number {
    return this.#doubts.get(task) ?? 0
  }

  addDoubt(task: string): void {
    keep(this.#doubts, task, this.countDoubts(task) + 1)
  }
}

function keep<T>(kept: Map<string, T>, key: string, run: T): void {
  if (kept.size >= KEPT_MAX) kept.delete(kept.keys().next().value ?? '')
  kept.set(key, run)
}
