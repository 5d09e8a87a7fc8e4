import { checkCluster } from '../../../src/app/nodes/check-cluster.js'
import { withLedgerSnapshot } from '../../../src/store/postgres/ledger-snapshot.js'
import { verifyPostgresLedger } from '../../../src/store/postgres/verify-postgres.js'
import { checkOrder, type Written } from './check-order.js'
import type { TortureCluster } from './cluster.js'
import type { History } from './history.js'

/** Holds what agents were told against the ledger. */
export async function judge(cluster: TortureCluster, history: History): Promise<readonly string[]> {
  const accepted = history.operations.filter(({ isStale, status }) => isStale && status !== null && status < 400)
  const problems = accepted.map(
    ({ agent, base, kind }) => `a superseded token was accepted: ${agent} at ${base}: ${kind}`,
  )
  problems.push(...findSharedGrants(history), ...checkOrder(history.operations, await readWritten(cluster)))
  const checked = await withLedgerSnapshot(cluster.url, checkCluster)
  problems.push(...checked.problems.map(({ code, detail }) => `${code}: ${detail}`))
  for (const { stateDir } of cluster.members) {
    const report = await verifyPostgresLedger(cluster.url, stateDir)
    problems.push(...report.problems.map(({ code, detail }) => `${code}: ${detail}`))
  }
  return [...new Set(problems)]
}

async function readWritten(cluster: TortureCluster): Promise<readonly Written[]> {
  const rows = await cluster.postgres.run(
    cluster.url,
    "SELECT seq, stream, type, epoch, phase, actor FROM event WHERE stream LIKE 'task:%' ORDER BY seq",
  )
  return rows.map(({ seq, stream, type, epoch, phase, actor }) => ({
    ...{ seq: Number(seq), task: String(stream).slice('task:'.length), type, epoch: Number(epoch), phase },
    agent: /^agent:(.*)$/.exec(actor)?.[1] ?? '',
  }))
}

// Each claim and each phase has its own epoch: two agents with the same one both hold the task.
function findSharedGrants({ grants }: History): readonly string[] {
  const holders = new Map<string, string>()
  const problems: string[] = []
  for (const { agent, task, epoch } of grants) {
    const key = `${task} at epoch ${epoch}`
    const other = holders.get(key)
    if (other !== undefined && other !== agent) problems.push(`${other} and ${agent} both hold ${key}`)
    holders.set(key, agent)
  }
  return problems
}
