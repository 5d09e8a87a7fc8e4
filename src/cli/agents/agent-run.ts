import { spawn } from 'node:child_process'
import { isAbsolute, resolve } from 'node:path'
import { AGENT_CLIS } from '../../core/contract/agent-programs.js'
import type { JsonObject } from '../../core/json.js'
import { formatCount } from '../../core/text.js'
import { compact, toObject, toText } from '../client/answer-values.js'
import { Client, encodeSegment } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { LastingClient } from '../client/lasting-client.js'
import { Signals } from '../councils/signals.js'
import { EXIT, Stop } from '../exit.js'
import { formatPlainJson, toPlainLine, toPlainText } from '../terminal/plain-text.js'
import { print, printJson, tell } from '../terminal/terminal.js'
import { tellTree } from '../terminal/tree-text.js'
import { WaitingNotice } from './agent-waiting.js'

const FOLLOW_MS = 500
const SESSION = /^agent-[0-9a-f]{12}$/
const HARNESSES: ReadonlySet<string> = new Set(Object.keys(AGENT_CLIS))

export interface RunOptions extends ClientOptions {
  readonly command?: string
  readonly arg?: readonly string[]
  readonly model?: string
  readonly task?: string
  readonly id?: string
  readonly worktree?: boolean
  readonly take?: readonly string[]
  readonly name?: string
  readonly tmux?: boolean
  readonly detach?: boolean
}

export interface FollowOptions extends ClientOptions {
  readonly follow?: boolean
}

export interface StopOptions extends ClientOptions {
  readonly park?: boolean
  readonly reason?: string
}

/** Starts an agent and follows it to its end. */
export async function run(first: string | undefined, second: string | undefined, options: RunOptions): Promise<void> {
  const [agent, title] = options.command === undefined ? [first, second] : [undefined, second ?? first]
  if (options.command === undefined && agent === undefined)
    throw new Stop(
      EXIT.usage,
      'Name an agent: one of the contract, an agent CLI such as claude-code, or --command PROGRAM.',
    )
  if ((title === undefined) === (options.task === undefined))
    throw new Stop(EXIT.usage, 'Give either the title of a new task or an existing task with --task ID.')
  const { id: taskId, worktree, take } = options
  if (options.task !== undefined && (taskId ?? worktree ?? take) !== undefined)
    throw new Stop(
      EXIT.usage,
      '--id, --worktree and --take apply only to a new task; an existing task has its work tree.',
    )
  const client = new Client(options)
  const about = compact({
    args: options.arg,
    model: options.model,
    agent_id: options.name,
    adapter: options.tmux === true ? 'tmux' : undefined,
    ...(title === undefined ? { task_id: options.task } : { task: compact({ title, id: taskId, worktree, take }) }),
  })
  const answer = await startAgent(client, agent, { about, command: options.command })
  const id = toText(answer.agent_id)
  if (options.json !== true) tellStart(answer, options)
  else if (options.detach === true) printJson(answer)
  if (options.detach === true) return
  const reader = new LastingClient(options)
  await followRun(reader, answer, options.json !== true)
  const ended = await reader.get(`/agents/${encodeSegment(id)}`)
  if (options.json === true) printJson(ended)
  else print(endText(ended))
  if (ended.outcome !== 'completed') process.exitCode = EXIT.refused
}

function tellStart(answer: JsonObject, options: RunOptions): void {
  const agent = toPlainLine(toText(answer.agent_id))
  print(`Agent ${agent} works on task ${toPlainLine(toText(answer.task_id))}.`)
  if (answer.worktree !== undefined) tellTree(answer)
  if (options.tmux === true) print(`Look at its window with \`phaselock attach ${agent}\`; Ctrl-b d leaves it.`)
  if (options.detach === true) print(`Follow it with \`phaselock logs ${agent} --follow\`.`)
}

// It is the server that keeps the agent: whoever goes is told how to come back.
async function followRun(client: LastingClient, answer: JsonObject, isShown: boolean): Promise<void> {
  const id = toText(answer.agent_id)
  const signals = new Signals()
  signals.onFirst(() => {
    const agent = toPlainLine(id)
    tell(`Agent ${agent} goes on. Follow it: phaselock logs ${agent} --follow. End it: phaselock stop ${agent}`)
    process.exit(EXIT.interrupted)
  })
  const notice = new WaitingNotice(client, toText(answer.task_id))
  await follow(client, id, { show: isShown ? write : null, idle: () => notice.look() })
  signals.close()
}

