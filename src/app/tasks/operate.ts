import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { realpath, rm, stat } from 'node:fs/promises'
import { isAbsolute, join, relative } from 'node:path'
import type { Contract, Mode } from '../../core/contract/contract.js'
import type { JsonObject } from '../../core/json.js'
import type { Command } from '../../core/task/command.js'
import type { TaskState } from '../../core/task/state.js'
import { type App, contextOf } from '../app.js'
import { applyTo, findTask, type Task } from '../find-task.js'
import { keepBody, type Once } from '../kept-answer.js'
import type { ApplyOptions, CommandResult } from '../ledger/ledger.js'
import { AgentBusy } from '../ledger/ledger-errors.js'
import { refuseTreeElsewhere } from '../nodes/tree-home.js'
import { ok, type Result, refuse, toProblem } from '../result.js'
import { readHeldOut } from '../test-runs/held-out.js'
import { pinUpstream } from '../tool-calls/upstream.js'
import { formatVisitMoment, WORK_ENDED } from '../trees/tree-moments.js'
import { type MadeWorktree, makeWorktree } from '../worktrees/make-worktree.js'
import { getPlace, removePlace } from '../worktrees/worktree-place.js'
import { runWithPathLease } from './path-leases.js'
import { toTaskView } from './views.js'

export interface TaskRequest {
  readonly id: string | undefined
  readonly title: string
  readonly description: string
  readonly contract: string | undefined
  readonly workspace: string | undefined
  readonly dependsOn: readonly string[]
  readonly requires: readonly string[]
  readonly metadata: JsonObject
  readonly mode: Mode | null
  readonly priority: number
  /** Creates a separate work tree from the repository. */
  readonly worktree?: true
  /** Ignored files to copy to the new work tree. */
  readonly take?: readonly string[]
  /** Only this agent may claim it. */
  readonly reservedFor?: string
  /** Held-out examples, which no agent sees. */
  readonly heldOut?: JsonObject
}

/** Creates a task under a known contract, given by hash or by name; a name means the newest contract of that name. */
export async function createTask(
  app: App,
  request: TaskRequest,
  by: { readonly actor: string; readonly once: Once | undefined },
): Promise<Result<JsonObject>> {
  const hash = request.contract === undefined ? app.defaultContract : findContract(app, request.contract)
  if (hash === null) {
    const names = [...new Set([...app.ledger.registry.contracts.values()].map((one) => one.name))]
    return refuse('not_found', `There is no contract ${JSON.stringify(request.contract)}. Known: ${names.join(', ')}`)
  }
  const contract = await app.contracts.get(hash)
  const wanted = request.workspace ?? app.workspace
  if (!isAbsolute(wanted) || !(await isDirectory(wanted)))
    return refuse('invalid_request', `workspace: ${JSON.stringify(wanted)} is not an absolute path of a directory.`)
  const given = await realpath(wanted)
  if (containsPath(given, app.stateDir))
    return refuse('invalid_request', 'workspace: the state directory, which holds every key, must not be inside it.')
  if (containsPath(given, app.keptDir))
    return refuse('invalid_request', 'workspace: the folder of shared trees must not be inside it.')
  const elsewhere = await refuseTreeElsewhere(app, given)
  if (elsewhere !== null) return elsewhere
  for (const id of request.dependsOn)
    if ((await app.ledger.store.task(id)) === null)
      return refuse('invalid_request', `depends_on: there is no task ${JSON.stringify(id)}.`)
  const id = request.id ?? `task-${randomBytes(6).toString('hex')}`
  if (app.redact(id) !== id) return refuse('invalid_request', 'id: looks like a secret; choose another.')
  // Tasks and councils are both runs: with the same id they would share status and report.
  if (app.ledger.registry.coordinations.has(id))
    return refuse('conflict', `Council ${JSON.stringify(id)} already exists.`)
  if ((await app.ledger.peek(id)) !== null) return refuse('conflict', `Task ${JSON.stringify(id)} already exists.`)
  const tree = await prepareTree(app, { taskId: id, given, isOwn: request.worktree === true, take: request.take ?? [] })
  if (!tree.ok) return tree
  let isCreated = false
  try {
    const created = await create(app, { contract, request: { ...request, id }, tree: tree.value }, by)
    isCreated = created.ok
    return created
  } finally {
    const place = tree.value.made === null ? null : getPlace(app.keptDir, id)
    if (place !== null && isCreated) await rm(place.unused, { force: true })
    else if (place !== null) removePlace(place)
  }
}

async function create(
  app: App,
  one: {
    readonly contract: Contract
    readonly request: TaskRequest & { readonly id: string }
    readonly tree: TaskTree
  },
  by: { readonly actor: string; readonly once: Once | undefined },
): Promise<Result<JsonObject>> {
  const { contract, request } = one
  const { workspace, made } = one.tree
  const task = {
    ...request,
    workspace,
    metadata: app.redact(request.metadata) as JsonObject,
    title: app.redact(request.title) as string,
    description: app.redact(request.description) as string,
  }
  const pinned = await pinUpstream(app, contract, workspace)
  if (!pinned.ok) return pinned
  const heldOut = request.heldOut === undefined ? ok(null) : await readHeldOut(app, contract, request.heldOut)
  if (!heldOut.ok) return heldOut
  const kept = {
    upstream: pinned.value?.ref ?? null,
    ...(heldOut.value === null ? {} : { heldOut: heldOut.value.ref }),
  }
  // What is stored differs from the request.
  const { contract: _, worktree: __, take: ___, heldOut: ____, ...asked } = task
  const fresh = { ...asked, ...kept }
  const { once } = by
  const newTask = made === null ? fresh : { ...fresh, worktree: made.worktree }
  const answerOf = (state: TaskState): JsonObject => ({
    ...toTaskView(state),
    ...(made === null ? {} : { uncommitted: { paths: made.uncommitted.paths, count: made.uncommitted.count } }),
  })
  const created = await app.ledger.create(contract, newTask, contextOf(app, by.actor), {
    blobs: [pinned.value, heldOut.value].flatMap((one) => (one === null ? [] : [one.blob])),
    remember: keepBody(once, 201, answerOf),
  })
  if (!('state' in created)) {
    const extra =
      created.code === 'contract.not_enforced_yet'
        ? { not_enforced: contract.notEnforced.map((enforced) => ({ ...enforced })) }
        : {}
    return toProblem(created, extra, false)
  }
  return ok(answerOf(created.state))
}

