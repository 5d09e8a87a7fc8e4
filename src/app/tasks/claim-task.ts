import type { Contract } from '../../core/contract/contract.js'
import type { AgentBearer } from '../../core/identity/admit.js'
import type { JsonObject } from '../../core/json.js'
import { isLostByLapse } from '../../core/task/claim.js'
import type { Refusal } from '../../core/task/refusal.js'
import type { TaskHolder, TaskState } from '../../core/task/state.js'
import { offersCommandTool } from '../../core/tool-calls/offered-tools.js'
import { type App, contextOf, TreeUnreadable } from '../app.js'
import { buildPrompt, issuePhaseToken, makeGrant } from '../identity/grant.js'
import { type Grant, keepUnder, type Once } from '../kept-answer.js'
import { formatStream } from '../ledger/entries.js'
import { AgentBusy } from '../ledger/ledger-errors.js'
import { claimElsewhere } from '../nodes/claim-elsewhere.js'
import { refuseTreeElsewhere } from '../nodes/tree-home.js'
import { noTask, ok, type Problem, type Result, refuse, refuseUnreadable, toProblem, UNREADABLE } from '../result.js'
import { needsBaseline } from '../test-runs/baselines.js'
import { refuseWithoutConfinement } from '../tool-calls/contract-sandbox.js'
import { keepAgentCliFiles } from '../trees/agent-cli-files.js'
import { reconcileResumed } from '../trees/compare-tree.js'
import { listEarlierChanges, listUncommitted } from '../trees/list-earlier-changes.js'
import { isWorkedOn, listTasksInTree } from '../trees/list-tasks-in-tree.js'
import { refuseMissingTree } from '../trees/missing-tree.js'
import { WORK_BEGAN } from '../trees/trees.js'
import { isOfItsRepository, refuseRepository } from './claim-repository.js'
import { isPathConflict, runWithPathLease } from './path-leases.js'
import { toContractView, toTaskView } from './views.js'

const CANDIDATES_PAGE = 50
const CANDIDATES_MAX = 2000
const LOST_MAX = 50

interface ClaimRequest {
  readonly bearer: AgentBearer & { kind: 'agent' }
  readonly capabilities: readonly string[] | undefined
  readonly taskId: string | undefined
  readonly once: Once | undefined
  /** Phaselock claims it for an agent that it starts. */
  readonly isSpawned?: true
  /** Claimed only if this holds for the state that the claim is decided on. */
  readonly guard?: (state: TaskState) => Refusal | null
}

/** Returns the agent's own task, the task it asks for, or the oldest one it can do. */
export async function claimTask(app: App, request: ClaimRequest): Promise<Result<JsonObject>> {
  const { agentId } = request.bearer
  if (app.ledger.registry.paused !== null)
    return refuse('agents_paused', `All agents are paused: ${app.ledger.registry.paused}`)
  const registered = app.ledger.registry.agents.get(agentId)?.capabilities ?? []
  const unknown = (request.capabilities ?? []).filter(
    (capability) => registered.length > 0 && !registered.includes(capability),
  )
  if (unknown.length > 0)
    return refuse('not_permitted', `Agent ${agentId} is not registered with the capabilities ${unknown.join(', ')}.`)
  const capabilities = request.capabilities ?? registered

  const spawn = app.ledger.registry.spawns.get(agentId)
  // An agent started for one task ends with it: a second task would be abandoned and counted as lost.
  // (REQ-SPAWNATTACK-1)
  const own = spawn?.ended === null ? spawn.taskId : undefined
  if (own !== undefined && (request.taskId ?? own) !== own)
    return refuse('not_permitted', `Agent ${agentId} was started for task ${own} and cannot claim another.`)
  const held = await app.ledger.store.findHeldBy(agentId)
  if (held !== null && request.taskId !== undefined && held.id !== request.taskId)
    return refuse('conflict', `Agent ${agentId} holds task ${held.id}; release it before claiming ${request.taskId}.`)
  const wanted = held?.id ?? own ?? request.taskId
  if (wanted !== undefined) return tryClaim(app, wanted, { ...request, capabilities })
  const lost = await findLostTask(app, request.bearer)
  const again =
    lost === null ? null : await tryClaim(app, lost.id, { ...request, capabilities, guard: requireStillLost(request) })
  return again?.ok === true ? again : claimOldest(app, { ...request, capabilities })
}

/**
 * Resumes a task that the agent lost only by lease expiry. Null: there is none. Of several concurrent calls one claims
 * it, and all continue with it. `lapsing` is a task whose lapse is decided and not on disk yet.
 */
export async function takeUpAgain(
  app: App,
  bearer: ClaimRequest['bearer'],
  lapsing: string | null,
): Promise<Result<string> | null> {
  const states = await listInterruptedTasks(app, bearer, lapsing)
  // Another call has resumed it; the decision is not on disk yet.
  const taken = states.find(({ held }) => isHeldBy(held, bearer))
  if (taken !== undefined) return ok(taken.id)
  const lost = states.find((state) => isLostByLapse(state, bearer))
  if (lost === undefined) return null
  const capabilities = lost.lapsed?.capabilities ?? []
  const request = { bearer, capabilities, taskId: lost.id, once: undefined }
  const claimed = await tryClaim(app, lost.id, { ...request, guard: requireStillLost(request) })
  if (claimed.ok || isHeldBy((await app.ledger.peek(lost.id))?.held ?? null, bearer)) return ok(lost.id)
  return claimed
}

