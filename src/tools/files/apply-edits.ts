import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'

const EDITED_CHARS_MAX = 8 * 1024 * 1024
const COMPARISONS_MAX = 20_000_000
const DIFF_CHARS_MAX = 20_000
const DIFF_CONTEXT_LINES = 3
const DIFF_EDITS_MAX = 2_000
/** Lines times edits: the maximum cost of comparing, even on a busy machine. */
const DIFF_STEPS_MAX = 20_000_000

export type Edit = {
  readonly old: string
  readonly new: string
  readonly replace_all?: boolean
}

export interface EditJob {
  readonly path: string
  readonly text: string
  readonly edits: readonly Edit[]
}

export type EditResult =
  | { readonly ok: true; readonly text: string; readonly diff: string; readonly isCut: boolean }
  | { readonly ok: false; readonly detail: string }

/** All edits in order, each on the result of the previous one, or none. */
export function applyEdits({ path, text, edits }: EditJob): EditResult {
  let now = text
  for (const [index, edit] of edits.entries()) {
    const which = `edit ${index + 1} of ${edits.length}`
    if (edit.old === '') return { ok: false, detail: `${which}: "old" is empty` }
    const matches = findPlaces(edit.old, now)
    if (matches.length === 0)
      return { ok: false, detail: `${which}: "old" was not found (0 matches); nothing was changed` }
    if (matches.length > 1 && edit.replace_all !== true)
      return {
        ok: false,
        detail: `${which}: "old" is ambiguous (${matches.length} matches); give more of its surroundings, or replace_all`,
      }
    if (now.length + matches.length * (edit.new.length - edit.old.length) > EDITED_CHARS_MAX)
      return { ok: false, detail: `${which}: the file would be larger than ${EDITED_CHARS_MAX} characters` }
    now = replaceAt(now, edit, matches)
  }
  return { ok: true, text: now, ...buildUnifiedDiff(path, text, now) }
}

function replaceAt(text: string, edit: Edit, places: readonly number[]): string {
  const pieces: string[] = []
  let from = 0
  for (const place of places) {
    pieces.push(text.slice(from, place))
    from = place + edit.old.length
  }
  return [...pieces, text.slice(from)].join(edit.new)
}

/** The positions of a text in another one, without overlaps. */
function findPlaces(wanted: string, text: string): readonly number[] {
  return wanted.length * text.length <= COMPARISONS_MAX
    ? findPlacesByEngine(wanted, text)
    : findPlacesInOnePass(wanted, text)
}

function findPlacesByEngine(wanted: string, text: string): readonly number[] {
  const places: number[] = []
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) places.push(at)
  return places
}

// The engine's own search takes minutes for crafted texts, and cannot be interrupted. This one (Knuth, Morris and
// Pratt) reads every character at most twice.
function findPlacesInOnePass(wanted: string, text: string): readonly number[] {
  const back = new Int32Array(wanted.length)
  for (let at = 1, kept = 0; at < wanted.length; at += 1) {
    while (kept > 0 && wanted.charCodeAt(at) !== wanted.charCodeAt(kept)) kept = back[kept - 1] ?? 0
    if (wanted.charCodeAt(at) === wanted.charCodeAt(kept)) kept += 1
    back[at] = kept
  }
  const places: number[] = []
  for (let at = 0, kept = 0; at < text.length; at += 1) {
    while (kept > 0 && text.charCodeAt(at) !== wanted.charCodeAt(kept)) kept = back[kept - 1] ?? 0
    if (text.charCodeAt(at) === wanted.charCodeAt(kept)) kept += 1
    if (kept < wanted.length) continue
    places.push(at + 1 - wanted.length)
    kept = 0
  }
  return places
}

/** The change of a file for people; `isCut`: not all of it is shown. */
export function buildUnifiedDiff(
  path: string,
  before: string,
  after: string,
): { readonly diff: string; readonly isCut: boolean } {
  const diff =
    createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after, undefined, undefined, {
      context: DIFF_CONTEXT_LINES,
      maxEditLength: Math.min(DIFF_EDITS_MAX, Math.floor(DIFF_STEPS_MAX / countLines(before, after))),
      headerOptions: FILE_HEADERS_ONLY,
    }) ?? null
  if (diff === null) return { diff: '', isCut: true }
  if (diff.length <= DIFF_CHARS_MAX) return { diff, isCut: false }
  const newline = diff.lastIndexOf('\n', DIFF_CHARS_MAX)
  return { diff: diff.slice(0, newline === -1 ? DIFF_CHARS_MAX : newline + 1), isCut: true }
}

function countLines(...texts: readonly string[]): number {
  let lines = 0
  for (const text of texts) for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1
  return Math.max(1, lines)
}
