import { existsSync } from 'node:fs'
import { EXIT, Stop } from '../exit.js'
import { findProgramName } from '../program-name.js'
import { tell } from '../terminal/terminal.js'
import { type AgentCliKind, SECRET_VARIABLE } from './agent-cli-kind.js'
import { People } from './ask-people.js'
import { findAgentCli, requireVersion } from './find-agent-cli.js'
import { keepLease } from './keep-lease.js'
import { checkOwnArguments } from './own-arguments.js'
import { makePrivateFolder } from './private-folder.js'
import { runInTerminal, type TerminalEnd } from './run-in-terminal.js'
import { SessionMcp } from './session-mcp.js'
import { openSessionServer, type ServerWanted, type SessionServer } from './session-server.js'
import { SessionShim } from './session-shim.js'
import { closeSessionTask, openSessionTask, type SessionTask, type TaskWanted } from './session-task.js'
import { formatEnd, formatFirstPrompt, formatInstructions, formatStart } from './session-text.js'
import { UpstreamMcp } from './upstream-mcp.js'

export type LaunchOptions = ServerWanted & Omit<TaskWanted, 'title'>

export interface LaunchRequest {
  readonly title: string | undefined
  readonly options: LaunchOptions
  /** Arguments for the CLI itself. */
  readonly own: readonly string[]
}

/** Opens an agent CLI in this terminal, bound to a task, and says at the end how it stands. */
export async function launchSession(kind: AgentCliKind, { title, options, own }: LaunchRequest): Promise<void> {
  checkUsage(kind, title, options)
  checkOwnArguments(kind, own)
  const found = findAgentCli(kind)
  requireVersion(kind, found, { least: kind.least, what: 'a session with Phaselock' })
  const server = await openSessionServer(options)
  const task = await openSessionTask(server, kind, { ...options, title })
  const ended = await holdSession({ kind, server, task, own, program: found.program })
  const last = await closeSessionTask(server, task, `the ${kind.title} session ended`)
  tell(formatEnd(kind, task.id, last))
  process.exitCode = ended.code
}

function checkUsage(kind: AgentCliKind, title: string | undefined, options: LaunchOptions): void {
  const program = `${findProgramName()} ${kind.name}`
  if ((title === undefined) === (options.task === undefined))
    throw new Stop(
      EXIT.usage,
      `Say what to do, or name a task to go on with:\n  ${program} "Add a health endpoint"\n  ${program} --task ID`,
    )
  if (options.task !== undefined && (options.worktree ?? options.take) !== undefined)
    throw new Stop(EXIT.usage, '--worktree and --take apply only to a new task; an existing task has its work tree.')
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true)
    throw new Stop(
      EXIT.usage,
      `${kind.title} needs a terminal, and standard input or output is none.\nWithout a terminal, let the server start the agent: ${findProgramName()} run ${kind.runName} "…"`,
    )
}

interface Session {
  readonly kind: AgentCliKind
  readonly server: SessionServer
  readonly task: SessionTask
  readonly own: readonly string[]
  readonly program: string
}

/** From the shim to the end of the CLI; everything that was opened is closed again. */
async function holdSession({ kind, server, task, own, program }: Session): Promise<TerminalEnd> {
  const instructions = formatInstructions(task, kind.asksInChat)
  const mcp = new SessionMcp({
    upstream: new UpstreamMcp(server, task.token),
    people: new People(server, task.id),
    ...{ instructions, asksInChat: true },
  })
  const shim = await SessionShim.open({
    '/mcp': { methods: ['GET', 'POST', 'DELETE'], handle: (request, body) => mcp.answer(request, body), refuse },
    '/ready': { methods: ['POST'], handle: () => mcp.waitUntilListed().then(() => Response.json({})), refuse },
  })
  const folder = makePrivateFolder()
  const stopBeating = keepLease(server, task)
  try {
    const prepared = kind.prepare({
      program,
      ...{ url: shim.url, secret: shim.secret, folder: folder.path, workspace: chooseFolder(task) },
      ...{ prompt: formatFirstPrompt(task), instructions, own, environment: process.env },
    })
    folder.write(prepared.files)
    tell(formatStart(kind, task, server.url))
    const env = { ...omitTokens(process.env), ...prepared.env, [SECRET_VARIABLE]: shim.secret }
    return await runInTerminal({ program, args: prepared.args, cwd: prepared.cwd ?? chooseFolder(task), env })
  } finally {
    stopBeating()
    folder.remove()
    await mcp.close()
    await shim.close()
    if (shim.refused > 0)
      tell(`${shim.refused} requests without the secret of this session were refused at its local address.`)
  }
}

function refuse(status: number, detail: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32000, message: detail }, id: null }, { status })
}

// The CLI is not the operator: it gets none of Phaselock's tokens.
function omitTokens(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !/^PHASELOCK_.*TOKEN$/.test(name)))
}

// The work tree of a server on another machine is not here.
function chooseFolder({ claimed }: SessionTask): string {
  return existsSync(claimed.task.workspace) ? claimed.task.workspace : process.cwd()
}
