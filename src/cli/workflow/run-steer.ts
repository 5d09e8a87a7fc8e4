import type { TaskDetails } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { compact } from '../client/answer-values.js'
import type { Client } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { printJson, show, tell } from '../terminal/terminal.js'
import { askAsAgent, findTask, makeSteeringClient, openSession, type Session, stopWithoutRun } from './run-session.js'
import { showAnswer } from './run-steps.js'
import { wrapText } from './run-text.js'
import { putAway } from './run-totals.js'

export interface SteerOptions extends ClientOptions {
  readonly reason: string
  readonly restoreTree?: boolean
}

/** Returns the run to the previous phase. */
export function goToPrevious(options: SteerOptions): Promise<void> {
  return rewind(options, async (_client, { phase, completed_phases }) => {
    const before = completed_phases.filter((one) => one !== phase).at(-1)
    if (before !== undefined) return before
    throw new Stop(EXIT.refused, `There is no phase before ${plainLine(phase)}.`, {
      problem: { code: 'conflict', detail: `There is no phase before ${phase}.` },
    })
  })
}

/** Returns the run to the start phase of its contract. */
export function restart(options: SteerOptions): Promise<void> {
  return rewind(options, async (client, task) => (await client.contract(task.contract.hash)).contract.start_node)
}

async function rewind(
  options: SteerOptions,
  target: (client: Client, task: TaskDetails) => Promise<string>,
): Promise<void> {
  const session = openSession(options)
  const client = await makeSteeringClient(session)
  const id = await findTask(session)
  // An agent may not read tasks either: its attempt is refused before the phase matters.
  const to = session.agentToken === null ? await target(client, await client.task(id)) : 'unknown'
  const body = compact({ to_phase: to, reason: options.reason, restore_tree: options.restoreTree })
  const task = await client.changeTask(id, 'rewind', body)
  if (options.json === true) return printJson(task)
  tell(plainLine(`${task.id} is back in ${task.phase}.`))
  return showAnswer(await askAsAgent(session, (agent) => agent.prompt()), options)
}

/** Cancels the run's task permanently, and closes the run. */
export async function abortRun(options: SteerOptions): Promise<void> {
  const session = openSession(options)
  const client = await makeSteeringClient(session)
  const task = await client.cancelTask(await findTask(session), { reason: options.reason })
  const archived = await archiveIfOwn(session, client)
  const answer = { ...task, ...compact({ archived: archived ?? undefined }) }
  show(options, answer, plainLine(`${task.id} is cancelled in ${task.phase}.`))
}

/** Reports whether the run is finished: only then the exit code is 0 and the run is closed. */
export async function checkDone(options: ClientOptions): Promise<void> {
  const session = openSession(options)
  if (session.agentToken !== null) return checkDoneAsAgent(session)
  if (session.run === null) return stopWithoutRun(session)
  const client = await makeSteeringClient(session)
  const task = await client.task(session.run.taskId)
  if (task.status !== 'completed') throw stopUnfinished(task)
  const archived = await archiveIfOwn(session, client)
  show(options, { done: true, task_id: task.id, archived }, `${plainLine(task.id)} is completed.`)
}

// An agent sees its own task, and of others only that they are completed.
async function checkDoneAsAgent(session: Session): Promise<void> {
  const { task, next_step, completed_tasks } = await askAsAgent(session, (client) => client.snapshot())
  if (task !== null) throw stopUnfinished({ ...task, next_step })
  const id = session.run?.taskId
  if (id === undefined || !completed_tasks.some((one) => one.id === id)) return stopWithoutRun(session)
  show(session.options, { done: true, task_id: id }, `${id} is completed.`)
}

function stopUnfinished({
  id,
  status,
  phase,
  next_step,
}: Pick<TaskDetails, 'id' | 'status' | 'phase' | 'next_step'>): Stop {
  const about = `${id} is not finished: it is ${status} in ${phase}.`
  return new Stop(EXIT.refused, [...wrapText(about, ''), ...wrapText(next_step, '')].join('\n'), {
    ...{ done: false, task_id: id, status, phase, next_step },
  })
}

async function archiveIfOwn(session: Session, client: Client): Promise<string | null> {
  const { stateDir, run } = session
  return stateDir === null || run === null ? null : putAway(stateDir, run, client)
}
