import { existsSync } from 'node:fs'
import { plainLine } from '../../core/plain-text.js'
import { openClient } from '../client/client.js'
import { EXIT, Stop } from '../exit.js'
import { findProgramName } from '../program-name.js'
import { tell } from '../terminal/terminal.js'
import { type AgentCliKind, type NativeBinding, SECRET_VARIABLE, type SessionPlan } from './agent-cli-kind.js'
import { People } from './ask-people.js'
import { findAgentCli, requireVersion } from './find-agent-cli.js'
import { keepLease } from './keep-lease.js'
import { checkOwnArguments } from './own-arguments.js'
import { makePrivateFolder } from './private-folder.js'
import { requireCredential } from './require-credential.js'
import { runInTerminal, type TerminalEnd } from './run-in-terminal.js'
import { SessionHooks } from './session-hooks.js'
import { SessionMcp } from './session-mcp.js'
import { openSessionServer, type ServerWanted, type SessionServer } from './session-server.js'
import { SessionShim, type ShimPath } from './session-shim.js'
import { SessionStatus } from './session-status.js'
import { closeSessionTask, openSessionTask, type SessionTask, type TaskWanted } from './session-task.js'
import {
  formatAfterTask,
  formatEnd,
  formatFirstPrompt,
  formatInstructions,
  formatServerNote,
  formatStart,
} from './session-text.js'
import { isContractUncommitted, UNCOMMITTED } from './uncommitted-contract.js'
import { UpstreamMcp } from './upstream-mcp.js'

/** The first message comes as soon as the tools are listed; its hook is called before anything else happens. */
const LIVE_MS_MAX = 5000

export type LaunchOptions = ServerWanted & Omit<TaskWanted, 'title'> & { readonly native?: boolean }

export interface LaunchRequest {
  readonly title: string | undefined
  readonly options: LaunchOptions
  /** Arguments for the CLI itself. */
  readonly own: readonly string[]
}

/** Opens an agent CLI in this terminal, bound to a task, and says at the end how it stands. */
export async function launchSession(kind: AgentCliKind, { title, options, own }: LaunchRequest): Promise<void> {
  await checkUsage(kind, title, options)
  checkOwnArguments(kind, own)
  const native = chooseNative(kind, options)
  const found = findAgentCli(kind)
  requireVersion(kind, found, { least: kind.least, what: 'a session with Phaselock' })
  if (native !== null)
    requireVersion(kind, found, { least: native.least, what: 'its own tools under hooks (--native)' })
  const server = await openSessionServer(options)
  if (native !== null) await requireCredential(await server.operator())
  const task = await openSessionTask(server, kind, { ...options, title })
  const close = () => closeSessionTask(server, task, `the ${kind.title} session ended`)
  const ended = await holdSession({ kind, native, server, task, own, program: found.program }).catch(async (error) => {
    // The CLI could not be opened: the task must not stay with an agent that nobody is.
    await close()
    throw error
  })
  const last = await close()
  tell(formatEnd(kind, task.id, last))
  process.exitCode = ended.code
}

async function checkUsage(kind: AgentCliKind, title: string | undefined, options: LaunchOptions): Promise<void> {
  const program = `${findProgramName()} ${kind.name}`
  if ((title === undefined) === (options.task === undefined)) {
    const open = await listOpenTasks(options)
    const known = open.map(({ id, title: about }) => `  ${program} --task ${plainLine(id)}   ${plainLine(about)}`)
    const goOn = known.length === 0 ? [`  ${program} --task ID`] : known
    const lines = ['Say what to do, or name a task to go on with:', `  ${program} "Add a health endpoint"`, ...goOn]
    throw new Stop(EXIT.usage, lines.join('\n'))
  }
  if (options.task !== undefined && (options.worktree ?? options.take) !== undefined)
    throw new Stop(EXIT.usage, '--worktree and --take apply only to a new task; an existing task has its work tree.')
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true)
    throw new Stop(
      EXIT.usage,
      `${kind.title} needs a terminal, and standard input or output is none.\nWithout a terminal, let the server start the agent: ${findProgramName()} run ${kind.runName} "…"`,
    )
}

const OPEN_TASKS_MAX = 5

/** Tasks that nobody works on; none if no server runs here. */
async function listOpenTasks(
  options: LaunchOptions,
): Promise<readonly { readonly id: string; readonly title: string }[]> {
  try {
    const { tasks } = await (await openClient(options)).tasks({ limit: 50 })
    return tasks.filter(({ status }) => status === 'queued' || status === 'interrupted').slice(0, OPEN_TASKS_MAX)
  } catch (error) {
    if (error instanceof Stop) return []
    throw error
  }
}

type HeldNative = NativeBinding & { readonly kind: 'held' }

function chooseNative(kind: AgentCliKind, { native }: LaunchOptions): HeldNative | null {
  if (native !== true) return null
  if (kind.native.kind === 'held') return kind.native
  throw new Stop(
    EXIT.refused,
    `The own tools of ${kind.title} cannot be held by its hooks: ${kind.native.reason}\nLeave --native out: then its own tools are off, and those of Phaselock take their place.`,
  )
}

