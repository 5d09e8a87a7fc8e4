import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeFiles } from '../../../src/tools/files/write-files.js'
import { describe as everything, makePlace, type Place } from '../../tree/place.js'
import { failureOf, placeAt, resultOf } from './tool-place.js'

const sha256 = (value: string) => createHash('sha256').update(value).digest('hex')
let place: Place
const at = (path: string) => join(place.tree, path)
const write = (args: Record<string, unknown>, hidden: readonly string[] = []) =>
  writeFiles(placeAt(place.tree, hidden), args as never)

beforeEach(() => {
  place = makePlace()
})
afterEach(() => place.remove())

describe('what write_files does not write', () => {
  it('[REQ-FILES-3] directories, special files and links stay as they are', async () => {
    mkdirSync(at('folder'))
    execFileSync('mkfifo', [at('pipe')])
    symlinkSync('../outside/secret.txt', at('link'))
    symlinkSync('../outside/new', at('dangling'))
    const before = place.snapshot() + everything(place.tree)
    for (const mode of ['w', 'a'])
      for (const [path, words] of [
        ['folder', 'is a directory'],
        ['.', 'is a directory'],
        ['pipe', 'is a special file'],
        ['link', 'is a link'],
        ['dangling', 'is a link'],
        ['link/below', 'is a link'],
        ['', 'is empty'],
      ] as const)
        expect(failureOf(await write({ path, content: 'x', mode })), path).toContain(words)
    expect(place.snapshot() + everything(place.tree)).toBe(before)
  })

  it('[REQ-FILES-3] one file of several that cannot be written leaves all as they were', async () => {
    writeFileSync(at('a'), 'old')
    symlinkSync('a', at('link'))
    const before = everything(place.tree)
    for (const bad of ['link', '../out', 'a/below', 'a', '.git/config', 'new/../a'])
      expect(
        await write({
          files: [
            { path: 'a', content: 'new' },
            { path: 'made/b', content: 'new' },
            { path: bad, content: 'x' },
          ],
        }),
        bad,
      ).toMatchObject({ ok: false, code: 'tool_failed' })
    expect(everything(place.tree)).toBe(before)
  })

  it('[REQ-FILES-3] the same file cannot be named twice in one call', async () => {
    const files = [
      { path: 'a', content: '1' },
      { path: './b/../a', content: '2' },
    ]
    expect(failureOf(await write({ files }))).toBe('"a": is named twice')
    expect(readdirSync(place.tree)).toEqual([])
  })

  it('[REQ-FILES-3] hidden paths are refused alike whether they exist or not, and so is everything of git', async () => {
    writeFileSync(at('contract.yaml'), 'old')
    const hidden = ['contract.yaml', 'later', 'gone.yaml']
    for (const path of ['contract.yaml', 'gone.yaml', 'later/plan.md'])
      expect(failureOf(await write({ path, content: 'x' }, hidden))).toBe(
        `${JSON.stringify(path)}: cannot be written by agents`,
      )
    for (const path of ['.git/hooks/pre-commit', '.git', 'sub/.GIT/config', '.git/'])
      expect(failureOf(await write({ path, content: 'x' })), path).toContain('git tools')
    expect(readFileSync(at('contract.yaml'), 'utf8')).toBe('old')
    expect(readdirSync(place.tree)).toEqual(['contract.yaml'])
  })

  it('[REQ-FILES-3] half a character, too much content and a call that was ended write nothing', async () => {
    expect(failureOf(await write({ path: 'a', content: 'x\ud800' }))).toContain('surrogate')
    expect(failureOf(await write({ path: 'a', content: 'x'.repeat(10 * 1024 * 1024 + 1) }))).toContain('bytes')
    const ended = placeAt(place.tree, [], AbortSignal.abort())
    expect(failureOf(await writeFiles(ended, { path: 'a', content: 'x' }))).toContain('ended')
    expect(readdirSync(place.tree)).toEqual([])
  })
})

describe('what write_files writes', () => {
  it('[REQ-FILES-4] a file is made with its directories, and the answer carries its size and hash', async () => {
    const outcome = await write({ path: 'src/new/ä.txt', content: 'grün\n' })
    expect(resultOf(outcome)).toEqual({ status: 'success', path: 'src/new/ä.txt', bytes: 6, sha256: sha256('grün\n') })
    expect((outcome as { changes: readonly { path: string; kind: string }[] }).changes).toMatchObject([
      { path: 'src', kind: 'created', type: 'directory' },
      { path: 'src/new', kind: 'created', type: 'directory' },
      { path: 'src/new/ä.txt', kind: 'created', type: 'file', bytes: 6, sha256: sha256('grün\n') },
    ])
    expect(readFileSync(at('src/new/ä.txt'), 'utf8')).toBe('grün\n')
  })

  it('[REQ-FILES-4] a file is replaced or appended to, and keeps its rights', async () => {
    writeFileSync(at('run.sh'), 'old')
    chmodSync(at('run.sh'), 0o755)
    expect(await write({ path: 'run.sh', content: 'new' })).toMatchObject({
      ok: true,
      changes: [{ path: 'run.sh', kind: 'modified' }],
    })
    expect(resultOf(await write({ path: 'run.sh', content: 'er\n', mode: 'a' }))).toEqual({
      status: 'success',
      path: 'run.sh',
      bytes: 6,
      sha256: sha256('newer\n'),
    })
    expect(statSync(at('run.sh')).mode & 0o777).toBe(0o755)
    expect(resultOf(await write({ path: 'log', content: '', mode: 'a' }))).toMatchObject({ bytes: 0 })
  })

  it('[REQ-FILES-4] several files answer with a list in the order of the call', async () => {
    const files = Array.from({ length: 50 }, (_, i) => ({ path: `d${i % 3}/f${i}`, content: `${i}` }))
    const result = resultOf<{ files: { path: string; sha256: string }[] }>(await write({ files }))
    expect(result.files.map((one) => one.path)).toEqual(files.map((one) => one.path))
    expect(result.files.map((one) => one.sha256)).toEqual(files.map((one) => sha256(one.content)))
  })

  it('[REQ-FILES-4] another name of the same file keeps what it had, also when it is appended to', async () => {
    const before = place.snapshot()
    for (const mode of ['w', 'a']) {
      linkSync(join(place.outside, 'secret.txt'), at(`hard-${mode}`))
      resultOf(await write({ path: `hard-${mode}`, content: 'mine', mode }))
      expect(place.snapshot()).toBe(before)
    }
  })
})
