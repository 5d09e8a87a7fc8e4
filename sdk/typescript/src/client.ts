import { parseServerAddress } from './address.js'
import type {
  Approval,
  BatchAnswer,
  ClaimAnswer,
  CompletionAnswer,
  CouncilView,
  KnowledgeAnswer,
  OptionalArguments,
  PhaseAnswer,
  PromptAnswer,
  ReleaseAnswer,
  ResponseAnswer,
  SearchOptions,
  StateSnapshot,
  ToolAnswer,
  ToolCall,
  ToolCheck,
  TransitionAnswer,
  Usage,
  UsageAnswer,
} from './answers.js'
import { sendBatch } from './batch.js'
import { Connection } from './connection.js'
import { findCouncilId, type Verdict } from './coordination.js'
import { type Environment, readEnvironment } from './environment.js'
import { ApiError, NotClaimed, PhaselockError, TransitionBlocked, toolError, WaitTimeout } from './errors.js'
import { follow, type TaskEvent } from './follow.js'
import { beatMs, Heartbeat } from './heartbeat.js'
import { isObject, type JsonObject, toObjects } from './json.js'
import { Session } from './session.js'
import { checkToken, readClaims } from './token.js'

export interface AgentClientOptions {
  /** `http://localhost:8000`, or `unix:///path/to.sock`. */
  readonly url: string
  /** The agent's token, or a participant's token for a council. */
  readonly token: string
  /** Default: the agent named in the token. */
  readonly agentId?: string
  /** Consecutive quick failures after which a call gives up; default 8. */
  readonly attemptsMax?: number
  /** Time limit of one call including all retries; default 30 minutes. */
  readonly callMsMax?: number
  /** `false`: the lease is not renewed between calls. */
  readonly heartbeat?: boolean
}

const ATTEMPTS_MAX = 8
const CALL_MS_MAX = 30 * 60_000
const IDLE_MS_MAX = 60 * 60_000
const POLL_MS = 1000
const WAIT_SECONDS_MAX = 7 * 24 * 60 * 60

const ENDS_BEATING: ReadonlySet<string> = new Set([
  ...['token_stale', 'token_mismatch', 'task_not_active', 'no_active_task'],
])

/** The client for agents. Before a claim every other call throws `NotClaimed`. */
export class AgentClient {
  readonly agentId: string
  readonly #token: string
  readonly #connection: Connection
  readonly #session: Session
  readonly #heartbeat = new Heartbeat()
  readonly #beats: boolean
  #pendingApproval: string | null = null

