import { closeSync, fchmod, fstatSync, opendirSync } from 'node:fs'
import { mkdir, rmdir } from 'node:fs/promises'
import { promisify } from 'node:util'
import { formatFdPath, type OpenResult, openDirectory, openDirectoryIn, splitPath } from '../lookup.js'
import { getErrno, makeRefused, type TreeRefusal, toRefused } from '../problems.js'
import { type Run, returnToSpot, runAtSpot, type Spot, toHome } from './commit-run.js'
import { giveToOwnerOf, MODE_MASK } from './stage-file.js'
import { getParentPath, type TreeStep } from './tree-steps.js'

const changeMode = promisify(fchmod)

const NEW_DIRECTORY_MODE = 0o755
// Directories pass on their group with this bit; it lets nobody run anything.
const GROUP_BIT = 0o2000

/** The open directory of a path, created with its parents if it is missing. */
export async function openOrMakeParent(run: Run, path: string): Promise<OpenResult<Spot>> {
  const parts = splitPath(path)
  const name = parts?.at(-1)
  if (parts === null || name === undefined) return makeRefused('outside', path)
  const root = openDirectory(run.root, [])
  if (!root.ok) return root
  let fd = root.fd
  try {
    for (const [index, part] of parts.slice(0, -1).entries()) {
      const spot: Spot = { fd, name: part, path: parts.slice(0, index + 1).join('/') }
      const found = openDirectoryIn(fd, part)
      const next = !found.ok && found.problem === 'missing' ? await makeDirectoryAt(run, spot) : found
      if (!next.ok) return makeRefused(next.problem, spot.path)
      closeSync(fd)
      fd = next.fd
    }
    const spot: Spot = { fd, name, path: parts.join('/') }
    fd = -1
    return { ok: true, ...spot }
  } finally {
    if (fd !== -1) closeSync(fd)
  }
}

async function makeDirectoryAt(run: Run, spot: Spot): Promise<OpenResult<{ readonly fd: number }>> {
  try {
    await mkdir(formatFdPath(spot.fd, spot.name), NEW_DIRECTORY_MODE)
  } catch (error) {
    // Another process created it at the same moment: it can be used.
    return getErrno(error) === 'EEXIST' ? openDirectoryIn(spot.fd, spot.name) : toRefused(error, spot.path)
  }
  run.touched.add(getParentPath(spot.path))
  const home = toHome(spot)
  run.undo.push(async () => {
    await returnToSpot(run.root, home, undoMake)
  })
  const made = openDirectoryIn(spot.fd, spot.name)
  if (!made.ok) return made
  const problem = await giveIfFresh(spot, made.fd)
  if (problem !== null) {
    closeSync(made.fd)
    return problem
  }
  run.changes.push({ path: spot.path, kind: 'created', type: 'directory', bytes: null, sha256: null, problem: null })
  return made
}

async function giveIfFresh(spot: Spot, fd: number): Promise<TreeRefusal | null> {
  try {
    if (!isFresh(fd)) return makeRefused('changed', spot.path)
    await giveToOwnerOf(fstatSync(spot.fd, { bigint: true }), fd)
    return null
  } catch (error) {
    return toRefused(error, spot.path)
  }
}

// Another directory could have been moved to the name: change the owner only of an empty directory that is ours.
function isFresh(fd: number): boolean {
  if (fstatSync(fd).uid !== process.geteuid?.()) return false
  const directory = opendirSync(`/proc/self/fd/${fd}`)
  try {
    return directory.readSync() === null
  } finally {
    directory.closeSync()
  }
}

async function undoMake({ fd, name }: Spot): Promise<void> {
  try {
    await rmdir(formatFdPath(fd, name))
  } catch (error) {
    // Another process added or removed something: it is no longer ours.
    if (!['ENOTEMPTY', 'ENOENT', 'ENOTDIR'].includes(getErrno(error))) throw error
  }
}

type MakeDirectory = Extract<TreeStep, { readonly type: 'make_directory' }>

export async function makeDirectory(run: Run, step: MakeDirectory, spot: Spot): Promise<TreeRefusal | null> {
  const found = openDirectoryIn(spot.fd, spot.name)
  if (!found.ok && found.problem === 'not_a_directory') return makeRefused('exists', step.path)
  const isMade = !found.ok && found.problem === 'missing'
  const opened = isMade ? await makeDirectoryAt(run, spot) : found
  if (!opened.ok) return makeRefused(opened.problem, step.path)
  try {
    if (step.mode !== undefined) await setDirectoryMode(run, { ...spot, fd: opened.fd, mode: step.mode, isMade })
    return null
  } catch (error) {
    return toRefused(error, step.path)
  } finally {
    closeSync(opened.fd)
  }
}

interface DirectoryMode extends Spot {
  readonly mode: number
  readonly isMade: boolean
}

/** `fd` is the directory itself. */
export async function setDirectoryMode(run: Run, { fd, path, mode, isMade }: DirectoryMode): Promise<void> {
  const old = fstatSync(fd).mode
  const next = (mode & MODE_MASK) | (old & GROUP_BIT)
  if ((old & 0o7777) === next) return
  await changeMode(fd, next)
  if (isMade) return
  run.undo.push(async () => {
    await runAtSpot(run.root, path, async (spot) => {
      const opened = openDirectoryIn(spot.fd, spot.name)
      if (!opened.ok) return
      await changeMode(opened.fd, old & 0o7777).finally(() => closeSync(opened.fd))
    })
  })
  run.changes.push({ path, kind: 'modified', type: 'directory', bytes: null, sha256: null, problem: null })
}
