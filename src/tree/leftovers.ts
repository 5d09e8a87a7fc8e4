import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { openTreeWriter } from './tree-writer.js'

/** A commit takes seconds. What is older than this belongs to one that was killed. */
export const LEFTOVER_MS = 10 * 60_000
const SWEPT_MAX = 10_000
const NAME = /^(?:.*\/)?\.phaselock-[0-9a-f]{32}(?=\/|$)/

/**
 * Takes away what killed commits left under names of their own, and says which paths are gone. Only what nobody touched for long:
 * it may be that a commit is under way.
 */
export async function sweepLeftovers(root: string, paths: readonly string[], now: number): Promise<readonly string[]> {
  const found = new Set(paths.flatMap((path) => NAME.exec(path) ?? []))
  const swept: string[] = []
  for (const path of [...found].slice(0, SWEPT_MAX)) {
    const there = lstatSync(join(root, path), { throwIfNoEntry: false })
    if (there === undefined || now - Math.max(there.ctimeMs, there.mtimeMs) < LEFTOVER_MS) continue
    const done = await openTreeWriter(root).commit([{ type: 'delete', path, isRecursive: true }])
    if (done.ok) swept.push(path)
  }
  return swept
}
