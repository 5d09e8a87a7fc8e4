import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

const BEGUN = '.new'
const PLAN = '.json'
const PLANS_MAX = 1000

/** A merge that was decided. It is durable before anything of the repository changes, and gone when all of it is done. */
export interface MergePlan {
  readonly name: string
  readonly taskId: string
  readonly repository: string
  /** The branch that changes: from one commit to the other. */
  readonly into: string
  readonly before: string
  readonly after: string
  /** What the branch of the task was at. */
  readonly tip: string
  /** The work tree of the repository shows that branch, and follows. */
  readonly isShown: boolean
  readonly force: boolean
  readonly reason: string
  readonly actor: string
}

/** Where merges that are under way are written down. */
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
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 })
    const file = join(this.#dir, `${plan.name}${PLAN}`)
    writeFileSync(file + BEGUN, JSON.stringify(plan), { mode: 0o600, flush: true })
    renameSync(file + BEGUN, file)
    this.#sync()
  }

  drop(name: string): void {
    const file = join(this.#dir, `${name}${PLAN}`)
    if (!existsSync(file)) return
    rmSync(file)
    this.#sync()
  }

  #sync(): void {
    const fd = openSync(this.#dir, 'r')
    try {
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
  }
}
