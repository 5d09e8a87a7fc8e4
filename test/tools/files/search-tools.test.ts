import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listFilesByGlob } from '../../../src/tools/files/glob-files.js'
import { grepFiles } from '../../../src/tools/files/grep-files.js'
import { searchCodebase } from '../../../src/tools/files/search-codebase.js'
import type { ToolOutcome, ToolPlace } from '../../../src/tools/tool-place.js'
import { makePlace, type Place } from '../../tree/place.js'
import { failureOf, placeAt, resultOf } from './tool-place.js'

interface Match {
  readonly path: string
  readonly line: number
  readonly text: string
}

let place: Place
const at = (path: string) => join(place.tree, path)
const put = (path: string, text: string | Buffer) => {
  mkdirSync(dirname(at(path)), { recursive: true })
  writeFileSync(at(path), text)
}
type Args = Record<string, unknown>
const glob = (args: Args, hidden: readonly string[] = []) => listFilesByGlob(placeAt(place.tree, hidden), args as never)
const grep = (args: Args, hidden: readonly string[] = []) => grepFiles(placeAt(place.tree, hidden), args as never)
const search = (args: Args, hidden: readonly string[] = []) =>
  searchCodebase(placeAt(place.tree, hidden), args as never)
const paths = (outcome: ToolOutcome) => resultOf<{ paths: string[] }>(outcome).paths
const matches = (outcome: ToolOutcome) => resultOf<{ matches: Match[] }>(outcome).matches
const where = (outcome: ToolOutcome) => matches(outcome).map((one) => `${one.path}:${one.line}`)

beforeEach(() => {
  place = makePlace()
})
afterEach(() => place.remove())

const TOOLS: readonly (readonly [string, (place: ToolPlace, args: never) => Promise<ToolOutcome>, Args])[] = [
  ['glob', listFilesByGlob, { pattern: '**' }],
  ['grep', grepFiles, { pattern: 'sentinel' }],
  ['search_codebase', searchCodebase, { query: 'sentinel' }],
]

describe.each(TOOLS)('%s', (_name, tool, args) => {
  const run = (more: Args, hidden: readonly string[] = []) =>
    tool(placeAt(place.tree, hidden), { ...args, ...more } as never)

  it('[REQ-FILES-8] a start that is missing, hidden, a link, special, outside or part of git is refused', async () => {
    put('.git/config', 'sentinel')
    put('hidden/a', 'sentinel')
    symlinkSync('../outside', at('link'))
    execFileSync('mkfifo', [at('pipe')])
    for (const [path, words] of [
      ['gone', '"gone": not found'],
      ['hidden', '"hidden": not found'],
      ['hidden/a', '"hidden/a": not found'],
      ['.git', '".git": not found'],
      ['.git/config', '".git/config": not found'],
      ['link', 'is a link'],
      ['link/folder', 'is a link'],
      ['pipe', 'is a special file'],
      ['..', 'leaves the work tree'],
      ['../outside', 'leaves the work tree'],
      ['/etc', 'is absolute'],
      ['a\0', 'NUL'],
    ] as const)
      expect(failureOf(await run({ path }, ['hidden'])), path).toContain(words)
  })

  it('[REQ-FILES-8] nothing outside, of git, hidden or ignored is ever shown', async () => {
    put('seen.txt', 'the sentinel\n')
    put('.git/objects', 'the sentinel\n')
    put('sub/.git/objects', 'the sentinel\n')
    put('hidden.txt', 'the sentinel\n')
    put('later/deep/plan.txt', 'the sentinel\n')
    put('.gitignore', 'ignored.txt\nbuild/\n*.log\n')
    put('ignored.txt', 'the sentinel\n')
    put('build/out.txt', 'the sentinel\n')
    put('sub/app.log', 'the sentinel\n')
    put('sub/.gitignore', '/local.txt\n!keep.log\n')
    put('sub/local.txt', 'the sentinel\n')
    put('sub/keep.log', 'the sentinel\n')
    put('sub/deep/local.txt', 'the sentinel\n')
    put('other/local.txt', 'the sentinel\n')
    symlinkSync('../outside/folder', at('linked'))
    symlinkSync('../outside/secret.txt', at('sub/linked.txt'))
    const found = JSON.stringify(await run({}, ['hidden.txt', 'later']))
    for (const path of ['seen.txt', 'sub/keep.log', 'sub/deep/local.txt', 'other/local.txt'])
      expect(found).toContain(`"${path}"`)
    expect(found).not.toMatch(/\.git\/|hidden|later|ignored|build|app\.log|"sub\/local\.txt"|must not be read/)
  })

  it('[REQ-FILES-9] a call that was ended answers so at once', async () => {
    put('a', 'sentinel')
    const outcome = await tool(placeAt(place.tree, [], AbortSignal.abort()), args as never)
    expect(failureOf(outcome)).toContain('ended')
  })
})

