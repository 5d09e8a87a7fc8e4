import { codeOf } from '../exit.js'
import type { SessionServer } from './session-server.js'
import type { SessionTask } from './session-task.js'

const BEAT_MS_MAX = 60_000
const BEAT_MS_MIN = 500
/** A third of the lease: two beats may be lost. */
const SHARE = 3
/** The task is over, or somebody else decided about it. */
const FINAL: ReadonlySet<unknown> = new Set(['no_active_task', 'task_not_active', 'token_invalid', 'token_mismatch'])

/** Extends the lease for as long as the session lives, also while it waits for a person. Returns how to stop. */
export function keepLease(server: SessionServer, task: Pick<SessionTask, 'id' | 'token' | 'claimed'>): () => void {
  const everyMs = computeBeatMs(task.claimed.task.lease_expires_at)
  let isStopped = false
  let timer: NodeJS.Timeout | null = null
  const beat = async (): Promise<void> => {
    try {
      await (await server.agent(task.token)).heartbeat({ task_id: task.id })
    } catch (error) {
      // A server that is away may come back; the next call of the agent takes an interrupted task up again.
      if (FINAL.has(codeOf(error))) return
    }
    if (!isStopped) schedule()
  }
  const schedule = (): void => {
    timer = setTimeout(() => void beat(), everyMs)
  }
  schedule()
  return () => {
    isStopped = true
    if (timer !== null) clearTimeout(timer)
  }
}

export function computeBeatMs(leaseExpiresAt: string | null, now = Date.now()): number {
  const left = leaseExpiresAt === null ? BEAT_MS_MAX * SHARE : Date.parse(leaseExpiresAt) - now
  return Math.min(BEAT_MS_MAX, Math.max(BEAT_MS_MIN, Math.floor(left / SHARE)))
}
