import type { Task } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { formatCount } from '../../core/text.js'
import { findProgramName } from '../program-name.js'
import type { AgentCliKind, Binding } from './agent-cli-kind.js'
import type { SessionTask } from './session-task.js'

interface SessionWays {
  readonly asksInChat: boolean
  readonly binding: Binding
}

/** Stays in force for the whole session, also after the conversation was cleared or compacted. */
export function formatInstructions({ id, agentId, claimed }: SessionTask, ways: SessionWays): string {
  return [
    `Phaselock leads this session. You are agent ${agentId}; task ${id} is claimed for you: ${claimed.task.title}`,
    WORK[ways.binding],
    'The task goes through phases. Each phase offers some of the tools; a call that is refused says what is allowed now and what to do next. Call get_workflow_state when you do not know where the task stands, for example after the conversation was cleared: it has the phase, what is missing and the next legal step.',
    'Leave a phase with request_transition and the artifacts it demands. Only what Phaselock accepted counts as done; the task is done when its status is completed.',
    ways.asksInChat
      ? 'Where a person has to approve, the person is asked in this chat while your call waits. You cannot approve anything yourself.'
      : 'Where a person has to approve, tell the person what waits and make the same call again: it waits for the decision. You cannot approve anything yourself.',
    'The person does not see the results of your calls. Say in one short sentence when a phase begins, what the tests showed, and what was refused.',
    `When the session began, the task was in phase ${claimed.phase}, and the prompt of this phase was as follows. Later phases give their own when they begin.`,
    claimed.prompt,
  ].join('\n')
}

/** For the list of tools: what the session is about is in its instructions. */
export function formatServerNote({ id }: SessionTask): string {
  return `The tools of Phaselock for task ${id}. get_workflow_state says where it stands.`
}

const WORK: Readonly<Record<Binding, string>> = {
  tools_only:
    'You work with the tools of the MCP server "phaselock": they are the only ones that read, write and run in this repository. Paths are relative to the root of the work tree.',
  native:
    'You work with your own tools, and each call is decided by Phaselock before it is made. What a command changes is looked at afterwards: files that the phase does not allow are found at once, and close it until they are undone. The tools of the MCP server "phaselock" lead through the phases, commit and ask the person.',
}

/** The first message of the session, which stays on the person's screen: what it asks for is in the instructions. */
export function formatFirstPrompt({ claimed, id, isResumed }: SessionTask): string {
  const { task, phase } = claimed
  return [
    isResumed ? `Go on with task ${id}: ${task.title}` : task.title,
    ...(task.description === '' ? [] : [task.description]),
    isResumed
      ? `It is in phase ${phase}. What was accepted before still counts; look first at what is missing (get_workflow_state).`
      : `Begin with phase ${phase}.`,
  ].join('\n\n')
}

/** One line at the edge of the terminal. */
export function formatStatusLine({ id, phase, waits, refusals }: StatusLine): string {
  const refused = refusals === 0 ? '' : `, ${formatCount(refusals, 'refusal')}`
  return plainLine(`Phaselock: ${phase}${waits ? ', waits for your decision' : ''}${refused} · ${id}`)
}

interface StatusLine {
  readonly id: string
  readonly phase: string
  readonly waits: boolean
  readonly refusals: number
}

/** What the model is told when it has no task any more: a session works on one. */
export function formatAfterTask(kind: AgentCliKind): string {
  return `This session was for one task. If the person wants more, tell them to leave it and to start the next one in the terminal: ${findProgramName()} ${kind.name} "what to do"`
}

/** Printed before the CLI opens. */
export function formatStart(kind: AgentCliKind, task: SessionTask, url: string): string {
  return [
    `Task ${plainLine(task.id)} is in ${plainLine(task.claimed.phase)}, held by agent ${plainLine(task.agentId)}. Opening ${kind.title} …`,
    `Dashboard: ${url} (log in with \`${findProgramName()} login\`)`,
    ...(process.cwd().startsWith(task.claimed.task.workspace) ? [] : ['It has a separate work tree.']),
    `If ${kind.title} asks whether you trust the folder, answer yes. What the agent may do there is decided by Phaselock.`,
    ...(kind.name === 'claude' && (process.env.ANTHROPIC_API_KEY ?? '') !== '' ? [API_KEY] : []),
  ].join('\n')
}

const API_KEY =
  'If it asks whether to use the API key of your environment, answer yes unless you are logged in with an account.'

/** Printed when the session is over. */
export function formatEnd(kind: AgentCliKind, id: string, task: Task | null): string {
  const program = findProgramName()
  const again = `${program} ${kind.name} --task ${plainLine(id)}`
  if (task === null)
    return `The server does not answer, so that the state of task ${plainLine(id)} is unknown. Go on with: ${again}`
  const name = `Task ${plainLine(id)}`
  const phase = plainLine(task.phase)
  if (task.status === 'completed')
    return [
      `${name} is completed. What was done and observed: ${program} report ${plainLine(id)}`,
      formatServer(),
    ].join('\n')
  if (task.status === 'cancelled') return `${name} is cancelled.`
  if (task.status === 'parked')
    return `${name} is parked in ${phase}: ${plainLine(task.parked_reason ?? '')}\nResume it: ${program} task resume ${plainLine(id)} --reason TEXT, then go on with: ${again}`
  const approval = task.pending_approval
  return [
    `${name} is not completed: it is in ${phase}${approval === null ? '' : ' and waits for your approval'}.`,
    ...(approval === null ? [] : [`Decide: ${program} approve ${plainLine(approval.id)}`]),
    `Go on with: ${again}`,
    formatResumed(kind),
    formatServer(),
  ].join('\n')
}

function formatResumed({ title }: AgentCliKind): string {
  return `Do not use a command that ${title} printed to resume its session: it opens it without Phaselock.`
}

function formatServer(): string {
  return `The server goes on running. Stop it with: ${findProgramName()} down`
}
