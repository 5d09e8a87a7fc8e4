import { closeSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { matchesGlob } from '../contract/glob.js'
import { openDirectory } from '../tree/lookup.js'
import { walkFrom } from '../tree/walk.js'
import { NOT_THE_PROJECT } from '../tree/work-tree.js'

interface ListedSources {
  /** In the order of their names. */
  readonly files: readonly string[]
  /** Folders in which files may appear, and those above them; `''` is the root. */
  readonly folders: readonly string[]
}

const ENTRIES_MAX = 200_000
const ENTRIES_PER_TURN = 500

/**
 * Regular files that match one of the globs, without following links and without installed packages and build output.
 */
export async function listSources(root: string, patterns: readonly string[]): Promise<ListedSources> {
  const opened = openDirectory(root, [])
  if (!opened.ok) throw new Error('the work tree cannot be opened')
  const bases = patterns.map(getBase)
  const files: string[] = []
  const folders = ['']
  let met = 0
  const { anywhere, atRoot } = NOT_THE_PROJECT
  try {
    // A folder that cannot be opened has nothing to show.
    const walk = walkFrom(opened.fd, {
      isEntered: ({ path, name, depth }) =>
        !anywhere.has(name) && !(depth === 0 && atRoot.has(name)) && bases.some((base) => isOnTheWay(path, base)),
      entriesMax: ENTRIES_MAX,
    })
    for (const { path, kind, name, depth } of walk) {
      met += 1
      if (met % ENTRIES_PER_TURN === 0) await nextTurn()
      if (kind === 'file' && patterns.some((pattern) => matchesGlob(pattern, path))) files.push(path)
      const isLeftOut = anywhere.has(name) || (depth === 0 && atRoot.has(name))
      if (kind === 'directory' && !isLeftOut && bases.some((base) => isOnTheWay(path, base))) folders.push(path)
    }
  } finally {
    closeSync(opened.fd)
  }
  return { files: files.sort(), folders }
}

/** The folders that a glob names before its first wildcard. */
function getBase(pattern: string): string {
  const parts = pattern.split('/').slice(0, -1)
  const wild = parts.findIndex((part) => /[*?[\]{}()!+@\\]/.test(part))
  return (wild < 0 ? parts : parts.slice(0, wild)).filter((part) => part !== '.' && part !== '').join('/')
}

function isOnTheWay(folder: string, base: string): boolean {
  return base === '' || folder === base || folder.startsWith(`${base}/`) || base.startsWith(`${folder}/`)
}
