import { closeSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openDirectory, openFile } from '../tree/lookup.js'
import { readBytes } from '../tree/read-bytes.js'
import { TooMuch, walkFrom } from '../tree/walk.js'
import { openTreeWriter } from '../tree/write/tree-writer.js'
import type { CommandEnd, Job } from './confinement.js'
import { ViewRefused } from './view/compose-view.js'

/** Maximum total size of all collected files. */
const COLLECTED_BYTES_MAX = 32 * 1024 * 1024
const COLLECTED_FILES_MAX = 5000
const ENTRIES_MAX = 1_000_000
const ENTRIES_PER_TURN = 500
const NOT_ENTERED: ReadonlySet<string> = new Set(['.git', 'node_modules', '.venv', 'venv', '.tox', '__pycache__'])

type Wanted = Pick<Job, 'collect' | 'collectWhere'>

/** Removes the files to collect from the view, so that only new ones are found later. Returns their paths. */
export async function clearCollected(view: string, { collect = [], collectWhere }: Wanted): Promise<readonly string[]> {
  const fresh: string[] = []
  for (const path of collect) if (await remove(view, path)) fresh.push(path)
  if (collectWhere === undefined) return fresh
  const old = await findFiles(view, collectWhere)
  if (old === null) throw new ViewRefused('there are too many files to look for old reports')
  for (const path of old)
    if (!(await remove(view, path))) throw new ViewRefused(`${path} is an old report that cannot be removed`)
  return fresh
}

async function remove(view: string, path: string): Promise<boolean> {
  const done = await openTreeWriter(view).commit([{ type: 'delete', path, isRecursive: true }])
  return done.ok || done.problem === 'missing'
}

/** The collected files. Call it when all processes of the command have ended. */
export async function collectFiles(
  view: string,
  fresh: readonly string[],
  { collectWhere }: Wanted,
): Promise<Pick<CommandEnd, 'files' | 'isFilesCut'>> {
  const found = collectWhere === undefined ? [] : await findFiles(view, collectWhere)
  if (found === null || found.length > COLLECTED_FILES_MAX) return { files: new Map(), isFilesCut: true }
  const files = new Map<string, Buffer>()
  let left = COLLECTED_BYTES_MAX
  for (const path of [...fresh, ...found.toSorted()]) {
    const opened = openFile(view, path)
    if (!opened.ok) continue
    try {
      const bytes = await readBytes(opened.fd, left + 1)
      if (bytes.length > left) return { files, isFilesCut: true }
      left -= bytes.length
      files.set(path, bytes)
    } finally {
      closeSync(opened.fd)
    }
  }
  return { files }
}

// Links are not followed. Null when there are too many entries.
async function findFiles(view: string, isWanted: (path: string) => boolean): Promise<readonly string[] | null> {
  const opened = openDirectory(view, [])
  if (!opened.ok) return []
  const found: string[] = []
  let looked = 0
  try {
    const isEntered = ({ name }: { readonly name: string }): boolean => !NOT_ENTERED.has(name)
    for (const { path, kind } of walkFrom(opened.fd, { isEntered, entriesMax: ENTRIES_MAX })) {
      if ((kind === 'file' || kind === 'link') && isWanted(path)) found.push(path)
      looked += 1
      if (looked % ENTRIES_PER_TURN === 0) await nextTurn()
    }
    return found
  } catch (error) {
    if (error instanceof TooMuch) return null
    throw error
  } finally {
    closeSync(opened.fd)
  }
}
