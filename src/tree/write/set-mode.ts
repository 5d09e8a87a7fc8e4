import { createHash } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { type Entry, inodeOf, openDirectoryIn, openEntry } from '../lookup.js'
import { errnoOf, type Refused, refused, refusedBy } from '../problems.js'
import { chunksOf } from '../read-bytes.js'
import { atSpot, type Run, type Spot } from './commit-run.js'
import { setDirectoryMode } from './make-directory.js'
import { prepareFile, putFile } from './put-file.js'
import { MODE_MASK } from './stage-file.js'
import type { TreeStep } from './tree-steps.js'

type SetMode = Extract<TreeStep, { readonly type: 'set_mode' }>

export async function setMode(run: Run, step: SetMode, spot: Spot): Promise<Refused | null> {
  const there = openEntry(spot.fd, spot.name)
  if (!there.ok) return refused(there.problem, step.path)
  try {
    switch (there.kind) {
      case 'link':
      case 'special':
        return refused(there.kind, step.path)
      case 'directory':
        return await setModeOfDirectory(run, step, spot)
      case 'file':
        // Another name of the same file may lie outside: it keeps its rights, because this one becomes a copy.
        return there.stat.nlink > 1n ? await copyWithMode(run, step, spot) : await setModeOfFile(run, step, there)
    }
  } catch (error) {
    return refusedBy(error, step.path)
  } finally {
    closeSync(there.fd)
  }
}

async function setModeOfDirectory(run: Run, step: SetMode, spot: Spot): Promise<Refused | null> {
  const opened = openDirectoryIn(spot.fd, spot.name)
  if (!opened.ok) return refused(opened.problem, step.path)
  await setDirectoryMode(run, { ...spot, fd: opened.fd, mode: step.mode, isMade: false }).finally(() =>
    closeSync(opened.fd),
  )
  return null
}

async function copyWithMode(run: Run, step: SetMode, spot: Spot): Promise<Refused | null> {
  const prepared = await prepareFile(run, step, spot)
  return prepared.ok ? putFile(run, step, { ...spot, ...prepared }) : prepared
}

async function setModeOfFile(run: Run, step: SetMode, there: Entry): Promise<Refused | null> {
  const sha256 = await hashOf(there)
  // Through the descriptor: the name could stand for something else by now.
  await chmod(`/proc/self/fd/${there.fd}`, step.mode & MODE_MASK)
  const old = Number(there.stat.mode) & 0o7777
  run.undo.push(async () => {
    await atSpot(run.root, step.path, async ({ fd, name }) => {
      const now = openEntry(fd, name)
      if (!now.ok) return
      const isSame = inodeOf(now.stat) === inodeOf(there.stat)
      await (isSame ? chmod(`/proc/self/fd/${now.fd}`, old) : Promise.resolve()).finally(() => closeSync(now.fd))
    })
  })
  const bytes = Number(there.stat.size)
  run.changes.push({ path: step.path, kind: 'modified', type: 'file', bytes, sha256, problem: null })
  return null
}

// null for what may not be read: its rights can be changed all the same.
async function hashOf({ fd, stat }: Entry): Promise<string | null> {
  let opened: number
  try {
    opened = openSync(`/proc/self/fd/${fd}`, 'r')
  } catch (error) {
    if (errnoOf(error) !== 'EACCES') throw error
    return null
  }
  const hash = createHash('sha256')
  try {
    for await (const chunk of chunksOf(opened, Number(stat.size))) hash.update(chunk)
  } finally {
    closeSync(opened)
  }
  return hash.digest('hex')
}
