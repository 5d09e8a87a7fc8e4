import { parseServerAddress } from './address.js'
import type { Approval, ClaimAnswer, ContractRef, Task } from './answers.js'
import { Connection } from './connection.js'
import type { TaskDiff, TaskStateAt } from './diff-answers.js'
import { ApiError, PhaselockError } from './errors.js'
import type { JsonObject } from './json.js'
import type * as Answers from './operator-answers.js'
import type { Activity, AgentSnapshot, Inbox, NodeRow, Overview, ServerChecks } from './overview-answers.js'
import type { Report, TaskMetrics } from './report-answers.js'
import { type Frame, framesOf } from './sse.js'
import { checkToken } from './token.js'

export interface OperatorClientOptions {
  /** `http://localhost:8000`, or `unix:///path/to.sock`. */
  readonly url: string
  /** The operator's token, or an agent's or a reviewer's for calls that they may make. `null`: none is sent. */
  readonly token: string | null
  /** Consecutive quick failures after which a call gives up; default 1. */
  readonly attemptsMax?: number
  /** Time limit of one call; default 30 seconds. */
  readonly callMsMax?: number
  /** Ends running calls and prevents new ones. */
  readonly signal?: AbortSignal
  /** Awaited before the first call. If it throws, the token is not sent. */
  readonly before?: () => Promise<void>
  /** Gives the `confirmation` of an act that the server wants confirmed; null: the refusal stands. */
  readonly confirm?: (problem: JsonObject) => Promise<JsonObject | null>
  /** Replaces errors of this package by the caller's own. */
  readonly fail?: (error: PhaselockError) => unknown
}

type Query = Readonly<Record<string, string | number | undefined>>
type Page = { readonly limit?: number | undefined; readonly cursor?: string | undefined }
type Reason = { readonly reason?: string | undefined }

const CALL_MS_MAX = 30_000
const VERIFY_MS_MAX = 30 * 60_000
/** The first claim reads the whole work tree. */
const CLAIM_MS_MAX = 120_000
/** A report may open a gate, which the server waits for up to 40 seconds. */
const REVIEW_MS_MAX = 60_000
/** The server ends an install after 15 minutes. */
const INSTALL_MS_MAX = 16 * 60_000
/** Gates run tests; beyond five minutes without an answer the connection itself is given up. */
const NEXT_MS_MAX = 295_000

/** The client for operators: every call is sent once, and its answer is typed. */
export class OperatorClient {
  readonly #options: OperatorClientOptions
  readonly #connection: Connection
  #ready: Promise<void> | null = null

