import type { JsonObject } from '../../core/json.js'
import { given, listOf, objectOf, textOf } from '../client/answer-values.js'
import { type Client, segment } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { plainLine } from '../terminal/plain-text.js'
import { print, printJson, tell } from '../terminal/terminal.js'
import { asAgent, noActiveRun, openSession, type Session, steeringClient, taskOf } from './run-session.js'
import { showAnswer } from './run-steps.js'
import { wrapped } from './run-text.js'
import { putAway } from './run-totals.js'

export interface SteerOptions extends ClientOptions {
  readonly reason: string
  readonly restoreTree?: boolean
}

/** Takes the run back to the phase before this one. */
export function previous(options: SteerOptions): Promise<void> {
  return rewind(options, async (_client, task) => {
    const phase = textOf(task.phase)
    const before = ((task.completed_phases ?? []) as readonly string[]).filter((one) => one !== phase).at(-1)
    if (before !== undefined) return before
    throw new Stop(EXIT.refused, `There is no phase before ${plainLine(phase)}.`, {
      problem: { code: 'conflict', detail: `There is no phase before ${phase}.` },
    })
  })
}

/** Takes the run back to where its contract starts. */
export function restart(options: SteerOptions): Promise<void> {
  return rewind(options, async (client, task) => {
    const known = await client.get(`/contracts/${segment(textOf(objectOf(task.contract).hash))}`)
    return textOf(objectOf(known.contract).start_node)
  })
}

async function rewind(
  options: SteerOptions,
  target: (client: Client, task: JsonObject) => Promise<string>,
): Promise<void> {
  const session = openSession(options)
  const client = steeringClient(session)
  const id = segment(await taskOf(session))
  // An agent may not look at tasks either: its attempt is refused before the phase matters.
  const to = session.agentToken === null ? await target(client, await client.get(`/tasks/${id}`)) : 'unknown'
  const body = given({ to_phase: to, reason: options.reason, restore_tree: options.restoreTree })
  const task = await client.post(`/tasks/${id}/rewind`, body)
  if (options.json === true) return printJson(task)
  tell(plainLine(`${textOf(task.id)} is back in ${textOf(task.phase)}.`))
  return showAnswer(await asAgent(session, (agent) => agent.get('/prompt')), options)
}

/** Cancels the run's task for good, and puts the run away. */
export async function abort(options: SteerOptions): Promise<void> {
  const session = openSession(options)
  const client = steeringClient(session)
  const id = await taskOf(session)
  const task = await client.post(`/tasks/${segment(id)}/cancel`, { reason: options.reason })
  const archived = await archive(session, client)
  if (options.json === true) return printJson({ ...task, ...given({ archived: archived ?? undefined }) })
  print(plainLine(`${textOf(task.id)} is cancelled in ${textOf(task.phase)}.`))
}

/** Says whether the run is finished: only then it ends with 0, and is put away. */
export async function done(options: ClientOptions): Promise<void> {
  const session = openSession(options)
  if (session.agentToken !== null) return doneAsAgent(session)
  if (session.run === null) return noActiveRun(session)
  const client = steeringClient(session)
  const task = await client.get(`/tasks/${segment(session.run.taskId)}`)
  const isDone = task.status === 'completed'
  if (!isDone) throw unfinished(task)
  const archived = await archive(session, client)
  if (options.json === true) return printJson({ done: true, task_id: textOf(task.id), archived })
  print(`${plainLine(textOf(task.id))} is completed.`)
}

// An agent sees its own task, and of others that they are completed.
async function doneAsAgent(session: Session): Promise<void> {
  const snapshot = await asAgent(session, (client) => client.get('/state/snapshot'))
  const task = objectOf(snapshot.task)
  if (task.id !== undefined) throw unfinished({ ...task, next_step: snapshot.next_step ?? '' })
  const id = session.run?.taskId
  if (id === undefined || !listOf(snapshot.completed_tasks).some((one) => one.id === id)) return noActiveRun(session)
  if (session.options.json === true) return printJson({ done: true, task_id: id })
  print(`${id} is completed.`)
}

function unfinished(task: JsonObject): Stop {
  const about = `${textOf(task.id)} is not finished: it is ${textOf(task.status)} in ${textOf(task.phase)}.`
  const { id, status, phase, next_step } = task
  return new Stop(EXIT.refused, [...wrapped(about, ''), ...wrapped(textOf(next_step), '')].join('\n'), {
    ...given({ done: false, task_id: id, status, phase, next_step }),
  })
}

async function archive(session: Session, client: Client): Promise<string | null> {
  const { stateDir, run } = session
  return stateDir === null || run === null ? null : putAway(stateDir, run, client)
}
