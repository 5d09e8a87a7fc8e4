import { expect, test } from 'vitest'
import { countColumns, formatTable } from '../../src/cli/terminal/table.js'
import { plainJson, plainLine, plainText } from '../../src/core/plain-text.js'
import { cpuMs } from '../cpu-time.js'

const HOSTILE: readonly (readonly [name: string, text: string, left: string])[] = [
  ['a colour', 'a\u001B[31mb\u001B[0m', 'ab'],
  ['a cursor movement', 'a\u001B[2A\u001B[1Gb', 'ab'],
  ['a window title', 'a\u001B]0;title\u0007b', 'ab'],
  ['a link ended by ST', 'a\u001B]8;;http://x\u001B\\b', 'ab'],
  ['a device control string', 'a\u001BPq#0\u001B\\b', 'ab'],
  ['an application command', 'a\u001B_G1\u001B\\b', 'ab'],
  ['an eight-bit control sequence', 'a\u009B31mb', 'ab'],
  ['an eight-bit command string', 'a\u009D0;t\u009Cb', 'ab'],
  ['a string that never ends', 'a\u001B]0;title', 'a0;title'],
  ['a sequence inside a sequence', 'a\u001B\u001B[31m[31mb', 'a31mb'],
  ['a full reset', 'a\u001Bcb', 'ab'],
  ['a character set switch', 'a\u001B(0b', 'ab'],
  ['a lone escape at the end', 'a\u001B', 'a'],
  ['a carriage return', 'safe\rfake', 'safefake'],
  ['backspaces', 'ab\b\bcd', 'abcd'],
  ['NUL, BEL and DEL', 'a\u0000b\u0007c\u007F', 'abc'],
  ['right-to-left override', 'a\u202Egnp.exe\u202C', 'agnp.exe'],
  ['isolates', '\u2066a\u2069', 'a'],
  ['zero-width characters', 'pass\u200Bwo\u200Drd\uFEFF', 'password'],
  ['tag characters', 'a\u{E0041}\u{E007F}b', 'ab'],
  ['line separators', 'a\u2028b\u2029c', 'abc'],
  ['a lone surrogate', 'a\uD800b', 'a\uFFFDb'],
]

test.each(HOSTILE)('[REQ-CLI-10] %s does not survive', (_name, text, left) => {
  expect(plainText(text)).toBe(left)
})

test('[REQ-CLI-10] line breaks, tabs, letters and pictures survive', () => {
  expect(plainText('a\tb\r\nc\nÄ 日本 🎉 é')).toBe('a\tb\nc\nÄ 日本 🎉 é')
})

test('[REQ-CLI-10] no character that a terminal interprets is left', () => {
  const all = Array.from({ length: 0x3000 }, (_, at) => String.fromCharCode(at)).join('')
  expect(plainText(all)).not.toMatch(/[^\P{C}\n\t\u0378-\u2FFF]/u)
  expect(plainLine('a\nb\t c')).toBe('a b c')
})

test('[REQ-CLI-10] JSON for a terminal says the same and carries no control character', () => {
  const value = { text: 'a\u001B[31m\u009B\u202E\u200B\u{E0041}\u007F' }
  const text = plainJson(value)
  expect(JSON.parse(text)).toEqual(value)
  expect(text).toMatch(/^[\x20-\x7E]*$/)
})

test('[REQ-CLI-10] many unfinished sequences cost little', () => {
  const started = cpuMs()
  plainText('\u001B]'.repeat(200_000))
  expect(cpuMs() - started).toBeLessThan(2000)
})

test('[REQ-CLI-11] a table is cut in its flexible columns and keeps ids whole', () => {
  const rows = [{ id: 'x'.repeat(40), text: '長い'.repeat(60) }]
  const text = formatTable(
    rows,
    [
      { title: 'ID', text: (row) => row.id },
      { title: 'TEXT', text: (row) => row.text, isFlexible: true },
    ],
    { room: 80 },
  )
  const [, line = ''] = text.split('\n')
  expect(countColumns(line)).toBeLessThanOrEqual(80)
  expect(line).toContain('x'.repeat(40))
  expect(line).toMatch(/…$/)
})
