import { closeSync, fstatSync } from 'node:fs'
import { chown, symlink } from 'node:fs/promises'
import { inodeOf, inside, openEntry } from '../lookup.js'
import { type Refused, refused, refusedBy } from '../problems.js'
import { homeOf, type Run, type Spot } from './commit-run.js'
import { swapIn } from './put-file.js'
import { hiddenName } from './stage-file.js'
import { isTargetInside, type TreeStep } from './tree-steps.js'

type MakeLink = Extract<TreeStep, { readonly type: 'make_link' }>

export async function makeLink(run: Run, step: MakeLink, spot: Spot): Promise<Refused | null> {
  if (!isTargetInside(step.path, step.target)) return refused('leaving_link', step.path)
  const there = openEntry(spot.fd, spot.name)
  if (there.ok) closeSync(there.fd)
  if (there.ok && there.kind !== 'link') return refused('exists', step.path)
  if (!there.ok && there.problem !== 'missing') return refused(there.problem, step.path)
  const temp = hiddenName()
  try {
    await symlink(step.target, inside(spot.fd, temp))
  } catch (error) {
    return refusedBy(error, step.path)
  }
  run.unused.set(temp, homeOf(spot))
  const inode = await ownLink(spot.fd, temp)
  if (inode === null) return refused('changed', step.path)
  const problem = await swapIn(run, { ...spot, temp, inode, isReplacing: there.ok })
  if (problem !== null) return problem
  run.unused.delete(temp)
  const kind = there.ok ? 'modified' : 'created'
  run.changes.push({ path: step.path, kind, type: 'link', bytes: null, sha256: null, problem: null })
  return null
}

// Given away by descriptor: by name, what somebody put there meanwhile would be given away.
async function ownLink(directoryFd: number, temp: string): Promise<string | null> {
  const made = openEntry(directoryFd, temp)
  if (!made.ok) return null
  try {
    if (made.kind !== 'link' || made.stat.nlink !== 1n) return null
    const { uid, gid } = fstatSync(directoryFd)
    if (process.geteuid?.() === 0) await chown(`/proc/self/fd/${made.fd}`, uid, gid)
    return inodeOf(made.stat)
  } finally {
    closeSync(made.fd)
  }
}
