import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** A directory that is gone after the test, unless PHASELOCK_TORTURE_KEEP is set. */
export function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-torture-'))
  onTestFinished(() => {
    if (process.env.PHASELOCK_TORTURE_KEEP === undefined) rmSync(dir, { recursive: true, force: true })
  })
  return dir
}

/** The built store with a text replaced: durability has no switch in the product that a test could turn. */
export function changedStore(dir: string, change: { readonly from: RegExp; readonly to: string }): string {
  const copy = join(dir, 'changed')
  mkdirSync(copy)
  writeFileSync(join(copy, 'package.json'), '{"type": "module"}')
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  cpSync(join(ROOT, 'dist'), join(copy, 'dist'), { recursive: true })
  const folder = join(copy, 'dist/store')
  for (const part of [folder, join(copy, 'dist/threads')])
    if (!replaceIn(part, change)) throw new Error(`nothing in ${part} matches ${change.from}`)
  return join(folder, 'sqlite-store.js')
}

function replaceIn(folder: string, change: { readonly from: RegExp; readonly to: string }): boolean {
  let isFound = false
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((one) => /\.c?js$/.test(one))) {
    const before = readFileSync(join(folder, name), 'utf8')
    const after = before.replaceAll(change.from, change.to)
    if (after === before) continue
    isFound = true
    writeFileSync(join(folder, name), after)
  }
  return isFound
}

export const BUILT_STORE = join(ROOT, 'dist/store/sqlite-store.js')

/** Chance that can be repeated: mulberry32. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** From PHASELOCK_TORTURE_SEED, so that a failure can be repeated; else another one each time. */
export function seedOf(): number {
  return Number(process.env.PHASELOCK_TORTURE_SEED ?? Date.now() % 1_000_000_007)
}
