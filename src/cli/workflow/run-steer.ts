import type { JsonObject } from '../../core/json.js'
import { compact, listOf, toObject, toText } from '../client/answer-values.js'
import { type Client, encodeSegment } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { toPlainLine } from '../terminal/plain-text.js'
import { print, printJson, tell } from '../terminal/terminal.js'
import { askAsAgent, findTask, makeSteeringClient, openSession, type Session, stopWithoutRun } from './run-session.js'
import { showAnswer } from './run-steps.js'
import { wrapText } from './run-text.js'
import { putAway } from './run-totals.js'

export interface SteerOptions extends ClientOptions {
  readonly reason: string
  readonly restoreTree?: boolean
}

/** Takes the run back to the phase before this one. */
export function goToPrevious(options: SteerOptions): Promise<void> {
  return rewind(options, async (_client, task) => {
    const phase = toText(task.phase)
    const before = ((task.completed_phases ?? []) as readonly string[]).filter((one) => one !== phase).at(-1)
    if (before !== undefined) return before
    throw new Stop(EXIT.refused, `There is no phase before ${toPlainLine(phase)}.`, {
      problem: { code: 'conflict', detail: `There is no phase before ${phase}.` },
    })
  })
}

/** Takes the run back to where its contract starts. */
export function restart(options: SteerOptions): Promise<void> {
  return rewind(options, async (client, task) => {
    const known = await client.get(`/contracts/${encodeSegment(toText(toObject(task.contract).hash))}`)
    return toText(toObject(known.contract).start_node)
  })
}

async function rewind(
  options: SteerOptions,
  target: (client: Client, task: JsonObject) => Promise<string>,
): Promise<void> {
  const session = openSession(options)
  const client = makeSteeringClient(session)
  const id = encodeSegment(await findTask(session))
  // An agent may not look at tasks either: its attempt is refused before the phase matters.
  const to = session.agentToken === null ? await target(client, await client.get(`/tasks/${id}`)) : 'unknown'
  const body = compact({ to_phase: to, reason: options.reason, restore_tree: options.restoreTree })
  const task = await client.post(`/tasks/${id}/rewind`, body)
  if (options.json === true) return printJson(task)
  tell(toPlainLine(`${toText(task.id)} is back in ${toText(task.phase)}.`))
  return showAnswer(await askAsAgent(session, (agent) => agent.get('/prompt')), options)
}

/** Cancels the run's task for good, and puts the run away. */
export async function abortRun(options: SteerOptions): Promise<void> {
  const session = openSession(options)
  const client = makeSteeringClient(session)
  const id = await findTask(session)
  const task = await client.post(`/tasks/${encodeSegment(id)}/cancel`, { reason: options.reason })
  const archived = await archiveIfOwn(session, client)
  if (options.json === true) return printJson({ ...task, ...compact({ archived: archived ?? undefined }) })
  print(toPlainLine(`${toText(task.id)} is cancelled in ${toText(task.phase)}.`))
}

/** Says whether the run is finished: only then it ends with 0, and is put away. */
export async function checkDone(options: ClientOptions): Promise<void> {
  const session = openSession(options)
  if (session.agentToken !== null) return checkDoneAsAgent(session)
  if (session.run === null) return stopWithoutRun(session)
  const client = makeSteeringClient(session)
  const task = await client.get(`/tasks/${encodeSegment(session.run.taskId)}`)
  const isDone = task.status === 'completed'
  if (!isDone) throw stopUnfinished(task)
  const archived = await archiveIfOwn(session, client)
  if (options.json === true) return printJson({ done: true, task_id: toText(task.id), archived })
  print(`${toPlainLine(toText(task.id))} is completed.`)
}

// An agent sees its own task, and of others that they are completed.
async function checkDoneAsAgent(session: Session): Promise<void> {
  const snapshot = await askAsAgent(session, (client) => client.get('/state/snapshot'))
  const task = toObject(snapshot.task)
  if (task.id !== undefined) throw stopUnfinished({ ...task, next_step: snapshot.next_step ?? '' })
  const id = session.run?.taskId
  if (id === undefined || !listOf(snapshot.completed_tasks).some((one) => one.id === id)) return stopWithoutRun(session)
  if (session.options.json === true) return printJson({ done: true, task_id: id })
  print(`${id} is completed.`)
}

function stopUnfinished(task: JsonObject): Stop {
  const about = `${toText(task.id)} is not finished: it is ${toText(task.status)} in ${toText(task.phase)}.`
  const { id, status, phase, next_step } = task
  return new Stop(EXIT.refused, [...wrapText(about, ''), ...wrapText(toText(next_step), '')].join('\n'), {
    ...compact({ done: false, task_id: id, status, phase, next_step }),
  })
}

async function archiveIfOwn(session: Session, client: Client): Promise<string | null> {
  const { stateDir, run } = session
  return stateDir === null || run === null ? null : putAway(stateDir, run, client)
}
