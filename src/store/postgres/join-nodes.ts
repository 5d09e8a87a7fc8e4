import type { KeyObject } from 'node:crypto'
import type { Pool } from 'pg'
import { computeLockNumber, DATABASE_CLOCK, LEASE_MS, type NodeLease, takeNode, takeNodeId } from './node-lease.js'
import { NodeLine } from './node-line.js'
import { PostgresCluster } from './postgres-cluster.js'

export interface OpenedNode {
  readonly lease: NodeLease
  readonly cluster: PostgresCluster
  readonly line: NodeLine
  readonly channel: string
}

const LOCK_TRIES = 20
const LOCK_TRY_MS = 100

// PostgreSQL needs a moment to notice that a killed process has gone.
async function waitForLock(line: NodeLine): Promise<boolean> {
  for (let tries = 0; tries < LOCK_TRIES; tries += 1) {
    if (await line.takeLock()) return true
    await new Promise((resolve) => setTimeout(resolve, LOCK_TRY_MS))
  }
  return false
}

/** Makes this process a node of the ledger, or its next start. Rejects with StoreRefused while the node runs elsewhere. */
export async function joinNodes(options: {
  readonly pool: Pool
  readonly url: string
  readonly dir: string
  readonly key: KeyObject
  readonly leaseMs?: number
}): Promise<OpenedNode> {
  const { pool, url, dir, key, leaseMs = LEASE_MS } = options
  const nodeId = takeNodeId(dir)
  const channel = `phaselock_${BigInt.asUintN(64, BigInt(computeLockNumber(key, 'channel'))).toString(16)}`
  let cluster: PostgresCluster | null = null
  const lock = computeLockNumber(key, `node ${nodeId}`)
  const line = new NodeLine({ url, channel, lock, nodeId, onNotice: () => cluster?.look() })
  try {
    await line.open()
    const isAlone = await waitForLock(line)
    const client = await pool.connect()
    try {
      const lease = await takeNode(client, { nodeId, leaseMs, isAlone })
      const { rows } = await client.query(`SELECT count, ${DATABASE_CLOCK} AS now FROM ledger_head`)
      const { count = 0, now = Date.now() } = rows[0] ?? {}
      cluster = new PostgresCluster({ pool, key, lease, leaseMs, after: count, now: Number(now) })
      return { lease, cluster, line, channel }
    } finally {
      client.release()
    }
  } catch (error) {
    await line.close()
    throw error
  }
}