/** The task that the agent lost only by lease expiry, which its next call resumes; null: none. */
export async function findLostTask(app: App, bearer: ClaimRequest['bearer']): Promise<TaskState | null> {
  return (await listInterruptedTasks(app, bearer)).find((state) => isLostByLapse(state, bearer)) ?? null
}

/** The newest states of interrupted tasks, last one first. */
async function listInterruptedTasks(
  app: App,
  { agentId }: ClaimRequest['bearer'],
  lapsing: string | null = null,
): Promise<readonly TaskState[]> {
  const page = await app.ledger.store.queryTasks({ agentId, status: 'interrupted', limit: LOST_MAX })
  const rows = [...page.items].sort((a, b) => b.updatedAt - a.updatedAt)
  const ids = new Set([...(lapsing === null ? [] : [lapsing]), ...rows.map(({ id }) => id)])
  const states = await Promise.all([...ids].map((id) => app.ledger.peek(id)))
  return states.filter((state) => state !== null)
}

function isHeldBy(held: TaskHolder | null, bearer: ClaimRequest['bearer']): boolean {
  return held !== null && held.agentId === bearer.agentId && held.instance === bearer.instance
}

function requireStillLost({ bearer }: Pick<ClaimRequest, 'bearer'>) {
  return (state: TaskState): Refusal | null =>
    isLostByLapse(state, bearer)
      ? null
      : {
          code: 'no_active_task',
          detail: `Agent ${bearer.agentId} lost task ${state.id}, and it is ${state.status} now.`,
        }
}

type Ready = ClaimRequest & { readonly capabilities: readonly string[] }

// If only tasks of a node that is being restarted are left, the claim waits for it.
async function claimOldest(app: App, request: Ready): Promise<Result<JsonObject>> {
  for (let returns = 0; returns < RETURNS_MAX; returns += 1) {
    const claimed = await claimFirst(app, request)
    const home = claimed.ok || claimed.problem.code !== 'wrong_node' ? null : String(claimed.problem.extra.node)
    if (home === null || (await app.ledger.cluster?.awaitNode(home)) == null) return claimed
  }
  return claimFirst(app, request)
}

async function claimFirst(app: App, request: Ready): Promise<Result<JsonObject>> {
  let unwalled: Result<JsonObject> | null = null
  let held: Result<JsonObject> | null = null
  let missing = ''
  for (let offset = 0; offset < CANDIDATES_MAX; offset += CANDIDATES_PAGE) {
    const page = await app.ledger.store.listClaimable({ offset, limit: CANDIDATES_PAGE })
    for (const row of page) {
      if (!row.requires.every((require) => request.capabilities.includes(require))) continue
      const result = await tryClaim(app, row.id, request)
      // An operator has to act, and other tasks may come meanwhile.
      if (!result.ok && result.problem.code === 'tree_missing') {
        missing ||= ` ${result.problem.detail}`
        continue
      }
      // This task may conflict with another one or be unable to commit; the next candidate may not.
      if (!result.ok && (isPathConflict(result.problem) || isOfItsTree(result.problem) || isAway(result.problem))) {
        held ??= result
        continue
      }
      if (result.ok || result.problem.code === 'conflict') return result
      if (result.problem.code === 'confinement_unavailable') unwalled = result
    }
    if (page.length < CANDIDATES_PAGE) break
  }
  return unwalled ?? held ?? refuse('no_task_available', `No task is available to this agent now.${missing}`)
}

