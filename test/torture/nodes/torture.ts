import { call, TortureAgent } from './agents.js'
import { type Blow, strike } from './blows.js'
import { sleep, TortureCluster } from './cluster.js'
import { History } from './history.js'
import { judge } from './judge.js'
import { Seeded } from './seeded.js'

const SETUP_MS_MAX = 30_000

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
  /** Agents go on after the last blow until they have made so many calls, at most for `extraMsMax`. */
  readonly operationsMin?: number
}

export interface Outcome {
  readonly history: History
  readonly problems: readonly string[]
}

const EXTRA_MS_MAX = 120_000

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
    const deadline = Date.now() + EXTRA_MS_MAX
    do await sleep(options.calmMs)
    while (history.operations.length < (options.operationsMin ?? 0) && Date.now() < deadline)
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
    const said = await call(base, { method: 'POST', path, token, body, msMax: SETUP_MS_MAX })
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
