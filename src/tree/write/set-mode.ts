import { closeSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { type Entry, formatInode, openDirectoryIn, openEntry } from '../lookup.js'
import { makeRefused, type TreeRefusal, toRefused } from '../problems.js'
import { type Run, runAtSpot, type Spot } from './commit-run.js'
import { hashEntry } from './hash-entry.js'
import { setDirectoryMode } from './make-directory.js'
import { prepareFile, putFile } from './put-file.js'
import { MODE_MASK } from './stage-file.js'
import type { TreeStep } from './tree-steps.js'

type SetMode = Extract<TreeStep, { readonly type: 'set_mode' }>

export async function setMode(run: Run, step: SetMode, spot: Spot): Promise<TreeRefusal | null> {
  const there = openEntry(spot.fd, spot.name)
  if (!there.ok) return makeRefused(there.problem, step.path)
  try {
    switch (there.kind) {
      case 'link':
      case 'special':
        return makeRefused(there.kind, step.path)
      case 'directory':
        return await setModeOfDirectory(run, step, spot)
      case 'file':
        // Another hard link of the same file may be outside: it keeps its mode, because this one becomes a copy.
        return there.stat.nlink > 1n ? await copyWithMode(run, step, spot) : await setModeOfFile(run, step, there)
    }
  } catch (error) {
    return toRefused(error, step.path)
  } finally {
    closeSync(there.fd)
  }
}

async function setModeOfDirectory(run: Run, step: SetMode, spot: Spot): Promise<TreeRefusal | null> {
  const opened = openDirectoryIn(spot.fd, spot.name)
  if (!opened.ok) return makeRefused(opened.problem, step.path)
  await setDirectoryMode(run, { ...spot, fd: opened.fd, mode: step.mode, isMade: false }).finally(() =>
    closeSync(opened.fd),
  )
  return null
}

async function copyWithMode(run: Run, step: SetMode, spot: Spot): Promise<TreeRefusal | null> {
  const prepared = await prepareFile(run, step, spot)
  return prepared.ok ? putFile(run, step, { ...spot, ...prepared }) : prepared
}

async function setModeOfFile(run: Run, step: SetMode, there: Entry): Promise<TreeRefusal | null> {
  const sha256 = await hashEntry(there)
  // By descriptor: the name could refer to another file by now.
  await chmod(`/proc/self/fd/${there.fd}`, step.mode & MODE_MASK)
  const old = Number(there.stat.mode) & 0o7777
  run.undo.push(async () => {
    await runAtSpot(run.root, step.path, async ({ fd, name }) => {
      const now = openEntry(fd, name)
      if (!now.ok) return
      const isSame = formatInode(now.stat) === formatInode(there.stat)
      await (isSame ? chmod(`/proc/self/fd/${now.fd}`, old) : Promise.resolve()).finally(() => closeSync(now.fd))
    })
  })
  const bytes = Number(there.stat.size)
  run.changes.push({ path: step.path, kind: 'modified', type: 'file', bytes, sha256, problem: null })
  return null
}
