import { createHash, randomBytes } from 'node:crypto'
import { posix } from 'node:path'
import type { Contract } from '../../core/contract/contract.js'
import type { AgentBearer } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
import { ok, type Result, refuse } from '../result.js'
import {
  buildCriteria,
  buildPhaseContent,
  collectOutputs,
  toProgressView,
  toTasksView,
} from '../transitions/phase-content.js'
import { claimTask } from './claim-task.js'
import { createTask, findContract } from './operate.js'
import { refusePathConflict } from './path-leases.js'

const TARGET_CHARS_MAX = 1024
const TITLE_CHARS_MAX = 200
/** Sessions of one target, one after the other. */
const SESSIONS_MAX = 1000

/** Who starts a workflow: an agent for itself, or an operator for whoever claims it. */
export type Starter =
  | { readonly kind: 'agent'; readonly bearer: AgentBearer }
  | { readonly kind: 'operator'; readonly name: string }

export interface StartRequest {
  /** Hash or name of a known contract; `workflowType` is another word for its name. Absent: the server's own. */
  readonly contract?: string | undefined
  readonly workflowType?: string | undefined
  /** The file that the work is about. There is one session for a target at a time. */
  readonly target?: string | undefined
  readonly task?: string | undefined
  readonly by: Starter
}

/** Starts a workflow or, for a target that is being worked on, gives the session that there is. */
export async function startWorkflow(app: App, request: StartRequest): Promise<Result<JsonObject>> {
  const { by } = request
  if (by.kind === 'agent' && by.bearer.kind !== 'agent')
    return refuse('not_permitted', 'A workflow is started with the agent token, not with a phase token.')
  if (by.kind === 'agent' && app.ledger.registry.spawns.get(by.bearer.agentId)?.ended === null)
    return refuse('not_permitted', `Agent ${by.bearer.agentId} was started for one task and begins no other.`)
  const named = request.contract ?? request.workflowType
  const hash = named === undefined ? app.defaultContract : findContract(app, named)
  if (hash === null) return refuse('not_found', `There is no workflow ${JSON.stringify(named)}.`)
  const contract = await app.contracts.get(hash)
  if (by.kind === 'agent' && contract.agentStartable !== true)
    return refuse('not_permitted', `Agents may not start tasks of the contract ${contract.name} (agent_startable).`)
  const target = request.target === undefined ? null : checkTarget(request.target)
  if (target?.ok === false) return target
  const wanted = { ...request, target: target?.value ?? null }
  const open = async (): Promise<Result<JsonObject>> => {
    const session = await openSession(app, contract, wanted)
    if (!session.ok) return session
    return by.kind === 'agent' ? take(app, session.value.id, by.bearer) : ok(toSessionView(contract, session.value))
  }
  return by.kind === 'agent' ? runInTurn(app, by.bearer.agentId, open) : open()
}

const turns = new WeakMap<App, Map<string, Promise<unknown>>>()

// Of several starts of one agent each would find it free, and all but one leave a task that nobody holds.
async function runInTurn<T>(app: App, agentId: string, work: () => Promise<T>): Promise<T> {
  const last = turns.get(app) ?? new Map<string, Promise<unknown>>()
  turns.set(app, last)
  const mine = (last.get(agentId) ?? Promise.resolve()).then(work)
  const over = mine.catch(() => undefined)
  last.set(agentId, over)
  try {
    return await mine
  } finally {
    if (last.get(agentId) === over) last.delete(agentId)
  }
}

function checkTarget(target: string): Result<string> {
  const wrong = (why: string) => refuse('invalid_request', `target_file: ${why}`)
  if (target === '' || target.length > TARGET_CHARS_MAX || target.includes('\0'))
    return wrong(`must be a path of at most ${TARGET_CHARS_MAX} characters.`)
  // A slash at the end makes no other file.
  const path = posix.normalize(target).replace(/(?<=.)\/$/, '')
  return path.startsWith('/') || path === '.' || path.split('/').includes('..')
    ? wrong(`${JSON.stringify(target)} is not the path of a file inside the work tree.`)
    : ok(path)
}

interface Session {
  readonly target: string | null
  readonly task?: string | undefined
  readonly by: Starter
}

