import { setTimeout as sleep } from 'node:timers/promises'
import type { Transport } from '@modelcontextprotocol/client'
import type { CommandEnd, ConfinedCommand, Confinement, Job } from '../../confinement/confinement.js'
import type { HttpServer, McpServer, StdioServer } from '../../core/contract/contract.js'
import { raceAbort } from '../or-aborted.js'
import { fetchBounded } from './bounded-fetch.js'
import { type Complaint, ConfinedTransport } from './confined-transport.js'
import { formatMessage, UpstreamFailure } from './failure.js'
import { type Mask, makeMask } from './mask.js'
import { buildServerEnvironment, type Environment } from './server-environment.js'

const GRACE_MS = 5000
const KILLED_MS_MAX = 10_000
const SESSION_END_MS_MAX = 1000

export type Sdk = typeof import('@modelcontextprotocol/client')

/** The parameters of a connection to a server. */
export interface LinePlan {
  readonly server: McpServer
  readonly tree: string
  /** Paths of the tree that must not be readable. */
  readonly hidden: readonly string[]
  readonly start: Confinement['start']
  readonly environment: Environment
  /** Time limit of the server. */
  readonly lifeMs: number
}

/** A connection to a server, and how to end it. */
export interface Line {
  readonly transport: Transport
  readonly mask: Mask
  /** Why it cannot be used any more; null while it can. */
  failure(): string | null
  /** The last output of the server outside the protocol. */
  complaint(): Complaint
  /** A request is about to be made. */
  refill(): void
  /** Null when the server is remote, or did not end. */
  end(when: 'soon' | 'now'): Promise<CommandEnd | null>
}

export function openLine(sdk: Sdk, plan: LinePlan, signal: AbortSignal): Promise<Line> {
  const { server } = plan
  return server.kind === 'http' ? openRemoteLine(sdk, server) : openConfinedLine(sdk, { ...plan, server }, signal)
}

async function openConfinedLine(sdk: Sdk, plan: StdioPlan, signal: AbortSignal): Promise<Line> {
  const { env, secrets } = buildServerEnvironment(plan.server, plan.environment)
  const mask = makeMask(secrets)
  const confined = await startConfined(plan, { env, mask }, signal)
  const transport = new ConfinedTransport(confined, sdk.deserializeMessage)
  return {
    transport,
    mask,
    failure: () => transport.failure,
    complaint: () => transport.complaint,
    refill: () => transport.resetBudget(),
    end: async (when) => {
      await transport.close()
      return endOf(confined, when)
    },
  }
}

interface StdioPlan extends LinePlan {
  readonly server: StdioServer
}

interface Given {
  readonly env: Readonly<Record<string, string>>
  readonly mask: Mask
}

async function startConfined(plan: StdioPlan, given: Given, signal: AbortSignal): Promise<ConfinedCommand> {
  const { server, tree, hidden, lifeMs } = plan
  const gone = new AbortController()
  const job: Job = {
    tree,
    argv: [server.command, ...server.args],
    cwd: '.',
    env: given.env,
    network: server.network,
    writes: server.writable.length > 0 ? 'keep' : 'read',
    git: 'read',
    hidden,
    signal: gone.signal,
    timeoutMs: lifeMs,
  }
  const starting = Promise.resolve().then(() => plan.start(job))
  try {
    return await raceAbort(starting, signal)
  } catch (error) {
    // It may still start after nobody waits for it any more.
    gone.abort()
    starting.then((late) => endOf(late, 'now')).then(discardChanges, () => undefined)
    throw new UpstreamFailure(`could not be started: ${given.mask.text(formatMessage(error))}`, true, error)
  }
}

/** Closing its input asks a server to end; one that does not end is killed. */
async function endOf(confined: ConfinedCommand, when: 'soon' | 'now'): Promise<CommandEnd | null> {
  confined.stdin.end()
  // Nobody reads it any more, but a full pipe would keep it from ending.
  confined.stdout.resume()
  confined.stderr.resume()
  // If its end is unknown, because it never started or the sandbox lost it, nothing is kept.
  const done = confined.done.catch(() => null)
  const later = (ms: number): Promise<null> => sleep(ms, null, { ref: false })
  const ended = when === 'now' ? null : await Promise.race([done, later(GRACE_MS)])
  if (ended !== null) return ended
  confined.kill()
  const killed = await Promise.race([done, later(KILLED_MS_MAX)])
  if (killed === null) void done.then(discardChanges)
  return killed
}

export async function discardChanges(ended: CommandEnd | null): Promise<void> {
  await ended?.changes.discard()
}

async function openRemoteLine(sdk: Sdk, server: HttpServer): Promise<Line> {
  if (!URL.canParse(server.url)) throw new UpstreamFailure('has a url that is not an address', true)
  const transport = new sdk.StreamableHTTPClientTransport(new URL(server.url), { fetch: fetchBounded })
  let isOver = false
  return {
    transport,
    mask: makeMask([]),
    failure: () => (isOver ? 'was closed' : null),
    complaint: () => ({ text: '', isCut: false }),
    refill: () => undefined,
    end: async () => {
      isOver = true
      // A server that misses the end drops the session by itself.
      const goodbye = transport.terminateSession().catch(() => undefined)
      await Promise.race([goodbye, sleep(SESSION_END_MS_MAX, null, { ref: false })])
      await transport.close()
      return null
    },
  }
}
