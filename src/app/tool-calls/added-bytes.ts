import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../core/json.js'
import type { TaskState } from '../../core/task/state.js'
import { findBytesProblem, getMinimumBytes, TASK_BYTES_MAX } from '../../core/task/task-bytes.js'
import { failTool, type ToolOutcome } from '../../tools/tool-place.js'
import type { Change } from '../../tree/change.js'

/** Changes the default limit for all tasks of a server. */
const VARIABLE = 'PHASELOCK_TASK_BYTES'

/** How many bytes each task may add to its work tree. */
export function readTaskBytesMax(environment: NodeJS.ProcessEnv): number {
  const given = Number(environment[VARIABLE] ?? '')
  return Number.isSafeInteger(given) && given > 0 ? given : TASK_BYTES_MAX
}

/** The paths that a file tool writes. */
export function listWrittenPaths(args: JsonObject): readonly string[] {
  const files = Array.isArray(args.files) ? (args.files as readonly JsonObject[]) : [args]
  return files.flatMap(({ path }) => (typeof path === 'string' ? [path] : []))
}

/** By how much a command's pending changes would grow the tree. */
export function countChangeBytes(tree: string, changes: readonly Change[]): number {
  const paths = changes.filter(({ kind, type }) => kind === 'modified' && type === 'file').map(({ path }) => path)
  return sumAddedBytes(changes, readSizes(tree, paths))
}

/** By how much a file tool grew the tree. */
export function countToolBytes(outcome: ToolOutcome, before: ReadonlyMap<string, number>): number {
  return outcome.ok ? sumAddedBytes(outcome.changes, before) : 0
}

/** The sizes of files before a call changes them. */
export function readSizes(tree: string, paths: readonly string[]): ReadonlyMap<string, number> {
  return new Map(paths.map((path) => [path, readSize(tree, path)]))
}

// Shrinking files do not count.
function sumAddedBytes(changes: readonly Change[], before: ReadonlyMap<string, number>): number {
  let added = 0
  for (const { path, kind, type, bytes } of changes) {
    const least = kind === 'created' ? getMinimumBytes(type) : 0
    added += Math.max(least, (bytes ?? 0) - (before.get(path) ?? 0))
  }
  return added
}

/**
 * The refusal of a file tool that would add too much; null when it may run. An edit is judged by what was added before
 * it.
 */
export function refuseBytes(
  call: { readonly tool: string; readonly args: JsonObject },
  state: TaskState,
  about: { readonly before: ReadonlyMap<string, number>; readonly bytesMax: number },
): ToolOutcome | null {
  const { tool, args } = call
  const files = (Array.isArray(args.files) ? args.files : [args]) as readonly JsonObject[]
  let added = 0
  for (const { path, content } of files) {
    const size = about.before.get(String(path)) ?? 0
    const least = size === 0 ? getMinimumBytes('file') : 0
    const there = args.mode === 'a' ? 0 : size
    if (typeof content === 'string') added += Math.max(least, Buffer.byteLength(content) - there)
    else added += 1
  }
  const problem = findBytesProblem(state, added, about.bytesMax)
  return problem === null ? null : failTool(`${tool} ${problem}. Nothing was written.`, 'constraint_violation')
}

// Only the size: the code that opens the file checks its type.
function readSize(tree: string, path: string): number {
  try {
    return lstatSync(join(tree, path)).size
  } catch {
    // Missing or not nameable: then all of its content is new.
    return 0
  }
}
