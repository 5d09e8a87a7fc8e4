import { randomBytes } from 'node:crypto'
import { realpath, rm, stat } from 'node:fs/promises'
import { isAbsolute, relative } from 'node:path'
import type { Contract, Mode } from '../../core/contract/contract.js'
import type { JsonObject } from '../../core/json.js'
import type { Command } from '../../core/task/command.js'
import type { TaskState } from '../../core/task/state.js'
import { type App, makeContext, type Once } from '../app.js'
import { AgentBusy, type ApplyOptions, type CommandResult } from '../ledger/ledger.js'
import { ok, type Result, refuse, toProblem } from '../result.js'
import { readHeldOut } from '../test-runs/held-out.js'
import { pinUpstream } from '../tool-calls/upstream.js'
import { formatRewindMark } from '../trees/content-at-start.js'
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
  /** A work tree of its own is made from the repository. */
  readonly worktree?: true
  /** What git ignores and the new work tree is to have, too. */
  readonly take?: readonly string[]
  /** Only this agent may claim it. */
  readonly reservedFor?: string
  /** Examples that no agent sees. */
  readonly heldOut?: JsonObject
}

/** Creates a task under a contract that is known here, named by hash or by name; the newest of that name counts. */
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
    return refuse('invalid_request', 'workspace: the state directory, which holds every key, must not lie inside it.')
  for (const id of request.dependsOn)
    if ((await app.ledger.store.findTask(id)) === null)
      return refuse('invalid_request', `depends_on: there is no task ${JSON.stringify(id)}.`)
  const id = request.id ?? `task-${randomBytes(6).toString('hex')}`
  if (app.redact(id) !== id) return refuse('invalid_request', 'id: looks like a secret; choose another.')
  // Both are runs: they would share their status and their report.
  if (app.ledger.registry.coordinations.has(id))
    return refuse('conflict', `There is a coordination ${JSON.stringify(id)} already.`)
  if ((await app.ledger.peek(id)) !== null) return refuse('conflict', `There is a task ${JSON.stringify(id)} already.`)
  const tree = await prepareTree(app, { taskId: id, given, isOwn: request.worktree === true, take: request.take ?? [] })
  if (!tree.ok) return tree
  let isCreated = false
  try {
    const created = await create(app, { contract, request: { ...request, id }, tree: tree.value }, by)
    isCreated = created.ok
    return created
  } finally {
    const place = tree.value.made === null ? null : getPlace(app.stateDir, id)
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
  // What was asked for is not what is kept.
  const { contract: _, worktree: __, take: ___, heldOut: ____, ...asked } = task
  const fresh = { ...asked, ...kept }
  const { once } = by
  const newTask = made === null ? fresh : { ...fresh, worktree: made.worktree }
  const answerOf = (state: TaskState): JsonObject => ({
    ...toTaskView(state),
    ...(made === null ? {} : { uncommitted: { paths: made.uncommitted.paths, count: made.uncommitted.count } }),
  })
  const created = await app.ledger.create(contract, newTask, makeContext(app, by.actor), {
    blobs: [pinned.value, heldOut.value].flatMap((one) => (one === null ? [] : [one.blob])),
    remember: (done) =>
      once === undefined ? undefined : { ...once, status: 201, answer: { body: answerOf(done.state) } },
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
  if (!one.isOwn && one.take.length > 0) return refuse('invalid_request', 'take: is for tasks with `worktree`.')
  if (!one.isOwn) return ok({ workspace: one.given, made: null })
  const { taskId, given: repository, take } = one
  const excludes = await app.trees.excludesOf(repository)
  const made = await makeWorktree(app.stateDir, { taskId, repository, take, excludes })
  return made.ok ? ok({ workspace: made.value.workspace, made: made.value }) : made
}

function containsPath(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '' || !(way === '..' || way.startsWith('../') || isAbsolute(way))
}

/** The hash of a known contract, by hash or by name; the newest of that name. */
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
  const state = await app.ledger.peek(taskId)
  if (state === null) return refuse('not_found', `There is no task ${JSON.stringify(taskId)}.`)
  const contract = await app.contracts.get(state.contract.hash)
  const { once } = by
  const apply = async () =>
    ok(
      await applyUnlessBusy(app, { taskId, contract }, command, {
        actor: by.actor,
        remember: (done) =>
          once === undefined || done.refusal !== null
            ? undefined
            : { ...once, status: 200, answer: { body: toTaskView(done.state) } },
      }),
    )
  const goesOn = findResumedPhase(state, command)
  const agentId = state.held?.agentId ?? ''
  const leased =
    goesOn === null ? await apply() : await runWithPathLease(app, { state, contract, phase: goesOn, agentId }, apply)
  if (!leased.ok) return leased
  const handled = leased.value
  if (handled === null) return refuse('not_found', `There is no task ${JSON.stringify(taskId)}.`)
  if (handled.refusal !== null) return toProblem(handled.refusal, {}, handled.events.length > 0)
  if (command.type === 'rewind') app.trees.mark(state.workspace, taskId, formatRewindMark(handled.state.visit))
  return ok(toTaskView(handled.state))
}

// The phase that the agent of a task goes on in; null: nobody does.
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
  const state = await app.ledger.peek(taskId)
  if (state === null) return refuse('not_found', `There is no task ${JSON.stringify(taskId)}.`)
  const contract = await app.contracts.get(state.contract.hash)
  const pinned = await pinUpstream(app, contract, state.workspace)
  if (!pinned.ok) return pinned
  if (pinned.value === null) return refuse('conflict', `The contract of task ${taskId} names no upstream tools.`)
  const { ref, blob } = pinned.value
  const { once } = by
  const answerOf = (done: TaskState): JsonObject => ({ ...toTaskView(done), accepted_tools: { ...ref.tools } })
  const handled = await app.ledger.apply(
    { taskId, contract },
    { type: 'accept_tools', upstream: ref, reason: by.reason },
    makeContext(app, by.actor),
    {
      blobs: [blob],
      remember: (done) =>
        once === undefined || done.refusal !== null
          ? undefined
          : { ...once, status: 200, answer: { body: answerOf(done.state) } },
    },
  )
  if (handled === null) return refuse('not_found', `There is no task ${JSON.stringify(taskId)}.`)
  return handled.refusal === null
    ? ok(answerOf(handled.state))
    : toProblem(handled.refusal, {}, handled.events.length > 0)
}

// Between looking whether the agent is free and giving the task back to it, the agent may have claimed another one.
async function applyUnlessBusy(
  app: App,
  target: { readonly taskId: string; readonly contract: Contract },
  command: Command,
  by: { readonly actor: string; readonly remember: NonNullable<ApplyOptions['remember']> },
): Promise<CommandResult | null> {
  const context = makeContext(app, by.actor)
  try {
    return await app.ledger.apply(target, command, context, { remember: by.remember })
  } catch (error) {
    if (!(error instanceof AgentBusy) || !('agentIsFree' in command)) throw error
    return app.ledger.apply(target, { ...command, agentIsFree: false }, context, { remember: by.remember })
  }
}

/** Whether the agent that worked on a parked task works on nothing else now. */
export async function isAgentFree(app: App, taskId: string): Promise<boolean> {
  const agentId = (await app.ledger.peek(taskId))?.held?.agentId
  // Whoever was revoked does not go on, and neither does an agent whose process Phaselock has ended.
  if (agentId === undefined || app.ledger.registry.agents.get(agentId)?.revokedAt !== null) return false
  const held = await app.ledger.store.findHeldBy(agentId)
  return held === null || held.id === taskId
}
