import { checkCluster } from '../../app/nodes/check-cluster.js'
import { plainLine } from '../../core/plain-text.js'
import { withLedgerSnapshot } from '../../store/postgres/ledger-snapshot.js'
import { verifyPostgresLedger } from '../../store/postgres/verify-postgres.js'
import { StoreRefused } from '../../store/store.js'
import { findLedgerStateDir } from '../client/ledger-place.js'
import { EXIT, Stop } from '../exit.js'
import { readStoreUrl } from '../server/store-url.js'
import { paintText, print, printJson } from '../terminal/terminal.js'

export interface CheckOptions {
  readonly stateDir?: string
  readonly store?: string
  readonly json?: boolean
}

/** Checks the ledger of several nodes in its database, while they go on. */
export async function checkClusterCommand(options: CheckOptions): Promise<void> {
  const url = readStoreUrl(options.store)
  if (url === null)
    throw new Stop(EXIT.usage, 'cluster-check is for a ledger in PostgreSQL: give --store or PHASELOCK_STORE.')
  const dir = findLedgerStateDir(options.stateDir)
  if (dir === null) throw new Stop(EXIT.usage, 'Name the state directory of a node with --state-dir.')
  const { found, nodes } = await withLedgerSnapshot(url, async (ledger) => ({
    found: await checkCluster(ledger),
    nodes: ledger.nodes,
  })).catch((error: unknown) => {
    throw error instanceof StoreRefused ? new Stop(EXIT.refused, error.message) : error
  })
  const verified = await verifyPostgresLedger(url, dir)
  const problems = [...verified.problems, ...found.problems]
  const report = { ok: problems.length === 0, ...found, problems, nodes }
  if (options.json === true) printJson(report)
  else {
    for (const { code, detail } of problems) print(`${paintText('red', code)}: ${plainLine(detail)}`)
    const alive = nodes.filter(({ isAlive }) => isAlive).length
    const counted = `${found.events} events, ${found.tasks} tasks, ${found.claims} claims, ${alive} of ${nodes.length} nodes alive`
    print(report.ok ? `Nothing is wrong: ${counted}.` : `Something is WRONG (${counted}).`)
  }
  if (!report.ok) throw new Stop(EXIT.refused, '')
}
