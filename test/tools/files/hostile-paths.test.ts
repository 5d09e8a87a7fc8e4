import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { editFiles } from '../../../src/tools/files/edit-files.js'
import { readFiles } from '../../../src/tools/files/read-files.js'
import { writeFiles } from '../../../src/tools/files/write-files.js'
import type { ToolOutcome } from '../../../src/tools/tool-place.js'
import { makePlace, type Place, SENTINEL } from '../../tree/place.js'
import { placeAt } from './tool-place.js'

const CANARY = 'written by an attacker'
const FD = '/proc/self/fd/0'
const isRoot = process.geteuid?.() === 0

/** Paths that lead out, or look as if they did. Nothing of them may be read or written. */
const HOSTILE: readonly (readonly [string, string])[] = [
  ['one level up', '../outside/secret.txt'],
  ['two levels up', '../../etc/hosts'],
  ['up in the middle', 'folder/../../outside/secret.txt'],
  ['up behind a dot', './../outside/secret.txt'],
  ['up behind many slashes', 'folder////..////..////outside/secret.txt'],
  ['up behind something missing', 'gone/../../outside/secret.txt'],
  ['up through a link', 'link-folder/../../outside/secret.txt'],
  ['nothing but up', '..'],
  ['up with a slash', '../'],
  ['up and back in by another name', '../outside/../outside/secret.txt'],
  ['absolute', '/etc/hosts'],
  ['absolute with two slashes', '//etc/hosts'],
  ['absolute to the sentinel', '<outside>/secret.txt'],
  ['a link of the process', '/proc/self/root/etc/hosts'],
  ['a descriptor', FD],
  ['a descriptor, relative', 'proc/self/fd/0'],
  ['the tree by its link', '/proc/self/cwd/package.json'],
  ['a link to /proc/self/root', 'link-proc/etc/hosts'],
  ['a NUL at the end', 'plain.txt\0'],
  ['a NUL before an extension', '../outside/secret.txt\0.png'],
  ['a NUL in the middle', 'fol\0der/x'],
  ['a backslash', '..\\outside\\secret.txt'],
  ['a backslash among slashes', 'folder\\..\\../outside/secret.txt'],
  ['a drive', 'C:/windows/system32'],
  ['a drive, relative', 'c:secret.txt'],
  ['a file by a link', 'link-file'],
  ['a file by an absolute link', 'link-absolute'],
  ['a file by a link with a slash', 'link-file/'],
  ['a folder by a link', 'link-folder/secret.txt'],
  ['a folder by a link with a dot', 'link-folder/./secret.txt'],
  ['a new file in a linked folder', 'link-folder/new.txt'],
  ['a new folder in a linked folder', 'link-folder/new/deep.txt'],
  ['a linked folder in the middle', 'folder/link-middle/secret.txt'],
  ['a chain of links', 'link-chain'],
  ['a chain of linked folders', 'link-chain-folder/secret.txt'],
  ['a link to itself', 'link-loop'],
  ['a folder that links to itself', 'link-loop/secret.txt'],
  ['a dangling link', 'link-dangling'],
  ['a dangling link, below', 'link-dangling/x'],
  ['a link to the root', 'link-root/etc/hosts'],
  ['a link to the parent', 'link-parent/outside/secret.txt'],
  ['a link to the tree itself', 'link-self/link-file'],
  ['a link with an odd name', 'link\nnew line'],
  ['a link with a wide name', 'link-‥'],
  ['a pipe', 'pipe'],
  ['a file as a folder', 'plain.txt/../../outside/secret.txt/x'],
  ['empty', ''],
  ['a dot', '.'],
  ['many dots and slashes', './././'],
  ['very long', `${'a/'.repeat(2100)}x`],
  ['a very long name', 'n'.repeat(300)],
  ['very deep', `${'d/'.repeat(300)}x`],
  ['many times up', `${'../'.repeat(200)}etc/hosts`],
  ['half a character', 'link-\ud800'],
]

/** Paths that only look odd: they are names inside the tree. */
const ODD: readonly string[] = [
  '...',
  '....//x',
  '..x',
  'x..',
  '~',
  '~root/x',
  '$HOME',
  '%2e%2e/outside',
  '..%2foutside',
  '‥/outside',
  '．．/outside',
  '∕et∕hosts',
  'new\nline',
  'tab\there',
  ' leading and trailing ',
  '-rf',
  '*',
  'a;b|c&d',
  '\u202Etxt.exe',
  'e\u0301',
  'folder/../../tree/..'.replace('../../tree/..', './inner'),
  '名前/文書.txt',
  '😀',
  'con',
  'trailing.',
]

let place: Place
const at = (path: string) => join(place.tree, path)