describe('glob', () => {
  it.each([
    ['', 'is empty'],
    ['/etc/*', 'is absolute'],
    ['../*', 'leaves the work tree'],
    ['a/../../*', 'leaves the work tree'],
    ['a\0', 'NUL'],
    ['x'.repeat(5000), 'longer'],
  ])('[REQ-FILES-8] a pattern that $1 is refused', async (pattern, words) => {
    expect(failureOf(await glob({ pattern }))).toContain(words)
  })

  it('[REQ-FILES-10] patterns are checked against whole paths, dot files and links included, in a stable order', async () => {
    for (const path of ['b.ts', 'a.ts', '.eslintrc', 'src/c.ts', 'src/deep/d.ts', 'src/e.js', 'läng/ü.ts'])
      put(path, 'x')
    symlinkSync('a.ts', at('link.ts'))
    expect(paths(await glob({ pattern: '*.ts' }))).toEqual(['a.ts', 'b.ts', 'link.ts'])
    expect(paths(await glob({ pattern: './**/*.ts' }))).toEqual([
      'a.ts',
      'b.ts',
      'link.ts',
      'läng/ü.ts',
      'src/c.ts',
      'src/deep/d.ts',
    ])
    expect(paths(await glob({ pattern: '*.{ts,js}', path: 'src' }))).toEqual(['src/c.ts', 'src/e.js'])
    expect(paths(await glob({ pattern: '.*' }))).toEqual(['.eslintrc'])
    expect(resultOf(await glob({ pattern: 'none*' }))).toEqual({ paths: [], truncated: false })
  })

  it('[REQ-FILES-9] a limit cuts the answer and says so, and what is hidden does not count', async () => {
    for (let i = 0; i < 20; i += 1) put(`f${String(i).padStart(2, '0')}`, 'x')
    const hidden = ['f00', 'f01', 'f02']
    expect(resultOf(await glob({ pattern: '*', limit: 2 }, hidden))).toEqual({ paths: ['f03', 'f04'], truncated: true })
    expect(resultOf(await glob({ pattern: '*', limit: 17 }, hidden))).toMatchObject({ truncated: false })
    expect(resultOf(await glob({ pattern: '*', limit: 0 }, hidden))).toEqual({ paths: [], truncated: true })
  })
})

