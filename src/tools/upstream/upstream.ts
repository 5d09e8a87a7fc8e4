import type { Confinement } from '../../confinement/confinement.js'
import { hashJson } from '../../contract/fingerprint.js'
import type { Code } from '../../core/codes.js'
import type { McpServer } from '../../core/contract/contract.js'
import type { Json } from '../../core/json.js'
import { failTool } from '../tool-place.js'
import { ask, askWriter, look } from './calling.js'
import { Connection, type ConnectionPlan } from './connection.js'
import { NotListed, UpstreamFailure } from './failure.js'
import { discardChanges } from './line.js'
import { findUpstreamArgProblems, type ListedTool } from './pins.js'
import { Pool } from './pool.js'
import type { PoolLimits } from './pool-limits.js'
import { beginRun, type Run, type UpstreamOutcome, type UpstreamPlace } from './run.js'
import type { Environment } from './server-environment.js'
import type { UpstreamCall, UpstreamResult } from './upstream-call.js'

export interface UpstreamLimits extends PoolLimits {
  /** How long a kept server runs before it is restarted. */
  readonly lifeMs: number
  /** Maximum number of concurrent servers for a single call. */
  readonly onceMax: number
}

const LIMITS: UpstreamLimits = {
  idleMs: 5 * 60_000,
  startMs: 60_000,
  lifeMs: 60 * 60_000,
  serversMax: 16,
  callsMax: 16,
  onceMax: 8,
}
/** Extra time for a single-call server to end by itself. */
const ONCE_EXTRA_MS = 30_000
const TRIES_MAX = 2

interface UpstreamOptions {
  /** How servers are started: in the sandbox. */
  readonly start: Confinement['start']
  /** The source of `${env:NAME}`. It must not contain the variable with the signing secret. */
  readonly environment: Environment
  /** Of Phaselock; servers are told. */
  readonly version: string
  readonly limits?: Partial<UpstreamLimits>
}

type Listing =
  | { readonly ok: true; readonly tools: readonly ListedTool[] }
  | { readonly ok: false; readonly code: Code; readonly detail: string }

/** The upstream MCP servers of contracts. Whatever a server does, a call ends in time with a clear outcome. */
export class Upstream {
  private readonly limits: UpstreamLimits
  private readonly pool: Pool
  private readonly runs = new Map<Run, Promise<unknown>>()
  private isClosed = false
  private writers = 0

  constructor(private readonly options: UpstreamOptions) {
    this.limits = { ...LIMITS, ...options.limits }
    this.pool = new Pool(this.limits)
  }

  /** The current tools of a server, to be pinned. */
  async listTools(server: McpServer, place: UpstreamPlace): Promise<Listing> {
    const done = await this.perform(beginRun(server, place), server.name, (run) =>
      mayWrite(server)
        ? this.withWriter(run, async (connection) => {
            const { listed } = await look(connection, run)
            await discardChanges(await connection.end('now'))
            return listed
          })
        : this.withKept(run, async (connection) => (await look(connection, run)).listed),
    )
    return done.ok ? { ok: true, tools: done.value } : done
  }

  /** Calls a tool as it was pinned. A server that may write is started for this call alone. */
  async call(server: McpServer, call: UpstreamCall, place: UpstreamPlace): Promise<UpstreamResult> {
    const problems = findUpstreamArgProblems(call.pins, call.tool, call.args)
    if (problems.length > 0)
      return { outcome: failTool(`${call.tool}: ${problems.join('; ')}`, 'invalid_request'), changes: null }
    const done = await this.perform(beginRun(server, place), call.tool, async (run) =>
      mayWrite(server)
        ? this.withWriter(run, (connection) => askWriter(connection, call, run))
        : { outcome: await this.withKept(run, (connection) => ask(connection, call, run)), changes: null },
    )
    return done.ok ? done.value : { outcome: failTool(done.detail, done.code), changes: null }
  }

  /** New calls in a tree get new servers: `idle` after the tree changed, `now` when nothing may run in it any more. */
  endTree(tree: string, when: 'idle' | 'now'): void {
    if (when === 'now') for (const run of this.runs.keys()) if (run.place.tree === tree) run.stop()
    this.pool.endTree(tree, when)
  }

  async close(): Promise<void> {
    this.isClosed = true
    for (const run of this.runs.keys()) run.stop()
    await Promise.allSettled(this.runs.values())
    await this.pool.close()
  }

  private async perform<T>(run: Run, about: string, work: (run: Run) => Promise<T>): Promise<UpstreamOutcome<T>> {
    if (this.isClosed) return { ok: false, code: 'shutting_down', detail: `${about}: Phaselock is stopping` }
    const working = work(run)
    this.runs.set(run, working)
    try {
      return { ok: true, value: await working }
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      return { ok: false, code: 'tool_failed', detail: `${about}: ${run.wordOf(error)}` }
    } finally {
      this.runs.delete(run)
    }
  }

  private async withKept<T>(run: Run, work: (connection: Connection) => Promise<T>, tries = TRIES_MAX): Promise<T> {
    const { server, place } = run
    const key = hashJson([place.tree, [...place.hidden].sort(), toEntry(server)])
    const open = (signal: AbortSignal) => Connection.open(this.planOf(run, this.limits.lifeMs), signal)
    const lease = await this.pool.take({ key, tree: place.tree }, open, run.signal)
    try {
      const value = await work(lease.connection)
      lease.release('whole')
      return value
    } catch (error) {
      // It died, or dropped the session, before the tool was called: then a second try cannot repeat anything.
      const isStale = error instanceof NotListed && lease.isReused && tries > 1 && !run.signal.aborted
      lease.release(isStale || !(error instanceof UpstreamFailure) || error.isFatal ? 'broken' : 'whole')
      if (!isStale) throw error
      return this.withKept(run, work, tries - 1)
    }
  }

  private async withWriter<T>(run: Run, work: (connection: Connection) => Promise<T>): Promise<T> {
    const { onceMax } = this.limits
    if (this.writers >= onceMax)
      throw new UpstreamFailure(`cannot be started: ${onceMax} servers that write are running already`, false)
    this.writers += 1
    try {
      const connection = await Connection.open(this.planOf(run, run.timeoutMs + ONCE_EXTRA_MS), run.signal)
      try {
        return await work(connection)
      } catch (error) {
        await discardChanges(await connection.end('now'))
        throw error
      }
    } finally {
      this.writers -= 1
    }
  }

  private planOf({ server, place }: Run, lifeMs: number): ConnectionPlan {
    const { start, environment, version } = this.options
    return { server, tree: place.tree, hidden: place.hidden, start, environment, lifeMs, version }
  }
}

function mayWrite(server: McpServer): boolean {
  return server.kind === 'stdio' && server.writable.length > 0
}

/** Everything that identifies a server, except the values of its secrets. */
function toEntry(server: McpServer): Json {
  return server.kind === 'stdio' ? { ...server, env: [...server.env] } : { ...server }
}
