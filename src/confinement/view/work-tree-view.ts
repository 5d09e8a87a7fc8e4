import { lstatSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Job } from '../confinement.js'
import { type Keeper, quoteWord } from '../launch/keeper.js'
import { CACHE, CACHE_MERGED } from './home-cache.js'
import { makeFolders } from './make-folders.js'

/** One command's view of the work tree. */
export interface Run {
  readonly name: string
  /** The folder of the run, as the keeper sees it and as the server reaches it. */
  readonly dir: string
  readonly seen: string
}

const LOWER = 'l'
const SCRATCH = 's'
const UPPER = 'u'
const WORK = 'w'
export const MERGED = 'm'
export const TOUCHED = UPPER

/** An overlay over the work tree: writes of the command go to a separate layer. */
export async function mountOverlay(keeper: Keeper, name: string, job: Job): Promise<Run> {
  const run = makeRun(keeper, name)
  const mode = statSync(job.tree).mode & 0o777
  for (const part of [UPPER, WORK, MERGED]) makeFolders(join(run.seen, part), mode)
  // Names with commas or colons cannot be used in mount options: use a link and relative names instead.
  symlinkSync(job.tree, join(run.seen, LOWER))
  const hasLayer = job.layer !== undefined && job.layer !== null
  if (hasLayer) symlinkSync(job.layer, join(run.seen, SCRATCH))
  const options = `lowerdir=${hasLayer ? `${SCRATCH}:` : ''}${LOWER},upperdir=${UPPER},workdir=${WORK},userxattr`
  await keeper.ask(`cd ${quoteWord(run.dir)} && mount -i -n -t overlay -o ${options} overlay ${MERGED}`)
  return run
}

/** No separate view: the work tree itself, read-only. */
export async function makePlainRun(keeper: Keeper, name: string): Promise<Run> {
  const run = makeRun(keeper, name)
  makeFolders(run.seen)
  return run
}

/** A copy of the work tree, if overlays are not available. Large folders that are never written are mounted instead. */
export async function copy(
  keeper: Keeper,
  name: string,
  one: { readonly job: Job; readonly without: readonly string[] },
) {
  const run = makeRun(keeper, name)
  makeFolders(join(run.seen, MERGED), statSync(one.job.tree).mode & 0o777)
  const but = one.without.map((entry) => `! -name ${quoteWord(entry)}`).join(' ')
  const into = quoteWord(join(run.dir, MERGED))
  // Names are piped from one program to the other: there may be too many for a command line, and some may not be text.
  await keeper.ask(
    `cd ${quoteWord(one.job.tree)} && find . -mindepth 1 -maxdepth 1 ${but} -print0 | ` +
      `xargs -0 -r cp -a --no-preserve=ownership --reflink=auto -t ${into} --`,
  )
  const { layer } = one.job
  if (layer !== undefined && layer !== null)
    await keeper.ask(`cp -a --no-preserve=ownership --reflink=auto -T -- ${quoteWord(layer)} ${into}`)
  return run
}

const REMOVED_AT_ONCE = 16
const REMOVE_LATER_MS = 200
const waiting = new WeakMap<Keeper, string[]>()

/** Removes a run when nothing waits for the keeper. A run that is left over is removed with it. */
export function remove(keeper: Keeper, run: Run): void {
  const dirs = waiting.get(keeper) ?? []
  waiting.set(keeper, dirs)
  dirs.push(quoteWord(run.dir))
  if (dirs.length >= REMOVED_AT_ONCE) removeAll(keeper, dirs)
  else if (dirs.length === 1) setTimeout(() => removeAll(keeper, dirs), REMOVE_LATER_MS).unref()
}

function removeAll(keeper: Keeper, dirs: string[]): void {
  const all = dirs.splice(0)
  if (all.length === 0) return
  const mounts = [MERGED, CACHE_MERGED, CACHE]
  const merged = all.flatMap((dir) => mounts.map((name) => `${dir}/${name}`)).join(' ')
  keeper.ask(`umount ${merged} 2>/dev/null; rm -rf ${all.join(' ')}`).catch(() => undefined)
}

function makeRun(keeper: Keeper, name: string): Run {
  if (!keeper.isAlive) throw new Error('the process that makes the sandboxes has ended')
  return { name, dir: join(keeper.dir, name), seen: join(keeper.seen, name) }
}

/** The type of a path in the work tree, without following a link; null when it does not exist. */
export function readKind(tree: string, path: string): 'file' | 'directory' | 'other' | null {
  try {
    const stats = lstatSync(join(tree, path))
    return stats.isDirectory() ? 'directory' : stats.isFile() ? 'file' : 'other'
  } catch {
    return null
  }
}
