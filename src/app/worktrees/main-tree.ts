import { copyFileSync, existsSync, readFileSync, readlinkSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { takeLock } from './index-lock.js'
import { dropLock, waitForGit } from './left-git.js'
import { isBelowFile, isThroughLink, readStats } from './link-on-path.js'
import type { MergePlan } from './merge-plan.js'
import { askGit, type GitPlace, runGit } from './run-git.js'

const STRAY_TOLD_MAX = 20

type Files = Pick<MergePlan, 'name' | 'repository' | 'before' | 'after'>

/** The index of the repository's own work tree, locked against other git processes while it is changed. */
export interface HeldIndex {
  /** A copy of the index that git works on; it replaces the index at the end. */
  readonly own: string
  /** Obstacles to moving the tree from one commit to the other; null: none. */
  readonly obstacle: (files: Files) => Promise<string | null>
  /** Moves index and files from one commit to the other. */
  readonly follow: (files: Files) => Promise<string | null>
  release(): void
}

/** Takes the lock that git itself takes; null: another git process or server has it. */
export async function holdIndex(repository: string, name: string): Promise<HeldIndex | null> {
  const at: GitPlace = { at: repository, settings: 'operator' }
  const index = await askGit(at, ['rev-parse', '--path-format=absolute', '--git-path', 'index'])
  if (index === null) return null
  const own = join(index, '..', `phaselock-${name}.index`)
  const lock = `${index}.lock`
  if (!(await waitForGit(repository))) return null
  await dropLock(`${own}.lock`)
  if (!(await takeLock(lock, own))) return null
  if (existsSync(index)) copyFileSync(index, own)
  else rmSync(own, { force: true })
  const ours: GitPlace = { ...at, index: own }
  const writing: GitPlace = { ...ours, writesFiles: true }
  return {
    own,
    obstacle: async ({ before, after }) => {
      await runGit(ours, ['update-index', '-q', '--refresh'])
      const dry = await runGit(writing, ['read-tree', '-m', '-u', '-n', before, after])
      return dry.code === 0 ? null : dry.said
    },
    follow: async (files) => {
      await runGit(ours, ['update-index', '-q', '--refresh'])
      const run = await runGit(writing, ['read-tree', '-m', '-u', files.before, files.after])
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

/**
 * Restores files that a killed git had begun to write, so that the update can start over. Returns the paths that
 * somebody else has changed since.
 */
export async function undoPartialWrites(held: HeldIndex, files: Files): Promise<readonly string[]> {
  const ours: GitPlace = { at: files.repository, settings: 'operator', index: held.own }
  const listed = await runGit(ours, ['diff-tree', '-r', '-z', '--no-renames', files.before, files.after])
  const entries = listed.stdout.split('\0')
  const stray: string[] = []
  for (let at = 0; at + 1 < entries.length; at += 2) {
    const [, , was = '', now = ''] = (entries[at] ?? '').slice(1).split(' ')
    const path = entries[at + 1] ?? ''
    const found = await readFileState(ours, { path, was, now })
    if (found === 'stray') stray.push(path)
    if (found === 'begun' && !isThroughLink(files.repository, path))
      rmSync(join(files.repository, path), { force: true })
    if (found === 'begun' && !/^0+$/.test(was))
      await runGit({ ...ours, writesFiles: true }, ['checkout-index', '-f', '--', path])
  }
  return stray.slice(0, STRAY_TOLD_MAX)
}

interface Half {
  readonly path: string
  readonly was: string
  readonly now: string
}

async function readFileState(ours: GitPlace, { path, was, now }: Half): Promise<'before' | 'begun' | 'stray'> {
  // The target of a link is outside this repository, and git removes the link before it writes there.
  const here = isThroughLink(ours.at, path) ? null : readContent(join(ours.at, path))
  const then = await readBlob(ours, was)
  if (here === then) return 'before'
  // A file that git put in place of a folder was restored first, so this one is somebody else's.
  if (isBelowFile(ours.at, path)) return 'stray'
  if (here === null) return 'begun'
  const next = await readBlob(ours, now)
  return next?.startsWith(here) === true ? 'begun' : 'stray'
}

function readContent(file: string): string | null {
  const stats = readStats(file)
  if (stats === undefined) return null
  if (stats.isSymbolicLink()) return readlinkSync(file, 'latin1')
  return stats.isFile() ? readFileSync(file, 'latin1') : '\0no file'
}

async function readBlob(ours: GitPlace, oid: string): Promise<string | null> {
  if (/^0+$/.test(oid)) return null
  const run = await runGit({ ...ours, encoding: 'latin1' }, ['cat-file', 'blob', oid])
  return run.code === 0 ? run.stdout : null
}
