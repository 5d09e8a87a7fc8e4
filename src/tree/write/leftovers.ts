import { type BigIntStats, closeSync, lstatSync } from 'node:fs'
import { formatFdPath, openFile, openParent } from '../lookup.js'
import { readBytes } from '../read-bytes.js'
import { openTreeWriter } from './tree-writer.js'

/** A commit takes seconds. What is older than this belongs to one that was killed. */
export const LEFTOVER_MS = 10 * 60_000
const SWEPT_MAX = 10_000
const KEPT_BYTES_MAX = 1024 * 1024
const NAME = /^(?:.*\/)?\.phaselock-[0-9a-f]{32}(?=\/|$)/

export interface Leftovers {
  readonly paths: readonly string[]
  /** What was touched before this moment belongs to no commit that is under way. */
  readonly before: number
  /** What a file held may be nowhere else: the commit was killed before the old one or the new one had its name. */
  readonly keep: (content: Buffer) => void
}

/** Whether a path is, or lies in, something with a name that only commits give. */
export function isLeftover(path: string): boolean {
  return path.includes('.phaselock-') && NAME.test(path)
}

/**
 * Takes away what killed commits left under names of their own, and says which paths are gone. It may be that
 * a commit is under way: what is young stays.
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
