import type { AgentBearer } from '../../core/identity/admit.js'
import type { Json, JsonObject } from '../../core/json.js'
import { blobOf } from '../blobs.js'
import { ok, type Result } from '../result.js'

/** Clients and proxies give up after a minute, so answer before that. */
const ANSWER_WITHIN_MS = 40_000
const KEPT_MS = 10 * 60_000

/** The parts that identify a request to leave a phase. */
export interface GateRequest {
  /** The endpoint it came through: their answers differ. */
  readonly kind: 'transition' | 'next' | 'completion'
  readonly bearer: AgentBearer
  readonly target: string
  readonly artifacts: ReadonlyMap<string, Json>
  readonly evidence: Json
  readonly claims: readonly string[]
}

interface Running {
  readonly owner: string
  readonly digest: string
  readonly work: Promise<Result<JsonObject>>
  /** A caller was answered with `checking`, so it can be joined. */
  isTold: boolean
  /** The agent's position when the work ended; undefined while it runs. */
  endedAt?: string | null
}

/** How a request is answered. */
interface GateWork {
  readonly work: () => Promise<Result<JsonObject>>
  readonly checking: () => Promise<JsonObject>
  /** The task that the agent holds and its epoch; null if it holds none. */
  readonly positionOf: () => Promise<string | null>
}

/**
 * Requests whose gates take longer than a client waits. An agent that was told so and sends the same request again, or
 * one without artifacts, joins the running one or gets its answer.
 */
export class LongGates {
  readonly #running = new Map<string, Running>()

  constructor(private readonly withinMs: number = ANSWER_WITHIN_MS) {}

  async answer(request: GateRequest, { work, checking, positionOf }: GateWork): Promise<Result<JsonObject>> {
    const owner = formatOwner(request)
    const digest = hashRequest(request)
    const found = await this.#find(request, positionOf)
    const joined = found?.isTold === true && (found.digest === digest || isBare(request)) ? found : undefined
    if (found !== undefined && joined === undefined) return work()
    const running = joined ?? this.#begin({ owner, digest, work: work(), isTold: false }, positionOf)
    const result = await this.soon(running.work)
    if (result === 'later') {
      running.isTold = true
      return ok(await checking())
    }
    // Blocked requests are decided again when repeated; after a success no token is left to repeat it.
    const hasPassed = result.ok && typeof result.value.phase_token === 'string'
    if (joined === undefined || !hasPassed) this.#drop(running)
    return result
  }

  // An agent token outlives the phase: an earlier answer does not apply when the agent returns to the phase.
  async #find(request: GateRequest, positionOf: GateWork['positionOf']): Promise<Running | undefined> {
    const found = this.#running.get(formatOwner(request))
    if (found?.endedAt === undefined || request.bearer.kind === 'phase') return found
    if (found.endedAt === (await positionOf())) return found
    this.#drop(found)
    return undefined
  }

  #begin(running: Running, positionOf: GateWork['positionOf']): Running {
    this.#running.set(running.owner, running)
    const end = async () => {
      setTimeout(() => this.#drop(running), KEPT_MS).unref()
      running.endedAt = await positionOf().catch(() => null)
    }
    running.work.then(end, end)
    return running
  }

  #drop(running: Running): void {
    if (this.#running.get(running.owner) === running) this.#running.delete(running.owner)
  }

  /**
   * The result of the work, or 'later' when the client that asked at `since` must be answered now; the work continues.
   */
  async soon<T>(work: Promise<T>, since = performance.now()): Promise<T | 'later'> {
    let timer: NodeJS.Timeout | undefined
    work.catch(() => undefined)
    const late = new Promise<'later'>((resolve) => {
      timer = setTimeout(() => resolve('later'), Math.max(0, since + this.withinMs - performance.now()))
    })
    try {
      return await Promise.race([work, late])
    } finally {
      clearTimeout(timer)
    }
  }
}

function formatOwner({ kind, bearer, target }: GateRequest): string {
  const who =
    bearer.kind === 'phase' ? [bearer.agentId, bearer.taskId, bearer.epoch] : [bearer.agentId, bearer.instance]
  return JSON.stringify([kind, who, target])
}

function hashRequest({ artifacts, evidence, claims }: GateRequest): string {
  return blobOf({ artifacts: Object.fromEntries(artifacts), evidence, claims }).sha256
}

function isBare({ artifacts, evidence, claims }: GateRequest): boolean {
  return artifacts.size === 0 && evidence === null && claims.length === 0
}

/** Whether an answer only says that gates are being checked or tests are running. */
export function isChecking(answer: JsonObject): boolean {
  return answer.checking === true && ['allowed', 'checkpoint_passed', 'decision'].some((key) => key in answer)
}
