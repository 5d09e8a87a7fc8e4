import { randomBytes } from 'node:crypto'
import type { RunCommand } from '../../core/councils/command.js'
import type { CoordinationRun } from '../../core/councils/council.js'
import type { RunEvent } from '../../core/councils/event.js'
import type { RunOptions } from '../../core/councils/options.js'
import { buildRunStatus, type RunStatus } from '../../core/councils/status.js'
import type { Json } from '../../core/json.js'
import type { ChatPart } from '../../participants/participant.js'
import type { App, Once } from '../app.js'
import { ok, type Result, refuse } from '../result.js'
import { runFolder } from '../status/run-files.js'
import { Council } from './council.js'
import { type AppliedCommand, type RunApplyOptions, RunBook } from './council-book.js'
import { type CouncilFile, packCouncil, readCouncil } from './council-file.js'
import { type LookApp, look, lookAt } from './look.js'
import { type Door, Openers } from './participant-openers.js'
import { WholeWords } from './whole-words.js'

/** Coordinations that go on at the same time; each may hold several models and programs. */
export const OPEN_RUNS_MAX = 32
const LISTENERS_MAX = 200
/** Starts that came to nothing, one after the other. */
const NEVER_BEGUN_MAX = 100

export type CoordinationsApp = LookApp & Pick<App, 'ledger' | 'now' | 'tokens' | 'confinement'>

export interface NewRun {
  readonly question: string
  readonly council: CouncilFile
  readonly options: RunOptions
  /** The run is a phase's consensus. */
  readonly isConsensus?: boolean
  /** Its id, where it follows from what it is for. */
  readonly id?: string
  /** The work tree that it is about, where that is not the server's. */
  readonly workspace?: string
}

/** Sees what happens in a run: what the ledger has, in order, and what agents stream in between. */
export interface RunWatcher {
  readonly happened: (events: readonly RunEvent[], version: number) => void
  /** Without secrets. */
  readonly streamed: (agent: string, part: ChatPart) => void
}

/** The coordinations of this server: those that go on are driven here, the others are read from the ledger. */
export class Coordinations {
  readonly #book: RunBook
  readonly #councils = new Map<string, Council>()
  readonly #watchers = new Map<string, Set<RunWatcher>>()
  readonly #listeners = new Set<(run: CoordinationRun) => void>()
  /** Remote agents of which a response is being judged. */
  readonly responding = new Set<string>()
  /** Remote agents that wait to be asked, with what ends the wait. */
  readonly waiting = new Map<string, () => void>()
  readonly #openers: Openers
  #isClosed = false
  /** Starts under way: each of them is a run before the next one is counted. */
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

  /** Tells under which address the server can be reached: agents that are programs need it. */
  setServerUrl(url: string): void {
    this.#openers.rememberServerUrl(url)
  }

  /** Called with every run that changes. */
  listen(listener: (run: CoordinationRun) => void): void {
    this.#listeners.add(listener)
  }

  /** Goes on with what was going on when the server stopped. */
  async resume(): Promise<void> {
    for (const [id, { isOpen }] of this.app.ledger.registry.coordinations) {
      if (!isOpen) continue
      const run = await this.#book.read(id)
      // The file may be older than the ledger: nobody was there to write it.
      if (run !== null) for (const listener of this.#listeners) listener(run)
      if (run === null || run.endedAt !== null) await this.#close(id)
      else await this.#convene(run, await this.loadCouncil(run))
    }
  }

  /** Begins a run. */
  async start(
    wanted: NewRun,
    by: { readonly actor: string; readonly once: Once | undefined },
  ): Promise<Result<CoordinationRun>> {
    if (this.#isClosed) return refuse('shutting_down', 'The server is stopping.')
    if (this.#councils.size + this.#starting >= OPEN_RUNS_MAX)
      return refuse('conflict', `${OPEN_RUNS_MAX} coordinations go on already; wait for one to end, or cancel one.`)
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
    // An id that was chosen may have been opened by a start that never got further: then there is no run of it.
    if ((await this.#book.read(id)) !== null) return refuse('conflict', `There is a coordination ${id} already.`)
    if ((await this.app.ledger.store.findTask(id)) !== null) return refuse('conflict', `There is a task ${id} already.`)
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
        remember: () => (once === undefined ? undefined : { ...once, status: 201, answer: { coordination: id } }),
      },
    )
    if ('kind' in started) {
      await this.#close(id)
      return refuse('invalid_request', started.kind === 'refused' ? started.detail : 'The run cannot be started.')
    }
    this.#tell(started)
    await this.#convene(started.run, council)
    return ok(started.run)
  }

  /** The run as it is on disk; null when there is none of that id. */
  read(id: string): Promise<CoordinationRun | null> {
    return this.#book.read(id)
  }

  async readStatus(id: string): Promise<RunStatus | null> {
    const run = await this.read(id)
    return run === null ? null : buildRunStatus(run, this.app.now(), runFolder(id))
  }

  async newest(): Promise<{ readonly id: string; readonly startedAt: number } | null> {
    // One that was opened when the server was killed may have no run.
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
    if (kept === null) throw new Error(`who takes part in run ${run.id} is not in the store`)
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

  /** The way to an agent that is a program and waits for what comes of its calls; null when none waits. */
  findDoor(runId: string, agentId: string): Door | null {
    return this.#openers.findOpenDoor(runId, agentId)
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

  /** Whoever waits to be asked is answered now. */
  endWaits(): void {
    for (const end of [...this.waiting.values()]) end()
  }

  /** Agents were paused, or let go on. */
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
      const clean = this.#redact(part as never) as unknown as ChatPart
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

  // Its agents may be what ended it: what they still do is waited for by nobody.
  async #adjourn(id: string): Promise<void> {
    const council = this.#councils.get(id)
    this.#councils.delete(id)
    council?.close().catch(this.onFault)
    // The end itself is on disk: the next start would find it.
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
