import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { editFiles } from '../../../src/tools/files/edit-files.js'
import { listFilesByGlob } from '../../../src/tools/files/glob-files.js'
import { grepFiles } from '../../../src/tools/files/grep-files.js'
import { readFiles } from '../../../src/tools/files/read-files.js'
import { searchCodebase } from '../../../src/tools/files/search-codebase.js'
import { writeFiles } from '../../../src/tools/files/write-files.js'
import type { ToolOutcome } from '../../../src/tools/tool-place.js'
import { openWorkTree } from '../../../src/tree/work-tree.js'
import { openTreeWriter } from '../../../src/tree/write/tree-writer.js'
import { makePlace, type Place, SENTINEL } from '../../tree/place.js'
import { startSwapping } from '../../tree/swap.js'
import { placeAt } from './tool-place.js'

const RUN_MS = 3_000
const SWAPS_MIN = 1_000
let place: Place
const at = (path: string) => join(place.tree, path)

beforeEach(() => {
  place = makePlace()
  mkdirSync(at('top/swap/deep'), { recursive: true })
  for (const path of ['secret.txt', 'deep/secret.txt']) writeFileSync(at(`top/swap/${path}`), 'inside\n')
  mkdirSync(join(place.outside, 'folder/deep'))
  writeFileSync(join(place.outside, 'folder/deep/secret.txt'), SENTINEL)
  symlinkSync('../../outside/folder', at('top/evil'))
})
afterEach(() => place.remove())

const swapping = () => startSwapping(at('top/swap'), at('top/evil'))

function naiveRead(path: string, tree: string): string | null {
  try {
    return realpathSync(path).startsWith(`${tree}/`) ? readFileSync(path, 'utf8') : null
  } catch (error) {
    return String(error)
  }
}

