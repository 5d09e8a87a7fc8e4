import { createHash } from 'node:crypto'
import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { editFiles } from '../../../src/tools/files/edit-files.js'
import { describe as everything, makePlace, type Place } from '../../tree/place.js'
import { failureOf, placeAt, resultOf } from './tool-place.js'

const sha256 = (value: string) => createHash('sha256').update(value).digest('hex')
let place: Place
const at = (path: string) => join(place.tree, path)
const edit = (args: Record<string, unknown>, hidden: readonly string[] = []) =>
  editFiles(placeAt(place.tree, hidden), args as never)
const one = (old: string, next: string, replace_all?: boolean) =>
  replace_all === undefined ? { old, new: next } : { old, new: next, replace_all }

beforeEach(() => {
  place = makePlace()
})
afterEach(() => place.remove())

describe('what edit_files does not edit', () => {
  it.each([
    ['absent text', [one('zebra', 'x')], 'edit 1 of 1: "old" was not found (0 matches)'],
    ['text in another case', [one('ALPHA', 'x')], '0 matches'],
    ['ambiguous text', [one('a', 'x')], 'edit 1 of 1: "old" is ambiguous (5 matches)'],
    ['empty text', [one('', 'x')], 'edit 1 of 1: "old" is empty'],
    ['empty text everywhere', [one('', 'x', true)], '"old" is empty'],
    ['a second edit that does not fit', [one('alpha', 'omega'), one('alpha', 'x')], 'edit 2 of 2: "old" was not found'],
    ['a second edit made ambiguous', [one('beta', 'alpha'), one('alpha', 'x')], 'edit 2 of 2: "old" is ambiguous (2'],
    ['half a character', [one('alpha', '\udc00')], 'surrogate'],
  ])('[REQ-FILES-5] %s changes nothing and says which edit it was', async (_what, edits, words) => {
    writeFileSync(at('file'), 'alpha beta gamma\n')
    const before = everything(place.tree)
    expect(failureOf(await edit({ path: 'file', edits }))).toContain(words)
    expect(everything(place.tree)).toBe(before)
  })

  it('[REQ-FILES-5] missing and hidden files, directories, links, binaries and large files are told apart', async () => {
    mkdirSync(at('folder'))
    writeFileSync(at('binary'), 'alpha\0')
    writeFileSync(at('latin1'), Buffer.from('alpha \xfc', 'latin1'))
    writeFileSync(at('hidden'), 'alpha')
    writeFileSync(at('large'), `alpha${'x'.repeat(4 * 1024 * 1024)}`)
    symlinkSync('../outside/secret.txt', at('link'))
    const before = place.snapshot() + everything(place.tree)
    for (const [path, words] of [
      ['gone', '"gone": not found'],
      ['hidden', '"hidden": not found'],
      ['folder', 'is a directory'],
      ['.', 'is a directory'],
      ['link', 'is a link'],
      ['binary', 'is a binary file'],
      ['latin1', 'not UTF-8'],
      ['large', 'is too large'],
      ['.git/config', 'git tools'],
    ] as const)
      expect(failureOf(await edit({ path, edits: [one('alpha', 'x')] }, ['hidden'])), path).toContain(words)
    expect(place.snapshot() + everything(place.tree)).toBe(before)
  })

  it('[REQ-FILES-5] edits that would blow a file up are refused', async () => {
    writeFileSync(at('file'), 'a'.repeat(100_000))
    const edits = [one('a', 'b'.repeat(100_000), true)]
    expect(failureOf(await edit({ path: 'file', edits }))).toContain('would be larger')
  })

  it('[REQ-FILES-7] edits made to be slow keep nobody else waiting', async () => {
    writeFileSync(at('slow'), 'a'.repeat(3_000_000))
    let longest = 0
    let last = performance.now()
    const clock = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 5)
    const start = performance.now()
    const half = 'a'.repeat(100_000)
    expect(failureOf(await edit({ path: 'slow', edits: [one(`${half}b${half}`, 'x')] }))).toContain('0 matches')
    resultOf(await edit({ path: 'slow', edits: [one(half, 'x', true), one('xx', 'y', true)] }))
    expect(readFileSync(at('slow'), 'utf8')).toBe('y'.repeat(15))
    clearInterval(clock)
    expect(performance.now() - start).toBeLessThan(10_000)
    expect(longest).toBeLessThan(500)
  })
})

describe('what edit_files edits', () => {
  it('[REQ-FILES-6] edits are made in order, and the answer carries the hash and a unified diff', async () => {
    writeFileSync(at('file.ts'), 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n')
    const outcome = await edit({
      path: './file.ts',
      edits: [one('two', '2'), one('2\nthree', '2\n3'), one('six', '$&')],
    })
    const after = 'one\n2\n3\nfour\nfive\n$&\nseven\n'
    expect(readFileSync(at('file.ts'), 'utf8')).toBe(after)
    expect(resultOf(outcome)).toEqual({
      status: 'success',
      path: 'file.ts',
      sha256: sha256(after),
      truncated: false,
      diff: [
        '--- a/file.ts',
        '+++ b/file.ts',
        '@@ -1,7 +1,7 @@',
        ' one',
        '-two',
        '-three',
        '+2',
        '+3',
        ' four',
        ' five',
        '-six',
        '+$&',
        ' seven',
        '',
      ].join('\n'),
    })
    expect(outcome).toMatchObject({ changes: [{ path: 'file.ts', kind: 'modified', sha256: sha256(after) }] })
    expect(readdirSync(place.tree)).toEqual(['file.ts'])
  })

  it('[REQ-FILES-6] replace_all replaces every match, and line ends and marks stay as they are', async () => {
    writeFileSync(at('dos'), '\uFEFFfoo\r\nbar\r\nfoo')
    resultOf(await edit({ path: 'dos', edits: [one('foo', 'f', true)] }))
    expect(readFileSync(at('dos'), 'utf8')).toBe('\uFEFFf\r\nbar\r\nf')
    expect(failureOf(await edit({ path: 'dos', edits: [one('f\nbar', 'x')] }))).toContain('0 matches')
  })

  it('[REQ-FILES-6] a large edit has its diff cut and says so', async () => {
    const lines = Array.from({ length: 60_000 }, (_, i) => `line ${i}\n`).join('')
    writeFileSync(at('many'), lines)
    const result = resultOf<{ diff: string; truncated: boolean }>(
      await edit({ path: 'many', edits: [one('line', 'row', true)] }),
    )
    expect(result.truncated).toBe(true)
    expect(result.diff.length).toBeLessThanOrEqual(20_001)
    expect(readFileSync(at('many'), 'utf8')).toBe(lines.replaceAll('line', 'row'))
    writeFileSync(at('wide'), `${'line'.repeat(50)}\n`.repeat(300))
    const wide = resultOf<{ diff: string; truncated: boolean }>(
      await edit({ path: 'wide', edits: [one('line', 'row', true)] }),
    )
    expect(wide.truncated).toBe(true)
    expect(wide.diff).toMatch(/^--- a\/wide\n\+\+\+ b\/wide\n@@ .+ @@\n-/)
    expect(wide.diff.length).toBeLessThanOrEqual(20_001)
  })

  it('[REQ-FILES-6] another name of the same file keeps what it had', async () => {
    const before = place.snapshot()
    linkSync(join(place.outside, 'secret.txt'), at('hard'))
    resultOf(await edit({ path: 'hard', edits: [one('sentinel', 'x')] }))
    expect(place.snapshot()).toBe(before)
    expect(readFileSync(at('hard'), 'utf8')).toContain('the x must')
  })
})