describe('grep', () => {
  it.each(['(', '[', 'a**', '(?<=x)y', '\\1', '(?=a)', '', 'x{2000}', `x{4097}${'x'.repeat(4090)}`])(
    '[REQ-FILES-11] the pattern %.20j is no regular expression of linear time',
    async (pattern) => {
      put('a', 'x')
      expect(failureOf(await grep({ pattern }), 'invalid_regex').length).toBeGreaterThan(5)
    },
  )

  it('[REQ-FILES-11] lines are found with their numbers, by case or without, in every file or in some', async () => {
    put('a.ts', 'Alpha\r\nbeta\n\nalpha beta\n')
    put('src/b.ts', 'alpha')
    put('src/c.md', 'alpha $10 (x)\n')
    expect(matches(await grep({ pattern: '^alpha', path: 'a.ts' }))).toEqual([
      { path: 'a.ts', line: 4, text: 'alpha beta' },
    ])
    expect(where(await grep({ pattern: '^alpha$', ignore_case: true }))).toEqual(['a.ts:1', 'src/b.ts:1'])
    expect(where(await grep({ pattern: 'alpha', glob: '*.ts' }))).toEqual(['a.ts:4', 'src/b.ts:1'])
    expect(where(await grep({ pattern: 'alpha', glob: 'src/*' }))).toEqual(['src/b.ts:1', 'src/c.md:1'])
    expect(where(await grep({ pattern: 'alpha', glob: '*.md', path: 'src' }))).toEqual(['src/c.md:1'])
    expect(where(await grep({ pattern: '\\$\\d+ \\(x\\)' }))).toEqual(['src/c.md:1'])
    expect(resultOf(await grep({ pattern: 'nowhere' }))).toEqual({ matches: [], truncated: false })
    expect(failureOf(await grep({ pattern: 'a', glob: '../*' }))).toContain('leaves')
  })

  it('[REQ-FILES-9] binaries are skipped, long lines are cut around the match, large files are searched in part', async () => {
    put('binary', 'needle\0')
    put('long', `${'x'.repeat(5000)}needle${'y'.repeat(5000)}`)
    put('large', `needle\n${'z\n'.repeat(3 * 1024 * 1024)}needle`)
    put('latin1', Buffer.from('needle \xfc', 'latin1'))
    const outcome = await grep({ pattern: 'needle' })
    expect(where(outcome)).toEqual(['large:1', 'latin1:1', 'long:1'])
    expect(resultOf(outcome)).toMatchObject({ truncated: true })
    const long = matches(outcome)[2]?.text ?? ''
    expect(long).toContain('needle')
    expect(long.length).toBeLessThanOrEqual(502)
  })

  it('[REQ-FILES-9] a limit cuts the answer, and what is hidden cannot be told by it', async () => {
    put('a-hidden', 'needle\n'.repeat(10))
    put('b', 'needle\n'.repeat(3))
    expect(resultOf(await grep({ pattern: 'needle', limit: 2 }, ['a-hidden']))).toMatchObject({ truncated: true })
    const all = await grep({ pattern: 'needle', limit: 3 }, ['a-hidden'])
    expect(resultOf(all)).toMatchObject({ truncated: false })
    expect(where(all)).toEqual(['b:1', 'b:2', 'b:3'])
  })

  it('[REQ-FILES-8] an ignored folder is searched when it is named', async () => {
    put('.gitignore', 'node_modules\n')
    put('node_modules/lib/index.js', 'needle')
    put('node_modules/lib/.gitignore', 'cache\n')
    put('node_modules/lib/cache', 'needle')
    expect(where(await grep({ pattern: 'needle' }))).toEqual([])
    expect(where(await grep({ pattern: 'needle', path: 'node_modules/lib' }))).toEqual(['node_modules/lib/index.js:1'])
    expect(where(await grep({ pattern: 'needle', path: 'node_modules/lib/cache' }))).toEqual([
      'node_modules/lib/cache:1',
    ])
  })
})

describe('a pattern made to be slow', () => {
  it('[REQ-FILES-9] ends its own call, not the server, and the thread is replaced', async () => {
    put('a'.repeat(200), 'needle')
    let ticks = 0
    const clock = setInterval(() => {
      ticks += 1
    }, 20)
    const start = performance.now()
    const slow = glob({ pattern: `${'*a'.repeat(20)}c` })
    // The other thread is free.
    expect(where(await grep({ pattern: 'needle' }))).toHaveLength(1)
    expect(performance.now() - start).toBeLessThan(5_000)
    expect(failureOf(await slow)).toContain('timed out')
    clearInterval(clock)
    expect(ticks).toBeGreaterThan(300)
    const both = [glob({ pattern: 'a*' }), glob({ pattern: 'a*' }), glob({ pattern: 'a*' })]
    for (const outcome of await Promise.all(both)) expect(paths(outcome)).toHaveLength(1)
  })

  it('[REQ-FILES-9] is ended at once when its call is', async () => {
    put('a'.repeat(200), 'needle')
    const ended = new AbortController()
    setTimeout(() => ended.abort(), 200)
    const start = performance.now()
    const slow = await listFilesByGlob(placeAt(place.tree, [], ended.signal), { pattern: `${'*a'.repeat(20)}c` })
    expect(failureOf(slow)).toContain('ended')
    expect(performance.now() - start).toBeLessThan(2_000)
  })
})

