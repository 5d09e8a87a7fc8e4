import { isUtf8 } from 'node:buffer'
import { closeSync } from 'node:fs'
import type { JsonObject } from '../../core/json.js'
import { formatIdentity, isForeign, openFile } from '../../tree/lookup.js'
import { readBytes } from '../../tree/read-bytes.js'
import { failTool, type ToolOutcome, type ToolPlace, writeSteps } from '../tool-place.js'
import { applyEdits, type Edit, type EditJob, type EditResult } from './apply-edits.js'
import { answerFailures, quotePath, resolveAskedPath, toOutcome, toProblemOutcome } from './file-place.js'
import { runFileJob } from './file-workers.js'
import { findContentProblem, resolveWritablePath } from './write-files.js'

const EDITED_BYTES_MAX = 4 * 1024 * 1024
// Larger work runs in a thread, not between the requests of others.
const INLINE_CHARS_MAX = 256 * 1024
const INLINE_GROWTH_MAX = 200_000

/** `edit_files {path, edits: [{old, new, replace_all?}]}`: exact text, in order, every edit or none. */
export async function editFiles(place: ToolPlace, args: JsonObject): Promise<ToolOutcome> {
  return answerFailures(async () => {
    const edits = args.edits as readonly Edit[]
    // Visibility is checked before writing: a hidden file answers like a missing one.
    const seen = resolveAskedPath(place, args.path as string)
    if (!seen.ok) return seen.outcome
    const target = resolveWritablePath(place, args.path as string)
    if (!target.ok) return target.outcome
    for (const edit of edits) {
      const problem = findContentProblem(target.path, edit.new)
      if (problem !== null) return failTool(problem)
    }
    return editFile(place, target.path, edits)
  })
}

async function editFile(place: ToolPlace, path: string, edits: readonly Edit[]): Promise<ToolOutcome> {
  const before = await readWhole(place, path)
  if (!before.ok) return before.outcome
  const edited = await applyToText(place, { path, text: before.text, edits })
  if (!edited.ok) return failTool(`${quotePath(path)}: ${edited.detail}`)
  const content = Buffer.from(edited.text)
  const step = { type: 'write', path, content, expected: before.identity } as const
  const done = await writeSteps(place, [step])
  if (!done.ok) return toOutcome(done)
  const sha256 = done.changes.find((change) => change.path === path)?.sha256 ?? null
  const result: JsonObject = { status: 'success', path, sha256, diff: edited.diff, truncated: edited.isCut }
  return { ok: true, result, changes: done.changes }
}

type WholeText =
  | { readonly ok: true; readonly text: string; readonly identity: string }
  | { readonly ok: false; readonly outcome: ToolOutcome }

async function readWhole(place: ToolPlace, path: string): Promise<WholeText> {
  const file = openFile(place.root, path)
  if (!file.ok) return { ok: false, outcome: toOutcome(file) }
  try {
    if (isForeign(place.root, file.stat)) return { ok: false, outcome: toProblemOutcome('foreign', path) }
    const bytes = await readBytes(file.fd, EDITED_BYTES_MAX + 1)
    if (bytes.length > EDITED_BYTES_MAX) return { ok: false, outcome: toProblemOutcome('too_large', path) }
    if (bytes.includes(0) || !isUtf8(bytes))
      return { ok: false, outcome: failTool(`${quotePath(path)}: is a binary file, or not UTF-8 text`) }
    return { ok: true, text: bytes.toString('utf8'), identity: formatIdentity(file.stat) }
  } finally {
    closeSync(file.fd)
  }
}

async function applyToText(place: ToolPlace, job: EditJob): Promise<EditResult> {
  const wanted = job.edits.reduce((sum, edit) => sum + edit.old.length + edit.new.length, 0)
  const mayGrow = job.edits.some((edit) => edit.replace_all === true)
  const isSmall =
    (job.text.length + wanted) * job.edits.length <= INLINE_CHARS_MAX &&
    (!mayGrow || job.text.length * wanted <= INLINE_GROWTH_MAX)
  if (isSmall) return applyEdits(job)
  const answer = await runFileJob(place, { type: 'edit', ...job })
  return answer.ok ? (answer.value as EditResult) : { ok: false, detail: answer.detail }
}