describe('a directory that is swapped with a link to the outside all the time', () => {
  it('[REQ-FILES-14] beats a path that is checked and then opened, so that the race is real', async () => {
    const swap = await swapping()
    const end = performance.now() + RUN_MS
    let escapes = 0
    let tries = 0
    while (performance.now() < end) {
      tries += 1
      if (naiveRead(at('top/swap/secret.txt'), place.tree) === SENTINEL) escapes += 1
    }
    const swaps = await swap.stop()
    expect(swaps).toBeGreaterThan(SWAPS_MIN)
    expect(tries).toBeGreaterThan(100)
    expect(escapes).toBeGreaterThan(0)
  })

  it('[REQ-FILES-14] never makes a tool read or write outside, while the tools reach what is inside', async () => {
    const outside = place.snapshot()
    const here = placeAt(place.tree)
    const swap = await swapping()
    const end = performance.now() + RUN_MS
    const seen = new Map<string, { done: number; refused: number }>()
    const count = (name: string, outcome: ToolOutcome) => {
      expect(JSON.stringify(outcome)).not.toContain(SENTINEL.trim())
      const so = seen.get(name) ?? { done: 0, refused: 0 }
      seen.set(name, outcome.ok ? { ...so, done: so.done + 1 } : { ...so, refused: so.refused + 1 })
    }
    let n = 0
    const lane = async (lane: number) => {
      while (performance.now() < end) {
        n += 1
        const file = n % 2 === 0 ? 'top/swap/secret.txt' : 'top/swap/deep/secret.txt'
        count('read', await readFiles(here, { path: file }))
        count('write', await writeFiles(here, { path: `top/swap/new-${n % 20}`, content: 'x' }))
        count('make', await writeFiles(here, { path: `top/swap/made-${lane}/${n % 50}/file`, content: 'x' }))
        count('append', await writeFiles(here, { path: 'top/swap/log', content: 'x', mode: 'a' }))
        count(
          'several',
          await writeFiles(here, {
            files: [
              { path: `top/swap/a-${n % 20}`, content: 'x' },
              { path: `top/b-${n % 20}`, content: 'x' },
              { path: `top/swap/deep/c-${n % 20}`, content: 'x' },
            ],
          }).catch((error: Error) => ({ ok: false as const, code: 'tool_failed' as const, detail: error.message })),
        )
        count('edit', await editFiles(here, { path: file, edits: [{ old: 'inside', new: 'inside' }] }))
      }
    }
    await Promise.all([lane(1), lane(2), lane(3)])
    const swaps = await swap.stop()
    expect(place.snapshot()).toBe(outside)
    expect(swaps).toBeGreaterThan(SWAPS_MIN)
    for (const name of ['read', 'write', 'make', 'append', 'edit']) {
      expect(seen.get(name)?.done, name).toBeGreaterThan(0)
      expect(seen.get(name)?.refused, name).toBeGreaterThan(0)
    }
  })

  it('[REQ-FILES-14] never makes a search, a list or a hash look outside', async () => {
    const outside = place.snapshot()
    for (let i = 0; i < 30; i += 1) writeFileSync(join(place.outside, `folder/only-outside-${i}`), SENTINEL)
    const here = placeAt(place.tree)
    const tree = openWorkTree(place.tree)
    const swap = await swapping()
    const end = performance.now() + RUN_MS
    const hash = await openWorkTree(place.outside).hash('secret.txt')
    let found = 0
    while (performance.now() < end) {
      const outcomes = await Promise.all([
        listFilesByGlob(here, { pattern: '**' }),
        listFilesByGlob(here, { pattern: '**', path: 'top/swap' }),
        grepFiles(here, { pattern: 'sentinel|inside' }),
        grepFiles(here, { pattern: 'sentinel|inside', path: 'top/swap/deep' }),
        searchCodebase(here, { query: 'sentinel inside', path: 'top' }),
      ])
      const all = JSON.stringify(outcomes) + JSON.stringify(await tree.list({ anywhere: new Set(), atRoot: new Set() }))
      expect(all).not.toMatch(/only-outside|must not be read/)
      if (all.includes('deep/secret.txt')) found += 1
      expect(await tree.hash('top/swap/deep/secret.txt')).not.toBe(hash)
      expect((await tree.read('top/swap/secret.txt'))?.toString() ?? 'inside\n').toBe('inside\n')
    }
    expect(await swap.stop()).toBeGreaterThan(SWAPS_MIN)
    expect(found).toBeGreaterThan(0)
    expect(outside.length).toBeGreaterThan(0)
  })

  it('[REQ-TREE-8] never makes a deletion, a link, a directory or a mode reach outside', async () => {
    const outside = place.snapshot()
    const writer = openTreeWriter(place.tree)
    const swap = await swapping()
    const end = performance.now() + RUN_MS
    let done = 0
    for (let n = 0; performance.now() < end; n += 1) {
      const results = [
        await writer.commit([{ type: 'make_directory', path: `top/swap/dir-${n % 9}`, mode: 0o700 }]),
        await writer.commit([{ type: 'make_link', path: `top/swap/link-${n % 9}`, target: 'secret.txt' }]),
        await writer.commit([{ type: 'set_mode', path: 'top/swap/secret.txt', mode: n % 2 === 0 ? 0o600 : 0o640 }]),
        await writer.commit([{ type: 'set_mode', path: 'top/swap/deep', mode: n % 2 === 0 ? 0o700 : 0o750 }]),
        await writer.commit([{ type: 'delete', path: `top/swap/dir-${n % 9}` }]),
        await writer.commit([{ type: 'write', path: 'top/swap/gone/file', content: Buffer.from('x') }]),
        await writer.commit([{ type: 'delete', path: 'top/swap/gone', isRecursive: true }]),
        await writer.commit([{ type: 'delete', path: 'top/swap/folder', isRecursive: true }]),
      ]
      done += results.filter((one) => one.ok).length
    }
    expect(await swap.stop()).toBeGreaterThan(SWAPS_MIN)
    expect(place.snapshot()).toBe(outside)
    expect(done).toBeGreaterThan(0)
    expect(readdirSync(place.outside).sort()).toEqual(['folder', 'secret.txt'])
  })
})
