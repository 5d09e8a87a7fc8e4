import { closeSync, opendirSync } from 'node:fs'
import { rename, rmdir } from 'node:fs/promises'
import { inside, type Kind, openDirectoryIn, openEntry } from '../lookup.js'
import { errnoOf, type Refused, refused, refusedBy } from '../problems.js'
import { backAt, type Home, homeOf, type Run, type Spot } from './commit-run.js'
import { removeWhole } from './remove-whole.js'
import { hiddenName } from './stage-file.js'
import { beside, parentPath, type TreeStep } from './tree-steps.js'

type Delete = Extract<TreeStep, { readonly type: 'delete' }>

/** Takes a name out of the tree in one rename; what it stood for is removed when the whole commit is done. */
export async function deleteEntry(run: Run, step: Delete, spot: Spot): Promise<Refused | null> {
  const there = openEntry(spot.fd, spot.name)
  if (!there.ok) return refused(there.problem, step.path)
  closeSync(there.fd)
  const isWhole = there.kind !== 'directory' || step.isRecursive === true
  if (!isWhole && !isEmpty(spot)) return refused('not_empty', step.path)
  const aside = hiddenName()
  const home = homeOf(spot)
  try {
    await rename(inside(spot.fd, spot.name), inside(spot.fd, aside))
  } catch (error) {
    return refusedBy(error, step.path)
  }
  run.touched.add(parentPath(step.path))
  run.undo.push(() => putBack(run, home, aside))
  run.finish.push({
    path: beside(step.path, aside),
    remove: () => removeAside(run, home, { aside, isWhole }),
  })
  run.changes.push({
    path: step.path,
    kind: 'deleted',
    type: typeOf(there.kind),
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

function typeOf(kind: Kind): 'file' | 'directory' | 'link' {
  return kind === 'special' ? 'file' : kind
}

async function putBack(run: Run, home: Home, aside: string): Promise<void> {
  const { path } = home
  const done = await backAt(run.root, home, async ({ fd, name }) => {
    const there = openEntry(fd, name)
    if (there.ok) closeSync(there.fd)
    if (there.ok) throw new Error(`${path} was taken by somebody else while it was put back`)
    await rename(inside(fd, aside), inside(fd, name))
    return { ok: true as const }
  })
  if (!done.ok) throw new Error(`${path} could not be put back: ${done.problem}`)
}

interface Aside {
  readonly aside: string
  readonly isWhole: boolean
}

async function removeAside(run: Run, home: Home, { aside, isWhole }: Aside): Promise<boolean> {
  const removed = await backAt(run.root, home, async ({ fd }) => {
    if (isWhole) return removeWhole(fd, aside)
    try {
      await rmdir(inside(fd, aside))
      return true
    } catch (error) {
      // Filled by somebody in the last moment; what nobody asked to delete is not deleted.
      if (errnoOf(error) !== 'ENOTEMPTY') throw error
      return false
    }
  })
  return removed === true
}
