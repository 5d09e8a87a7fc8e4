import type { JsonObject } from '../../core/json.js'
import type { Change } from '../../tree/change.js'
import type { TreeStep } from '../../tree/write/tree-steps.js'
import { openTreeWriter } from '../../tree/write/tree-writer.js'
import { failed, type ToolOutcome, type ToolPlace } from '../tool-place.js'
import { answering, isHidden, quoted, safePath, told } from './file-place.js'
import { treeLock } from './tree-lock.js'

const WRITTEN_BYTES_MAX = 10 * 1024 * 1024

/** `write_files {path, content, mode?}` or `{files: [{path, content}]}`: every file or none. */
export async function writeFiles(place: ToolPlace, args: JsonObject): Promise<ToolOutcome> {
  return answering(async () => {
    const files = wanted(args)
    const steps: TreeStep[] = []
    const seen = new Set<string>()
    let bytes = 0
    for (const { path: given, content } of files) {
      const problem = contentProblem(given, content)
      if (problem !== null) return failed(problem)
      const target = writablePath(place, given)
      if (!target.ok) return target.outcome
      if (seen.has(target.path)) return failed(`${quoted(target.path)}: is named twice`)
      seen.add(target.path)
      const buffer = Buffer.from(content)
      bytes += buffer.length
      if (bytes > WRITTEN_BYTES_MAX) return failed(`more than ${WRITTEN_BYTES_MAX} bytes in one call`)
      steps.push({ type: args.mode === 'a' ? 'append' : 'write', path: target.path, content: buffer })
    }
    const done = await treeLock.run(place.root, () => openTreeWriter(place.root).commit(steps, place.signal))
    if (!done.ok) return told(done)
    const written = steps.map(({ path }) => summary(done.changes, path))
    const result: JsonObject =
      args.files === undefined ? { status: 'success', ...written[0] } : { status: 'success', files: written }
    return { ok: true, result, changes: done.changes }
  })
}

type Wanted = {
  readonly path: string
  readonly content: string
}

function wanted(args: JsonObject): readonly Wanted[] {
  if (args.files !== undefined) return args.files as readonly Wanted[]
  return [{ path: args.path as string, content: args.content as string }]
}

/** Half a character cannot be written as UTF-8: it would silently become another one. */
export function contentProblem(path: string, content: string): string | null {
  return content.isWellFormed() ? null : `${quoted(path)}: the content holds half a surrogate pair`
}

type Writable = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly outcome: ToolOutcome }

/** Names nothing about what is there: a path that agents may not see is refused whether it exists or not. */
export function writablePath(place: ToolPlace, given: string): Writable {
  const { path, problem } = safePath(given)
  const refuse = (why: string): Writable => ({ ok: false, outcome: failed(why) })
  if (problem !== null) return refuse(`${quoted(given)} ${problem}`)
  if (path === '.') return refuse(`${quoted(given)}: is a directory`)
  if (isHidden(place, path)) return refuse(`${quoted(path)}: cannot be written by agents`)
  if (path.split('/').some((name) => name.toLowerCase() === '.git'))
    return refuse(`${quoted(path)}: the git directory is changed by the git tools only`)
  return { ok: true, path }
}

function summary(changes: readonly Change[], path: string): JsonObject {
  const change = changes.find((one) => one.path === path && one.type === 'file')
  return { path, bytes: change?.bytes ?? null, sha256: change?.sha256 ?? null }
}
