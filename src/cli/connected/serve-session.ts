import { randomBytes } from 'node:crypto'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { ClaimAnswer } from 'phaselock/sdk'
import { isObject, type JsonObject } from '../../core/json.js'
import type { Client } from '../client/client.js'
import { ownContract } from '../contracts/choose-contract.js'
import { EXIT, Stop } from '../exit.js'
import { type Chat, People } from '../launch/ask-people.js'
import { CLAUDE_CODE } from '../launch/claude-code.js'
import { keepLease } from '../launch/keep-lease.js'
import { SessionHooks } from '../launch/session-hooks.js'
import { SessionMcp, type SessionTools } from '../launch/session-mcp.js'
import { removeSessionNote, writeSessionNote } from '../launch/session-note.js'
import { findWorkspace, openSessionServer, type ServerWanted, type SessionServer } from '../launch/session-server.js'
import { SessionShim, type ShimPath } from '../launch/session-shim.js'
import { closeSessionTask } from '../launch/session-task.js'
import { UpstreamMcp } from '../launch/upstream-mcp.js'
import { findProgramName } from '../program-name.js'
import { BEGIN_TASK, BEGIN_TASK_TOOL, beginTask } from './begin-task.js'
import { buildAllowance, PluginHooks } from './plugin-hooks.js'
import { serveNothing, serveTrouble } from './serve-trouble.js'
import { makeSessionSocket, markSessionReady, type SessionSocket } from './session-socket.js'

/** How the configuration that started this session binds it, as `connect` wrote it. */
export interface SessionBinding {
  /** `claude`, `codex`, … */
  readonly cli: string
  readonly agentCli: string
  readonly place: 'project' | 'plugin' | 'managed'
  readonly mode: 'tools_only' | 'native'
}

const INSTRUCTIONS = [
  'Phaselock leads the work in this repository. You work with the tools of the MCP server "phaselock". Before anything is changed, a task must be claimed: call claim_task. If there is none, call begin_task with what the person asked for; the person confirms it, and you claim it.',
  'The task goes through phases. Each phase offers some of the tools; a call that is refused says what is allowed now and what to do next. Call get_workflow_state when you do not know where the task stands, for example after the conversation was cleared.',
  'Leave a phase with request_transition and the artifacts it demands. Only what Phaselock accepted counts as done; the task is done when its status is completed. Where a person has to approve, your call waits or tells you so. You cannot approve anything yourself.',
].join('\n')

/**
 * The MCP server of a connected session, over standard input and output. It registers an agent with the person's
 * token, which stays in this process, keeps what the agent claims while the session lives, and answers its hooks.
 */
export async function serveSession(binding: SessionBinding, wanted: ServerWanted): Promise<void> {
  const transport = new StdioServerTransport()
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve)
    process.stdin.once('close', resolve)
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => resolve())
  })
  // The plugin is on in every repository of a person; it binds those that have a contract.
  if (binding.place === 'plugin' && ownContract(findWorkspace()) === null) {
    await serveNothing(transport)
    await ended
    return
  }
  let session: ConnectedSession
  try {
    session = await ConnectedSession.open(binding, wanted)
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    await serveTrouble(transport, error.message)
    const unmark = markSessionReady(process.ppid)
    await ended
    unmark()
    return
  }
  try {
    await session.serve(transport)
    await ended
  } finally {
    await session.close()
  }
}

class ConnectedSession implements SessionTools {
  readonly tools = [BEGIN_TASK_TOOL]
  readonly #mcp: SessionMcp
  readonly #hooks: ConnectedHooks | null
  #taskId = ''
  #stopBeating: () => void = () => undefined
  #shim: SessionShim | null = null
  #unmark: () => void = () => undefined
  #isClosed = false
  #socket: SessionSocket | null = null

