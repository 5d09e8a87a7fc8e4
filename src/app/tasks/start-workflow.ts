import { randomBytes } from 'node:crypto'
import { posix } from 'node:path'
import { KeyedLock } from '../../base/keyed-lock.js'
import { sha256Hex } from '../../base/sha256.js'
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
/** Maximum number of consecutive sessions for one target. */
const SESSIONS_MAX = 1000

/** The caller that starts a workflow: an agent for itself, or an operator for the agent that claims it. */
type Starter =
  | { readonly kind: 'agent'; readonly bearer: AgentBearer }
  | { readonly kind: 'operator'; readonly name: string }

interface StartRequest {
  /** Hash or name of a known contract; `workflowType` is an alias of the name. Absent: the server's own. */
  readonly contract?: string | undefined
  readonly workflowType?: string | undefined
  /** The file that the work is about. A target has one session at a time. */
  readonly target?: string | undefined
  readonly task?: string | undefined
  readonly by: Starter
}

/** Starts a workflow, or returns the current session of a target that is being worked on. */
export async function startWorkflow(app: App, request: StartRequest): Promise<Result<JsonObject>> {
  const { by } = request
  if (by.kind === 'agent' && by.bearer.kind !== 'agent')
    return refuse('not_permitted', 'A workflow is started with the agent token, not with a phase token.')
  if (by.kind === 'agent' && app.ledger.registry.spawns.get(by.bearer.agentId)?.ended === null)
    return refuse('not_permitted', `Agent ${by.bearer.agentId} was started for one task and cannot start another.`)
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
  if (by.kind !== 'agent') return open()
  // Concurrent starts of one agent would each find it free, and all but one would leave an unclaimed task.
  const lock = starts.get(app) ?? new KeyedLock()
  starts.set(app, lock)
  return lock.run(by.bearer.agentId, open)
}

const starts = new WeakMap<App, KeyedLock>()

function checkTarget(target: string): Result<string> {
  const wrong = (why: string) => refuse('invalid_request', `target_file: ${why}`)
  if (target === '' || target.length > TARGET_CHARS_MAX || target.includes('\0'))
    return wrong(`must be a path of at most ${TARGET_CHARS_MAX} characters.`)
  // A trailing slash does not make it another file.
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

// The session id is derived from its target: of concurrent starts one creates it and the others find it.
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
  return `session-${sha256Hex(about).slice(0, 32)}`
}

// An agent holds one task at a time: do not create a session that it could not claim.
async function refuseBusyAgent(app: App, by: Starter): Promise<Result<TaskState> | null> {
  const held = by.kind === 'agent' ? await app.ledger.store.findHeldBy(by.bearer.agentId) : null
  return held === null
    ? null
    : refuse('conflict', `The agent holds task ${held.id}; finish or release it before starting another workflow.`, {
        session_id: held.id,
      })
}

// Nor one whose paths another task holds now.
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

// The claim also resumes: a client that lost the answer starts again and continues its session.
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
