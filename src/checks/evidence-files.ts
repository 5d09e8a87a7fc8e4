import type { EvidenceField } from '../core/contract/contract.js'
import type { Json, JsonObject } from '../core/json.js'
import { type FileStamp, stampFile } from '../tree/file-stamp.js'
import { TREE_PROBLEMS } from '../tree/problems.js'

/** A file that evidence names: what it is, or why it does not count. */
export type FileSeen =
  | { readonly ok: true; readonly sha256: string; readonly bytes: number }
  | { readonly ok: false; readonly why: string }

const FILES_MAX = 200
// Limit for all files together: each is read whole, and a sparse one costs the agent nothing.
const BYTES_MAX = 512 * 1024 * 1024
// File times have the resolution of a kernel tick: a file written just after the visit began may seem that much older.
const TICK_MS = 10

interface FileScene {
  readonly root: string
  /** Unix milliseconds. */
  readonly visitStartedAt: number
  /** Paths that agents must not see. */
  readonly isHidden: (path: string) => boolean
}

/** Reads every file that fields of grade `artifact` name. */
export async function lookAtFiles(
  scene: FileScene,
  fields: ReadonlyMap<string, EvidenceField>,
  given: JsonObject,
): Promise<ReadonlyMap<string, FileSeen>> {
  const paths = new Set<string>()
  for (const [name, field] of fields)
    if (field.grade === 'artifact' && Object.hasOwn(given, name))
      for (const path of pathsOf(given[name]) ?? []) paths.add(path)
  const seen = new Map<string, FileSeen>()
  let bytes = 0
  for (const path of [...paths].slice(0, FILES_MAX)) {
    const stamp = bytes > BYTES_MAX ? null : await readStamp(scene, path)
    if (stamp?.ok === true) bytes += stamp.bytes
    seen.set(path, stamp === null ? TOO_MUCH : judgeStamp(scene, stamp))
  }
  return seen
}

const TOO_MUCH: FileSeen = { ok: false, why: `was not read: the files have more than ${BYTES_MAX} bytes` }

async function readStamp(scene: FileScene, path: string): Promise<StampResult> {
  const parts = path.split('/')
  if (parts.includes('.git')) return { ok: false, why: 'belongs to git, not to the work' }
  if (scene.isHidden(parts.filter((part) => part !== '' && part !== '.').join('/')))
    return { ok: false, why: TREE_PROBLEMS.missing }
  const stamp = await stampFile(scene.root, path)
  return stamp.ok ? stamp : { ok: false, why: TREE_PROBLEMS[stamp.problem] }
}

type StampResult = ({ readonly ok: true } & FileStamp) | { readonly ok: false; readonly why: string }

function judgeStamp(scene: FileScene, stamp: StampResult): FileSeen {
  if (!stamp.ok) return stamp
  if (stamp.bytes === 0) return { ok: false, why: 'is empty' }
  // The modification time can be set to anything; the change time cannot, so both together show when it was written.
  if (Math.min(stamp.modifiedMs, stamp.changedMs) + TICK_MS < scene.visitStartedAt)
    return { ok: false, why: 'is older than this visit of the phase' }
  return { ok: true, sha256: stamp.sha256, bytes: stamp.bytes }
}

/** The paths that a field of grade `artifact` names; null when it names none. */
export function pathsOf(value: Json | undefined): readonly string[] | null {
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) return null
  return value as readonly string[]
}
