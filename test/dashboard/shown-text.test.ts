import { describe, expect, it } from 'vitest'
import { findChangedPart, listRows } from '../../dashboard/src/ui/diff/diff-rows.js'
import { computeRange } from '../../dashboard/src/ui/diff/row-range.js'
import { dropToolList } from '../../dashboard/src/ui/text/drop-tool-list.js'
import { cutText, showHidden, splitHidden } from '../../dashboard/src/ui/text/hidden-characters.js'
import { formatOrdinal } from '../../dashboard/src/ui/text/ordinal.js'
import { stripTerminal, takeLastLines } from '../../dashboard/src/ui/text/terminal-lines.js'

describe('text of agents', () => {
  it('characters that hide, turn or control text are shown by their codes', () => {
    expect(showHidden('a\u202eb\u200b\u200bc')).toBe('a[U+202E]b[U+200B]×2c')
    expect(showHidden('\u0000\u001b[31m\u2066\ufeff\u00ad')).toBe('[U+0000][U+001B][31m[U+2066][U+FEFF][U+00AD]')
    expect(showHidden('tag \u{e0041}\u{e0042} and half \ud800')).toBe('tag [U+E0041][U+E0042] and half [U+D800]')
  })

  it('ordinary text, other scripts and emoji stay as they are', () => {
    for (const text of ['', 'a\tb\nc', 'שלום مرحبا 你好', '❤️ 👍🏽', '<img src=x onerror=alert(1)>'])
      expect(splitHidden(text)).toEqual([{ kind: 'plain', text }])
  })

  it('a refusal for a person lacks the list of tools, also in brackets, and nothing else', () => {
    const refusal = 'Called bash (not allowed in PLAN). Allowed: grep, read_files'
    expect(dropToolList(refusal)).toBe('Called bash (not allowed in PLAN).')
    expect(dropToolList(`It is parked (the last: ${refusal}).`)).toBe(
      'It is parked (the last: Called bash (not allowed in PLAN)).',
    )
    expect(dropToolList('Allowed: grep (see the docs.)')).toBe('Allowed: grep (see the docs.)')
  })

  it('visits are counted as people say it', () => {
    expect([1, 2, 3, 4, 11, 12, 21, 102].map(formatOrdinal).join(' ')).toBe('1st 2nd 3rd 4th 11th 12th 21st 102nd')
  })

  it('a cut says how much is left, and keeps pairs of surrogates whole', () => {
    expect(cutText('abcdef', 4)).toEqual({ text: 'abcd', left: 2 })
    expect(cutText('abc👍', 4)).toEqual({ text: 'abc', left: 2 })
    expect(cutText('abcd', 4)).toEqual({ text: 'abcd', left: 0 })
  })

  it('terminal output loses colours, titles, links and cursor movements, and a redrawn line is its last state', () => {
    expect(stripTerminal('\u001b[31mred\u001b[0m \u001b]8;;https://x.example\u0007link\u001b]8;;\u0007')).toBe(
      'red link',
    )
    expect(stripTerminal('10%\r50%\rdone\r\nnext\u001b[2J\u001bc')).toBe('done\nnext')
    expect(stripTerminal('\u001b]0;title\u001b\\\u001bPdata\u001b\\shown\u009b1A')).toBe('shown')
    expect(takeLastLines('a\nb\nc\n', 2)).toEqual({ lines: ['b', 'c'], left: 1 })
  })
})

describe('rows of a diff', () => {
  const hunk = { old_start: 3, old_lines: 3, new_start: 3, new_lines: 3, lines: [' one', '-two', '+TWO', ' three'] }

  it('every line has its number, and replaced lines know their other side', () => {
    expect(listRows({ hunks: [hunk] })).toEqual([
      { kind: 'hunk', text: '@@ -3,3 +3,3 @@' },
      { kind: 'same', old: 3, new: 3, text: 'one' },
      { kind: 'del', old: 4, text: 'two', pair: 'TWO' },
      { kind: 'add', new: 4, text: 'TWO', pair: 'two' },
      { kind: 'same', old: 5, new: 5, text: 'three' },
    ])
    const ends = { ...hunk, lines: ['-a', '\\ No newline at end of file', '+b'] }
    expect(listRows({ hunks: [ends] }).map(({ kind }) => kind)).toEqual(['hunk', 'del', 'hunk', 'add'])
  })

  it('the part between a common beginning and end is marked, unless nearly all differs', () => {
    expect(findChangedPart('const a = 12', 'const a = 24')).toEqual({ start: 10, end: 12 })
    expect(findChangedPart('const a = 12', 'return')).toBe(null)
    expect(findChangedPart('same', null)).toBe(null)
  })

  it('of 100,000 lines only those near the screen are made', () => {
    const view = { windowHeight: 1000, count: 100_000, rowHeight: 20 }
    expect(computeRange({ ...view, top: 200 })).toEqual({ first: 0, end: 60 })
    const { first, end } = computeRange({ ...view, top: -1_000_000 })
    expect(first).toBeGreaterThan(49_900)
    expect(end - first).toBeLessThan(150)
    expect(computeRange({ ...view, top: -9_999_999 })).toEqual({ first: 100_000, end: 100_000 })
  })
})
