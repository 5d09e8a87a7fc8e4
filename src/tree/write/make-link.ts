import { closeSync, fstatSync } from 'node:fs'
import { chown, symlink } from 'node:fs/promises'
import { formatFdPath, formatInode, openEntry } from '../lookup.js'
import { makeRefused, type TreeRefusal, toRefused } from '../problems.js'
import { nameTemporary, type Run, type Spot, toHome } from './commit-run.js'
import { swapIn } from './put-file.js'
import { isTargetInside, type TreeStep } from './tree-steps.js'

type MakeLink = Extract<TreeStep, { readonly type: 'make_link' }>

export async function makeLink(run: Run, step: MakeLink, spot: Spot): Promise<TreeRefusal | null> {
  if (!isTargetInside(step.path, step.target)) return makeRefused('leaving_link', step.path)
  const there = openEntry(spot.fd, spot.name)
  if (there.ok) closeSync(there.fd)
  if (there.ok && there.kind !== 'link') return makeRefused('exists', step.path)
  if (!there.ok && there.problem !== 'missing') return makeRefused(there.problem, step.path)
  const temp = nameTemporary(run, step, 'new')
  try {
    await symlink(step.target, formatFdPath(spot.fd, temp))
  } catch (error) {
    return toRefused(error, step.path)
  }
  run.unused.set(temp, toHome(spot))
  const inode = await ownLink(spot.fd, temp)
  if (inode === null) return makeRefused('changed', step.path)
  const problem = await swapIn(run, { ...spot, step, temp, inode, isReplacing: there.ok })
  if (problem !== null) return problem
  run.unused.delete(temp)
  const kind = there.ok ? 'modified' : 'created'
  run.changes.push({ path: step.path, kind, type: 'link', bytes: null, sha256: null, problem: null })
  return null
}

// The owner is changed by descriptor: by name, another file could have been put there.
async function ownLink(directoryFd: number, temp: string): Promise<string | null> {
  const made = openEntry(directoryFd, temp)
  if (!made.ok) return null
  try {
    if (made.kind !== 'link' || made.stat.nlink !== 1n) return null
    const { uid, gid } = fstatSync(directoryFd)
    if (process.geteuid?.() === 0) await chown(`/proc/self/fd/${made.fd}`, uid, gid)
    return formatInode(made.stat)
  } finally {
    closeSync(made.fd)
  }
}