interface Session {
  readonly kind: AgentCliKind
  /** Null: the own tools of the CLI are off. */
  readonly native: HeldNative | null
  readonly server: SessionServer
  readonly task: SessionTask
  readonly own: readonly string[]
  readonly program: string
}

/** From the shim to the end of the CLI; everything that was opened is closed again. */
async function holdSession(session: Session): Promise<TerminalEnd> {
  const { kind, native, server, task, own, program } = session
  // Where the agent has a shell of its own, an answer in the chat could be the agent's.
  const asksInChat = native === null
  const binding = native === null ? 'tools_only' : 'native'
  const instructions = formatInstructions(task, { asksInChat: asksInChat && kind.asksInChat, binding })
  const workspace = chooseFolder(task)
  const ready = (): Promise<void> => mcp.waitUntilListed()
  const hooks =
    native === null
      ? null
      : new SessionHooks({
          ...{ server, token: task.token, workspace, ready },
          ...{ path: native.path, answers: native.answers, endsUndecided: native.endsUndecided },
        })
  const folder = makePrivateFolder()
  const status = new SessionStatus(task, folder)
  const mcp = new SessionMcp({
    upstream: new UpstreamMcp(server, task.token),
    people: new People(server, () => task.id),
    ...{ instructions: formatServerNote(task), asksInChat, afterTask: formatAfterTask(kind) },
    onProgress: (progress) => status.note(progress),
    ...(hooks === null ? {} : { findProblem: (params) => hooks.findProblem(params) }),
  })
  await hooks?.announce()
  const shim = await SessionShim.open({
    '/mcp': { methods: ['GET', 'POST', 'DELETE'], handle: (request, body) => mcp.answer(request, body), refuse },
    ...(hooks === null || native === null
      ? { '/ready': { methods: ['POST'], handle: () => ready().then(() => Response.json({})), refuse } }
      : { [native.path]: makeHookPath(hooks, native) }),
  })
  const stopBeating = keepLease(server, task)
  try {
    const plan: SessionPlan = {
      ...{ program, url: shim.url, secret: shim.secret, folder: folder.path, workspace },
      ...{ prompt: formatFirstPrompt(task), instructions, own, environment: process.env },
    }
    const first = (native ?? kind).prepare(plan)
    folder.write(first.files)
    status.show()
    const prepared = (await native?.complete?.(plan, first)) ?? first
    tell(formatStart(kind, task, server.url))
    if (isContractUncommitted(process.cwd())) tell(UNCOMMITTED)
    const env = { ...omitVariables(process.env, native?.dropped), ...prepared.env, [SECRET_VARIABLE]: shim.secret }
    const signal = hooks === null ? undefined : watchHooks(hooks, ready)
    const ended = await runInTerminal({
      ...{ program, args: prepared.args, cwd: prepared.cwd ?? workspace, env },
      ...(signal === undefined ? {} : { signal }),
    })
    if (signal?.aborted === true && native !== null) tell(formatNotLive(kind, native))
    return ended
  } finally {
    stopBeating()
    await mcp.close()
    await shim.close()
    folder.remove()
    if (shim.refused > 0)
      tell(`${shim.refused} requests without the secret of this session were refused at its local address.`)
  }
}

/** Aborts when the CLI works without calling its hooks: its own tools would run undecided. */
function watchHooks(hooks: SessionHooks, ready: () => Promise<void>): AbortSignal {
  const over = new AbortController()
  hooks.onUndecided = () => over.abort()
  void ready().then(() =>
    setTimeout(() => {
      if (!hooks.isLive) over.abort()
    }, LIVE_MS_MAX).unref(),
  )
  return over.signal
}

function formatNotLive({ title }: AgentCliKind, { hint }: HeldNative): string {
  return `${title} was ended: a call was made that no hook decided, or no hook was called at all. [enforcement_not_live]\n${hint}, or leave --native out.`
}

function makeHookPath(hooks: SessionHooks, { answers }: HeldNative): ShimPath {
  return {
    methods: ['POST'],
    takesText: true,
    answer: (body, signal) => hooks.answer(body, signal),
    // Only the CLI has the secret, and it reads a refusal only from an answer with status 200.
    refuse: (status, detail) => Response.json(answers.refuse(null, detail), { status: status === 413 ? 200 : status }),
  }
}

function refuse(status: number, detail: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32000, message: detail }, id: null }, { status })
}

// The CLI is not the operator: it gets none of Phaselock's tokens.
function omitVariables(environment: NodeJS.ProcessEnv, dropped: readonly string[] = []): NodeJS.ProcessEnv {
  const isKept = (name: string): boolean => !/^PHASELOCK_.*TOKEN$/.test(name) && !dropped.includes(name)
  return Object.fromEntries(Object.entries(environment).filter(([name]) => isKept(name)))
}

// The work tree of a server on another machine is not here.
function chooseFolder({ claimed }: SessionTask): string {
  return existsSync(claimed.task.workspace) ? claimed.task.workspace : process.cwd()
}
