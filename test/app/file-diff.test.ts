import { applyPatch } from 'diff'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildHunks, countLines, decodeText, type Hunk, LINE_CHARS_MAX } from '../../src/app/diffs/file-diff.js'

const LINES = fc.array(fc.constantFrom('a', 'b', 'c', '', 'a longer line'), { maxLength: 30 })
const TEXT = fc
  .tuple(LINES, fc.boolean())
  .map(([lines, ends]) => lines.join('\n') + (ends && lines.length > 0 ? '\n' : ''))

// The package counts the start of a side without lines from one.
const startOf = (start: number, lines: number): number => (lines === 0 ? start + 1 : start)

function apply(before: string, hunks: readonly Hunk[]): string | false {
  const patch = hunks.map((hunk) => ({
    ...{ oldStart: startOf(hunk.old_start, hunk.old_lines), oldLines: hunk.old_lines },
    ...{ newStart: startOf(hunk.new_start, hunk.new_lines), newLines: hunk.new_lines },
    lines: [...hunk.lines],
  }))
  return applyPatch(before, { oldFileName: '', newFileName: '', oldHeader: '', newHeader: '', hunks: patch } as never)
}

describe('the lines that changed', () => {
  it('[REQ-CHANGED-1] what is not text is not shown as text', () => {
    expect(decodeText(Buffer.from([0x61, 0, 0x62]))).toBeNull()
    expect(decodeText(Buffer.from([0xff, 0xfe, 0x61]))).toBeNull()
    expect(decodeText(Buffer.from('tëxt\n'))).toBe('tëxt\n')
  })

  it('[REQ-CHANGED-1] the hunks turn the earlier text into the later one, compared or replaced as a whole', () => {
    fc.assert(
      fc.property(TEXT, TEXT, fc.constantFrom(0, 8_000_000), (before, after, steps) => {
        const hunks = buildHunks(before, after, { steps })
        expect(hunks.length === 0).toBe(before === after)
        if (before !== after) expect(apply(before, hunks)).toBe(after)
      }),
      { numRuns: 500 },
    )
  })

  it('[REQ-CHANGED-1] texts without a line in common are one replaced part, and cost no comparing', () => {
    const before = Array.from({ length: 50_000 }, (_, at) => `old ${at}`).join('\n')
    const after = Array.from({ length: 50_000 }, (_, at) => `new ${at}`).join('\n')
    const budget = { steps: 4_000_000 }
    const hunks = buildHunks(before, after, budget)
    expect(countLines(hunks)).toEqual({ additions: 50_000, deletions: 50_000 })
    expect(budget.steps).toBe(3_000_000)
  })

  it('[REQ-CHANGED-1] a long line is cut, and says so', () => {
    const [hunk] = buildHunks('', `${'x'.repeat(1_000_000)}\n`, { steps: 0 })
    expect(hunk?.lines).toEqual([`+${'x'.repeat(LINE_CHARS_MAX)}… [${1_000_000 - LINE_CHARS_MAX} more characters]`])
  })
})
