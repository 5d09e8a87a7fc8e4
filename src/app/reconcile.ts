import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../confinement/run-command.js'
import type { JsonObject } from '../core/contract.js'
import type { TaskState } from '../core/state.js'
import type { Change } from '../tree/change.js'
import { TREE_PROBLEMS } from '../tree/problems.js'
import type { TreeStep } from '../tree/steps.js'
import type { Difference } from '../tree/tree-contents.js'
import { openTreeWriter } from '../tree/tree-writer.js'
import { openWorkTree } from '../tree/work-tree.js'
import { type App, contextOf, type Once } from './app.js'
import { ok, type Result, refuse, refusedBy } from './result.js'
import { taskView } from './views.js'

const KEPT_BYTES_MAX = 1024 * 1024
const GIT_MS_MAX = 30_000
const PATHS_TOLD_MAX = 200

export interface TreeRequest {
  readonly taskId: string
  /** Those to be accepted or reverted; null: all that differ. */
  readonly paths: readonly string[] | null
  readonly reason: string
  readonly actor: string
  readonly once: Once | undefined
}

/** Takes over changes that no allowed call explains, with a reason. */
export async function acceptTree(app: App, request: TreeRequest): Promise<Result<JsonObject>> {
  const found = await changedPaths(app, request)
  if (!found.ok) return found
  const { state, differences, index } = found.value
  const recorded = await record(app, state, { type: 'tree_accepted', differences, request })
  if (recorded.ok)
    app.trees.accept(
      state.workspace,
      index,
      differences.map((one) => one.path),
    )
  return recorded
}

/** Puts back what was changed without an allowed call. All of it or nothing. */
export async function revertTree(app: App, request: TreeRequest): Promise<Result<JsonObject>> {
  const found = await changedPaths(app, request)
  if (!found.ok) return found
  const { state, differences } = found.value
  const steps: TreeStep[] = []
  for (const { path, kind } of differences) {
    if (kind === 'created') steps.push({ type: 'delete', path, isRecursive: true })
    else {
      const content = await contentOf(app, state, path)
      if (content === null)
        return refuse(
          'conflict',
          `The content that ${JSON.stringify(path)} had is not known here. Restore it by hand, or accept the change.`,
        )
      steps.push({ type: 'write', path, content })
    }
  }
  return app.ledger.hold(state.id, async () => {
    const done = await openTreeWriter(state.workspace).commit(steps)
    if (!done.ok)
      return refuse('conflict', `${JSON.stringify(done.path)} ${TREE_PROBLEMS[done.problem]}; nothing was reverted.`)
    return record(app, state, { type: 'tree_reverted', differences, request })
  })
}

interface Found {
  readonly state: TaskState
  readonly differences: readonly Difference[]
  readonly index: Awaited<ReturnType<App['trees']['compare']>>['index']
}

async function changedPaths(app: App, { taskId, paths }: TreeRequest): Promise<Result<Found>> {
  const state = await app.ledger.peek(taskId)
  if (state === null) return refuse('not_found', `There is no task ${JSON.stringify(taskId)}.`)
  if (app.checking.has(taskId)) return refuse('conflict', `The gates of task ${taskId} are being checked.`)
  const compared = await app.trees.compare(state.workspace)
  const differences = compared.differences.filter(({ path }) => paths === null || paths.includes(path))
  const unknown = (paths ?? []).filter((path) => !differences.some((one) => one.path === path))
  if (unknown.length > 0) return refuse('conflict', `${unknown.join(', ')}: not changed without an allowed call.`)
  if (differences.length === 0) return refuse('conflict', 'Nothing in the work tree changed without an allowed call.')
  return ok({ state, differences, index: compared.index })
}

async function record(
  app: App,
  state: TaskState,
  one: {
    readonly type: 'tree_accepted' | 'tree_reverted'
    readonly differences: readonly Difference[]
    readonly request: TreeRequest
  },
): Promise<Result<JsonObject>> {
  const { request, differences } = one
  const contract = await app.contracts.get(state.contract.hash)
  const paths = differences.slice(0, PATHS_TOLD_MAX).map((each) => each.path)
  const answerOf = (done: TaskState): JsonObject => ({ ...taskView(done), paths, path_count: differences.length })
  const command = { type: one.type, paths, pathCount: differences.length, reason: request.reason } as const
  const { once } = request
  const handled = await app.ledger.apply({ taskId: state.id, contract }, command, contextOf(app, request.actor), {
    isHolding: one.type === 'tree_reverted',
    remember: (done) =>
      once === undefined || done.refusal !== null
        ? undefined
        : { ...once, status: 200, answer: { body: answerOf(done.state) } },
  })
  if (handled === null) return refuse('not_found', `There is no task ${JSON.stringify(state.id)}.`)
  return handled.refusal === null
    ? ok(answerOf(handled.state))
    : refusedBy(handled.refusal, {}, handled.events.length > 0)
}

/** Keeps what allowed calls wrote, so that it can be put back later. What is large is not kept. */
export async function keepContents(app: App, tree: string, changes: readonly Change[]): Promise<void> {
  if (!app.trees.isKnown(tree)) return
  for (const { path, type, sha256, bytes } of changes) {
    if (type !== 'file' || sha256 === null || (bytes ?? KEPT_BYTES_MAX) >= KEPT_BYTES_MAX) continue
    const content = await openWorkTree(tree).read(path)
    if (content === null || digestOf(content) !== sha256) continue
    mkdirSync(objectsDir(app), { recursive: true, mode: 0o700 })
    writeFileSync(join(objectsDir(app), sha256), content, { mode: 0o600 })
  }
}

async function contentOf(app: App, state: TaskState, path: string): Promise<Buffer | null> {
  const sha256 = app.trees.expectedHash(state.workspace, path)
  if (sha256 === null) return null
  try {
    const kept = readFileSync(join(objectsDir(app), sha256))
    if (digestOf(kept) === sha256) return kept
  } catch {
    // Not written by a call, or too large to be kept: the repository may have it.
  }
  const committed = await fromGit(app, state.workspace, path)
  return committed !== null && digestOf(committed) === sha256 ? committed : null
}

const OUTPUT = '.phaselock-revert'

async function fromGit(app: App, tree: string, path: string): Promise<Buffer | null> {
  const run = await runCommand(await app.confinement(), {
    tree,
    argv: ['bash', '-c', `git cat-file blob "HEAD:$1" > ${OUTPUT}`, 'git', path],
    cwd: '.',
    env: {},
    network: false,
    writes: 'discard',
    git: 'read',
    hidden: [],
    signal: new AbortController().signal,
    timeoutMs: GIT_MS_MAX,
    collect: [OUTPUT],
  })
  return run.exitCode === 0 ? (run.files.get(OUTPUT) ?? null) : null
}

function objectsDir(app: App): string {
  return join(app.stateDir, 'trees', 'objects')
}

function digestOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
