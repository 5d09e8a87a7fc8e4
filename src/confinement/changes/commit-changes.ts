import { constants, lstatSync, openSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Change } from '../../tree/change.js'
import { TREE_PROBLEMS } from '../../tree/problems.js'
import type { TreeStep } from '../../tree/write/tree-steps.js'
import type { WriteSteps } from '../confinement.js'

/**
 * Applies changes read from a view to the work tree, all of them or none. Returns why none was applied; null: all were.
 */
export async function commitChanges(after: string, list: readonly Change[], write: WriteSteps): Promise<string | null> {
  const steps = planSteps(after, list)
  if (steps.length === 0) return null
  const done = await write(steps)
  return done.ok ? null : `${JSON.stringify(done.path)} ${TREE_PROBLEMS[done.problem]}`
}

// Obstacles are removed first, then folders are made from the top, then their contents.
function planSteps(after: string, list: readonly Change[]): readonly TreeStep[] {
  const gone = list.filter((change) => change.kind === 'deleted')
  const stays = list.filter((change) => change.kind !== 'deleted')
  return [
    ...keepTopmost(gone).map((change): TreeStep => ({ type: 'delete', path: change.path, isRecursive: true })),
    ...stays.filter((change) => change.type === 'directory').map((change) => makeFolderStep(after, change)),
    ...stays.filter((change) => change.type !== 'directory').map((change) => makeEntryStep(after, change)),
  ]
}

function keepTopmost(gone: readonly Change[]): readonly Change[] {
  const folders = new Set(gone.filter((change) => change.type === 'directory').map((change) => change.path))
  return gone.filter(({ path }) => {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
      if (folders.has(path.slice(0, at))) return false
    return true
  })
}

function makeFolderStep(after: string, { path, kind }: Change): TreeStep {
  const mode = lstatSync(join(after, path)).mode & 0o777
  return kind === 'created' ? { type: 'make_directory', path, mode } : { type: 'set_mode', path, mode }
}

function makeEntryStep(after: string, { path, type, sha256 }: Change): TreeStep {
  const from = join(after, path)
  if (type === 'link') return { type: 'make_link', path, target: readlinkSync(from) }
  return {
    type: 'write',
    path,
    ...(sha256 === null ? {} : { sha256 }),
    mode: lstatSync(from).mode & 0o777,
    content: () => openSync(from, constants.O_RDONLY | constants.O_NOFOLLOW),
  }
}
