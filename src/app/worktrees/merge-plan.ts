import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory, syncDirectory, writeFileAtomically } from '../../base/atomic-file.js'
import type { JsonObject } from '../../core/json.js'
import type { Once } from '../kept-answer.js'

const PLAN = '.json'
const PLANS_MAX = 1000

/** A decided merge. Stored before anything in the repository changes, and removed when all of it is done. */
export interface MergePlan {
  readonly name: string
  readonly taskId: string
  readonly repository: string
  /** The branch that changes: from one commit to the other. */
  readonly into: string
  readonly before: string
  readonly after: string
  /** The commit of the task's branch. */
  readonly tip: string
  /** The repository's work tree has that branch checked out and is updated. */
  readonly isShown: boolean
  readonly force: boolean
  readonly reason: string
  readonly actor: string
  /** The key of the call, and what its answer shows of the merge: it is answered the same after a restart. */
  readonly once?: Once | undefined
  readonly shown?: JsonObject
}

/** Stores the merges in progress. */
export class MergePlans {
  readonly #dir: string

  constructor(stateDir: string) {
    this.#dir = join(stateDir, 'merges')
  }

  list(): readonly MergePlan[] {
    if (!existsSync(this.#dir)) return []
    const names = readdirSync(this.#dir).filter((name) => name.endsWith(PLAN))
    return names.slice(0, PLANS_MAX).map((name) => JSON.parse(readFileSync(join(this.#dir, name), 'utf8')) as MergePlan)
  }

  findByName(name: string): MergePlan | null {
    return this.list().find((plan) => plan.name === name) ?? null
  }

  put(plan: MergePlan): void {
    makeDirectory(this.#dir)
    const file = join(this.#dir, `${plan.name}${PLAN}`)
    writeFileAtomically(file, JSON.stringify(plan))
  }

  drop(name: string): void {
    const file = join(this.#dir, `${name}${PLAN}`)
    if (!existsSync(file)) return
    rmSync(file)
    syncDirectory(this.#dir)
  }
}
