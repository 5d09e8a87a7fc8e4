import type { TortureAgent } from './agents.js'
import { sleep, type TortureCluster } from './cluster.js'
import type { Seeded } from './seeded.js'

export type Blow = 'kill' | 'pause' | 'cut' | 'elsewhere' | 'postgres' | 'connections' | 'clock'

const PAUSE_MS = 8_000
const CLOCK_JUMP_MS = 20 * 60_000

/** So many of each, in an order that the seed gives. */
export function shuffleBlows(seeded: Seeded, counts: Partial<Record<Blow, number>>): readonly Blow[] {
  const blows = Object.entries(counts).flatMap(([blow, count]) => Array.from({ length: count }, () => blow as Blow))
  return blows
    .map((blow) => [seeded.next(), blow] as const)
    .sort(([a], [b]) => a - b)
    .map(([, blow]) => blow)
}

/** Hits a node that the seed gives, or the database; resolves when what was hit is back. */
export async function strike(
  cluster: TortureCluster,
  blow: Blow,
  { seeded, agents }: { readonly seeded: Seeded; readonly agents: readonly TortureAgent[] },
): Promise<void> {
  const index = Math.floor(seeded.next() * cluster.members.length)
  const jump = (seeded.next() - 0.5) * 2 * CLOCK_JUMP_MS
  switch (blow) {
    case 'kill':
      return cluster.killAndRestart(index)
    case 'pause':
      return cluster.pause(index, PAUSE_MS)
    case 'cut':
      return cluster.cutOff(index, PAUSE_MS)
    case 'postgres':
      return cluster.crashPostgres()
    case 'connections':
      return cluster.killConnections()
    case 'clock':
      return cluster.setClock(index, jump)
    case 'elsewhere':
      return startElsewhere(cluster, index, agents)
  }
}

async function startElsewhere(cluster: TortureCluster, index: number, agents: readonly TortureAgent[]): Promise<void> {
  // Tokens that its agents had before, and that they no longer have when the first process wakes up.
  const before = new Map(agents.map((agent) => [agent, agent.held]))
  const old = await cluster.startElsewhere(index)
  await sleep(2_000)
  old.signal('SIGCONT')
  const stale = [...before].filter(([agent, held]) => held !== null && held !== agent.held)
  await Promise.all(stale.map(([agent, held]) => (held === null ? undefined : agent.tryStale(held, [old.base]))))
}
