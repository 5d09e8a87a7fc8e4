import { checkCluster } from '../../../src/app/nodes/check-cluster.js'
import { withLedgerSnapshot } from '../../../src/store/postgres/ledger-snapshot.js'
import { verifyPostgresLedger } from '../../../src/store/postgres/verify-postgres.js'
import type { History } from './agents.js'
import type { TortureCluster } from './cluster.js'

/** Holds what agents were told against the ledger. */
export async function judge(cluster: TortureCluster, history: History): Promise<readonly string[]> {
  const problems = history.staleAccepted.map((one) => `a superseded token was accepted: ${one}`)
  problems.push(...findSharedGrants(history))
  const rows = await cluster.postgres.run(
    cluster.url,
    "SELECT DISTINCT stream, epoch, phase FROM event WHERE type IN ('task_claimed', 'phase_entered')",
  )
  const written = new Set(rows.map(({ stream, epoch, phase }) => JSON.stringify([stream, Number(epoch), phase])))
  for (const { agent, task, epoch, phase } of history.grants)
    if (!written.has(JSON.stringify([`task:${task}`, epoch, phase])))
      problems.push(`${agent} was told that it is in ${phase} of ${task} at epoch ${epoch}, and no event says so`)
  const checked = await withLedgerSnapshot(cluster.url, checkCluster)
  problems.push(...checked.problems.map(({ code, detail }) => `${code}: ${detail}`))
  for (const { stateDir } of cluster.members) {
    const report = await verifyPostgresLedger(cluster.url, stateDir)
    problems.push(...report.problems.map(({ code, detail }) => `${code}: ${detail}`))
  }
  return [...new Set(problems)]
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
