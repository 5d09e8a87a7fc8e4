import type { JsonObject } from '../../core/json.js'
import { objectOf, textOf } from '../client/answer-values.js'
import { type Client, segment } from '../client/client.js'
import { timeline } from '../commands/task-commands.js'
import { archiveRun, type Run } from './run-file.js'
import { codeOf } from './run-session.js'

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
  const totals = await totalsOf(client, run)
  try {
    await client.post(`/agents/${segment(run.agentId)}/revoke`, { reason: `the run ${run.taskId} is over` })
  } catch (error) {
    // Revoked already, or of a ledger that is not there any more: it can do nothing either way.
    if (codeOf(error) !== 'not_found') throw error
  }
  return archiveRun(stateDir, run, totals)
}

async function totalsOf(client: Client, run: Run): Promise<JsonObject> {
  try {
    const task = await client.get(`/tasks/${segment(run.taskId)}`)
    return summed(task, await timeline(client, run.taskId))
  } catch (error) {
    if (codeOf(error) !== 'not_found') throw error
    return { status: 'unknown' }
  }
}

function summed(task: JsonObject, events: readonly JsonObject[]): JsonObject {
  const counts = Object.entries(COUNTED).map(([name, types]) => {
    const counted = events.filter(
      (event) => (types as readonly string[]).includes(textOf(event.type)) && objectOf(event.data).shadow !== true,
    )
    return [name, counted.length] as const
  })
  const began = textOf(events.find((event) => event.type === 'task_claimed')?.at)
  const ended = textOf(events.findLast((event) => OVER.has(textOf(event.type)))?.at)
  return {
    status: textOf(task.status),
    phase: textOf(task.phase),
    contract: objectOf(task.contract),
    finished_at: ended === '' ? null : ended,
    seconds: began === '' || ended === '' ? null : secondsBetween(began, ended),
    visits: visitsOf(events, ended),
    refusals: task.refusals ?? 0,
    ...Object.fromEntries(counts),
  }
}

const OVER: ReadonlySet<string> = new Set(['task_completed', 'task_cancelled'])

function visitsOf(events: readonly JsonObject[], ended: string): readonly JsonObject[] {
  const entered = events.filter((event) => event.type === 'phase_entered' || event.type === 'task_rewound')
  return entered.map((event, index) => {
    const at = textOf(event.at)
    const left = textOf(entered[index + 1]?.at) || ended
    return {
      phase: textOf(objectOf(event.data).to),
      entered_at: at,
      seconds: left === '' ? null : secondsBetween(at, left),
    }
  })
}

function secondsBetween(from: string, to: string): number {
  return Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000))
}
