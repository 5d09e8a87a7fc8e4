import { closeSync } from 'node:fs'
import { isAtOrBelow } from '../../base/is-at-or-below.js'
import { sha256Hex } from '../../base/sha256.js'
import { askGit } from '../../confinement/changes/git-listing.js'
import type { JsonObject } from '../../core/json.js'
import { AGENT_CLI_FILES } from '../../core/paths/agent-cli-files.js'
import type { TaskState } from '../../core/task/state.js'
import type { Change } from '../../tree/change.js'
import { findFileHash } from '../../tree/find-file-hash.js'
import { openFile } from '../../tree/lookup.js'
import { TREE_PROBLEMS } from '../../tree/problems.js'
import { readBytes } from '../../tree/read-bytes.js'
import type { Difference } from '../../tree/tree-contents.js'
import { openWorkTree } from '../../tree/work-tree.js'
import type { TreeStep } from '../../tree/write/tree-steps.js'
import { applyTo } from '../find-task.js'
import { keepBody, type Once } from '../kept-answer.js'
import type { Resources } from '../resources.js'
import { noTask, ok, type Result, refuse } from '../result.js'
import { toTaskView } from '../tasks/views.js'
import { KEPT_BYTES_MAX } from './kept-contents.js'
import { refuseMissingTree } from './missing-tree.js'
import { makeWriteTree, NotWritten, recordWithTree, type TreeChange } from './tree-changes.js'
import type { Line } from './tree-journal.js'
import type { Accepted } from './trees.js'

const PATHS_TOLD_MAX = 200

interface TreeRequest {
  readonly taskId: string
  /** The paths to accept or revert; null: all that differ. */
  readonly paths: readonly string[] | null
  readonly reason: string
  readonly actor: string
  readonly once: Once | undefined
}

/** Accepts changes that no allowed call explains, with a reason. */
export async function acceptTree(app: Resources, request: TreeRequest): Promise<Result<JsonObject>> {
  const found = await findChangedPaths(app, request, 'with dependencies')
  if (!found.ok) return found
  const { state, differences, index } = found.value
  const paths = differences.map((difference) => difference.path)
  const accepted = paths.map((path): Accepted => [path, index.entries[path] ?? null, index.packages[path] ?? null])
  await keepPrevious(app, state.workspace, [...AGENT_CLI_FILES.keys()])
  const accept = (change: TreeChange): Promise<void> =>
    change.expect([], { accepted, settled: paths, dependencies: paths })
  return recordWithTree(app, state, (change) =>
    record(app, state, { type: 'tree_accepted', differences, request, change, write: accept }),
  )
}

/** Reverts changes made without an allowed call. All of them or none. */
export async function revertTree(app: Resources, request: TreeRequest): Promise<Result<JsonObject>> {
  const found = await findChangedPaths(app, request)
  if (!found.ok) return found
  const { state, differences } = found.value
  const steps: TreeStep[] = []
  const open = new Map(app.trees.tasks.findOpen(state.workspace, state.id).map(({ path, was }) => [path, was]))
  for (const { path, kind } of differences) {
    if (kind === 'created') steps.push({ type: 'delete', path, isRecursive: true })
    else {
      const sha256 = open.has(path) ? findFileHash(open.get(path)) : app.trees.findExpectedHash(state.workspace, path)
      const content = sha256 === null ? null : await findContentByHash(app, { tree: state.workspace, path, sha256 })
      if (content === null)
        return refuse(
          'conflict',
          `The earlier content of ${JSON.stringify(path)} was not recorded. Restore it by hand, or accept the change.`,
        )
      steps.push({ type: 'write', path, content })
    }
  }
  const settled = differences.map(({ path }) => path).filter((path) => open.has(path))
  const lines: readonly Line[] = settled.map((path) => [path, open.get(path) ?? null])
  const revert = async (change: TreeChange): Promise<void> => {
    const done = await change.apply({ steps, lines: () => lines, follow: { settled } })
    if (!done.ok) throw new NotWritten(`${JSON.stringify(done.path)} ${TREE_PROBLEMS[done.problem]}`)
  }
  return recordWithTree(app, state, (change) =>
    record(app, state, { type: 'tree_reverted', differences, request, change, write: revert }),
  ).catch((error: unknown) => {
    if (!(error instanceof NotWritten)) throw error
    return refuse('conflict', `${error.message}; nothing was reverted.`)
  })
}

interface FoundChanges {
  readonly state: TaskState
  readonly differences: readonly Difference[]
  readonly index: Awaited<ReturnType<Resources['trees']['compare']>>['index']
}