describe('search_codebase', () => {
  it('[REQ-FILES-12] the snippet that shares the rarest words comes first, and names match in their parts', async () => {
    put('src/http-parser.ts', 'export function parseHttpHeader(line: string) {\n  return line.split(":")\n}\n')
    put('src/other.ts', `${'const line = parse(text)\n'.repeat(25)}`)
    put('docs/readme.md', 'Nothing about it here.\n'.repeat(40))
    for (const query of ['where is the HTTP header parsed? parse_http_header', 'httpHeader parse', 'http headers']) {
      const { results } = resultOf<{ results: { path: string; line: number; end_line: number; snippet: string }[] }>(
        await search({ query }),
      )
      expect(results[0], query).toMatchObject({ path: 'src/http-parser.ts', line: 1, end_line: 4 })
      expect(results[0]?.snippet).toContain('parseHttpHeader')
    }
    expect(resultOf(await search({ query: 'zebra' }))).toEqual({ results: [], truncated: false })
  })

  it('[REQ-FILES-12] a word far down in a file is found with its lines, and packed files are left out', async () => {
    put('long.txt', `${'filler text\n'.repeat(100)}the quokka sleeps\n${'filler text\n'.repeat(100)}`)
    put('packed.js', `var quokka=1;${'x=1;'.repeat(5000)}`)
    const { results } = resultOf<{ results: { path: string; line: number; end_line: number; score: number }[] }>(
      await search({ query: 'quokkas' }),
    )
    expect(results).toHaveLength(1)
    expect(results[0]).toMatchObject({ path: 'long.txt', line: 91, end_line: 120 })
    expect(results[0]?.score).toBeGreaterThan(0)
  })

  it('[REQ-FILES-9] a limit cuts the answer; a query without words is refused', async () => {
    for (let i = 0; i < 20; i += 1) put(`f${i}`, 'quokka')
    const { results, truncated } = resultOf<{ results: unknown[]; truncated: boolean }>(
      await search({ query: 'quokka', limit: 5 }),
    )
    expect([results.length, truncated]).toEqual([5, true])
    expect(failureOf(await search({ query: ' ?! ' }))).toContain('no words')
    expect(failureOf(await search({ query: 'x'.repeat(2000) }))).toContain('longer')
  })
})

describe('a tree of 100,000 files', () => {
  it('[REQ-FILES-7] is searched by all three while the server answers others', async () => {
    const script = `
      const fs = require('fs')
      for (let d = 0; d < 1000; d += 1) {
        fs.mkdirSync('d' + d)
        for (let f = 0; f < 100; f += 1) fs.writeFileSync('d' + d + '/f' + f + '.txt', 'file ' + d + ' ' + f + '\\nneedle' + (d * f === 999 * 99 ? 'found' : '') + '\\n')
      }`
    // In memory where there is such a disk: making the files takes longest.
    place.remove()
    place = makePlace(existsSync('/dev/shm') ? '/dev/shm' : undefined)
    execFileSync(process.execPath, ['-e', script], { cwd: place.tree })
    // How often others were served: never, if a search ran in one go.
    let turns = 0
    const clock = setInterval(() => {
      turns += 1
    }, 5)
    const turnsOf = async (work: () => Promise<unknown>): Promise<number> => {
      const before = turns
      await work()
      return turns - before
    }
    expect(await turnsOf(() => grep({ pattern: 'nowhere' }))).toBeGreaterThan(1)
    expect(await turnsOf(() => glob({ pattern: 'nowhere*' }))).toBeGreaterThan(1)
    expect(await turnsOf(() => search({ query: 'nowhere' }))).toBeGreaterThan(1)
    expect(paths(await glob({ pattern: 'd999/f99.txt' }))).toEqual(['d999/f99.txt'])
    expect(where(await grep({ pattern: 'needlef[a-z]+' }))).toEqual(['d999/f99.txt:2'])
    const { results, truncated } = resultOf<{ results: { path: string }[]; truncated: boolean }>(
      await search({ query: 'needlefound' }),
    )
    clearInterval(clock)
    if (!truncated) expect(results[0]?.path).toBe('d999/f99.txt')
  })
})