  constructor(options: OperatorClientOptions) {
    this.#options = options
    this.#connection = new Connection(parseServerAddress(options.url), {
      attemptsMax: options.attemptsMax ?? 1,
      callMsMax: options.callMsMax ?? CALL_MS_MAX,
    })
    if (options.token !== null) this.#connection.hide(checkToken(options.token))
    options.signal?.addEventListener('abort', () => this.#connection.close(), { once: true })
  }

  get url(): string {
    return this.#options.url
  }

  health = () => this.#get<{ readonly status: string; readonly enforcement_mode: string }>('/health')
  overview = () => this.#get<Overview>('/state/snapshot')
  activity = () => this.#get<Activity>('/activity')
  checkServer = () => this.#get<ServerChecks>('/doctor')
  inbox = () => this.#get<Inbox>('/inbox')

  tasks = (query: Page & { status?: string | undefined; phase?: string | undefined; agent_id?: string | undefined }) =>
    this.#get<Answers.TaskPage>('/tasks', query)
  task = (id: string) => this.#get<Answers.TaskDetails>(at`/tasks/${id}`)
  addTask = (body: JsonObject) => this.#post<Answers.AddedTask>('/tasks', body)
  cancelTask = (id: string, body: Reason) => this.changeTask(id, 'cancel', body)
  changeTask = (id: string, change: 'cancel' | 'resume' | 'rewind' | 'reassign', body: JsonObject) =>
    this.#post<Task>(at`/tasks/${id}/${change}`, body)
  mergeTask = (id: string, body: JsonObject) => this.#post<Answers.MergedTask>(at`/tasks/${id}/merge`, body)
  handOver = (id: string, body: JsonObject) => this.#post<Task>(at`/tasks/${id}/handover`, body)
  discardTask = (id: string, body: JsonObject) => this.#post<Task>(at`/tasks/${id}/discard`, body)
  acceptTools = (id: string, body: Reason) => this.#post<Answers.AcceptedTools>(at`/tasks/${id}/tools/accept`, body)
  /** Reverts or accepts changes that no allowed call explains. */
  settleTree = (id: string, how: 'revert' | 'accept', body: JsonObject) =>
    this.#post<Answers.PutBack>(at`/tasks/${id}/tree/${how}`, body)
  /** Installs dependencies with network, in the sandbox. */
  install = (id: string, body: { readonly command: readonly string[]; readonly cwd?: string }) =>
    this.#post<Answers.InstalledTask>(at`/tasks/${id}/install`, { ...body }, INSTALL_MS_MAX)
  timeline = (id: string, query: { after: number; limit: number }) =>
    this.#get<Answers.TimelinePage>(at`/tasks/${id}/timeline`, query)
  diff = (id: string, query: { from?: string; to?: string; path?: string | undefined }) =>
    this.#get<TaskDiff>(at`/tasks/${id}/diff`, query)
  heldOut = (id: string) => this.#get<Answers.HeldOut>(at`/tasks/${id}/held-out`)
  taskState = (id: string) => this.#get<TaskStateAt>(at`/tasks/${id}/state`)
  metrics = (id: string) => this.#get<TaskMetrics>(at`/tasks/${id}/metrics`)
  report = (run: string) => this.#get<Report>(at`/runs/${run}/report`)

  reviews = (id: string) => this.#get<Answers.ReviewList>(at`/tasks/${id}/reviews`)
  sendReview = (id: string, body: JsonObject) =>
    this.#post<Answers.SentReview>(at`/tasks/${id}/reviews`, body, REVIEW_MS_MAX)
  addReviewer = (id: string, body: JsonObject) => this.#post<Answers.AddedReviewer>(at`/tasks/${id}/reviewers`, body)
  revokeReviewer = (id: string, name: string, body: Reason) =>
    this.#post<JsonObject>(at`/tasks/${id}/reviewers/${name}/revoke`, body)

  approvals = (query: Page) => this.#get<Answers.ApprovalPage>('/approvals', query)
  approval = (id: string) => this.#get<Approval>(at`/approvals/${id}`)
  decide = (id: string, body: JsonObject) => this.#post<Approval>(at`/approvals/${id}/decision`, body)

  questions = (query: Page & { task_id?: string | undefined; status?: string | undefined }) =>
    this.#get<Answers.QuestionPage>('/questions', query)
  question = (id: string) => this.#get<Answers.Question>(at`/questions/${id}`)
  answer = (id: string, body: JsonObject) => this.#post<Answers.Question>(at`/questions/${id}/answer`, body)

  agents = () => this.#get<{ readonly agents: readonly Answers.AgentRow[] }>('/agents')
  addAgent = (body: JsonObject) => this.#post<Answers.AddedAgent>('/agents', body)
  revokeAgent = (id: string, body: Reason) => this.#post<JsonObject>(at`/agents/${id}/revoke`, body)
  spawnAgent = (body: JsonObject) => this.#post<Answers.SpawnedAgent>('/agents/spawn', body)
  spawnedAgent = (id: string) => this.#get<Answers.SpawnedAgent>(at`/agents/${id}`)
  stopAgent = (id: string, body: JsonObject) => this.#post<Answers.SpawnedAgent>(at`/agents/${id}/stop`, body)
  agentLog = (id: string, cursor?: string) => this.#get<Answers.LogPart>(at`/agents/${id}/log`, { cursor })

  operators = () => this.#get<{ readonly operators: readonly Answers.OperatorRow[] }>('/operators')
  addOperator = (body: JsonObject) => this.#post<Answers.AddedOperator>('/operators', body)
  sessions = () => this.#get<{ readonly sessions: readonly Answers.SessionRow[] }>('/sessions')
  revokeSession = (id: string) => this.#post<JsonObject>(at`/sessions/${id}/revoke`)
  /** A one-time link for the login page. */
  makeLoginCode = () => this.#post<Answers.LoginCode>('/login/codes')
  /** What this operator can confirm sensitive acts with. */
  credentials = () =>
    this.#get<{ readonly passkeys: readonly JsonObject[]; readonly has_passphrase: boolean }>('/passkeys')
  setPassphrase = (passphrase: string) =>
    this.#post<{ readonly has_passphrase: boolean }>('/passphrase', { passphrase })
  revokeOperator = (name: string, body: Reason) => this.#post<JsonObject>(at`/operators/${name}/revoke`, body)
  rotateSecret = () => this.#post<{ readonly kid: string }>('/secret/rotate')
  pause = (body: Reason) => this.#post<JsonObject>('/pause', body)
  unpause = (body: Reason) => this.#post<JsonObject>('/unpause', body)

  contracts = () => this.#get<{ readonly contracts: readonly Answers.ContractRow[] }>('/contracts')
  contract = (hash: string) => this.#get<{ readonly contract: { start_node: string } }>(at`/contracts/${hash}`)
  addContract = (body: JsonObject) => this.#post<ContractRef>('/contracts', body)

  events = (query: Query) => this.#get<Answers.FoundEvents>('/audit/query', query)
  recentEvents = (count: number) => this.#get<Answers.EventPage>('/audit/recent', { count })
  ledgerStats = () => this.#get<Answers.LedgerStats>('/audit/stats')
  nodes = () => this.#get<{ readonly nodes: readonly NodeRow[] }>('/nodes')
  adoptNode = (id: string, body: Reason & { readonly without_trees?: boolean }) =>
    this.#post<{ readonly node: string; readonly adopted_by: string; readonly streams: number }>(
      at`/nodes/${id}/adopt`,
      body,
    )
  verifyLedger = () => this.#get<Answers.LedgerCheck>('/audit/verify', {}, VERIFY_MS_MAX)

  coordinations = (query: Page) =>
    this.#get<{ readonly coordinations: readonly { id: string; started_at: string }[] }>('/coordinations', query)
  coordinate = (body: JsonObject) => this.#post<Answers.Coordination>('/coordinations', body)
  cancelCoordination = (id: string, body: Reason) => this.#post<JsonObject>(at`/coordinations/${id}/cancel`, body)
  participantToken = (id: string, agent: string) =>
    this.#post<{ readonly token: string }>(at`/coordinations/${id}/agents/${agent}/token`)

  // With the token of an agent.
  claim = (body: JsonObject) =>
    this.#post<ClaimAnswer & { readonly phase_token: string }>('/tasks/claim', body, CLAIM_MS_MAX)
  heartbeat = (body: { readonly task_id: string }) => this.#post<JsonObject>('/tasks/heartbeat', { ...body })
  release = (body: { readonly task_id: string; readonly reason: string }) =>
    this.#post<{ readonly task: Task }>('/tasks/release', { ...body })
  snapshot = () => this.#get<AgentSnapshot>('/state/snapshot')
  prompt = () => this.#get<Answers.Step>('/prompt')
  continue = () => this.#post<Answers.Step>('/prompt/continue')
  next = (body: JsonObject) => this.#post<Answers.Step>('/prompt/next', body, NEXT_MS_MAX)

  /** Opens the stream of events after the one with this id: of everything, or of one council. */
  async follow(after: string, coordination?: string): Promise<AsyncGenerator<Frame>> {
    const path = coordination === undefined ? '/events' : at`/coordinations/${coordination}/stream`
    const headers = { accept: 'text/event-stream', 'last-event-id': after }
    const request = { method: 'GET', path, token: this.#options.token, headers } as const
    return framesOf(await this.#try(() => this.#connection.open(request, new AbortController().signal)))
  }

  #get<Answer>(path: string, query: Query = {}, msMax?: number): Promise<Answer> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined)
    const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()
    const request = {
      method: 'GET',
      path: search === '' ? path : `${path}?${search}`,
      token: this.#options.token,
    } as const
    return this.#try(() =>
      this.#connection.call({ ...request, ...(msMax === undefined ? {} : { msMax }) }),
    ) as Promise<Answer>
  }

  // A call that a proxy or a retry sends twice acts once.
  #post<Answer>(path: string, body: JsonObject = {}, msMax?: number): Promise<Answer> {
    const { token } = this.#options
    const more = {
      method: 'POST',
      path,
      token,
      key: crypto.randomUUID(),
      ...(msMax === undefined ? {} : { msMax }),
    } as const
    return this.#try(async () => {
      try {
        return await this.#connection.call({ ...more, body })
      } catch (error) {
        const confirmation = await this.#confirm(error)
        if (confirmation === null) throw error
        return this.#connection.call({ ...more, body: { ...body, confirmation } })
      }
    }) as Promise<Answer>
  }

  async #confirm(error: unknown): Promise<JsonObject | null> {
    if (!(error instanceof ApiError) || error.code !== 'confirmation_required') return null
    return (await this.#options.confirm?.(error.problem)) ?? null
  }

  async #try<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    this.#ready ??= this.#options.before?.() ?? Promise.resolve()
    await this.#ready
    try {
      return await work()
    } catch (error) {
      throw error instanceof PhaselockError && this.#options.fail !== undefined ? this.#options.fail(error) : error
    }
  }
}

/** Builds a path; each typed value becomes one segment. */
function at(strings: TemplateStringsArray, ...parts: readonly string[]): string {
  return strings
    .map((text, index) => text + (index < parts.length ? encodeURIComponent(parts[index] ?? '') : ''))
    .join('')
}