  private constructor(
    private readonly server: SessionServer,
    private readonly agent: { readonly id: string; readonly token: string },
    binding: SessionBinding,
  ) {
    this.#hooks = makeHooks(binding, server, agent.token)
    const hooks = this.#hooks
    this.#mcp = new SessionMcp({
      ...(hooks === null ? {} : { findProblem: (params) => hooks.findProblem(params) }),
      upstream: new UpstreamMcp(server, agent.token),
      people: new People(server, () => this.#taskId),
      instructions: INSTRUCTIONS,
      // With a shell outside the sandbox an answer in the chat proves nothing.
      asksInChat: binding.mode === 'tools_only',
      session: this,
    })
  }

  static async open(binding: SessionBinding, wanted: ServerWanted): Promise<ConnectedSession> {
    const server = await openSessionServer(wanted)
    const id = `${binding.cli}-${randomBytes(4).toString('hex')}`
    const { agentCli, place, mode } = binding
    const operator = await server.operator()
    if (mode === 'native') await requireCredential(operator)
    const added = await operator.addAgent({ agent_id: id, binding: { agent_cli: agentCli, place, mode } })
    const { stateDir } = server
    if (stateDir !== null) writeSessionNote(stateDir, id)
    const session = new ConnectedSession(server, { id, token: added.agent_token }, binding)
    await session.#listenToHooks(agentCli)
    return session
  }

  async #listenToHooks(agentCli: string): Promise<void> {
    const hooks = this.#hooks
    if (hooks === null) return
    await hooks.announce()
    this.#socket = makeSessionSocket(process.ppid)
    this.#shim = await SessionShim.open({ [`/hooks/${agentCli}`]: makeHookPath(hooks) }, this.#socket.path)
    this.#socket.publish()
  }

  async serve(transport: StdioServerTransport): Promise<void> {
    await this.#mcp.serve(transport, () => undefined)
    void this.#mcp.waitUntilListed().then(() => {
      if (!this.#isClosed) this.#unmark = markSessionReady(process.ppid)
    })
  }

  async call(name: string, args: JsonObject, chat: Chat): Promise<JsonObject | null> {
    return name === BEGIN_TASK ? beginTask(this.server, args, chat) : null
  }

  /** A claimed task is kept while the session lives. */
  noteResult(name: string, result: JsonObject): void {
    const { structuredContent: said, isError } = result
    if (name !== 'claim_task' || isError === true || !isObject(said) || !isObject(said.task)) return
    const claimed = said as unknown as ClaimAnswer
    if (claimed.task.id === this.#taskId) return
    this.#stopBeating()
    this.#taskId = claimed.task.id
    this.#stopBeating = keepLease(this.server, { id: claimed.task.id, token: this.agent.token, claimed })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#unmark()
    this.#stopBeating()
    await this.#shim?.close()
    this.#socket?.remove()
    const reason = 'the session of the agent CLI ended'
    if (this.#taskId !== '')
      await closeSessionTask(this.server, { id: this.#taskId, agentId: this.agent.id, token: this.agent.token }, reason)
    else await this.#revoke(reason)
    await this.#mcp.close()
  }

  async #revoke(reason: string): Promise<void> {
    try {
      await (await this.server.operator()).revokeAgent(this.agent.id, { reason })
      if (this.server.stateDir !== null) removeSessionNote(this.server.stateDir, this.agent.id)
    } catch (error) {
      // The server has ended: its agent cannot do anything either.
      if (!(error instanceof Stop)) throw error
    }
  }
}

type ConnectedHooks = Pick<SessionHooks, 'announce' | 'answer' | 'findProblem'>

function makeHooks({ mode, place }: SessionBinding, server: SessionServer, token: string): ConnectedHooks | null {
  if (mode !== 'native' && place !== 'plugin') return null
  const { native } = CLAUDE_CODE
  if (native.kind !== 'held') throw new Error('Claude Code has hooks')
  const { path, answers, endsUndecided } = native
  if (place === 'plugin') return new PluginHooks(answers)
  return new SessionHooks({
    ...{ server, token, path, answers, endsUndecided },
    workspace: process.cwd(),
    ready: async () => undefined,
  })
}

const OWN = new Set([`mcp__phaselock__${BEGIN_TASK}`, `mcp__plugin_phaselock_phaselock__${BEGIN_TASK}`])

function makeHookPath(hooks: ConnectedHooks): ShimPath {
  const refuse = (status: number, detail: string): Response => Response.json({ error: detail }, { status })
  return {
    methods: ['POST'],
    refuse,
    answer: async (body, signal) => {
      // A tool of this process, which the server does not know: the person is asked about it.
      if (isObject(body) && OWN.has(String(body.tool_name)) && String(body.hook_event_name).endsWith('ToolUse'))
        return body.hook_event_name === 'PreToolUse' ? buildAllowance('The person is asked about it.') : {}
      return hooks.answer(body, signal)
    },
  }
}

// With a shell of its own the agent could read the operator's token: what approves must be something else, and a first
// one can only be set before such an agent was there.
async function requireCredential(operator: Client): Promise<void> {
  const { passkeys, has_passphrase } = await operator.credentials()
  if (passkeys.length > 0 || has_passphrase) return
  throw new Stop(
    EXIT.refused,
    `With its own tools the agent has a shell under your account, so that approvals need a passphrase or a passkey. Set one, then start this session again: ${findProgramName()} operator passphrase`,
  )
}
