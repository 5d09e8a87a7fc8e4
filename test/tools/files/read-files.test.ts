import { execFileSync } from 'node:child_process'
import { chownSync, linkSync, mkdirSync, openSync, symlinkSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readFiles } from '../../../src/tools/files/read-files.js'
import { makePlace, type Place, SENTINEL } from '../../tree/place.js'
import { failureOf, placeAt, resultOf } from './tool-place.js'

const isRoot = process.geteuid?.() === 0
let place: Place
const at = (path: string) => join(place.tree, path)
const read = (args: Record<string, unknown>, hidden: readonly string[] = []) =>
  readFiles(placeAt(place.tree, hidden), args as never)

beforeEach(() => {
  place = makePlace()
})
afterEach(() => place.remove())

describe('what read_files does not read', () => {
  it('[REQ-FILES-1] a missing file is not found, and a hidden one answers with the same words', async () => {
    mkdirSync(at('later'))
    writeFileSync(at('later/plan.md'), 'hidden')
    const missing = failureOf(await read({ path: 'later/plan.md.gone' }))
    expect(missing).toBe('"later/plan.md.gone": not found')
    for (const hidden of [['later/plan.md'], ['later']]) {
      expect(await read({ path: 'later/plan.md' }, hidden)).toEqual({
        ok: false,
        code: 'tool_failed',
        detail: '"later/plan.md": not found',
      })
      expect(failureOf(await read({ path: 'later/plan.md/' }, hidden))).toBe('"later/plan.md": not found')
      expect(failureOf(await read({ path: 'x/../later/./plan.md' }, hidden))).toBe('"later/plan.md": not found')
      expect(failureOf(await read({ paths: ['later/plan.md'] }, hidden))).toBe('"later/plan.md": not found')
    }
  })

  it('[REQ-FILES-1] directories, binaries, pipes, sockets, devices and links are told apart and not read', async () => {
    mkdirSync(at('folder'))
    writeFileSync(at('nul'), 'text\0text')
    writeFileSync(at('latin1'), Buffer.from([0x66, 0xfc, 0x72]))
    execFileSync('mkfifo', [at('pipe')])
    const server = createServer().listen(at('socket'))
    await new Promise((resolve) => server.once('listening', resolve))
    symlinkSync('../outside/secret.txt', at('link'))
    symlinkSync('nul', at('inside-link'))
    for (const [path, words] of [
      ['folder', 'is a directory'],
      ['.', 'is a directory'],
      ['nul', 'is a binary file'],
      ['latin1', 'not UTF-8'],
      ['pipe', 'is a special file'],
      ['socket', 'is a special file'],
      ['link', 'is a link'],
      ['inside-link', 'is a link'],
      ['nul/below', 'is not a directory'],
    ] as const)
      expect(failureOf(await read({ path })), path).toContain(words)
    if (isRoot) {
      execFileSync('mknod', [at('device'), 'c', '1', '5'])
      expect(failureOf(await read({ path: 'device' }))).toContain('is a special file')
    }
    server.close()
  })

  it('[REQ-FILES-1] one file of several that cannot be read fails the call and shows none of the others', async () => {
    writeFileSync(at('a'), 'a')
    const outcome = await read({ paths: ['a', 'gone'] })
    expect(failureOf(outcome)).toBe('"gone": not found')
    expect(JSON.stringify(outcome)).not.toContain('content')
  })

  it.runIf(isRoot)('[REQ-FILES-1] a hard link to a file of another owner is not read', async () => {
    chownSync(place.tree, 4321, 4321)
    linkSync(join(place.outside, 'secret.txt'), at('hard'))
    const outcome = await read({ path: 'hard' })
    expect(failureOf(outcome)).toContain('another owner')
    expect(JSON.stringify(outcome)).not.toContain(SENTINEL.trim())
  })

  it('[REQ-FILES-2] a call that was ended reads nothing', async () => {
    writeFileSync(at('a'), 'a')
    const ended = AbortSignal.abort()
    expect(failureOf(await readFiles(placeAt(place.tree, [], ended), { path: 'a' }))).toContain('ended')
  })

  it('[REQ-FILES-1] a work tree that is gone is an answer, not an exception', async () => {
    expect(failureOf(await readFiles(placeAt('/nowhere/at/all'), { path: 'a' }))).toContain('ENOENT')
  })
})