  constructor(options: AgentClientOptions) {
    this.#token = checkToken(options.token)
    this.#connection = new Connection(parseServerAddress(options.url), {
      attemptsMax: options.attemptsMax ?? ATTEMPTS_MAX,
      callMsMax: options.callMsMax ?? CALL_MS_MAX,
    })
    this.#connection.hide(this.#token)
    this.#session = new Session(this.#connection, this.#token)
    this.#beats = options.heartbeat ?? true
    this.agentId = options.agentId ?? String(readClaims(this.#token).sub ?? '')
  }

  /** From `PHASELOCK_URL`, `PHASELOCK_TOKEN` and `PHASELOCK_AGENT_ID`. */
  static fromEnv(environment?: Environment): AgentClient {
    return new AgentClient(readEnvironment(environment))
  }

  get taskId(): string | null {
    return this.#session.held?.taskId ?? null
  }

  get phase(): string | null {
    return this.#session.held?.phase ?? null
  }

  get allowedTools(): readonly string[] {
    return this.#session.held?.allowedTools ?? []
  }

  /** Claims a task, or resumes the one that this agent holds. The phase token is kept and renewed from here on. */
  async claimTask(
    wanted: { readonly taskId?: string; readonly capabilities?: readonly string[] } = {},
  ): Promise<ClaimAnswer> {
    const body = { agent_id: this.agentId, ...given({ task_id: wanted.taskId, capabilities: wanted.capabilities }) }
    const answer = (await this.#session.callAsAgent({
      method: 'POST',
      path: '/tasks/claim',
      body,
    })) as unknown as ClaimAnswer
    this.#pendingApproval = null
    if (this.#beats) this.#heartbeat.start(beatMs(answer.task), () => this.#beat())
    return answer
  }

  /** Leaves the phase. Throws `TransitionBlocked` with all blockers. */
  async requestTransition(
    target: string,
    artifacts: JsonObject = {},
    more: { readonly evidence?: JsonObject; readonly claims?: Readonly<Record<string, boolean>> } = {},
  ): Promise<TransitionAnswer> {
    const answer = await this.#post('/tasks/transition', { target_phase: target, artifacts, ...given({ ...more }) })
    if (answer.allowed === true) return answer as unknown as TransitionAnswer
    throw new TransitionBlocked(target, answer)
  }

  /** Uses a tool. Throws `ToolDenied` when the phase does not allow it, and `ToolFailed` when it failed. */
  async useTool<Name extends string>(name: Name, ...[args]: OptionalArguments<Name>): Promise<ToolAnswer> {
    try {
      return (await this.#post('/tools/execute', { tool_name: name, args: args ?? {} })) as unknown as ToolAnswer
    } catch (error) {
      throw toolError(error)
    }
  }

  /** Decides a call and records it, as `useTool` does, without running anything. */
  async checkTool<Name extends string>(name: Name, ...[args]: OptionalArguments<Name>): Promise<ToolCheck> {
    return (await this.#post('/tools/check', { tool_name: name, args: args ?? {} })) as unknown as ToolCheck
  }

  /** Up to 32 calls in order, each decided separately: a refused one is an `error` among the results. */
  async batch<const Names extends readonly string[]>(
    calls: { readonly [Place in keyof Names]: ToolCall<Names[Place]> },
  ): Promise<BatchAnswer> {
    const until = performance.now() + WAIT_SECONDS_MAX * 1000
    return sendBatch(calls, (rest) => this.#post('/tools/batch', { calls: rest }), until)
  }

  async getStateSnapshot(): Promise<StateSnapshot> {
    return (await this.#get('/state/snapshot')) as unknown as StateSnapshot
  }

  /** Claims that something is done, and continues: returns the next prompt, this phase's prompt, or an interrupt. */
  async next(
    claims: Readonly<Record<string, boolean>> = {},
    more: { readonly artifacts?: JsonObject; readonly evidence?: JsonObject } = {},
  ): Promise<PromptAnswer> {
    const answer = await this.#post('/prompt/next', { claims, ...given({ ...more }) })
    // An answer that is repeated after it was lost is the transition's own.
    const words = typeof answer.prompt === 'string' ? { kind: 'prompt', text: answer.prompt } : {}
    return { ...words, ...answer } as unknown as PromptAnswer
  }

  /** Acknowledges the interrupt that was shown, and continues. */
  async continue(): Promise<PromptAnswer> {
    return (await this.#post('/prompt/continue', {})) as unknown as PromptAnswer
  }

  /** The content of the current phase, or of a completed one. */
  async getPhaseContent(phase?: string | number): Promise<PhaseAnswer> {
    const path = `/phases/${encodeURIComponent(phase ?? this.#session.require().phase)}`
    return (await this.#get(path)) as unknown as PhaseAnswer
  }

  /** Hands in the evidence of a phase. Evidence that does not hold is an answer: look at `checkpoint_passed`. */
  async completePhase(phase: string | number, evidence: JsonObject): Promise<CompletionAnswer> {
    const answer = await this.#post(`/phases/${encodeURIComponent(phase)}/complete`, { evidence })
    return answer as unknown as CompletionAnswer
  }

  async searchKnowledge(query: string, options: SearchOptions = {}): Promise<KnowledgeAnswer> {
    const { nResults, ...filters } = options
    const body = { query, ...given({ ...filters, n_results: nResults }) }
    return (await this.#post('/knowledge/search', body)) as unknown as KnowledgeAnswer
  }

  /** Reports used tokens. A report without `messageId` gets one, so that it counts once however often it is sent. */
  async reportUsage(usage: Usage): Promise<UsageAnswer> {
    const body = {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cache_read_tokens: usage.cacheReadTokens,
      cache_creation_tokens: usage.cacheCreationTokens,
      model: usage.model,
      message_id: usage.messageId ?? crypto.randomUUID(),
    }
    return (await this.#post('/usage', given(body))) as unknown as UsageAnswer
  }

  /** Waits until an approval is decided, by default the one that the last blocked transition asked for. */
  async waitForApproval(id?: string, options: { readonly timeoutSeconds?: number } = {}): Promise<Approval> {
    this.#session.require()
    const wanted = id ?? this.#pendingApproval
    if (wanted === null) throw new PhaselockError('no approval is pending')
    const until =
      performance.now() + Math.min((options.timeoutSeconds ?? WAIT_SECONDS_MAX) * 1000, WAIT_SECONDS_MAX * 1000)
    for (;;) {
      const approval = (await this.#get(`/approvals/${encodeURIComponent(wanted)}`)) as unknown as Approval
      if (approval.status !== 'pending') return approval
      const leftMs = until - performance.now()
      if (leftMs <= 0) throw new WaitTimeout(`approval ${wanted} is still pending`)
      await this.#connection.pause(Math.min(POLL_MS, leftMs))
    }
  }

  /** The events of the task from now on, or after the one with this id. Ends with the task, or with the client. */
  async *events(options: { readonly after?: number } = {}): AsyncGenerator<TaskEvent, void, undefined> {
    const { taskId } = this.#session.require()
    const after = options.after ?? (await this.#newestEvent())
    yield* follow({ connection: this.#connection, token: this.#token, taskId, after })
  }

  /** Releases the task: it is queued in its current phase. */
  async release(reason?: string): Promise<ReleaseAnswer> {
    const answer = (await this.#post('/tasks/release', given({ reason }))) as unknown as ReleaseAnswer
    this.#end()
    return answer
  }

  /** The council of a participant's token: the question, the answers, and what to do. */
  async getCoordination(options: { readonly waitSeconds?: number } = {}): Promise<CouncilView> {
    const { waitSeconds } = options
    const path = waitSeconds === undefined ? '' : `?wait=${encodeURIComponent(waitSeconds)}`
    const view = await this.#session.callAsAgent({ method: 'GET', path: `${this.#coordination()}${path}` })
    return view as unknown as CouncilView
  }

  /** Votes in a council. `agentId` is one of `valid_agents` of the view. */
  vote(agentId: string, reason: string): Promise<ResponseAnswer> {
    return this.#respond('', [{ name: 'vote', arguments: { agent_id: agentId, reason } }])
  }

  /** Answers in a coordination. */
  newAnswer(content: string, options: { readonly verdict?: Verdict } = {}): Promise<ResponseAnswer> {
    return this.#respond('', [{ name: 'new_answer', arguments: { content, ...given({ ...options }) } }])
  }

  /** Presents the winning answer, if the view says `must: present`. */
  present(text: string): Promise<ResponseAnswer> {
    return this.#respond(text, [])
  }

  /** Ends heartbeats, streams and waiting calls. The task stays claimed until its lease ends. */
  close(): void {
    this.#heartbeat.stop()
    this.#connection.close()
  }

  async #post(path: string, body: JsonObject): Promise<JsonObject> {
    const { taskId } = this.#session.require()
    const sent = { method: 'POST', path, body: { task_id: taskId, ...body } } as const
    let answer = await this.#session.call(sent)
    const until = performance.now() + WAIT_SECONDS_MAX * 1000
    // Slow gates and tests are requested again: the same request joins the running one.
    while (answer.checking === true && performance.now() < until) answer = await this.#session.call(sent)
    if (isObject(answer.pending_approval)) this.#pendingApproval = String(answer.pending_approval.id)
    if (this.#session.held === null) this.#end()
    return answer
  }

  async #get(path: string): Promise<JsonObject> {
    return this.#session.call({ method: 'GET', path })
  }

  async #respond(text: string, calls: readonly JsonObject[]): Promise<ResponseAnswer> {
    const path = `${this.#coordination()}/respond`
    const body = { ...(text === '' ? {} : { text }), tool_calls: calls }
    return (await this.#session.callAsAgent({ method: 'POST', path, body })) as unknown as ResponseAnswer
  }

  #coordination(): string {
    const id = findCouncilId(this.#token)
    if (id !== null) return `/coordinations/${encodeURIComponent(id)}`
    if (this.#session.held === null) throw new NotClaimed()
    throw new PhaselockError('this needs the token of a participant in a council')
  }

  async #newestEvent(): Promise<number> {
    const [newest] = toObjects((await this.getStateSnapshot()).events)
    return typeof newest?.seq === 'number' ? newest.seq : 0
  }

  // A failure here is reported by the next call of the program.
  async #beat(): Promise<boolean> {
    const { held } = this.#session
    if (held === null) return false
    if (performance.now() - this.#session.usedAt > IDLE_MS_MAX) return true
    try {
      if (await this.#session.renewIfDue()) return true
      const body = { task_id: held.taskId }
      await this.#connection.call({ method: 'POST', path: '/tasks/heartbeat', token: held.token, body })
      return true
    } catch (error) {
      // After the task is lost there are no further heartbeats, unless there is a newer token by now.
      const isLost = error instanceof ApiError && ENDS_BEATING.has(error.code)
      return !isLost || this.#session.held?.token !== held.token
    }
  }

  #end(): void {
    this.#heartbeat.stop()
    this.#session.forget()
    this.#pendingApproval = null
  }
}

function given(fields: { readonly [name: string]: unknown }): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject
}
