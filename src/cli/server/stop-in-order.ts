import type { Orchestrator } from '../../app/orchestrator.js'
import type { Entrance } from '../../http/server.js'
import { EXIT, Stop } from '../exit.js'
import { DRAIN_SECONDS_MAX } from '../options.js'

/** Longer than the interval in which proxies usually look at `/ready`. */
const DRAIN_SECONDS = 5
const RETURN_MS = 60_000

/** How long a server that is stopped goes on answering, as `--drain` or PHASELOCK_DRAIN says; null: by itself. */
export function readDrainSeconds(given: number | undefined): number | null {
  const text = process.env.PHASELOCK_DRAIN ?? ''
  if (given !== undefined || text === '') return given ?? null
  if (/^\d{1,3}$/.test(text) && Number(text) <= DRAIN_SECONDS_MAX) return Number(text)
  throw new Stop(EXIT.usage, `PHASELOCK_DRAIN: give a whole number of seconds from 0 to ${DRAIN_SECONDS_MAX}.`)
}

/**
 * Says at `/ready` that the server is stopping and goes on answering until the proxy has seen it. Afterwards other nodes
 * hold the calls for its tasks until its next start. Where no other node is alive nothing can take the calls, so that
 * nothing is waited for.
 */
export async function stopInOrder(
  { app, entrance }: { readonly app: Orchestrator; readonly entrance: Entrance },
  drainSeconds: number | null,
): Promise<void> {
  entrance.announceStop()
  const { cluster } = app.ledger
  const seconds = drainSeconds ?? ((await hasOtherNodes(cluster)) ? DRAIN_SECONDS : 0)
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  await cluster?.leave(RETURN_MS)
  entrance.drain()
}

async function hasOtherNodes(cluster: Orchestrator['ledger']['cluster']): Promise<boolean> {
  // Without the database no node answers.
  const nodes = (await cluster?.listNodes().catch(() => [])) ?? []
  return nodes.some(({ id, isAlive }) => isAlive && id !== cluster?.nodeId)
}
