import {
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { askGit, type GitPlace, runGit } from './git.js'
import { dropLock, outlastGit } from './left-git.js'
import type { MergePlan } from './plan.js'

const LOCK_WORD = 'phaselock merge'
const LOCK_TRIES_MAX = 20
const LOCK_WAIT_MS = 100
const STRAY_TOLD_MAX = 20

type Files = Pick<MergePlan, 'name' | 'repository' | 'before' | 'after'>

/** The index of the repository's own work tree, kept from every other git while it is changed. */
export interface HeldIndex {
  /** A copy of the index that git works on; it takes the place of the index at the end. */
  readonly own: string
  /** What is in the way of taking the tree from one commit to the other; null: nothing. */
  readonly obstacle: (files: Files) => Promise<string | null>
  /** Takes index and files from one commit to the other. */
  readonly follow: (files: Files) => Promise<string | null>
  release(): void
}

/** Takes the lock that git itself takes; null: somebody else's git has it. What says our name was left by us. */
export async function holdIndex(repository: string, name: string): Promise<HeldIndex | null> {
  const at: GitPlace = { at: repository, settings: 'operator' }
  const index = await askGit(at, ['rev-parse', '--path-format=absolute', '--git-path', 'index'])
  if (index === null) return null
  const own = join(index, '..', `phaselock-${name}.index`)
  const lock = `${index}.lock`
  if (!(await outlastGit(repository))) return null
  await dropLock(`${own}.lock`)
  if (!(await locked(lock, own))) return null
  if (existsSync(index)) copyFileSync(index, own)
  else rmSync(own, { force: true })
  const ours: GitPlace = { ...at, index: own }
  return {
    own,
    obstacle: async ({ before, after }) => {
      await runGit(ours, ['update-index', '-q', '--refresh'])
      const dry = await runGit(ours, ['read-tree', '-m', '-u', '-n', before, after])
      return dry.code === 0 ? null : dry.said
    },
    follow: async (files) => {
      await runGit(ours, ['update-index', '-q', '--refresh'])
      const run = await runGit(ours, ['read-tree', '-m', '-u', files.before, files.after])
      if (run.code !== 0) return run.said
      renameSync(own, index)
      return null
    },
    release: () => {
      rmSync(own, { force: true })
      rmSync(lock, { force: true })
    },
  }
}

// The lock appears with its word in it: one that is empty is never ours.
async function locked(lock: string, own: string): Promise<boolean> {
  const word = `${own}.word`
  for (let attempt = 0; attempt < LOCK_TRIES_MAX; attempt += 1) {
    writeFileSync(word, LOCK_WORD)
    try {
      linkSync(word, lock)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      if (isOurs(lock)) rmSync(lock, { force: true })
      else await sleep(LOCK_WAIT_MS)
    } finally {
      rmSync(word, { force: true })
    }
  }
  return false
}

// One repository is merged into by one work at a time: a lock of ours that is there was left by a server that was killed.
function isOurs(lock: string): boolean {
  try {
    return lstatSync(lock).size === LOCK_WORD.length && readFileSync(lock, 'utf8') === LOCK_WORD
  } catch {
    return false
  }
}

/**
 * Puts files that a killed git had begun to write back to what they were, so that the tree can follow as if nothing had happened.
 * Gives the paths that somebody else has changed since.
 */
export async function undoHalf(held: HeldIndex, files: Files): Promise<readonly string[]> {
  const ours: GitPlace = { at: files.repository, settings: 'operator', index: held.own }
  const listed = await runGit(ours, ['diff-tree', '-r', '-z', '--no-renames', files.before, files.after])
  const entries = listed.stdout.split('\0')
  const stray: string[] = []
  for (let at = 0; at + 1 < entries.length; at += 2) {
    const [, , was = '', now = ''] = (entries[at] ?? '').slice(1).split(' ')
    const path = entries[at + 1] ?? ''
    const found = await stateOf(ours, { path, was, now })
    if (found === 'stray') stray.push(path)
    if (found === 'begun' && !isThroughLink(files.repository, path))
      rmSync(join(files.repository, path), { force: true })
    if (found === 'begun' && !/^0+$/.test(was)) await runGit(ours, ['checkout-index', '-f', '--', path])
  }
  return stray.slice(0, STRAY_TOLD_MAX)
}

interface Half {
  readonly path: string
  readonly was: string
  readonly now: string
}

async function stateOf(ours: GitPlace, { path, was, now }: Half): Promise<'before' | 'begun' | 'stray'> {
  // What a link leads to is not of this repository, and git takes the link away before it writes there.
  const here = isThroughLink(ours.at, path) ? null : contentOf(join(ours.at, path))
  const then = await blobOf(ours, was)
  if (here === then) return 'before'
  if (here === null) return 'begun'
  const next = await blobOf(ours, now)
  return next?.startsWith(here) === true ? 'begun' : 'stray'
}

function isThroughLink(repository: string, path: string): boolean {
  const folders = path.split('/').slice(0, -1)
  return folders.some((_, at) => {
    const folder = join(repository, ...folders.slice(0, at + 1))
    return lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() === true
  })
}

function contentOf(file: string): string | null {
  const stats = lstatSync(file, { throwIfNoEntry: false })
  if (stats === undefined) return null
  if (stats.isSymbolicLink()) return readlinkSync(file, 'latin1')
  return stats.isFile() ? readFileSync(file, 'latin1') : '\0no file'
}

async function blobOf(ours: GitPlace, oid: string): Promise<string | null> {
  if (/^0+$/.test(oid)) return null
  const run = await runGit({ ...ours, encoding: 'latin1' }, ['cat-file', 'blob', oid])
  return run.code === 0 ? run.stdout : null
}
