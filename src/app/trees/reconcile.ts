import { closeSync } from 'node:fs'
import { runCommand } from '../../confinement/run-command.js'
import type { JsonObject } from '../../core/json.js'
import { AGENT_CLI_FILES } from '../../core/paths/agent-cli-files.js'
import type { TaskState } from '../../core/task/state.js'
import type { Change } from '../../tree/change.js'
import { openFile } from '../../tree/lookup.js'
import { TREE_PROBLEMS } from '../../tree/problems.js'
import { readBytes } from '../../tree/read-bytes.js'
import type { Difference } from '../../tree/tree-contents.js'
import { openWorkTree } from '../../tree/work-tree.js'
import type { TreeStep } from '../../tree/write/tree-steps.js'
import { openTreeWriter } from '../../tree/write/tree-writer.js'
import { type App, makeContext, type Once } from '../app.js'
import { ok, type Result, refuse, toProblem } from '../result.js'
import { toTaskView } from '../tasks/views.js'
import { hashContent, KEPT_BYTES_MAX } from './kept-contents.js'

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
  const found = await findChangedPaths(app, request, 'with dependencies')
  if (!found.ok) return found
  const { state, differences, index } = found.value
  const recorded = await record(app, state, { type: 'tree_accepted', differences, request })
  if (recorded.ok) {
    await keepPrevious(app, state.workspace, [...AGENT_CLI_FILES.keys()])
    app.trees.accept(
      state.workspace,
      index,
      differences.map((difference) => difference.path),
    )
    await app.views.acceptDependencies(
      state.id,
      state.workspace,
      differences.map((difference) => difference.path),
    )
  }
  return recorded
}

/** Puts back what was changed without an allowed call. All of it or nothing. */
export async function revertTree(app: App, request: TreeRequest): Promise<Result<JsonObject>> {
  const found = await findChangedPaths(app, request)
  if (!found.ok) return found
  const { state, differences } = found.value
  const steps: TreeStep[] = []
  for (const { path, kind } of differences) {
    if (kind === 'created') steps.push({ type: 'delete', path, isRecursive: true })
    else {
      const sha256 = app.trees.findExpectedHash(state.workspace, path)
      const content = sha256 === null ? null : await findContentByHash(app, { tree: state.workspace, path, sha256 })
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

interface FoundChanges {
  readonly state: TaskState
  readonly differences: readonly Difference[]
  readonly index: Awaited<ReturnType<App['trees']['compare']>>['index']
}

// Installed packages and ignored files have no expected content: they can be accepted as they are, and not be put back.
async function findChangedPaths(
  app: App,
  { taskId, paths }: TreeRequest,
  which: 'tree' | 'with dependencies' = 'tree',
): Promise<Result<FoundChanges>> {
  const state = await app.ledger.peek(taskId)
  if (state === null) return refuse('not_found', `There is no task ${JSON.stringify(taskId)}.`)
  if (app.checking.has(taskId)) return refuse('conflict', `The gates of task ${taskId} are being checked.`)
  const compared = await app.trees.compare(state.workspace)
  const isAsked = (path: string): boolean => paths === null || paths.includes(path)
  const tracked = compared.differences.filter(({ path }) => isAsked(path))
  const ignored = which === 'tree' ? [] : await findIgnoredChanges(app, state, paths)
  const differences = [
    ...tracked,
    ...ignored.filter(({ path }) => !tracked.some((difference) => difference.path === path)),
  ]
  const unknown = (paths ?? []).filter((path) => !differences.some((difference) => difference.path === path))
  if (unknown.length > 0) return refuse('conflict', `${unknown.join(', ')}: not changed without an allowed call.`)
  if (differences.length === 0) return refuse('conflict', 'Nothing in the work tree changed without an allowed call.')
  return ok({ state, differences, index: compared.index })
}

/** What came or was changed among dependencies and ignored files since work began; of those asked for, by folders too. */
async function findIgnoredChanges(
  app: App,
  { id, workspace }: TaskState,
  paths: readonly string[] | null,
): Promise<readonly Difference[]> {
  const since = (await app.views.findDependencyChanges(id, workspace)) ?? []
  const isIn = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)
  const asked = paths?.filter((path) => since.some((one) => isIn(one, path) || isIn(path, one))) ?? since
  return asked.map((path) => ({ path, kind: 'modified' }))
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
  const answerOf = (done: TaskState): JsonObject => ({ ...toTaskView(done), paths, path_count: differences.length })
  const command = { type: one.type, paths, pathCount: differences.length, reason: request.reason } as const
  const { once } = request
  const handled = await app.ledger.apply({ taskId: state.id, contract }, command, makeContext(app, request.actor), {
    isHolding: one.type === 'tree_reverted',
    remember: (done) =>
      once === undefined || done.refusal !== null
        ? undefined
        : { ...once, status: 200, answer: { body: answerOf(done.state) } },
  })
  if (handled === null) return refuse('not_found', `There is no task ${JSON.stringify(state.id)}.`)
  return handled.refusal === null
    ? ok(answerOf(handled.state))
    : toProblem(handled.refusal, {}, handled.events.length > 0)
}

/** Keeps what allowed calls wrote, so that it can be put back later. What is large is not kept. */
export async function keepContents(app: App, tree: string, changes: readonly Change[]): Promise<void> {
  if (!app.trees.isKnown(tree)) return
  for (const { path, type, sha256, bytes } of changes) {
    if (type !== 'file' || sha256 === null || (bytes ?? KEPT_BYTES_MAX) >= KEPT_BYTES_MAX) continue
    const content = await openWorkTree(tree).read(path)
    if (content !== null && hashContent(content) === sha256) app.trees.contents.keep(content)
  }
}

/** Keeps what is about to be replaced or deleted, so that the tree can be taken back to an earlier phase. */
export async function keepPrevious(app: App, tree: string, paths: readonly string[]): Promise<void> {
  if (!app.trees.isKnown(tree)) return
  for (const path of paths) {
    const opened = openFile(tree, path)
    if (!opened.ok) continue
    try {
      if (opened.stat.size < KEPT_BYTES_MAX) app.trees.contents.keep(await readBytes(opened.fd, KEPT_BYTES_MAX))
    } finally {
      closeSync(opened.fd)
    }
  }
}

/** What a file held that had this hash, from what was kept or from git; null when neither has it. */
export async function findContentByHash(
  app: Pick<App, 'trees' | 'confinement'>,
  one: { readonly tree: string; readonly path: string; readonly sha256: string },
): Promise<Buffer | null> {
  const kept = app.trees.contents.get(one.sha256)
  if (kept !== null) return kept
  const committed = await readFromGit(app, one)
  return committed !== null && hashContent(committed) === one.sha256 ? committed : null
}

const OUTPUT = '.phaselock-revert'
// The version of the last commits, of any branch, that has the hash. What is staged may be in none of them.
const FIND = `for at in HEAD "" $(git --literal-pathspecs rev-list -n 50 --all -- "$1"); do
  git cat-file blob "$at:$1" > ${OUTPUT} 2>/dev/null || continue
  [ "$(sha256sum < ${OUTPUT} | cut -c1-64)" = "$2" ] && exit 0
done; exit 1`

async function readFromGit(
  app: Pick<App, 'confinement'>,
  { tree, path, sha256 }: { readonly tree: string; readonly path: string; readonly sha256: string },
): Promise<Buffer | null> {
  const run = await runCommand(await app.confinement(), {
    tree,
    argv: ['bash', '-c', FIND, 'git', path, sha256],
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
