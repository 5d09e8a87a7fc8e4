import { randomBytes } from 'node:crypto'
import type { RunCommand } from '../../core/councils/command.js'
import type { CoordinationRun } from '../../core/councils/council.js'
import type { RunEvent } from '../../core/councils/event.js'
import type { RunOptions } from '../../core/councils/options.js'
import { buildRunStatus, type RunStatus } from '../../core/councils/status.js'
import type { Json } from '../../core/json.js'
import type { ChatPart } from '../../participants/participant.js'
import { keepUnder, type Once } from '../kept-answer.js'
import type { Resources } from '../resources.js'
import { ok, type Result, refuse } from '../result.js'
import { runFolder } from '../status/run-files.js'
import { Council } from './council.js'
import { type AppliedCommand, type RunApplyOptions, RunBook, runStream } from './council-book.js'
import { type CouncilFile, packCouncil, readCouncil } from './council-file.js'
import { type LookApp, look, lookAt } from './look.js'
import { Openers, type ProgramCalls } from './participant-openers.js'
import { WholeWords } from './whole-words.js'

/** Maximum number of open councils; each may use several models and programs. */
const OPEN_RUNS_MAX = 32
const LISTENERS_MAX = 200
/** Maximum number of consecutive failed starts. */
const NEVER_BEGUN_MAX = 100

type CoordinationsApp = LookApp & Pick<Resources, 'ledger' | 'now' | 'tokens' | 'confinement'>

interface NewRun {
  readonly question: string
  readonly council: CouncilFile
  readonly options: RunOptions
  /** The council is the consensus vote of a phase. */
  readonly isConsensus?: boolean
  /** The id, where it is derived from the purpose. */
  readonly id?: string
  /** The work tree the council is about, if not the server's own. */
  readonly workspace?: string
}

/** Receives the events of a council in order, and what its agents stream in between. */
export interface RunWatcher {
  readonly happened: (events: readonly RunEvent[], version: number) => void
  /** With secrets removed. */
  readonly streamed: (agent: string, part: ChatPart) => void
}

/** The councils of this server: open ones are driven here, finished ones are read from the ledger. */
export class Coordinations {
  readonly #book: RunBook
  readonly #councils = new Map<string, Council>()
  readonly #watchers = new Map<string, Set<RunWatcher>>()
  readonly #listeners = new Set<(run: CoordinationRun) => void>()
  /** Remote agents whose response is being judged. */
  readonly responding = new Set<string>()
  /** Remote agents that wait for their turn, each with a function that ends the wait. */
  readonly waiting = new Map<string, () => void>()
  readonly #openers: Openers
  #isClosed = false
  /** Starts in progress: each is counted before the next one is admitted. */
  #starting = 0
  readonly #redact = (value: Json): Json => this.app.redact(this.#openers.redactKeys(value))

  constructor(
    readonly app: CoordinationsApp,
    environment: NodeJS.ProcessEnv,
    private readonly onFault: (error: unknown) => void,
  ) {
    this.#openers = new Openers(app, environment)
    this.#book = new RunBook({ ledger: app.ledger, now: app.now, redact: this.#redact })
  }

  /** Sets the address of the server, which agent programs need. */
  setServerUrl(url: string): void {
    this.#openers.rememberServerUrl(url)
  }

  /** Called with every council that changes. */
  listen(listener: (run: CoordinationRun) => void): void {
    this.#listeners.add(listener)
  }

