import type { LedgerEvent, TaskDetails } from 'phaselock/sdk'
import type { JsonObject } from '../../core/json.js'
import type { Client } from '../client/client.js'
import { readTimeline } from '../commands/task-commands.js'
import { codeOf } from '../exit.js'
import { archiveRun, type Run } from './run-file.js'

const COUNTED = {
  tool_calls: 'tool_allowed',
  tools_refused: 'tool_denied',
  gates_passed: 'gate_passed',
  gates_blocked: 'gate_blocked',
  interrupts: 'rule_violated',
  continues: 'rule_acknowledged',
  rewinds: 'task_rewound',
} as const

/** Closes a finished run: its totals are stored, and its agent is revoked. */
export async function putAway(stateDir: string, run: Run, client: Client): Promise<string> {
  const totals = await readTotals(client, run)
  try {
    await client.revokeAgent(run.agentId, { reason: `the run ${run.taskId} is over` })
  } catch (error) {
    // Already revoked, or of a ledger that no longer exists: either way it can do nothing.
    if (codeOf(error) !== 'not_found') throw error
  }
  return archiveRun(stateDir, run, totals)
}

async function readTotals(client: Client, run: Run): Promise<JsonObject> {
  try {
    return sumEvents(await client.task(run.taskId), await readTimeline(client, run.taskId))
  } catch (error) {
    if (codeOf(error) !== 'not_found') throw error
    return { status: 'unknown' }
  }
}

function sumEvents({ status, phase, contract, refusals }: TaskDetails, events: readonly LedgerEvent[]): JsonObject {
  const counts = Object.entries(COUNTED).map(([name, type]) => {
    return [name, events.filter((event) => event.type === type && event.data.shadow !== true).length] as const
  })
  const began = events.find((event) => event.type === 'task_claimed')?.at
  const ended = events.findLast((event) => OVER.has(event.type))?.at
  return {
    ...{ status, phase, contract, finished_at: ended ?? null },
    seconds: began === undefined || ended === undefined ? null : countSecondsBetween(began, ended),
    visits: listVisits(events, ended),
    refusals,
    ...Object.fromEntries(counts),
  }
}

const OVER: ReadonlySet<string> = new Set(['task_completed', 'task_cancelled'])

function listVisits(events: readonly LedgerEvent[], ended: string | undefined): readonly JsonObject[] {
  const entered = events.filter((event) => event.type === 'phase_entered' || event.type === 'task_rewound')
  return entered.map(({ at, data }, index) => {
    const left = entered[index + 1]?.at ?? ended
    return {
      phase: String(data.to),
      entered_at: at,
      seconds: left === undefined ? null : countSecondsBetween(at, left),
    }
  })
}

function countSecondsBetween(from: string, to: string): number {
  return Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000))
}
