import { spawn } from 'node:child_process'
import { isAbsolute, resolve } from 'node:path'
import type { LogPart, SpawnedAgent } from 'phaselock/sdk'
import { AGENT_CLIS } from '../../core/contract/agent-programs.js'
import type { JsonObject } from '../../core/json.js'
import { plainJson, plainLine, plainText } from '../../core/plain-text.js'
import { formatCount } from '../../core/text.js'
import { compact } from '../client/answer-values.js'
import { type Ask, askLasting, type Client, openClient } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { toTaskRequest } from '../client/task-request.js'
import { Signals } from '../councils/signals.js'
import { EXIT, problemOf, Stop } from '../exit.js'
import { print, printJson, show, tell } from '../terminal/terminal.js'
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

/** Starts an agent and follows it until it ends. */
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
  const about = compact({
    args: options.arg,
    model: options.model,
    agent_id: options.name,
    adapter: options.tmux === true ? 'tmux' : undefined,
    ...(title === undefined
      ? { task_id: options.task }
      : { task: compact({ ...toTaskRequest(title), id: taskId, worktree, take }) }),
  })
  const spawned = await startAgent(await openClient(options), agent, { about, command: options.command })
  if (options.json !== true) tellStart(spawned, options)
  else if (options.detach === true) printJson(spawned)
  if (options.detach === true) return
  const ask = askLasting(options)
  await followRun(ask, spawned, options.json !== true)
  const ended = await ask((client) => client.spawnedAgent(spawned.agent_id))
  show(options, ended, endText(ended))
  if (ended.outcome !== 'completed') process.exitCode = EXIT.refused
}

function tellStart(spawned: SpawnedAgent, options: RunOptions): void {
  const agent = plainLine(spawned.agent_id)
  print(`Agent ${agent} works on task ${plainLine(spawned.task_id)}.`)
  if (spawned.worktree !== undefined) tellTree(spawned)
  if (options.tmux === true) print(`Look at its window with \`phaselock attach ${agent}\`; Ctrl-b d leaves it.`)
  if (options.detach === true) print(`Follow it with \`phaselock logs ${agent} --follow\`.`)
}

// The server keeps the agent running: a user who leaves is told how to come back.
async function followRun(ask: Ask, { agent_id, task_id }: SpawnedAgent, isShown: boolean): Promise<void> {
  const signals = new Signals()
  signals.onFirst(() => {
    const agent = plainLine(agent_id)
    tell(`Agent ${agent} goes on. Follow it: phaselock logs ${agent} --follow. End it: phaselock stop ${agent}`)
    process.exit(EXIT.interrupted)
  })
  const notice = new WaitingNotice(ask, task_id)
  await follow(ask, agent_id, { show: isShown ? write : null, idle: () => notice.look() })
  signals.close()
}

// A name is an entry of the contract first; the names of agent CLIs are known everywhere.
async function startAgent(
  client: Client,
  agent: string | undefined,
  { about, command }: { readonly about: JsonObject; readonly command: string | undefined },
): Promise<SpawnedAgent> {
  if (command !== undefined) {
    const program = command.includes('/') ? resolve(command) : command
    return client.spawnAgent({ harness: 'command', command: program, ...about })
  }
  try {
    return await client.spawnAgent({ ...about, agent: agent ?? '' })
  } catch (error) {
    const problem = problemOf(error)
    if (!Array.isArray(problem?.agents) || !(error instanceof Stop)) throw error
    if (!HARNESSES.has(agent ?? '')) throw new Stop(error.exit, formatUnknown(String(problem.detail)), error.details)
    return client.spawnAgent({ ...about, harness: agent ?? '' })
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
  const show = options.json === true ? (part: LogPart): void => print(plainJson(part)) : write
  if (options.follow === true) return follow(askLasting(options), agent, { show })
  const part = await (await openClient(options)).agentLog(agent)
  if (options.json === true) printJson(part)
  else write(part)
}

interface Following {
  /** Called with each part of the log; null: not at all. */
  readonly show: ((part: LogPart) => void) | null
  /** Called whenever there is nothing new. */
  readonly idle?: () => Promise<void>
}

async function follow(ask: Ask, agent: string, { show, idle }: Following): Promise<void> {
  let cursor: string | undefined
  for (;;) {
    const part = await ask((client) => client.agentLog(agent, cursor))
    if (part.text !== '' || part.ended) show?.(part)
    cursor = part.cursor ?? cursor
    if (part.more) continue
    if (part.ended) return
    await idle?.()
    await new Promise((done) => setTimeout(done, FOLLOW_MS))
  }
}

function write({ text }: LogPart): void {
  process.stdout.write(plainText(text))
}

export async function stop(agent: string, options: StopOptions): Promise<void> {
  const body = compact({ reason: options.reason, park: options.park })
  const stopped = await (await openClient(options)).stopAgent(agent, body)
  const what = options.park === true ? 'is parked' : 'can be claimed again'
  show(options, stopped, `Agent ${plainLine(agent)} is stopped; its task ${what}.`)
}

/** Hands the terminal to tmux, read-only: typed keys have no effect. */
export async function attach(agent: string, options: ClientOptions): Promise<void> {
  const { window } = await (await openClient(options)).spawnedAgent(agent)
  if (window === undefined || window === null)
    throw new Stop(
      EXIT.refused,
      `Agent ${plainLine(agent)} has no window: it was started without --tmux, or it has ended.\nSee what it wrote with \`phaselock logs ${plainLine(agent)}\`.`,
    )
  const { socket, session } = window
  // The server decides which window, never which program is run.
  if (!isAbsolute(socket) || !SESSION.test(session))
    throw new Stop(EXIT.refused, 'The server returned an invalid window.')
  if (options.json === true) return printJson({ socket, session })
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true)
    throw new Stop(
      EXIT.usage,
      `There is no terminal to show the window on. Follow what it writes with \`phaselock logs ${plainLine(agent)} --follow\`.`,
    )
  const args = ['-S', socket, '-f', '/dev/null', 'attach-session', '-r', '-t', `=${session}`]
  const code = await new Promise<number>((done, failed) => {
    const child = spawn('tmux', args, { stdio: 'inherit' })
    child.once('error', (error: NodeJS.ErrnoException) =>
      failed(new Stop(EXIT.refused, `tmux cannot be started here (${error.code ?? 'fault'}). Install tmux.`)),
    )
    child.once('close', (status) => done(status ?? 1))
  })
  if (code !== 0) throw new Stop(EXIT.refused, `tmux ended with ${code}: the window is gone, or is on another machine.`)
}

function endText({ agent_id, outcome, restarts, reason }: SpawnedAgent): string {
  const after = restarts === 0 ? '' : ` after ${formatCount(restarts, 'restart')}`
  return `Agent ${plainLine(agent_id)}: ${plainLine(outcome)}${after}. ${plainLine(reason)}`
}
