import { closeSync, opendirSync } from 'node:fs'
import { rename, rmdir } from 'node:fs/promises'
import { formatFdPath, type Kind, openDirectoryIn, openEntry } from '../lookup.js'
import { getErrno, makeRefused, type TreeRefusal, toRefused } from '../problems.js'
import { type Home, nameTemporary, type Run, returnToSpot, type Spot, toHome } from './commit-run.js'
import { removeWhole } from './remove-whole.js'
import { getParentPath, replaceLastName, type TreeStep } from './tree-steps.js'

type Delete = Extract<TreeStep, { readonly type: 'delete' }>

/** Removes a name from the tree in one rename; its content is deleted when the whole commit is done. */
export async function deleteEntry(run: Run, step: Delete, spot: Spot): Promise<TreeRefusal | null> {
  const there = openEntry(spot.fd, spot.name)
  if (!there.ok) return makeRefused(there.problem, step.path)
  closeSync(there.fd)
  const isWhole = there.kind !== 'directory' || step.isRecursive === true
  if (!isWhole && !isEmpty(spot)) return makeRefused('not_empty', step.path)
  const aside = nameTemporary(run, step, 'old')
  const home = toHome(spot)
  try {
    await rename(formatFdPath(spot.fd, spot.name), formatFdPath(spot.fd, aside))
  } catch (error) {
    return toRefused(error, step.path)
  }
  run.touched.add(getParentPath(step.path))
  run.undo.push(() => putBack(run, home, aside))
  run.finish.push({
    path: replaceLastName(step.path, aside),
    remove: () => removeAside(run, home, { aside, isWhole }),
  })
  run.changes.push({
    path: step.path,
    kind: 'deleted',
    type: toEntryType(there.kind),
    bytes: null,
    sha256: null,
    problem: null,
  })
  return null
}

function isEmpty({ fd, name }: Spot): boolean {
  const opened = openDirectoryIn(fd, name)
  if (!opened.ok) return false
  const directory = opendirSync(`/proc/self/fd/${opened.fd}`)
  try {
    return directory.readSync() === null
  } finally {
    directory.closeSync()
    closeSync(opened.fd)
  }
}

function toEntryType(kind: Kind): 'file' | 'directory' | 'link' {
  return kind === 'special' ? 'file' : kind
}

async function putBack(run: Run, home: Home, aside: string): Promise<void> {
  const { path } = home
  const done = await returnToSpot(run.root, home, async ({ fd, name }) => {
    const there = openEntry(fd, name)
    if (there.ok) closeSync(there.fd)
    if (there.ok) throw new Error(`${path} was taken by somebody else while it was put back`)
    await rename(formatFdPath(fd, aside), formatFdPath(fd, name))
    return { ok: true as const }
  })
  if (!done.ok) throw new Error(`${path} could not be put back: ${done.problem}`)
}

interface Aside {
  readonly aside: string
  readonly isWhole: boolean
}

async function removeAside(run: Run, home: Home, { aside, isWhole }: Aside): Promise<boolean> {
  const removed = await returnToSpot(run.root, home, async ({ fd }) => {
    if (isWhole) return removeWhole(fd, aside)
    try {
      await rmdir(formatFdPath(fd, aside))
      return true
    } catch (error) {
      // Another process added an entry at the last moment; it is not deleted.
      if (getErrno(error) !== 'ENOTEMPTY') throw error
      return false
    }
  })
  return removed === true
}