describe('what read_files reads', () => {
  it.each([
    ['', {}, '', 0, false],
    ['a', {}, 'a', 1, false],
    ['a\n', {}, 'a\n', 1, false],
    ['a\nb', {}, 'a\nb', 2, false],
    ['a\nb\nc\n', { offset: 1 }, 'b\nc\n', 3, false],
    ['a\nb\nc\n', { limit: 2 }, 'a\nb\n', 3, true],
    ['a\nb\nc\n', { limit: 3 }, 'a\nb\nc\n', 3, false],
    ['a\nb\nc', { offset: 1, limit: 1 }, 'b\n', 3, true],
    ['a\nb\nc', { offset: 2, limit: 1 }, 'c', 3, false],
    ['a\nb\nc', { offset: 3 }, '', 3, false],
    ['a\nb\nc', { offset: 99 }, '', 3, false],
    ['a\nb', { limit: 0 }, '', 2, true],
    ['\uFEFFä\r\n→ 😀\r\n', {}, '\uFEFFä\r\n→ 😀\r\n', 2, false],
  ])('[REQ-FILES-2] %j with %j is %j of %s lines, cut: %s', async (text, window, content, lines, truncated) => {
    writeFileSync(at('file'), text)
    expect(resultOf(await read({ path: 'file', ...window }))).toEqual({ status: 'success', content, lines, truncated })
  })

  it('[REQ-FILES-2] several files come as a list, each with its own lines', async () => {
    mkdirSync(at('b'))
    writeFileSync(at('a'), '1\n2\n')
    writeFileSync(at('b/c'), 'x')
    expect(await read({ paths: ['a', './b//c'] })).toEqual({
      ok: true,
      changes: [],
      result: {
        status: 'success',
        files: [
          { path: 'a', content: '1\n2\n', lines: 2, truncated: false },
          { path: 'b/c', content: 'x', lines: 1, truncated: false },
        ],
      },
    })
  })

  it('[REQ-FILES-2] a large file is cut after a whole line, says so, and can be read on from there', async () => {
    const text = Array.from({ length: 300_000 }, (_, i) => `line ${i}\n`).join('')
    writeFileSync(at('large'), text)
    let offset = 0
    let whole = ''
    for (let calls = 0; calls < 10; calls += 1) {
      const one = resultOf<{ content: string; lines: number; truncated: boolean }>(
        await read({ path: 'large', offset }),
      )
      expect(one.lines).toBe(300_000)
      expect(one.content.length).toBeLessThanOrEqual(1024 * 1024)
      whole += one.content
      offset += one.content.split('\n').length - 1
      if (!one.truncated) break
    }
    expect(whole).toBe(text)
  })

  it('[REQ-FILES-2] one endless line is cut between characters', async () => {
    writeFileSync(at('endless'), '€'.repeat(600_000))
    const one = resultOf<{ content: string; truncated: boolean }>(await read({ path: 'endless' }))
    expect(one.truncated).toBe(true)
    expect(/^€+$/.test(one.content)).toBe(true)
    expect(one.content.length).toBe(Math.floor((1024 * 1024) / 3))
  })

  it('[REQ-FILES-2] a file of many gigabytes is answered with little memory and within seconds', async () => {
    const fd = openSync(at('huge'), 'w')
    const block = Buffer.from(`${'x'.repeat(99)}\n`.repeat(10_000))
    for (let i = 0; i < 100; i += 1) writeSync(fd, block)
    truncateSync(at('huge'), 50 * 1024 ** 3)
    const before = process.memoryUsage().rss
    const start = performance.now()
    const one = resultOf<{ content: string; lines: number; truncated: boolean }>(
      await read({ path: 'huge', offset: 600_000, limit: 2 }),
    )
    expect(one).toMatchObject({ content: `${'x'.repeat(99)}\n`.repeat(2), truncated: true })
    expect(performance.now() - start).toBeLessThan(10_000)
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024)
  })

  it('[REQ-FILES-2] many large files together stay under the limit of one answer', async () => {
    const paths = Array.from({ length: 12 }, (_, i) => `f${i}`)
    for (const path of paths) writeFileSync(at(path), 'y\n'.repeat(300_000))
    const { files } = resultOf<{ files: { content: string; truncated: boolean; lines: number }[] }>(
      await read({ paths }),
    )
    expect(files.reduce((sum, one) => sum + one.content.length, 0)).toBeLessThanOrEqual(2 * 1024 * 1024)
    expect(files.at(-1)).toEqual({ path: 'f11', content: '', lines: 300_000, truncated: true })
  })
})
