import type { TortureCluster } from './cluster.js'
import { sleep } from './cluster.js'
import type { Seeded } from './seeded.js'

const CALL_MS_MAX = 30_000

/** A phase token that an agent was given: what it stands for must be in the ledger for ever. */
export interface Grant {
  readonly agent: string
  readonly task: string
  readonly epoch: number
  readonly phase: string
}

/** What agents were told. */
export class History {
  operations = 0
  refused = 0
  unanswered = 0
  readonly grants: Grant[] = []
  /** Calls with a superseded token that were allowed. */
  readonly staleAccepted: string[] = []
  staleRefused = 0
}

interface Said {
  readonly status: number
  readonly body: Record<string, unknown>
}

interface Request {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly token: string
  readonly body?: Record<string, unknown>
}

/** Null: no answer, so that nothing is known. */
export async function call(base: string, { method, path, token, body }: Request): Promise<Said | null> {
  try {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(CALL_MS_MAX),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  } catch {
    return null
  }
}

function readGrant(agent: string, token: string): Grant {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
  return { agent, task: claims.task_id, epoch: claims.epoch, phase: claims.phase }
}

/** An agent that asks any node, goes back and forth between two phases, and tries its old tokens everywhere. */
export class TortureAgent {
  #token: string | null = null
  #task = ''
  #phase = ''

  constructor(
    private readonly id: string,
    private readonly agentToken: string,
    private readonly about: { readonly cluster: TortureCluster; readonly history: History; readonly seeded: Seeded },
  ) {}

  async step(): Promise<void> {
    if (this.#token === null) return this.#claim()
    const chance = this.about.seeded.next()
    if (chance < 0.55) return this.#move()
    if (chance < 0.85) return this.#look()
    return this.#release()
  }

  async #claim(): Promise<void> {
    const said = await this.#ask('/tasks/claim', this.agentToken, { agent_id: this.id })
    if (said?.status === 200) this.#take(String(said.body.phase_token))
    else await sleep(50)
  }

  async #move(): Promise<void> {
    const before = this.#token ?? ''
    const target = this.#phase === 'A' ? 'B' : 'A'
    const claims = target === 'A' ? { claims: { again: true } } : {}
    const body = { task_id: this.#task, target_phase: target, ...claims }
    const said = await this.#ask('/tasks/transition', before, body)
    if (said?.status === 200 && typeof said.body.phase_token === 'string') {
      this.#take(said.body.phase_token)
      await this.tryStale(before)
    } else this.#doubt(said)
  }

  async #look(): Promise<void> {
    this.#doubt(await this.#ask('/state/snapshot', this.#token ?? ''))
  }

  async #release(): Promise<void> {
    const before = this.#token ?? ''
    const said = await this.#ask('/tasks/release', before, { task_id: this.#task, reason: 'done' })
    this.#token = null
    if (said?.status === 200) await this.tryStale(before)
  }

  /** Every node must refuse a token that was superseded before the call was made. */
  async tryStale(token: string, bases: readonly string[] = this.about.cluster.members.map((one) => one.process.base)) {
    // Asked everywhere: a node that remembers an earlier state of the task would still believe the token.
    for (const base of bases) await this.#tryAt(base, token, 'read')
    await this.#tryAt(this.about.seeded.pick(bases), token, 'heartbeat')
  }

  async #tryAt(base: string, token: string, what: 'read' | 'heartbeat'): Promise<void> {
    const { history } = this.about
    const said = await (what === 'read'
      ? call(base, { method: 'GET', path: '/state/snapshot', token })
      : call(base, { method: 'POST', path: '/tasks/heartbeat', token, body: {} }))
    if (said === null) return
    history.operations += 1
    if (said.status < 400) history.staleAccepted.push(`${this.id} at ${base}: ${what}`)
    else history.staleRefused += 1
  }

  get token(): string | null {
    return this.#token
  }

  #take(token: string): void {
    const grant = readGrant(this.id, token)
    this.about.history.grants.push(grant)
    this.#token = token
    this.#task = grant.task
    this.#phase = grant.phase
  }

  // After a refusal or without an answer the agent does not know what it holds: it claims again.
  #doubt(said: Said | null): void {
    if (said === null || said.status >= 400) this.#token = null
  }

  async #ask(path: string, token: string, body?: Record<string, unknown>): Promise<Said | null> {
    const { cluster, history, seeded } = this.about
    const { base } = seeded.pick(cluster.members).process
    const said = await call(base, { method: body === undefined ? 'GET' : 'POST', path, token, ...(body && { body }) })
    history.operations += 1
    if (said === null) history.unanswered += 1
    else if (said.status >= 400) history.refused += 1
    return said
  }
}
