import { randomBytes } from 'node:crypto'
import type { AgentGateways } from '../app/agent-gateway.js'
import type { App } from '../app/app.js'
import type { StoredEvent } from '../app/ledger/feed.js'
import { ok, type Result, refuse, toProblem } from '../app/result.js'
import { applyOperatorCommand } from '../app/tasks/operate.js'
import { toSpawnView } from '../app/tasks/spawn-view.js'
import { openSandbox } from '../app/tool-calls/contract-sandbox.js'
import type { Spawn } from '../core/contract/agent-programs.js'
import type { JsonObject } from '../core/json.js'
import type { LifeParts } from './agent-life.js'
import { AgentLog, pruneLogs, readLog } from './agent-log.js'
import { type Surroundings, startAgent } from './agent-process.js'
import { recordTold } from './record-agent-output.js'
import { ReviewerLife } from './reviewer-life.js'
import { ReviewerStarts, type ReviewerWanted } from './reviewers.js'
import { LIVES_MAX, SPAWN_LIMITS, type SpawnLimits } from './spawn-limits.js'
import { findSpawnProblem, type SpawnHow } from './spawn-problem.js'
import { chooseProgram, type SpawnRequest } from './spawn-request.js'
import {
  type By,
  giveBack,
  makeRemember,
  prepareTask,
  recordSpawn,
  resolveContract,
  type SpawnTask,
} from './spawn-steps.js'
import { openWindow, Tmux } from './tmux.js'
import { WorkerLife } from './worker-life.js'

const ADOPTIONS_MAX = 5
const ADOPT_MS = 2_000
// Events outside tasks that may end any agent's waiting.
const FOR_ALL: ReadonlySet<string> = new Set(['agents_paused', 'agents_unpaused', 'agent_revoked'])
// A phase needs its reviewers, or a transition was blocked: the agent may have changed what they approved.
const REVIEWS: ReadonlySet<string> = new Set(['reviewers_wanted', 'gate_blocked'])

interface SupervisorOptions {
  readonly gateways: AgentGateways
  readonly environment: NodeJS.ProcessEnv
  readonly onFault: (error: unknown) => void
  readonly limits?: Partial<SpawnLimits>
}

type Life = WorkerLife | ReviewerLife

/** Starts agents, watches, restarts and ends them. */
export class Supervisor {
  readonly tmux: Tmux
  readonly #lives = new Map<string, { readonly life: Life; readonly over: Promise<void> }>()
  /** Agents that are being started: a start is finished before anything else happens to it. */
  readonly #beginning = new Map<string, Promise<unknown>>()
  readonly #limits: SpawnLimits
  readonly #around: Surroundings
  readonly #unsubscribe: () => void
  #reached: (url: string) => void = () => undefined
  readonly #reviewers: ReviewerStarts
  #isClosed = false
  #isStarted = false

