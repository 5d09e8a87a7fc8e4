import { createHash } from 'node:crypto'
import { toCanonicalJson } from '../../contract/fingerprint.js'
import type { AgentBearer } from '../../core/identity/admit.js'
import type { Json, JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
import { ok, type Result } from '../result.js'
import { listAllowedTools } from '../tasks/views.js'

/** Clients and proxies give up after a minute: an answer comes before that. */
export const ANSWER_WITHIN_MS = 40_000
const KEPT_MS = 10 * 60_000

/** A request to leave a phase, as far as it tells one from another. */
export interface GateRequest {
  /** Through which call it came: their answers differ. */
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
  /** Somebody was told that it still runs: from then on it can be joined. */
  isTold: boolean
  /** Where the agent was when the work ended; undefined while it goes on. */
  endedAt?: string | null
}

/** How a request is answered. */
export interface GateWork {
  readonly work: () => Promise<Result<JsonObject>>
  readonly checking: () => Promise<JsonObject>
  /** The task that the agent holds and its epoch; null where it holds none. */
  readonly positionOf: () => Promise<string | null>
}

/**
 * Requests whose gates take longer than a client waits. An agent that was told so and asks again with the same request, or
 * without handing in anything, joins the one that runs, or is given the answer that it had.
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
    // Blocked requests are decided anew when they are asked again; one that passed leaves no token to ask again with.
    const hasPassed = result.ok && typeof result.value.phase_token === 'string'
    if (joined === undefined || !hasPassed) this.#drop(running)
    return result
  }

  // The token of an agent outlives the phase: what it was answered there is not the answer when it comes back.
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

  /** What comes of the work, or 'later' when the client that asked at `since` waits no longer: it goes on all the same. */
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
  const content = { artifacts: Object.fromEntries(artifacts), evidence, claims }
  return createHash('sha256').update(toCanonicalJson(content)).digest('hex')
}

function isBare({ artifacts, evidence, claims }: GateRequest): boolean {
  return artifacts.size === 0 && evidence === null && claims.length === 0
}

/** Whether an answer says no more than that gates are still being checked, or tests still run. */
export function isChecking(answer: JsonObject): boolean {
  return answer.checking === true && ['allowed', 'checkpoint_passed', 'decision'].some((key) => key in answer)
}

/** Answers a request to leave a phase. One whose gates take long is told so, and joined when it is sent again. */
export function answerSoon(
  app: App,
  request: GateRequest,
  work: () => Promise<Result<JsonObject>>,
): Promise<Result<JsonObject>> {
  return app.longGates.answer(request, {
    work,
    checking: () => buildCheckingAnswer(app, request),
    positionOf: async () => {
      const state = await findHeldState(app, request)
      return state === null ? null : `${state.id} ${state.epoch}`
    },
  })
}

async function findHeldState(app: App, { bearer }: GateRequest): Promise<TaskState | null> {
  const taskId = bearer.kind === 'phase' ? bearer.taskId : (await app.ledger.store.findHeldBy(bearer.agentId))?.id
  return taskId === undefined ? null : app.ledger.peek(taskId)
}

const CHECKING_TEXT = 'The gates are being checked. Send the same request again to wait for the answer.'

/** What is answered while the gates are still being checked. It is no refusal, and nothing is counted. */
async function buildCheckingAnswer(app: App, request: GateRequest): Promise<JsonObject> {
  const { kind } = request
  const state = await findHeldState(app, request)
  const contract = state === null ? null : await app.contracts.get(state.contract.hash)
  const about = {
    checking: true,
    phase: state?.phase ?? null,
    task_id: state?.id ?? null,
    allowed_tools: state === null || contract === null ? [] : listAllowedTools(contract, state),
    next_step: CHECKING_TEXT,
  }
  if (kind === 'completion') return { checkpoint_passed: false, ...about, message: CHECKING_TEXT }
  const answer = { allowed: false, ...about, phase_token: null, blockers: [], warnings: [] }
  return kind === 'next' ? { ...answer, kind: 'prompt', text: CHECKING_TEXT } : answer
}
