import type { DiffHunk, FileDiff } from './diff-types.js'

/** One row of a file's diff. `pair` is the other side of a replaced line, for marking the words that differ. */
export type DiffRow =
  | { readonly kind: 'hunk'; readonly text: string }
  | { readonly kind: 'same'; readonly old: number; readonly new: number; readonly text: string }
  | { readonly kind: 'del'; readonly old: number; readonly text: string; readonly pair: string | null }
  | { readonly kind: 'add'; readonly new: number; readonly text: string; readonly pair: string | null }

/** Every row of a file, in order. Linear in the number of lines. */
export function listRows(file: Pick<FileDiff, 'hunks'>): readonly DiffRow[] {
  const rows: DiffRow[] = []
  for (const hunk of file.hunks) {
    rows.push({ kind: 'hunk', text: formatHunk(hunk) })
    addHunk(rows, hunk)
  }
  return rows
}

function addHunk(rows: DiffRow[], hunk: DiffHunk): void {
  let oldLine = hunk.old_start
  let newLine = hunk.new_start
  const { lines } = hunk
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? ''
    if (line.startsWith('\\')) {
      rows.push({ kind: 'hunk', text: line })
      at += 1
      continue
    }
    if (!line.startsWith('-') && !line.startsWith('+')) {
      rows.push({ kind: 'same', old: oldLine, new: newLine, text: line.slice(1) })
      oldLine += 1
      newLine += 1
      at += 1
      continue
    }
    const dels = takeRun(lines, at, '-')
    const adds = takeRun(lines, at + dels.length, '+')
    at += dels.length + adds.length
    const isPaired = dels.length === adds.length
    dels.forEach((text, index) => {
      rows.push({ kind: 'del', old: oldLine + index, text, pair: isPaired ? (adds[index] ?? null) : null })
    })
    adds.forEach((text, index) => {
      rows.push({ kind: 'add', new: newLine + index, text, pair: isPaired ? (dels[index] ?? null) : null })
    })
    oldLine += dels.length
    newLine += adds.length
  }
}

function takeRun(lines: readonly string[], from: number, sign: '-' | '+'): readonly string[] {
  const run: string[] = []
  for (let at = from; lines[at]?.startsWith(sign); at += 1) run.push((lines[at] ?? '').slice(1))
  return run
}

function formatHunk({ old_start, old_lines, new_start, new_lines }: DiffHunk): string {
  return `@@ -${old_start},${old_lines} +${new_start},${new_lines} @@`
}

/** Where a replaced line differs from its other side: the middle between what both begin and end with; null: everywhere. */
export function findChangedPart(
  text: string,
  pair: string | null,
): { readonly start: number; readonly end: number } | null {
  if (pair === null || text === pair) return null
  const shorter = Math.min(text.length, pair.length)
  let start = 0
  while (start < shorter && text[start] === pair[start]) start += 1
  let tail = 0
  while (tail < shorter - start && text[text.length - 1 - tail] === pair[pair.length - 1 - tail]) tail += 1
  // Marking nearly the whole line tells nothing.
  return start + tail < shorter * 0.25 ? null : { start, end: text.length - tail }
}