  constructor(
    private readonly app: App,
    private readonly options: SupervisorOptions,
  ) {
    const { environment, onFault } = options
    this.#reviewers = new ReviewerStarts(app, (fact) => this.#beginReview(fact))
    this.#limits = { ...SPAWN_LIMITS, ...options.limits }
    this.tmux = new Tmux(app.stateDir, environment.PATH ?? process.env.PATH ?? '')
    const url = new Promise<string>((resolve) => {
      this.#reached = resolve
    })
    this.#around = {
      ...{ gateways: options.gateways, secretVariable: app.secrets.variable },
      environment: { ...environment, PATH: environment.PATH ?? process.env.PATH },
      url: () => url,
      lifeMs: this.#limits.lifeMs,
      now: app.now,
      onTold: (spawn, told) => recordTold(app, spawn, told).catch(onFault),
      onFault,
    }
    this.#unsubscribe = app.feed.subscribe((event) => this.#notice(event))
  }

  /** The server answers at `url`: continues the agents of the previous server. */
  start(url: string): void {
    this.#reached(url)
    if (this.#isStarted || this.#isClosed) return
    this.#isStarted = true
    for (const spawn of this.app.ledger.registry.spawns.values())
      if (spawn.ended === null) this.#adoptOwn(spawn).catch(this.options.onFault)
    this.#reviewers.startAll().catch(this.options.onFault)
  }

  /** Ends every process. Their agents continue with the next server. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#unsubscribe()
    await Promise.allSettled(this.#beginning.values())
    const lives = [...this.#lives.values()]
    await Promise.all(lives.map(async ({ life, over }) => Promise.all([life.close(), over])))
    await Promise.all(lives.map(({ life }) => this.#closeWindow(life.agentId)))
  }

  /** Creates the task or takes the named one, claims it for the agent, and starts the agent. */
  async spawn(request: SpawnRequest, about: SpawnTask, by: By): Promise<Result<JsonObject>> {
    const { app } = this
    if (this.#isClosed) return refuse('shutting_down', 'The server is stopping.')
    if (app.ledger.registry.paused !== null) return refuse('agents_paused', 'All agents are paused.')
    const contract = await resolveContract(app, about)
    if (!contract.ok) return contract
    const chosen = chooseProgram(app, contract.value, request)
    if (!chosen.ok) return chosen
    const how = { chosen: chosen.value, contract: contract.value, adapter: request.adapter }
    const problem = await findSpawnProblem(app, how, { around: this.#around, tmux: this.tmux })
    if (problem !== null) return problem
    const { agentId } = chosen.value
    if (this.#isClosed) return refuse('shutting_down', 'The server is stopping.')
    if (!this.#hasRoom) return refuse('conflict', `${LIVES_MAX} agents run already; stop one first.`)
    if (this.#beginning.has(agentId)) return refuse('conflict', `Agent ${JSON.stringify(agentId)} already exists.`)
    const begun = this.#begin(how, about, by)
    this.#beginning.set(agentId, begun)
    return begun.finally(() => this.#beginning.delete(agentId))
  }

  /** Ends an agent; its task can be claimed by others, or is parked. */
  async stop(
    agentId: string,
    about: { readonly park: boolean; readonly reason: string },
    by: By,
  ): Promise<Result<JsonObject>> {
    const { app } = this
    await this.#beginning.get(agentId)?.catch(() => undefined)
    const spawn = app.ledger.registry.spawns.get(agentId)
    if (spawn === undefined) return refuse('not_found', `No agent ${JSON.stringify(agentId)} was started here.`)
    if (spawn.ended !== null) return refuse('conflict', `Agent ${agentId} has ended already: ${spawn.ended.reason}`)
    const running = this.#lives.get(agentId)
    await running?.life.stop()
    await running?.over
    if (spawn.review === null) await giveBack(app, spawn, about, by)
    const { exitCode } = running?.life.last ?? { exitCode: null }
    const end = { outcome: 'stopped', reason: about.reason, exitCode, lastLines: [] } as const
    await app.ledger.record(
      { type: 'agent_ended', agentId, taskId: spawn.taskId, ...end },
      { now: app.now(), actor: by.actor },
      makeRemember(by.once, 200, spawn),
    )
    return this.show(agentId)
  }

  show(agentId: string): Result<JsonObject> {
    const spawn = this.app.ledger.registry.spawns.get(agentId)
    if (spawn === undefined) return refuse('not_found', `No agent ${JSON.stringify(agentId)} was started here.`)
    const window = spawn.adapter === 'tmux' && spawn.ended === null ? this.tmux.windowOf(agentId) : null
    return ok({ agent_id: agentId, ...toSpawnView(spawn), window })
  }

  async log(agentId: string, cursor: string | null): Promise<Result<JsonObject>> {
    const spawn = this.app.ledger.registry.spawns.get(agentId)
    if (spawn === undefined) return refuse('not_found', `No agent ${JSON.stringify(agentId)} was started here.`)
    const part = await readLog(this.app.stateDir, agentId, cursor)
    const { text = '', more = false } = part ?? {}
    return ok({ agent_id: agentId, text, cursor: part?.cursor ?? null, more, ended: spawn.ended !== null })
  }

  async readScreen(agentId: string): Promise<Result<JsonObject>> {
    const spawn = this.app.ledger.registry.spawns.get(agentId)
    if (spawn === undefined) return refuse('not_found', `No agent ${JSON.stringify(agentId)} was started here.`)
    const screen = spawn.adapter === 'tmux' ? await this.tmux.captureScreen(agentId) : null
    if (screen === null)
      return refuse('conflict', `Agent ${agentId} has no window: its adapter is ${spawn.adapter}, or it has ended.`)
    return ok({ agent_id: agentId, screen: this.app.redact(screen) })
  }

  get #hasRoom(): boolean {
    return this.#lives.size + this.#beginning.size < LIVES_MAX
  }

  async #begin({ chosen, ...how }: SpawnHow, about: SpawnTask, by: By): Promise<Result<JsonObject>> {
    const { app } = this
    const { agentId } = chosen
    const taskId = 'taskId' in about ? about.taskId : (about.task.id ?? `task-${randomBytes(6).toString('hex')}`)
    const spawned = await recordSpawn(app, chosen, { ...how, taskId }, by)
    if (spawned !== null) return toProblem(spawned, {}, false)
    const task = await prepareTask(app, about, { taskId, agentId }, by)
    if (!task.ok) return this.#failed(agentId, task)
    const begun = await this.#claim(agentId, taskId, 'taskId' in about)
    return begun.ok ? ok({ ...begun.value, ...task.value }) : begun
  }

  async #claim(agentId: string, taskId: string, isNamed: boolean): Promise<Result<JsonObject>> {
    const life = new WorkerLife(agentId, taskId, this.#parts(agentId))
    const claimed = await life.claim()
    if (!claimed.ok) {
      const reason = `agent ${agentId} could not be started: ${claimed.problem.detail}`
      const undo = isNamed
        ? ({ type: 'reassign', agentId: null, reason } as const)
        : ({ type: 'cancel', reason } as const)
      await applyOperatorCommand(this.app, taskId, undo, { actor: 'system', once: undefined })
      return this.#failed(agentId, claimed)
    }
    this.#keep(life, (one) => one.run(claimed.value))
    return this.show(agentId)
  }

  async #failed(agentId: string, result: Extract<Result<unknown>, { ok: false }>): Promise<Result<JsonObject>> {
    const { app } = this
    const taskId = app.ledger.registry.spawns.get(agentId)?.taskId ?? ''
    const end = { outcome: 'failed', reason: result.problem.detail, exitCode: null, lastLines: [] } as const
    await app.ledger.record({ type: 'agent_ended', agentId, taskId, ...end }, { now: app.now(), actor: 'system' })
    return result
  }

  #parts(agentId: string): LifeParts {
    const { app } = this
    const log = new AgentLog(app.stateDir, agentId, (text) => String(app.redact(text)))
    pruneLogs(app.stateDir, (id) => id === agentId || app.ledger.registry.spawns.get(id)?.ended === null)
    return { app, log, limits: this.#limits, start: (start) => startAgent(start, this.#around) }
  }

  /** Runs a life until it ends, and again after a fault: the ledger has its state. */
  #keep<L extends Life>(life: L, run: (life: L) => Promise<void>, adoptions = 0): void {
    const { agentId } = life
    let unbind = (): void => undefined
    // A window is only for watching: a missing one does not stop the work.
    const over = openWindow(this.app, this.tmux, agentId)
      .catch(this.options.onFault)
      .then(async () => {
        unbind = await this.#bind(life)
        await run(life)
      })
      .then(
        () => true,
        async (error: unknown) => {
          if (!this.#isClosed) this.options.onFault(error)
          await life.stop()
          return false
        },
      )
      .then(async (isOver) => {
        unbind()
        this.#lives.delete(agentId)
        this.#reviewers.haveRoom().catch(this.options.onFault)
        const spawn = this.app.ledger.registry.spawns.get(agentId)
        if (isOver || this.#isClosed || spawn?.ended !== null || adoptions >= ADOPTIONS_MAX)
          return this.#closeWindow(agentId)
        setTimeout(() => this.#adoptAgain(spawn, adoptions + 1), ADOPT_MS).unref()
      })
    over.catch(this.options.onFault)
    this.#lives.set(agentId, { life, over })
  }

  // Its folder may have been damaged meanwhile: an error in a timer would end the server.
  #adoptAgain(spawn: Spawn, adoptions: number): void {
    try {
      this.#adopt(spawn, adoptions)
    } catch (error) {
      this.options.onFault(error)
    }
  }

  // Even while no process runs, its tokens are accepted only through a socket. Without a sandbox there are no sockets.
  async #bind({ agentId, taskId }: Life): Promise<() => void> {
    const state = await this.app.ledger.peek(taskId)
    const sandbox =
      state === null ? null : await openSandbox(this.app, await this.app.contracts.get(state.contract.hash))
    return sandbox === null || sandbox.provider === 'none' ? () => undefined : this.options.gateways.bind(agentId)
  }

  // An agent runs on the node of its task.
  async #adoptOwn(spawn: Spawn): Promise<void> {
    if (await this.app.ledger.isHere(`task:${spawn.taskId}`)) this.#adopt(spawn)
  }

  /** Continues an agent that nothing watches. */
  #adopt(spawn: Spawn, adoptions = 0): void {
    if (this.#isClosed || this.#lives.has(spawn.agentId)) return
    const Kind = spawn.review === null ? WorkerLife : ReviewerLife
    this.#keep(new Kind(spawn.agentId, spawn.taskId, this.#parts(spawn.agentId)), (life) => life.resume(), adoptions)
  }

  #notice(event: StoredEvent): void {
    const { type, stream } = event
    const taskId = stream.startsWith('task:') ? stream.slice('task:'.length) : null
    const isForAll = FOR_ALL.has(type)
    for (const { life } of this.#lives.values()) {
      if (life.taskId === taskId) life.logCall(event).catch(this.options.onFault)
      if (isForAll || life.taskId === taskId) life.notice()
    }
    if (REVIEWS.has(type) && taskId !== null && this.#isStarted)
      this.#reviewers.start(taskId).catch(this.options.onFault)
  }

  /** False when there is no free place. */
  async #beginReview(fact: ReviewerWanted): Promise<boolean> {
    if (this.#isClosed) return true
    if (!this.#hasRoom) return false
    const { agentId, taskId } = fact
    const refused = await this.app.ledger.record(fact, { now: this.app.now(), actor: 'system' })
    // Work that begins while the server closes is left to the next one.
    if (refused !== null || this.#isClosed) return true
    this.#keep(new ReviewerLife(agentId, taskId, this.#parts(agentId)), (one) => one.run())
    return true
  }

  async #closeWindow(agentId: string): Promise<void> {
    if (this.app.ledger.registry.spawns.get(agentId)?.adapter === 'tmux') await this.tmux.close(agentId)
  }
}
