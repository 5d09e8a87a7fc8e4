import type { JsonObject } from '../../core/json.js'
import { toObject, toText } from '../client/answer-values.js'
import { type Client, encodeSegment } from '../client/client.js'
import { readTimeline } from '../commands/task-commands.js'
import { archiveRun, type Run } from './run-file.js'
import { getRefusalCode } from './run-session.js'

const COUNTED = {
  tool_calls: ['tool_allowed'],
  tools_refused: ['tool_denied'],
  gates_passed: ['gate_passed'],
  gates_blocked: ['gate_blocked'],
  interrupts: ['rule_violated'],
  continues: ['rule_acknowledged'],
  rewinds: ['task_rewound'],
} as const

/** Puts a run away that is over: its totals are kept, and its agent can do nothing any more. */
export async function putAway(stateDir: string, run: Run, client: Client): Promise<string> {
  const totals = await readTotals(client, run)
  try {
    await client.post(`/agents/${encodeSegment(run.agentId)}/revoke`, { reason: `the run ${run.taskId} is over` })
  } catch (error) {
    // Revoked already, or of a ledger that is not there any more: it can do nothing either way.
    if (getRefusalCode(error) !== 'not_found') throw error
  }
  return archiveRun(stateDir, run, totals)
}

async function readTotals(client: Client, run: Run): Promise<JsonObject> {
  try {
    const task = await client.get(`/tasks/${encodeSegment(run.taskId)}`)
    return sumEvents(task, await readTimeline(client, run.taskId))
  } catch (error) {
    if (getRefusalCode(error) !== 'not_found') throw error
    return { status: 'unknown' }
  }
}

function sumEvents(task: JsonObject, events: readonly JsonObject[]): JsonObject {
  const counts = Object.entries(COUNTED).map(([name, types]) => {
    const counted = events.filter(
      (event) => (types as readonly string[]).includes(toText(event.type)) && toObject(event.data).shadow !== true,
    )
    return [name, counted.length] as const
  })
  const began = toText(events.find((event) => event.type === 'task_claimed')?.at)
  const ended = toText(events.findLast((event) => OVER.has(toText(event.type)))?.at)
  return {
    status: toText(task.status),
    phase: toText(task.phase),
    contract: toObject(task.contract),
    finished_at: ended === '' ? null : ended,
    seconds: began === '' || ended === '' ? null : countSecondsBetween(began, ended),
    visits: listVisits(events, ended),
    refusals: task.refusals ?? 0,
    ...Object.fromEntries(counts),
  }
}

const OVER: ReadonlySet<string> = new Set(['task_completed', 'task_cancelled'])

function listVisits(events: readonly JsonObject[], ended: string): readonly JsonObject[] {
  const entered = events.filter((event) => event.type === 'phase_entered' || event.type === 'task_rewound')
  return entered.map((event, index) => {
    const at = toText(event.at)
    const left = toText(entered[index + 1]?.at) || ended
    return {
      phase: toText(toObject(event.data).to),
      entered_at: at,
      seconds: left === '' ? null : countSecondsBetween(at, left),
    }
  })
}

function countSecondsBetween(from: string, to: string): number {
  return Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000))
}