// The id of a session follows from its target: of all who start it at once, one creates it and the others find it.
async function openSession(app: App, contract: Contract, session: Session): Promise<Result<TaskState>> {
  for (let number = 0; number < SESSIONS_MAX; number += 1) {
    const id = makeSessionId(app, contract, { target: session.target, number })
    const before = await app.ledger.read(id)
    if (before !== null && before.status !== 'completed' && before.status !== 'cancelled') return ok(before)
    if (before !== null) continue
    const busy =
      (await refuseBusyAgent(app, session.by)) ?? (await refuseHeldPaths(app, contract, { id, by: session.by }))
    if (busy !== null) return busy
    const created = await createTask(app, toNewTask(contract, session, id), {
      actor: session.by.kind === 'agent' ? `agent:${session.by.bearer.agentId}` : `operator:${session.by.name}`,
      once: undefined,
    })
    if (!created.ok && created.problem.code !== 'conflict') return created
    const state = await app.ledger.read(id)
    if (state !== null) return ok(state)
  }
  return refuse('conflict', `There were ${SESSIONS_MAX} sessions for this target already.`)
}

function makeSessionId(
  app: App,
  contract: Contract,
  one: { readonly target: string | null; readonly number: number },
): string {
  if (one.target === null) return `session-${randomBytes(8).toString('hex')}`
  const about = JSON.stringify([contract.name, app.workspace, one.target, one.number])
  return `session-${createHash('sha256').update(about).digest('hex').slice(0, 32)}`
}

// An agent holds one task at a time: a session that it could not take is not begun.
async function refuseBusyAgent(app: App, by: Starter): Promise<Result<TaskState> | null> {
  const held = by.kind === 'agent' ? await app.ledger.store.findHeldBy(by.bearer.agentId) : null
  return held === null
    ? null
    : refuse('conflict', `The agent holds task ${held.id}; finish or release it before starting another workflow.`, {
        session_id: held.id,
      })
}

// The same of one whose paths another task holds now.
function refuseHeldPaths(
  app: App,
  contract: Contract,
  { id, by }: { readonly id: string; readonly by: Starter },
): Promise<Result<TaskState> | null> {
  const state = { id, workspace: app.workspace }
  if (by.kind !== 'agent') return Promise.resolve(null)
  return refusePathConflict(app, { state, contract, phase: contract.start, agentId: by.bearer.agentId })
}

function toNewTask(contract: Contract, { target, task }: Session, id: string) {
  const text = task ?? (target === null ? contract.name : `${contract.name}: ${target}`)
  const [line = ''] = text.split('\n')
  return {
    id,
    title: stripControls(line).slice(0, TITLE_CHARS_MAX) || contract.name,
    description: task ?? '',
    contract: contract.hash,
    workspace: undefined,
    dependsOn: [],
    requires: [],
    metadata: target === null ? {} : { target_file: target },
    mode: null,
    priority: 0,
  }
}

function stripControls(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ').trim()
}

// The claim also resumes: a client that lost its answer starts again, and goes on where the session is.
async function take(app: App, taskId: string, bearer: AgentBearer): Promise<Result<JsonObject>> {
  if (bearer.kind !== 'agent') throw new Error('a session was taken without an agent token')
  const claimed = await claimTask(app, { bearer, capabilities: undefined, taskId, once: undefined })
  if (!claimed.ok) {
    const extra = { ...claimed.problem.extra, session_id: taskId }
    return { ok: false, problem: { ...claimed.problem, extra } }
  }
  const state = await app.ledger.read(taskId)
  if (state === null) throw new Error(`task ${taskId} is gone`)
  const contract = await app.contracts.get(state.contract.hash)
  const phase = contract.phases.get(state.phase)
  const { phase_token, expires_at, allowed_tools } = claimed.value
  return ok({
    ...toSessionView(contract, state),
    phase_content: await buildPhaseContent(app, contract, state, state.phase),
    ...(phase === undefined ? {} : { ...toTasksView(phase, state), checkpoint_criteria: buildCriteria(phase) }),
    artifacts_from_previous: await collectOutputs(app, contract, state),
    phase_token: phase_token ?? null,
    expires_at: expires_at ?? null,
    allowed_tools: allowed_tools ?? [],
  })
}

function toSessionView(contract: Contract, state: TaskState): JsonObject {
  const { current, ...progress } = toProgressView(contract, state)
  const { target_file } = state.metadata
  return {
    session_id: state.id,
    workflow_type: contract.name,
    ...(target_file === undefined ? {} : { target_file }),
    phase_number: current ?? state.phase,
    progress: { ...progress, current: current ?? state.phase },
    status: state.status,
  }
}
