import type { Spawn } from '../../core/contract/agent-programs.js'
import type { JsonObject } from '../../core/json.js'
import { toIsoTime, toIsoTimeOrNull } from '../wire.js'

/** What views show of an agent that Phaselock started. */
export function toSpawnView(spawn: Spawn): JsonObject {
  const { program, review, ended, lost } = spawn
  return {
    task_id: spawn.taskId,
    state: ended !== null ? 'ended' : spawn.isRunning ? 'running' : spawn.starts === 0 ? 'starting' : 'waiting',
    role: review === null ? 'worker' : 'reviewer',
    reviewer: review?.name ?? null,
    entry: spawn.entry,
    harness: program.harness,
    model: program.model,
    adapter: spawn.adapter,
    restarts: Math.max(0, spawn.starts - 1),
    spawned_at: toIsoTime(spawn.spawnedAt),
    lost: lost === null ? null : { cause: lost.cause, detail: lost.detail, at: toIsoTime(lost.at) },
    outcome: ended?.outcome ?? null,
    reason: ended?.reason ?? null,
    exit_code: ended?.exitCode ?? null,
    ended_at: toIsoTimeOrNull(ended?.at ?? null),
    unenforced: spawn.unenforced,
  }
}