// A name is an entry of the contract first; the names of harnesses are known everywhere.
async function startAgent(
  client: Client,
  agent: string | undefined,
  { about, command }: { readonly about: JsonObject; readonly command: string | undefined },
): Promise<JsonObject> {
  if (command !== undefined) {
    const program = command.includes('/') ? resolve(command) : command
    return client.post('/agents/spawn', { harness: 'command', command: program, ...about })
  }
  try {
    return await client.post('/agents/spawn', { ...about, agent: agent ?? '' })
  } catch (error) {
    const problem = error instanceof Stop ? (error.details.problem as JsonObject | undefined) : undefined
    if (!Array.isArray(problem?.agents) || !(error instanceof Stop)) throw error
    if (!HARNESSES.has(agent ?? '')) throw new Stop(error.exit, formatUnknown(toText(problem.detail)), error.details)
    return client.post('/agents/spawn', { ...about, harness: agent ?? '' })
  }
}

function formatUnknown(detail: string): string {
  return [
    detail,
    `Name an agent CLI (${[...HARNESSES].join(', ')}), start a program with`,
    '--command PROGRAM, or add an entry to the contract and start the server again:',
    '  agents: {coder: {harness: claude-code}}',
  ].join('\n')
}

export async function showLogs(agent: string, options: FollowOptions): Promise<void> {
  const show = options.json === true ? writeLine : write
  if (options.follow === true) return follow(new LastingClient(options), agent, { show })
  const part = await new Client(options).get(`/agents/${encodeSegment(agent)}/log`)
  if (options.json === true) printJson(part)
  else write(part)
}

interface Following {
  /** What is done with each part of the log; null: nothing. */
  readonly show: ((part: JsonObject) => void) | null
  /** Called whenever there is nothing new. */
  readonly idle?: () => Promise<void>
}

async function follow(client: LastingClient, agent: string, { show, idle }: Following): Promise<void> {
  let cursor: string | undefined
  for (;;) {
    const part = await client.get(`/agents/${encodeSegment(agent)}/log`, { cursor })
    if (toText(part.text) !== '' || part.ended === true) show?.(part)
    cursor = toText(part.cursor) || cursor
    if (part.more === true) continue
    if (part.ended === true) return
    await idle?.()
    await new Promise((done) => setTimeout(done, FOLLOW_MS))
  }
}

function write(part: JsonObject): void {
  process.stdout.write(toPlainText(toText(part.text)))
}

function writeLine(part: JsonObject): void {
  print(formatPlainJson(part))
}

export async function stop(agent: string, options: StopOptions): Promise<void> {
  const body = compact({ reason: options.reason, park: options.park })
  const answer = await new Client(options).post(`/agents/${encodeSegment(agent)}/stop`, body)
  if (options.json === true) return printJson(answer)
  print(
    `Agent ${toPlainLine(agent)} is stopped; its task ${options.park === true ? 'is parked' : 'can be claimed again'}.`,
  )
}

/** Hands the terminal to tmux. Looking only: what is typed goes nowhere. */
export async function attach(agent: string, options: ClientOptions): Promise<void> {
  const answer = await new Client(options).get(`/agents/${encodeSegment(agent)}`)
  const { socket, session } = toObject(answer.window)
  if (typeof socket !== 'string' || typeof session !== 'string')
    throw new Stop(
      EXIT.refused,
      `Agent ${toPlainLine(agent)} has no window: it was started without --tmux, or it has ended.\nSee what it wrote with \`phaselock logs ${toPlainLine(agent)}\`.`,
    )
  // The server says where, never what is run.
  if (!isAbsolute(socket) || !SESSION.test(session))
    throw new Stop(EXIT.refused, 'What the server says of the window cannot be right.')
  if (options.json === true) return printJson({ socket, session })
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true)
    throw new Stop(
      EXIT.usage,
      `There is no terminal to show the window on. Follow what it writes with \`phaselock logs ${toPlainLine(agent)} --follow\`.`,
    )
  const args = ['-S', socket, '-f', '/dev/null', 'attach-session', '-r', '-t', `=${session}`]
  const code = await new Promise<number>((done, failed) => {
    const child = spawn('tmux', args, { stdio: 'inherit' })
    child.once('error', (error: NodeJS.ErrnoException) =>
      failed(new Stop(EXIT.refused, `tmux cannot be started here (${error.code ?? 'fault'}). Install tmux.`)),
    )
    child.once('close', (status) => done(status ?? 1))
  })
  if (code !== 0)
    throw new Stop(EXIT.refused, `tmux ended with ${code}: the window is gone, or lies on another machine.`)
}

function endText(ended: JsonObject): string {
  const reason = toPlainLine(toText(ended.reason))
  const restarts = ended.restarts === 0 ? '' : ` after ${formatCount(Number(ended.restarts), 'restart')}`
  return `Agent ${toPlainLine(toText(ended.agent_id))}: ${toPlainLine(toText(ended.outcome))}${restarts}. ${reason}`
}
