import type { Contract } from '../../core/contract/contract.js'
import type { Needs } from '../../core/gates/needs.js'
import type { JsonObject } from '../../core/json.js'
import type { CheckOutcome } from '../../core/task/command.js'
import type { ArtifactRef } from '../../core/task/fact-parts.js'
import type { TaskState } from '../../core/task/state.js'
import { requirePhase } from '../../core/tool-calls/offered-tools.js'
import type { Blob } from '../../store/store.js'
import { buildUnifiedDiff } from '../../tools/files/apply-edits.js'
import type { TreeIndex } from '../../tree/tree-contents.js'
import { openWorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import { blobOf } from '../blobs.js'
import { startOfWork } from '../test-runs/start-of-work.js'
import { getReserved, isHiddenBy } from '../tool-calls/contract-paths.js'
import { WORK_BEGAN } from '../trees/trees.js'

const FILES_MAX = 200
const FILE_BYTES_MAX = 256 * 1024
const ALL_CHARS_MAX = 512 * 1024

interface ReviewChanges {
  readonly shown: readonly ArtifactRef[]
  readonly blobs: readonly Blob[]
}

/**
 * What a reviewing person is shown: all changes of the task and the results of the checks. Empty if the phase does not
 * ask for a review.
 */
export async function reviewChanges(
  app: App,
  contract: Contract,
  state: TaskState,
  seen: {
    readonly needed: Needs
    readonly index: TreeIndex | null
    readonly checks: ReadonlyMap<string, CheckOutcome>
  },
): Promise<ReviewChanges> {
  if (!seen.needed.demand.full || requirePhase(contract, state.phase).reviewBy !== 'other')
    return { shown: [], blobs: [] }
  const checks = seen.needed.checks.flatMap(({ key, blocker }): readonly JsonObject[] => {
    const outcome = seen.checks.get(key)
    const { check, severity } = blocker
    return outcome === undefined
      ? []
      : [{ check, severity, result: outcome.result, found: outcome.found, grade: outcome.grade }]
  })
  const { files, left } = await collectChangedFiles(app, contract, state, seen.index)
  const all = { changes: files, ...(left === 0 ? {} : { changes_not_shown: left }), checks }
  const blob = blobOf(app.redact(all))
  const about = { sha256: blob.sha256, bytes: Buffer.byteLength(blob.content), grade: 'artifact' } as const
  return { shown: [{ type: 'changes_to_review', ...about }], blobs: [blob] }
}

async function collectChangedFiles(app: App, contract: Contract, state: TaskState, now: TreeIndex | null) {
  const start = app.trees.readMark(state.workspace, state.id, WORK_BEGAN)
  if (start === null || now === null) return { files: [{ note: NOT_COMPARED }], left: 0 }
  const isHidden = isHiddenBy(getReserved(app, contract, state.workspace))
  const moved = [...new Set([...Object.keys(start.entries), ...Object.keys(now.entries)])]
    .filter((path) => start.entries[path] !== now.entries[path] && !isHidden(path))
    .sort()
  const before = startOfWork(app, contract, state).tree
  const tree = openWorkTree(state.workspace)
  const files: JsonObject[] = []
  let room = ALL_CHARS_MAX
  for (const path of moved.slice(0, FILES_MAX)) {
    const was = start.entries[path]
    const is = now.entries[path]
    const change = was === undefined ? 'created' : is === undefined ? 'deleted' : 'modified'
    const texts = [await readText(was, () => before.read(path)), await readText(is, () => tree.read(path))] as const
    const { diff, isCut } =
      texts[0] === null || texts[1] === null ? NO_TEXT : buildUnifiedDiff(path, texts[0], texts[1])
    const isShown = !isCut && diff.length <= room
    if (isShown) room -= diff.length
    files.push({
      path,
      change,
      ...(isShown ? { diff } : { note: 'not text, or too large: read it in the work tree' }),
    })
  }
  return { files, left: Math.max(0, moved.length - FILES_MAX) }
}

const NOT_COMPARED = 'This contract does not compare the work tree: read it yourself'
const NO_TEXT = { diff: '', isCut: true }

async function readText(entry: string | undefined, read: () => Promise<Buffer | null>): Promise<string | null> {
  if (entry === undefined) return ''
  const content = entry.startsWith('file ') ? await read() : Buffer.from(entry)
  if (content === null || content.length > FILE_BYTES_MAX) return null
  const text = content.toString('utf8')
  return Buffer.from(text).equals(content) ? text : null
}