interface TaskTree {
  readonly workspace: string
  readonly made: MadeWorktree | null
}

async function prepareTree(
  app: App,
  one: {
    readonly taskId: string
    readonly given: string
    readonly isOwn: boolean
    readonly take: readonly string[]
  },
): Promise<Result<TaskTree>> {
  if (!one.isOwn && one.take.length > 0) return refuse('invalid_request', 'take: works only together with `worktree`.')
  if (!one.isOwn) return ok({ workspace: one.given, made: null })
  const { taskId, given: repository, take } = one
  const excludes = await app.trees.excludesOf(repository)
  const made = await makeWorktree(app.keptDir, { taskId, repository, take, excludes })
  return made.ok ? ok({ workspace: made.value.workspace, made: made.value }) : made
}

function containsPath(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '' || !(way === '..' || way.startsWith('../') || isAbsolute(way))
}

/** The hash of a known contract, given by hash or by name; a name means the newest. */
export function findContract(app: App, named: string): string | null {
  const known = app.ledger.registry.contracts
  if (known.has(named)) return named
  const ofName = [...known.values()].filter((contract) => contract.name === named)
  return ofName.at(-1)?.hash ?? null
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return false
  }
}

/** An operator's command on one task. */
export async function applyOperatorCommand(
  app: App,
  taskId: string,
  command: Command,
  by: { readonly actor: string; readonly once: Once | undefined },
): Promise<Result<JsonObject>> {
  const task = await findTask(app, taskId)
  if (!task.ok) return task
  const { state, contract } = task.value
  const apply = () =>
    applyUnlessBusy(app, task.value, command, { actor: by.actor, remember: keepBody(by.once, 200, toTaskView) })
  const goesOn = findResumedPhase(state, command)
  const agentId = state.held?.agentId ?? ''
  const handled =
    goesOn === null ? await apply() : await runWithPathLease(app, { state, contract, phase: goesOn, agentId }, apply)
  if (!handled.ok) return handled
  const { state: after } = handled.value
  const moment = command.type === 'rewind' ? formatVisitMoment(after.visit) : WORK_ENDED
  if (command.type === 'rewind' || command.type === 'cancel')
    await app.fence.run(async () => app.trees.mark(state.workspace, taskId, moment))
  return ok(toTaskView(after))
}

// The phase in which the agent of a task continues; null: it has no agent.
function findResumedPhase(state: TaskState, command: Command): string | null {
  if (state.held === null) return null
  if (command.type === 'resume') return command.agentIsFree ? state.phase : null
  return command.type === 'rewind' ? command.to : null
}

/** Accepts the upstream tools of a task as their servers list them now. */
export async function acceptTools(
  app: App,
  taskId: string,
  by: { readonly actor: string; readonly once: Once | undefined; readonly reason: string },
): Promise<Result<JsonObject>> {
  const task = await findTask(app, taskId)
  if (!task.ok) return task
  const { state, contract } = task.value
  const pinned = await pinUpstream(app, contract, state.workspace)
  if (!pinned.ok) return pinned
  if (pinned.value === null) return refuse('conflict', `The contract of task ${taskId} names no upstream tools.`)
  const { ref, blob } = pinned.value
  const answerOf = (done: TaskState): JsonObject => ({ ...toTaskView(done), accepted_tools: { ...ref.tools } })
  const command = { type: 'accept_tools', upstream: ref, reason: by.reason } as const
  const remember = keepBody(by.once, 200, answerOf)
  const handled = await applyTo(app, task.value, command, { actor: by.actor, blobs: [blob], remember })
  return handled.ok ? ok(answerOf(handled.value.state)) : handled
}

// The agent may have claimed another task between the check and the resume.
async function applyUnlessBusy(
  app: App,
  task: Task,
  command: Command,
  by: ApplyOptions & { readonly actor: string },
): Promise<Result<CommandResult>> {
  try {
    return await applyTo(app, task, command, by)
  } catch (error) {
    if (!(error instanceof AgentBusy) || !('agentIsFree' in command)) throw error
    return applyTo(app, task, { ...command, agentIsFree: false }, by)
  }
}

/** Whether the agent of a parked task has no other task now. */
export async function isAgentFree(app: App, taskId: string): Promise<boolean> {
  const agentId = (await app.ledger.peek(taskId))?.held?.agentId
  // Revoked agents do not continue, nor does an agent whose process Phaselock has ended.
  if (agentId === undefined || app.ledger.registry.agents.get(agentId)?.revokedAt !== null) return false
  const held = await app.ledger.store.findHeldBy(agentId)
  return held === null || held.id === taskId
}

/** The folder that still holds the work of a task that 0.2.0 stashed; null: there is none. */
export async function findStashFolder(app: App, taskId: string): Promise<string | null> {
  const stash = (await app.ledger.peek(taskId))?.stash ?? null
  const folder = stash === null ? null : join(app.keptDir, 'stashes', stash)
  return folder !== null && existsSync(folder) ? folder : null
}
