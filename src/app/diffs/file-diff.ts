import { structuredPatch } from 'diff'

const CONTEXT_LINES = 3
const EDITS_MAX = 1000
export const LINE_CHARS_MAX = 2000
const BINARY_BYTES_LOOKED_AT = 8000

/** A part of a file that changed. Each line begins with ` `, `-`, `+` or, without a newline at its end, `\`. */
export interface Hunk {
  readonly old_start: number
  readonly old_lines: number
  readonly new_start: number
  readonly new_lines: number
  readonly lines: readonly string[]
}

/** What comparing may still cost: the square of the edits, summed over all files of an answer. */
export interface DiffBudget {
  steps: number
}

/** The text of a file; null when it is not text. */
export function decodeText(content: Buffer): string | null {
  if (content.subarray(0, BINARY_BYTES_LOOKED_AT).includes(0)) return null
  const text = content.toString('utf8')
  return Buffer.byteLength(text) === content.length && Buffer.from(text).equals(content) ? text : null
}

/** The hunks between two texts. Texts that differ too much are shown as one replaced part. */
export function buildHunks(before: string, after: string, budget: DiffBudget): readonly Hunk[] {
  if (before === after) return []
  const edits = Math.min(EDITS_MAX, Math.floor(Math.sqrt(Math.max(0, budget.steps))))
  // Without lines on one side, there is nothing to compare.
  const isWhole = before === '' || after === ''
  const patch =
    isWhole || edits === 0
      ? undefined
      : structuredPatch('', '', before, after, undefined, undefined, { context: CONTEXT_LINES, maxEditLength: edits })
  if (!isWhole) budget.steps -= patch === undefined ? edits ** 2 : countChanged(patch.hunks) ** 2
  return (patch === undefined ? [replaceMiddle(before, after)] : patch.hunks.map(toHunk)).map(cutLines)
}

/** How many lines were added and removed. */
export function countLines(hunks: readonly Hunk[]): { readonly additions: number; readonly deletions: number } {
  let additions = 0
  let deletions = 0
  for (const { lines } of hunks)
    for (const line of lines) {
      if (line.startsWith('+')) additions += 1
      else if (line.startsWith('-')) deletions += 1
    }
  return { additions, deletions }
}

interface PatchHunk {
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
  readonly lines: readonly string[]
}

// As in a unified diff: a side without lines names the line before it.
function toHunk({ oldStart, oldLines, newStart, newLines, lines }: PatchHunk): Hunk {
  return {
    ...{ old_start: oldLines === 0 ? oldStart - 1 : oldStart, old_lines: oldLines },
    ...{ new_start: newLines === 0 ? newStart - 1 : newStart, new_lines: newLines },
    lines,
  }
}

function countChanged(hunks: readonly PatchHunk[]): number {
  return hunks.reduce((sum, { lines }) => sum + lines.filter((line) => !line.startsWith(' ')).length, 0)
}

const NO_NEWLINE = '\\ No newline at end of file'

// Common lines at the beginning and end are left out, except for the context.
function replaceMiddle(before: string, after: string): Hunk {
  const old = splitLines(before)
  const now = splitLines(after)
  const most = Math.min(old.length, now.length)
  let head = 0
  while (head < most && old[head] === now[head]) head += 1
  let tail = 0
  while (tail < most - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1
  const from = Math.max(0, head - CONTEXT_LINES)
  const kept = Math.min(CONTEXT_LINES, tail)
  const oldEnd = old.length - tail
  const newEnd = now.length - tail
  const oldLines = oldEnd + kept - from
  const newLines = newEnd + kept - from
  return {
    ...{ old_start: oldLines === 0 ? from : from + 1, old_lines: oldLines },
    ...{ new_start: newLines === 0 ? from : from + 1, new_lines: newLines },
    lines: [
      ...old.slice(from, head).flatMap((line) => signLine(' ', line)),
      ...old.slice(head, oldEnd).flatMap((line) => signLine('-', line)),
      ...now.slice(head, newEnd).flatMap((line) => signLine('+', line)),
      ...old.slice(oldEnd, oldEnd + kept).flatMap((line) => signLine(' ', line)),
    ],
  }
}

/** The lines of a text, each with its newline: a last line without one differs from the same line with one. */
function splitLines(text: string): readonly string[] {
  const lines = text.split('\n')
  const last = lines.pop() ?? ''
  return [...lines.map((line) => `${line}\n`), ...(last === '' ? [] : [last])]
}

function signLine(sign: string, line: string): readonly string[] {
  return line.endsWith('\n') ? [`${sign}${line.slice(0, -1)}`] : [`${sign}${line}`, NO_NEWLINE]
}

function cutLines(hunk: Hunk): Hunk {
  return hunk.lines.every((line) => line.length <= LINE_CHARS_MAX + 1) ? hunk : { ...hunk, lines: hunk.lines.map(cut) }
}

// The cut is shown, so that an approver knows that a part of the line is hidden.
function cut(line: string): string {
  if (line.length <= LINE_CHARS_MAX + 1) return line
  const shown = line.slice(0, LINE_CHARS_MAX + 1).toWellFormed()
  return `${shown}… [${line.length - shown.length} more characters]`
}
