import { type BigIntStats, closeSync, lstatSync } from 'node:fs'
import { formatFdPath, openFile, openParent } from '../lookup.js'
import { readBytes } from '../read-bytes.js'
import { openTreeWriter } from './tree-writer.js'

/** A commit takes seconds. Older files belong to a killed one. */
export const LEFTOVER_MS = 10 * 60_000
const SWEPT_MAX = 10_000
const KEPT_BYTES_MAX = 1024 * 1024
const NAME = /^(?:.*\/)?\.phaselock-[0-9a-f]{32}(?=\/|$)/

interface Leftovers {
  readonly paths: readonly string[]
  /** Files touched before this moment belong to no running commit. */
  readonly before: number
  /**
   * The content of a file may exist nowhere else: the commit was killed before the old or the new file had its name.
   */
  readonly keep: (content: Buffer) => void
}

/** Whether a path is, or is in, an entry with a name that only commits use. */
export function isLeftover(path: string): boolean {
  return path.includes('.phaselock-') && NAME.test(path)
}

/**
 * Removes temporary entries of killed commits, and returns the removed paths. A commit may be running: recent entries
 * stay.
 */
export async function sweepLeftovers(root: string, { paths, before, keep }: Leftovers): Promise<readonly string[]> {
  const found = new Set(paths.flatMap((path) => NAME.exec(path) ?? []))
  const swept: string[] = []
  for (const path of [...found].slice(0, SWEPT_MAX)) {
    const there = readStat(root, path)
    if (there === undefined || Number(there.ctimeMs) >= before) continue
    await keepFile(root, path, keep)
    const done = await openTreeWriter(root).commit([{ type: 'delete', path, isRecursive: true }])
    if (done.ok) swept.push(path)
  }
  return swept
}

function readStat(root: string, path: string): BigIntStats | undefined {
  const parent = openParent(root, path)
  if (!parent.ok) return undefined
  try {
    return lstatSync(formatFdPath(parent.fd, parent.name), { bigint: true, throwIfNoEntry: false })
  } finally {
    closeSync(parent.fd)
  }
}

async function keepFile(root: string, path: string, keep: Leftovers['keep']): Promise<void> {
  const opened = openFile(root, path)
  if (!opened.ok) return
  try {
    if (opened.stat.size <= KEPT_BYTES_MAX) keep(await readBytes(opened.fd, KEPT_BYTES_MAX))
  } finally {
    closeSync(opened.fd)
  }
}