  /** Resumes the councils that were open when the server stopped. */
  async resume(): Promise<void> {
    for (const [id, { isOpen }] of this.app.ledger.registry.coordinations) {
      // One without a stream may be starting on another node.
      if (!isOpen || !(await this.app.ledger.isHere(runStream(id)))) continue
      const run = await this.#book.read(id)
      // The status file may be older than the ledger, because the server was down.
      if (run !== null) for (const listener of this.#listeners) listener(run)
      if (run === null || run.endedAt !== null) await this.#close(id)
      else await this.#convene(run, await this.loadCouncil(run))
    }
  }

  /** Starts a council. */
  async start(
    wanted: NewRun,
    by: { readonly actor: string; readonly once: Once | undefined },
  ): Promise<Result<CoordinationRun>> {
    if (this.#isClosed) return refuse('shutting_down', 'The server is stopping.')
    if (this.#councils.size + this.#starting >= OPEN_RUNS_MAX)
      return refuse('conflict', `${OPEN_RUNS_MAX} councils run already; wait for one to end, or cancel one.`)
    this.#starting += 1
    try {
      return await this.#start(wanted, by)
    } finally {
      this.#starting -= 1
    }
  }

  async #start(
    wanted: NewRun,
    by: { readonly actor: string; readonly once: Once | undefined },
  ): Promise<Result<CoordinationRun>> {
    const odd = wanted.council.agents.find(({ id }) => this.app.redact(id) !== id)
    if (odd !== undefined) return refuse('invalid_request', 'agents: an id looks like a secret; choose another.')
    const unready = this.#openers.problem(wanted.council)
    if (unready !== null) return refuse('invalid_request', unready.detail, { errors: unready.errors })
    const { blob, council } = packCouncil(wanted.council, this.app.redact)
    const id = wanted.id ?? `coord-${randomBytes(9).toString('hex')}`
    // A chosen id may have been used by a start that failed early: then no council exists under it.
    if ((await this.#book.read(id)) !== null) return refuse('conflict', `Council ${id} already exists.`)
    if ((await this.app.ledger.store.task(id)) !== null) return refuse('conflict', `Task ${id} already exists.`)
    const isOpen = this.app.ledger.registry.coordinations.get(id)?.isOpen === true
    const opened = isOpen
      ? null
      : await this.app.ledger.record({ type: 'coordination_opened', id }, { now: this.app.now(), actor: by.actor })
    if (opened !== null) return refuse(opened.code, opened.detail)
    const { question, options, isConsensus = false, workspace = this.app.workspace } = wanted
    const agents = council.agents.map((agent) => ({ id: agent.id, workTree: workspace }))
    const { once } = by
    const started = await this.#book.start(
      { type: 'start', id, question, agents, options, isConsensus, council: blob.sha256 },
      by.actor,
      {
        blobs: [blob],
        remember: () => keepUnder(once, 201, () => ({ coordination: id })),
      },
    )
    if ('kind' in started) {
      await this.#close(id)
      return refuse('invalid_request', started.kind === 'refused' ? started.detail : 'The council cannot be started.')
    }
    this.#tell(started)
    await this.#convene(started.run, council)
    return ok(started.run)
  }

  /** The durable state of a council; null when the id is unknown. */
  read(id: string): Promise<CoordinationRun | null> {
    return this.#book.read(id)
  }

  async readStatus(id: string): Promise<RunStatus | null> {
    const run = await this.read(id)
    return run === null ? null : buildRunStatus(run, this.app.now(), runFolder(id))
  }

  async newest(): Promise<{ readonly id: string; readonly startedAt: number } | null> {
    // A council that was being opened when the server was killed may not exist.
    for (const id of this.listIds().slice(0, NEVER_BEGUN_MAX)) {
      const run = await this.read(id)
      if (run !== null) return { id, startedAt: run.startedAt }
    }
    return null
  }

  /** Ids, newest first. */
  listIds(): readonly string[] {
    return [...this.app.ledger.registry.coordinations.keys()].reverse()
  }

  async loadCouncil(run: CoordinationRun): Promise<CouncilFile> {
    const kept = run.council === null ? null : await this.app.ledger.store.readBlob(run.council)
    if (kept === null) throw new Error(`the participants of council ${run.id} are not in the store`)
    return readCouncil(kept)
  }

  /** Decides a command on a run. Null when there is no such run. */
  async apply(
    id: string,
    command: RunCommand,
    actor: string,
    more: RunApplyOptions = {},
  ): Promise<AppliedCommand | null> {
    const applied = await this.#book.apply(id, command, actor, more)
    if (applied === null || applied.events.length === 0) return applied
    this.#tell(applied)
    if (applied.run.endedAt !== null) await this.#adjourn(id)
    return applied
  }

  /** The open connection to an agent program that waits for the results of its calls; null when none waits. */
  findProgramCalls(runId: string, agentId: string): ProgramCalls | null {
    return this.#openers.findCalls(runId, agentId)
  }

  watch(id: string, watcher: RunWatcher): (() => void) | null {
    const watchers = this.#watchers.get(id) ?? new Set()
    if (watchers.size >= LISTENERS_MAX) return null
    this.#watchers.set(id, watchers.add(watcher))
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0) this.#watchers.delete(id)
    }
  }

  /** Wakes agents that wait for their turn. */
  endWaits(): void {
    for (const end of [...this.waiting.values()]) end()
  }

  /** Agents were paused or resumed. */
  noticePause(): void {
    for (const council of this.#councils.values()) council.notice()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#councils.values()].map((council) => council.close()))
    this.#councils.clear()
  }

  async #convene(run: CoordinationRun, { agents, tools, tree }: CouncilFile): Promise<void> {
    const { id } = run
    const words = new WholeWords((agent, part) => {
      const watchers = this.#watchers.get(id)
      if (watchers === undefined) return
      const clean = this.#redact(part as never) as ChatPart
      for (const watcher of watchers) watcher.streamed(agent, clean)
    })
    const council = new Council(run, {
      tools,
      apply: async (command) => {
        const applied = await this.apply(id, command, 'system')
        if (applied === null) throw new Error(`there is no run ${id}`)
        return applied
      },
      look: (call, signal) =>
        tree === undefined ? look(this.app, call, signal) : lookAt(this.app, tree, call, signal),
      isPaused: () => this.app.ledger.registry.paused !== null,
      now: this.app.now,
      watch: (agent, part) => words.take(agent, part),
      onFault: this.onFault,
    })
    this.#councils.set(id, council)
    for (const agent of agents) {
      if (agent.kind === 'remote') continue
      const responses = await this.#book.countResponses(id, agent.id)
      const opened = this.#openers.open(run, agent, { responses, tools })
      if (opened.ok) council.addSeat(agent.id, opened.participant)
      else await this.apply(id, { type: 'agent_failed', agent: agent.id, message: opened.message }, 'system')
    }
  }

  // One of its own agents may have ended it, so do not wait for their remaining work.
  async #adjourn(id: string): Promise<void> {
    const council = this.#councils.get(id)
    this.#councils.delete(id)
    council?.close().catch(this.onFault)
    // The end itself is durable; the next start would find it.
    await this.#close(id).catch(this.onFault)
  }

  async #close(id: string): Promise<void> {
    await this.app.ledger.record({ type: 'coordination_closed', id }, { now: this.app.now(), actor: 'system' })
  }

  #tell({ run, events, version }: AppliedCommand): void {
    this.#councils.get(run.id)?.notice(run)
    for (const watcher of this.#watchers.get(run.id) ?? []) watcher.happened(events, version)
    for (const listener of this.#listeners) listener(run)
  }
}
