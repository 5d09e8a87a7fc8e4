import type { JsonObject } from '../../core/json.js'
import type { Change } from '../../tree/change.js'
import type { TreeStep } from '../../tree/write/tree-steps.js'
import { failTool, type ToolOutcome, type ToolPlace, writeSteps } from '../tool-place.js'
import { answerFailures, checkPath, isHidden, quotePath, toOutcome } from './file-place.js'

const WRITTEN_BYTES_MAX = 10 * 1024 * 1024

/** `write_files {path, content, mode?}` or `{files: [{path, content}]}`: every file or none. */
export async function writeFiles(place: ToolPlace, args: JsonObject): Promise<ToolOutcome> {
  return answerFailures(async () => {
    const files = listWanted(args)
    const steps: TreeStep[] = []
    const seen = new Set<string>()
    let bytes = 0
    for (const { path: given, content } of files) {
      const problem = findContentProblem(given, content)
      if (problem !== null) return failTool(problem)
      const target = resolveWritablePath(place, given)
      if (!target.ok) return target.outcome
      if (seen.has(target.path)) return failTool(`${quotePath(target.path)}: is named twice`)
      seen.add(target.path)
      const buffer = Buffer.from(content)
      bytes += buffer.length
      if (bytes > WRITTEN_BYTES_MAX) return failTool(`more than ${WRITTEN_BYTES_MAX} bytes in one call`)
      steps.push({ type: args.mode === 'a' ? 'append' : 'write', path: target.path, content: buffer })
    }
    const done = await writeSteps(place, steps)
    if (!done.ok) return toOutcome(done)
    const written = steps.map(({ path }) => summarizeChange(done.changes, path))
    const result: JsonObject =
      args.files === undefined ? { status: 'success', ...written[0] } : { status: 'success', files: written }
    return { ok: true, result, changes: done.changes }
  })
}

type WantedFile = {
  readonly path: string
  readonly content: string
}

function listWanted(args: JsonObject): readonly WantedFile[] {
  if (args.files !== undefined) return args.files as readonly WantedFile[]
  return [{ path: args.path as string, content: args.content as string }]
}

/** Half a surrogate pair cannot be written as UTF-8: it would silently become another character. */
export function findContentProblem(path: string, content: string): string | null {
  return content.isWellFormed() ? null : `${quotePath(path)}: the content holds half a surrogate pair`
}

type Writable = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly outcome: ToolOutcome }

/** Does not reveal what exists: a hidden path is refused whether it exists or not. */
export function resolveWritablePath(place: ToolPlace, given: string): Writable {
  const { path, problem } = checkPath(given)
  const refuse = (why: string): Writable => ({ ok: false, outcome: failTool(why) })
  if (problem !== null) return refuse(`${quotePath(given)} ${problem}`)
  if (path === '.') return refuse(`${quotePath(given)}: is a directory`)
  if (isHidden(place, path)) return refuse(`${quotePath(path)}: cannot be written by agents`)
  if (path.split('/').some((name) => name.toLowerCase() === '.git'))
    return refuse(`${quotePath(path)}: the git directory is changed by the git tools only`)
  return { ok: true, path }
}

function summarizeChange(changes: readonly Change[], path: string): JsonObject {
  const change = changes.find((one) => one.path === path && one.type === 'file')
  return { path, bytes: change?.bytes ?? null, sha256: change?.sha256 ?? null }
}
