import { randomBytes } from 'node:crypto'
import type { ClaimAnswer, Task } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { compact } from '../client/answer-values.js'
import type { Client } from '../client/client.js'
import { toTaskRequest } from '../client/task-request.js'
import { codeOf, EXIT, Stop } from '../exit.js'
import { findProgramName } from '../program-name.js'
import { canAsk, confirm, tell } from '../terminal/terminal.js'
import type { AgentCliKind } from './agent-cli-kind.js'
import { findSession, removeSessionNote, writeSessionNote } from './session-note.js'
import type { SessionServer } from './session-server.js'

const LOOKED_AT_MAX = 20
const OVER: ReadonlySet<string> = new Set(['completed', 'cancelled'])

export interface TaskWanted {
  readonly title: string | undefined
  /** An existing task. */
  readonly task?: string
  readonly worktree?: boolean
  readonly take?: readonly string[]
  /** Its own tools stay on, under hooks. */
  readonly native?: boolean
}

/** The task of a session and the agent that holds it. The token never leaves this process. */
export interface SessionTask {
  readonly id: string
  readonly agentId: string
  readonly token: string
  readonly claimed: ClaimAnswer
  /** It was begun before: in an earlier session, or by another agent. */
  readonly isResumed: boolean
}

/** Adds the task, or takes up the named one, and claims it for a new agent. */
export async function openSessionTask(
  server: SessionServer,
  kind: AgentCliKind,
  wanted: TaskWanted,
): Promise<SessionTask> {
  const operator = await server.operator()
  if (wanted.task === undefined && wanted.worktree !== true) await askBesideUnfinished(operator, kind)
  const task = wanted.task === undefined ? await addTask(operator, wanted) : await operator.task(wanted.task)
  const agentId = await chooseAgent(server, kind, task)
  const { agent_token: token } = await operator.addAgent({
    agent_id: agentId,
    binding: { agent_cli: kind.runName, place: 'session', mode: wanted.native === true ? 'native' : 'tools_only' },
  })
  const { stateDir } = server
  if (stateDir !== null) writeSessionNote(stateDir, agentId)
  try {
    const claimed = await (await server.agent(token)).claim({ agent_id: agentId, task_id: task.id })
    return { id: task.id, agentId, token, claimed, isResumed: task.visit > 0 }
  } catch (error) {
    if (stateDir !== null) removeSessionNote(stateDir, agentId)
    await operator.revokeAgent(agentId, { reason: 'the session could not claim its task' })
    throw explainClaim(error, kind, { task, isNew: wanted.task === undefined })
  }
}

// Its uncommitted changes would be in the diffs and test runs of the new task, and the other way round.
async function askBesideUnfinished(operator: Client, kind: AgentCliKind): Promise<void> {
  const left = await findUnfinished(operator)
  if (left === null) return
  const program = findProgramName()
  const id = plainLine(left.id)
  tell(
    [
      `Task ${id} is unfinished in this work tree, in ${plainLine(left.phase)}: ${plainLine(left.title)}`,
      `Go on with it: ${program} ${kind.name} --task ${id}`,
      `Give it up:    ${program} task cancel ${id} --reason TEXT`,
      `Work apart:    ${program} ${kind.name} --worktree "…"`,
    ].join('\n'),
  )
  if (!canAsk() || !(await confirm('Begin another task in the same work tree all the same?')))
    throw new Stop(EXIT.refused, 'Nothing was started.')
}

/** A task that left its first phase in the work tree of this folder, and that nobody works on. */
async function findUnfinished(operator: Client): Promise<Task | null> {
  for (const status of ['queued', 'interrupted', 'parked']) {
    const { tasks } = await operator.tasks({ status, limit: LOOKED_AT_MAX })
    for (const { id } of tasks) {
      const task = await operator.task(id)
      const isHere = `${process.cwd()}/`.startsWith(`${task.workspace}/`)
      if (isHere && task.visit > 1 && (task.worktree ?? null) === null) return task
    }
  }
  return null
}

function addTask(operator: Client, { title, worktree, take }: TaskWanted): Promise<Task> {
  return operator.addTask(compact({ ...toTaskRequest(title ?? ''), worktree, take }))
}

// A killed session left its claim behind: its agent goes on under the same name. An open one keeps its task.
async function chooseAgent(server: SessionServer, kind: AgentCliKind, task: Task): Promise<string> {
  if (OVER.has(task.status))
    throw new Stop(EXIT.refused, `Task ${plainLine(task.id)} is ${plainLine(task.status)} already.`)
  const holder = task.agent_id
  const fresh = `${kind.name}-${randomBytes(4).toString('hex')}`
  if (holder === null || server.stateDir === null) return fresh
  const session = findSession(server.stateDir, holder)
  if (session === null) return fresh
  if (session.isOpen)
    throw new Stop(
      EXIT.refused,
      `Task ${plainLine(task.id)} is open in another terminal (process ${session.pid}, agent ${plainLine(holder)}).\nEnd that session first, or begin another task.`,
    )
  return holder
}

function explainClaim(error: unknown, kind: AgentCliKind, about: { task: Task; isNew: boolean }): unknown {
  if (!(error instanceof Stop)) return error
  const { task, isNew } = about
  const again = `${findProgramName()} ${kind.name} --task ${plainLine(task.id)}`
  const program = findProgramName()
  switch (codeOf(error)) {
    case 'already_claimed':
      return new Stop(
        error.exit,
        `${error.message}\nWait until agent ${plainLine(task.agent_id ?? '')} gives it back, or free it: ${program} task reassign ${plainLine(task.id)}`,
        error.details,
      )
    case 'task_not_active':
      return new Stop(
        error.exit,
        task.status === 'parked'
          ? `${error.message}\nLook at why, then: ${program} task resume ${plainLine(task.id)} --reason TEXT`
          : error.message,
        error.details,
      )
    case 'conflict':
      return new Stop(
        error.exit,
        isNew
          ? `${error.message}\nThe task ${plainLine(task.id)} was added and waits. Work beside the other one in a work tree of its own: ${program} task cancel ${plainLine(task.id)}, then ${program} ${kind.name} --worktree "…"`
          : error.message,
        error.details,
      )
    default:
      return new Stop(
        error.exit,
        `${error.message}\nThe task stays open. When that is settled: ${again}`,
        error.details,
      )
  }
}

/** Gives an unfinished task back and ends the agent. Never throws: the session is over in any case. */
export async function closeSessionTask(
  server: SessionServer,
  { id, agentId, token }: Pick<SessionTask, 'id' | 'agentId' | 'token'>,
  reason: string,
): Promise<Task | null> {
  try {
    const operator = await server.operator()
    const before = await operator.task(id)
    if (before.agent_id === agentId && !OVER.has(before.status) && before.status !== 'parked')
      await (await server.agent(token)).release({ task_id: id, reason })
    await operator.revokeAgent(agentId, { reason })
    if (server.stateDir !== null) removeSessionNote(server.stateDir, agentId)
    return await operator.task(id)
  } catch (error) {
    if (error instanceof Stop) return null
    throw error
  }
}
