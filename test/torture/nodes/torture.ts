import { call, History, TortureAgent } from './agents.js'
import { sleep, TortureCluster } from './cluster.js'
import { judge } from './judge.js'
import { Seeded } from './seeded.js'

export type Blow = 'kill' | 'pause' | 'cut' | 'elsewhere' | 'postgres' | 'connections'

export interface TortureOptions {
  readonly seed: number
  readonly program: string
  readonly nodes: number
  readonly agents: number
  readonly tasks: number
  /** What happens, one after the other, while agents work. */
  readonly blows: readonly Blow[]
  /** Time between two blows. */
  readonly calmMs: number
}

export interface Outcome {
  readonly history: History
  readonly problems: readonly string[]
}

/** Agents work while nodes, connections and the database are hit; then the ledger is held against what they were told. */
export async function torture(options: TortureOptions): Promise<Outcome> {
  const cluster = new TortureCluster({ count: options.nodes, program: options.program })
  try {
    await cluster.start()
    const history = new History()
    const agents = await addAgents(cluster, history, options)
    let isOver = false
    const work = agents.map(async (agent) => {
      while (!isOver) await agent.step()
    })
    const seeded = new Seeded(options.seed)
    for (const blow of options.blows) {
      await sleep(options.calmMs)
      await strike(cluster, blow, { seeded, agents })
    }
    await sleep(options.calmMs)
    isOver = true
    await Promise.all(work)
    return { history, problems: await judge(cluster, history) }
  } finally {
    await cluster.remove()
  }
}

async function addAgents(
  cluster: TortureCluster,
  history: History,
  { seed, agents, tasks }: TortureOptions,
): Promise<readonly TortureAgent[]> {
  const { operator: token } = cluster
  const ask = async (index: number, path: string, body: Record<string, unknown>) => {
    const { base } = cluster.members[index % cluster.members.length]?.process ?? { base: '' }
    const said = await call(base, { method: 'POST', path, token, body })
    if (said?.status !== 201) throw new Error(`${path}: ${JSON.stringify(said)}`)
    return said.body
  }
  for (let index = 0; index < tasks; index += 1) await ask(index, '/tasks', { title: `Task ${index}`, id: `T${index}` })
  const added: TortureAgent[] = []
  for (let index = 0; index < agents; index += 1) {
    const { agent_token: own } = await ask(index, '/agents', { agent_id: `a${index}` })
    const about = { cluster, history, seeded: new Seeded(seed * 1_000 + index) }
    added.push(new TortureAgent(`a${index}`, String(own), about))
  }
  return added
}

const PAUSE_MS = 8_000

interface Around {
  readonly seeded: Seeded
  readonly agents: readonly TortureAgent[]
}

async function strike(cluster: TortureCluster, blow: Blow, { seeded, agents }: Around): Promise<void> {
  const index = Math.floor(seeded.next() * cluster.members.length)
  if (blow === 'kill') await cluster.killAndRestart(index)
  else if (blow === 'pause') await cluster.pause(index, PAUSE_MS)
  else if (blow === 'cut') await cluster.cutOff(index, PAUSE_MS)
  else if (blow === 'postgres') await cluster.crashPostgres()
  else if (blow === 'connections') await cluster.killConnections()
  else {
    // Tokens that its agents had before, and that they no longer have when the first process wakes up.
    const before = new Map(agents.map((agent) => [agent, agent.token]))
    const old = await cluster.startElsewhere(index)
    await sleep(2_000)
    old.signal('SIGCONT')
    for (const [agent, token] of before)
      if (token !== null && token !== agent.token) await agent.tryStale(token, [old.base])
  }
}