// Installed packages and ignored files have no expected content: they can be accepted but not reverted.
async function findChangedPaths(
  app: Resources,
  { taskId, paths }: TreeRequest,
  which: 'tree' | 'with dependencies' = 'tree',
): Promise<Result<FoundChanges>> {
  const state = await app.ledger.peek(taskId)
  if (state === null) return noTask(taskId)
  const missing = refuseMissingTree(state)
  if (missing !== null) return missing
  if (app.checking.has(taskId)) return refuse('conflict', `The gates of task ${taskId} are being checked.`)
  const compared = await app.trees.compare(state.workspace)
  const isAsked = (path: string): boolean => paths === null || paths.includes(path)
  const tracked = app.trees.tasks.listUnexplained(state, compared).filter(({ path }) => isAsked(path))
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

/** Dependencies and ignored files that were added or changed since work began; requested paths may be folders. */
async function findIgnoredChanges(
  app: Resources,
  { id, workspace }: TaskState,
  paths: readonly string[] | null,
): Promise<readonly Difference[]> {
  const since = (await app.views.findDependencyChanges(id, workspace)) ?? []
  const asked = paths?.filter((path) => since.some((one) => isAtOrBelow(path, one) || isAtOrBelow(one, path))) ?? since
  return asked.map((path) => ({ path, kind: 'modified' }))
}

async function record(
  app: Resources,
  state: TaskState,
  decision: {
    readonly type: 'tree_accepted' | 'tree_reverted'
    readonly differences: readonly Difference[]
    readonly request: TreeRequest
    readonly change: TreeChange
    readonly write: (change: TreeChange) => Promise<void>
  },
): Promise<Result<JsonObject>> {
  const { type, request, differences, change, write } = decision
  const contract = await app.contracts.get(state.contract.hash)
  const paths = differences.slice(0, PATHS_TOLD_MAX).map((each) => each.path)
  const answerOf = (done: TaskState): JsonObject => ({ ...toTaskView(done), paths, path_count: differences.length })
  const command = { type, paths, pathCount: differences.length, reason: request.reason } as const
  const { once, actor } = request
  const writeTree = makeWriteTree(change, write)
  const by = { actor, isHolding: true, remember: keepBody(once, 200, answerOf), writeTree }
  const handled = await applyTo(app, { state, contract }, command, by)
  if (!handled.ok) return handled
  change.confirm(handled.value)
  return ok(answerOf(handled.value.state))
}

/** Stores what allowed calls wrote, so that it can be restored later. Large files are not stored. */
export async function keepContents(app: Resources, tree: string, changes: readonly Change[]): Promise<void> {
  if (!app.trees.isKnown(tree)) return
  for (const { path, type, sha256, bytes } of changes) {
    if (type !== 'file' || sha256 === null || (bytes ?? KEPT_BYTES_MAX) >= KEPT_BYTES_MAX) continue
    const content = await openWorkTree(tree).read(path)
    if (content !== null && sha256Hex(content) === sha256) app.trees.contents.keep(content)
  }
}

/** Stores what is about to be replaced or deleted, so that the tree can be taken back to an earlier phase. */
export async function keepPrevious(app: Resources, tree: string, paths: readonly string[]): Promise<void> {
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

/** The content with this hash, from the store or from git; null when neither has it. */
export async function findContentByHash(
  app: Pick<Resources, 'trees' | 'confinement'>,
  one: { readonly tree: string; readonly path: string; readonly sha256: string },
): Promise<Buffer | null> {
  const kept = app.trees.contents.get(one.sha256)
  if (kept !== null) return kept
  const committed = await readFromGit(app, one)
  return committed !== null && sha256Hex(committed) === one.sha256 ? committed : null
}

const OUTPUT = '.phaselock-revert'
// The version with this hash in the latest commits of any branch. Staged content may be in none of them.
const FIND = `for at in HEAD "" $(git --literal-pathspecs rev-list -n 50 --all -- "$1"); do
  git cat-file blob "$at:$1" > ${OUTPUT} 2>/dev/null || continue
  [ "$(sha256sum < ${OUTPUT} | cut -c1-64)" = "$2" ] && exit 0
done; exit 1`

async function readFromGit(
  app: Pick<Resources, 'confinement'>,
  { tree, path, sha256 }: { readonly tree: string; readonly path: string; readonly sha256: string },
): Promise<Buffer | null> {
  const place = { confinement: await app.confinement(), tree, hidden: [], signal: new AbortController().signal }
  const run = await askGit(place, ['bash', '-c', FIND, 'git', path, sha256], { collect: [OUTPUT] })
  return run.exitCode === 0 ? (run.files.get(OUTPUT) ?? null) : null
}