async function tryClaim(app: App, taskId: string, request: Ready): Promise<Result<JsonObject>> {
  const home = await app.ledger.findOtherHome(formatStream(taskId))
  if (home !== null) return claimElsewhere(app, { ...request, taskId, home })
  const state = await app.ledger.peek(taskId)
  if (state === null) return noTask(taskId)
  const elsewhere = await refuseTreeElsewhere(app, state.worktree?.repository ?? state.workspace)
  if (elsewhere !== null) return elsewhere
  const missing = refuseMissingTree(state)
  if (missing !== null) return missing
  const contract = await app.contracts.get(state.contract.hash)
  const walled = await refuseWithoutSandbox(app, contract)
  if (walled !== null) return walled
  const isCompared = contract.enforcement.reconcile !== 'off'
  // git takes its time in a large repository: it looks while the tree is read.
  const uncommitted = state.visit === 0 ? listUncommitted(app, contract, state) : Promise.resolve(null)
  // Awaited only if nothing else refuses the claim.
  uncommitted.catch(() => undefined)
  const unreadable = isCompared ? await readTree(app, state) : null
  if (unreadable !== null) return unreadable
  const uncommittable = await refuseRepository(app, contract, state)
  if (uncommittable !== null) return uncommittable
  const isUnrecorded = !isCompared && state.visit === 0 && needsBaseline(contract)
  const found = isUnrecorded ? await app.trees.compare(state.workspace).catch(() => null) : null
  const earlier = await listEarlierChanges(app, { contract, state }, await uncommitted)
  const { agentId, instance } = request.bearer
  const openDependencies = await listUnfinishedDependencies(app, state)
  const who = { agentId, instance, capabilities: request.capabilities, isSpawned: request.isSpawned === true }
  const command = { type: 'claim', ...who, openDependencies } as const
  const context = contextOf(app, `agent:${agentId}`)
  const { once } = request
  const isResumed = state.visit > 0
  const claimedAt = Date.now()
  const claimed = async (): Promise<Result<TaskState>> => {
    const handled = await app.ledger.apply({ taskId, contract }, command, context, {
      ...(request.guard === undefined ? {} : { guard: request.guard }),
      remember: (done) => keepUnder(once, 200, () => ({ claim: makeGrant(done.state, agentId), resumed: isResumed })),
    })
    if (handled === null) return noTask(taskId)
    if (handled.refusal !== null) return toProblem(handled.refusal, {}, handled.events.length > 0)
    await app.fence.run(async () => {
      if (earlier !== null) app.views.keepEarlierChanges(taskId, earlier)
      if (isResumed || !isCompared) return
      for (const mark of [WORK_BEGAN, handled.state.phase]) app.trees.mark(state.workspace, taskId, mark)
      app.views.begin(taskId, state.workspace, claimedAt)
    })
    return ok(handled.state)
  }
  try {
    const done = await runWithPathLease(app, { state, contract, phase: state.phase, agentId }, claimed)
    if (!done.ok) return done
    app.baselines.begin(app, contract, done.value, found?.index ?? null)
    const warnings = isResumed ? await reconcileResumed(app, contract, done.value) : []
    return ok(await claimAnswer(app, makeGrant(done.value, agentId), warnings))
  } catch (error) {
    if (error instanceof AgentBusy) return refuse('conflict', `Agent ${agentId} holds another task already.`)
    throw error
  }
}

async function readTree(app: App, state: TaskState): Promise<Result<JsonObject> | null> {
  try {
    await beginTree(app, state)
    return null
  } catch (error) {
    if (error instanceof TreeUnreadable) return refuseUnreadable(error)
    throw error
  }
}

// Changes that people made before work began are accepted, for this task. While others work in the tree, it counts as
// they left it.
async function beginTree(app: App, state: TaskState): Promise<void> {
  const { id, workspace } = state
  if (state.visit === 0 || !app.trees.isKnown(workspace)) await recordTree(app, state)
  // Before the claim is decided: a crash after it must not leave the task out.
  await app.fence.run(async () => app.trees.tasks.note(workspace, id))
}

async function recordTree(app: App, state: TaskState): Promise<void> {
  const { workspace } = state
  const others = await listTasksInTree(app, state)
  const unfinished = others.map(({ id }) => id)
  const isShared = others.some(isWorkedOn)
  if (isShared && app.trees.isKnown(workspace))
    await app.fence.run(async () => app.trees.tasks.retain(workspace, unfinished))
  else await app.trees.begin(workspace, unfinished)
  await keepAgentCliFiles(app, workspace)
}

const RETURNS_MAX = 3

// Do not hand out a task if its commands would run without the sandbox that its contract requires.
async function refuseWithoutSandbox(app: App, contract: Contract): Promise<Result<JsonObject> | null> {
  if (contract.enforcement.confinement !== 'required' || !offersCommandTool(contract)) return null
  const refused = refuseWithoutConfinement({ contract }, await app.confinement())
  return refused === null || refused.ok ? null : refuse(refused.code, refused.detail, refused.extra)
}

// A node that is away does not keep an agent from the tasks of the others.
function isAway({ code }: Problem): boolean {
  return code === 'wrong_node' || code === 'shutting_down' || code === 'store_unavailable'
}

function isOfItsTree(problem: Problem): boolean {
  return isOfItsRepository(problem) || UNREADABLE in problem.extra
}

/** The answer to a claim; also sent again to a client that lost it. */
export async function claimAnswer(app: App, grant: Grant, warnings: readonly JsonObject[]): Promise<JsonObject> {
  const state = await app.ledger.read(grant.taskId)
  if (state === null) throw new Error(`task ${grant.taskId} is gone`)
  const contract = await app.contracts.get(state.contract.hash)
  return {
    task: toTaskView(state),
    phase: grant.phase,
    ...(await issuePhaseToken(app, grant)),
    prompt: await buildPrompt(app, contract, state),
    contract: toContractView(contract, state),
    warnings,
  }
}

async function listUnfinishedDependencies(app: App, state: TaskState): Promise<readonly string[]> {
  const open: string[] = []
  for (const id of state.dependsOn) if ((await app.ledger.store.task(id))?.status !== 'completed') open.push(id)
  return open
}
