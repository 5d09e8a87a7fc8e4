import type { TortureCluster } from './cluster.js'
import { sleep } from './cluster.js'
import type { Grant, History, Kind } from './history.js'
import type { Seeded } from './seeded.js'

// Shorter than the pause of a node: an agent whose node does not answer goes on at another, not knowing what was done.
const CALL_MS_MAX = 4_000

interface Said {
  readonly status: number
  readonly body: Record<string, unknown>
}

interface Request {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly token: string
  readonly body?: Record<string, unknown>
  readonly msMax?: number
}

/** Null: no answer, so that nothing is known. */
export async function call(base: string, { method, path, token, body, msMax }: Request): Promise<Said | null> {
  try {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(msMax ?? CALL_MS_MAX),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  } catch {
    return null
  }
}

interface Held extends Grant {
  readonly token: string
}

function readGrant(agent: string, token: string): Held {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
  return { agent, task: claims.task_id, epoch: claims.epoch, phase: claims.phase, token }
}

interface Asked {
  readonly kind: Kind
  readonly path: string
  /** The grant whose token is sent; null: the agent's own token. */
  readonly held: Held | null
  readonly body?: Record<string, unknown>
  readonly base?: string
  readonly isStale?: boolean
}

/** An agent that asks any node, goes back and forth between two phases, and tries its old tokens everywhere. */
export class TortureAgent {
  #held: Held | null = null

  constructor(
    private readonly id: string,
    private readonly agentToken: string,
    private readonly about: { readonly cluster: TortureCluster; readonly history: History; readonly seeded: Seeded },
  ) {}

  async step(): Promise<void> {
    if (this.#held === null) return this.#claim()
    const chance = this.about.seeded.next()
    if (chance < 0.55) return this.#move(this.#held)
    if (chance < 0.85) return this.#look(this.#held)
    return this.#release(this.#held)
  }

  get held(): Held | null {
    return this.#held
  }

  async #claim(): Promise<void> {
    const body = { agent_id: this.id }
    if ((await this.#ask({ kind: 'claim', path: '/tasks/claim', held: null, body }))?.status !== 200) await sleep(50)
  }

  async #move(held: Held): Promise<void> {
    const target = held.phase === 'A' ? 'B' : 'A'
    const claims = target === 'A' ? { claims: { again: true } } : {}
    const body = { task_id: held.task, target_phase: target, ...claims }
    const said = await this.#ask({ kind: 'move', path: '/tasks/transition', held, body })
    if (said?.status === 200 && this.#held !== held) await this.tryStale(held)
    else this.#doubt(said)
  }

  async #look(held: Held): Promise<void> {
    this.#doubt(await this.#ask({ kind: 'look', path: '/state/snapshot', held }))
  }

  async #release(held: Held): Promise<void> {
    const body = { task_id: held.task, reason: 'done' }
    const said = await this.#ask({ kind: 'release', path: '/tasks/release', held, body })
    this.#held = null
    if (said?.status === 200) await this.tryStale(held)
  }

  /** Every node must refuse a token that was superseded before the call was made. */
  async tryStale(held: Held, bases: readonly string[] = this.about.cluster.members.map((one) => one.process.base)) {
    // Asked everywhere: a node that remembers an earlier state of the task would still believe the token.
    const looks = bases.map((base) => this.#ask({ kind: 'look', path: '/state/snapshot', held, base, isStale: true }))
    const base = this.about.seeded.pick(bases)
    await this.#ask({ kind: 'heartbeat', path: '/tasks/heartbeat', held, body: {}, base, isStale: true })
    await Promise.all(looks)
  }

  // After a refusal or without an answer the agent does not know what it holds: it claims again.
  #doubt(said: Said | null): void {
    if (said === null || said.status >= 400) this.#held = null
  }

  async #ask({ kind, path, held, body, base: named, isStale = false }: Asked): Promise<Said | null> {
    const { cluster, history, seeded } = this.about
    const base = named ?? seeded.pick(cluster.members).process.base
    const operation = history.begin({ agent: this.id, kind, base, used: held, isStale })
    const method = body === undefined ? 'GET' : 'POST'
    const said = await call(base, { method, path, token: held?.token ?? this.agentToken, ...(body && { body }) })
    const token = said?.status === 200 ? said.body.phase_token : undefined
    const given = typeof token === 'string' && kind !== 'look' ? readGrant(this.id, token) : null
    const code = typeof said?.body.code === 'string' ? said.body.code : null
    history.end(operation, { status: said?.status ?? null, code, given })
    if (given !== null && !isStale) this.#held = given
    return said
  }
}
