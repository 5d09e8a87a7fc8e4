import { toCanonicalJson } from '../../contract/fingerprint.js'
import type { Bearer } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import type { App } from '../app.js'
import type { AgentCall } from '../identity/agent-call.js'
import { ok, type Result } from '../result.js'
import { listAllowedTools } from '../tasks/views.js'
import { keepLease } from '../transitions/checking.js'
import { LongGates } from '../transitions/long-gates.js'

const KEPT_MS = 10 * 60_000

/** Tools that run the tests of the project, which may take longer than clients wait. */
export const LONG_TOOLS: ReadonlySet<string> = new Set(['run_tests', 'request_setup_change'])

interface Running {
  readonly taskId: string
  readonly work: Promise<Result<JsonObject>>
  /** A caller was told that it still runs: from then on it can be joined. */
  isTold: boolean
}

/** Calls of such tools. A caller that was told to wait and makes the same call again joins the run, and nothing is counted. */
export class LongTools {
  readonly #running = new Map<string, Running>()

  constructor(private readonly gates: Pick<LongGates, 'soon'>) {}

  /** The run that the caller waits for; undefined where the call is a new one. */
  find(key: string): Promise<Result<JsonObject>> | undefined {
    const found = this.#running.get(key)
    return found?.isTold === true ? found.work : undefined
  }

  /** What comes of the run, or 'later' when the client that called at `since` waits no longer. */
  async answer(key: string, run: Omit<Running, 'isTold'>, since: number): Promise<Result<JsonObject> | 'later'> {
    const mine = { ...run, isTold: false }
    const running = this.#running.get(key) ?? mine
    this.#running.set(key, running)
    const result = await this.gates.soon(run.work, since)
    if (result === 'later') {
      running.isTold = true
      const forget = () => setTimeout(() => this.#drop(key, running), KEPT_MS).unref()
      if (running === mine) run.work.then(forget, forget)
    } else if (running.work === run.work) this.#drop(key, running)
    return result
  }

  /** The task changed its work tree: what its tests said before is not the answer to the same call now. */
  forget(taskId: string): void {
    for (const [key, running] of this.#running) if (running.taskId === taskId) this.#running.delete(key)
  }

  #drop(key: string, running: Running): void {
    if (this.#running.get(key) === running) this.#running.delete(key)
  }
}

/** What answers requests that take longer than a client waits. */
export function openLongCalls(withinMs: number | undefined): Pick<App, 'longGates' | 'longTools'> {
  const longGates = new LongGates(withinMs)
  return { longGates, longTools: new LongTools(longGates) }
}

/** Runs a tool, or joins the run of the same call. One that takes long is answered with `checking` and goes on. */
export async function runSoon(
  app: App,
  { call, tool, args }: { readonly call: AgentCall<Bearer>; readonly tool: string; readonly args: JsonObject },
  { work, since }: { readonly work: () => Promise<Result<JsonObject>>; readonly since: number },
): Promise<Result<JsonObject>> {
  if (!LONG_TOOLS.has(tool)) return work()
  const key = formatKey(call, tool, args)
  const joined = app.longTools.find(key)
  const run = joined ?? runWhileLeased(app, call, work)
  const result = await app.longTools.answer(key, { taskId: call.state.id, work: run }, since)
  return result === 'later' ? ok(buildCheckingAnswer(call, tool)) : result
}

function formatKey({ bearer, state }: AgentCall<Bearer>, tool: string, args: JsonObject): string {
  const who = bearer.kind === 'review' ? ['reviewer', bearer.reviewer] : ['agent', bearer.agentId]
  return toCanonicalJson([...who, state.id, state.epoch, tool, args])
}

async function runWhileLeased<T>(app: App, call: AgentCall<Bearer>, work: () => Promise<T>): Promise<T> {
  const stop = call.bearer.kind === 'review' ? null : keepLease(app, call)
  try {
    return await work()
  } finally {
    stop?.()
  }
}

function buildCheckingAnswer({ bearer, contract, state }: AgentCall<Bearer>, tool: string): JsonObject {
  return {
    checking: true,
    decision: 'allowed',
    result: null,
    logged: true,
    task_id: state.id,
    phase: state.phase,
    ...(bearer.kind === 'review' ? {} : { allowed_tools: listAllowedTools(contract, state) }),
    next_step: `The tests are still running. Call ${tool} again with the same arguments to wait for the answer; change nothing meanwhile, or they are run again.`,
  }
}