beforeAll(() => {
  place = makePlace()
  mkdirSync(at('folder'))
  writeFileSync(at('plain.txt'), 'inside\n')
  symlinkSync('../outside/secret.txt', at('link-file'))
  symlinkSync(join(place.outside, 'secret.txt'), at('link-absolute'))
  symlinkSync('../outside/folder', at('link-folder'))
  symlinkSync('../../outside/folder', at('folder/link-middle'))
  symlinkSync('link-file', at('link-chain'))
  symlinkSync('link-folder', at('link-chain-folder'))
  symlinkSync('link-loop', at('link-loop'))
  symlinkSync('../outside/created-by-link', at('link-dangling'))
  symlinkSync('/', at('link-root'))
  symlinkSync('..', at('link-parent'))
  symlinkSync('.', at('link-self'))
  symlinkSync('/proc/self/root', at('link-proc'))
  symlinkSync('../outside/secret.txt', at('link\nnew line'))
  symlinkSync('../outside/secret.txt', at('link-‥'))
  symlinkSync('../outside/secret.txt', at('link-\ufffd'))
  execFileSync('mkfifo', [at('pipe')])
})
afterAll(() => place.remove())

const calls = (path: string): readonly (readonly [string, () => Promise<ToolOutcome>])[] => {
  const here = placeAt(place.tree)
  return [
    ['read', () => readFiles(here, { path })],
    ['read in a list', () => readFiles(here, { paths: ['plain.txt', path] })],
    ['write', () => writeFiles(here, { path, content: CANARY })],
    ['append', () => writeFiles(here, { path, content: CANARY, mode: 'a' })],
    [
      'write in a list',
      () =>
        writeFiles(here, {
          files: [
            { path: 'w/fine', content: 'x' },
            { path, content: CANARY },
          ],
        }),
    ],
    ['edit', () => editFiles(here, { path, edits: [{ old: 'the', new: CANARY, replace_all: true }] })],
  ]
}

describe('hostile paths', () => {
  it.each(HOSTILE)(
    '[REQ-FILES-13] %s is refused by every tool, and nothing outside is read or written',
    async (_name, raw) => {
      const path = raw.replace('<outside>', place.outside)
      const outside = place.snapshot()
      const inside = readdirSync(place.tree).sort()
      const creates = /^(very deep|a descriptor, relative)$/.test(_name)
      for (const [what, call] of calls(path)) {
        const outcome = await call()
        const isHarmless = creates && what !== 'edit' && !what.startsWith('read')
        if (!isHarmless) expect(outcome, what).toMatchObject({ ok: false, code: 'tool_failed' })
        expect(JSON.stringify(outcome), what).not.toContain(SENTINEL.trim())
        expect(place.snapshot(), what).toBe(outside)
      }
      if (!creates) expect(readdirSync(place.tree).sort()).toEqual(inside)
    },
  )

  it('[REQ-FILES-13] there are at least 40 of them', () => {
    expect(HOSTILE.length).toBeGreaterThanOrEqual(40)
    expect(new Set(HOSTILE.map(([, path]) => path)).size).toBe(HOSTILE.length)
  })

  it.each(ODD)('[REQ-FILES-13] %j is a name inside the tree and nothing else', async (path) => {
    const outside = place.snapshot()
    const here = placeAt(place.tree)
    expect(await writeFiles(here, { path, content: 'odd' })).toMatchObject({ ok: true })
    expect(await editFiles(here, { path, edits: [{ old: 'odd', new: 'even' }] })).toMatchObject({ ok: true })
    expect(await readFiles(here, { path })).toMatchObject({ ok: true, result: { content: 'even' } })
    expect(place.snapshot()).toBe(outside)
  })

  it('[REQ-FILES-13] a hard link is written as a copy, and its other name keeps what it had', async () => {
    const outside = place.snapshot()
    for (const [what, call] of calls('hard').filter(([name]) => !name.startsWith('read'))) {
      rmSync(at('hard'), { force: true })
      linkSync(join(place.outside, 'secret.txt'), at('hard'))
      expect(await call(), what).toMatchObject({ ok: true })
      expect(place.snapshot(), what).toBe(outside)
    }
  })

  it.runIf(isRoot)('[REQ-FILES-13] devices are refused without being opened', async () => {
    execFileSync('mknod', [at('console'), 'c', '5', '1'])
    execFileSync('mknod', [at('zero'), 'c', '1', '5'])
    execFileSync('mknod', [at('disk'), 'b', '7', '0'])
    for (const path of ['console', 'zero', 'disk'])
      for (const [what, call] of calls(path)) expect(await call(), what).toMatchObject({ ok: false })
  })
})
