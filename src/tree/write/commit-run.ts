import { closeSync, fstatSync, fsync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Change } from '../change.js'
import { formatInode, openDirectory, openParent, splitPath } from '../lookup.js'
import { makeRefused, type TreeRefusal, TreeUnreadable } from '../problems.js'
import { makeTemporaryName, type TemporaryKind } from './temporary-name.js'
import type { TreeStep } from './tree-steps.js'

const ATTEMPTS_MAX = 20
const syncDirectory = promisify(fsync)

/** The steps of one commit so far, and how to undo them. */
export interface Run {
  readonly root: string
  /** The temporary names follow from it. */
  readonly secret: string
  /** The place of each step. */
  readonly order: ReadonlyMap<TreeStep, number>
  /** Whether replaced entries are kept. A single step replaces in one rename: nothing is needed to undo it. */
  readonly keepsOld: boolean
  readonly changes: Change[]
  /** Run backwards when a later step is refused. */
  readonly undo: (() => Promise<void>)[]
  /** Run when every step is done; false when something is left at the path. */
  readonly finish: { readonly path: string; readonly remove: () => Promise<boolean> }[]
  /** Directories whose names have changed. */
  readonly touched: Set<string>
  /** Names of staged files that no step has used yet, with their directories. */
  readonly unused: Map<string, Home>
}

export function makeRun(
  root: string,
  { secret, steps, keepsOld }: Pick<Run, 'secret' | 'keepsOld'> & { readonly steps: readonly TreeStep[] },
): Run {
  const order = new Map(steps.map((step, index) => [step, index]))
  return { root, secret, order, keepsOld, changes: [], undo: [], finish: [], touched: new Set(), unused: new Map() }
}

/** The name of a temporary entry of this step: unpredictable, and known again after a crash. */
export function nameTemporary({ secret, order }: Run, step: TreeStep, kind: TemporaryKind): string {
  return makeTemporaryName(secret, order.get(step) ?? -1, kind)
}

/** An open directory of the tree, a name in it, and their path. */
export interface Spot {
  readonly fd: number
  readonly name: string
  readonly path: string
}

/** Reopens the directory of a path: no descriptors are kept between steps, however many there are. */
export async function runAtSpot<T>(
  root: string,
  path: string,
  work: (spot: Spot) => Promise<T>,
): Promise<T | TreeRefusal> {
  const parent = openParent(root, path)
  if (!parent.ok) return parent
  try {
    return await work({ ...parent, path })
  } finally {
    closeSync(parent.fd)
  }
}

/** A path and its directory at the time of a step. */
export interface Home {
  readonly path: string
  readonly directory: string
}

export function toHome({ fd, path }: Spot): Home {
  return { path, directory: formatInode(fstatSync(fd, { bigint: true })) }
}

/**
 * Finds the directory of an earlier step again. Another process may keep moving directories, so it may take some
 * attempts.
 */
export async function returnToSpot<T>(
  root: string,
  home: Home,
  work: (spot: Spot) => Promise<T>,
): Promise<T | TreeRefusal> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const done = await runAtSpot(root, home.path, async (spot) =>
      toHome(spot).directory === home.directory ? { value: await work(spot) } : null,
    )
    if (done !== null && 'value' in done) return done.value
    await nextTurn()
  }
  return makeRefused('changed', home.path)
}

/** Throws when something could not be restored: then the state of the tree is unknown. */
export async function takeBack(run: Run): Promise<void> {
  const failures: unknown[] = []
  for (const undo of run.undo.reverse()) await undo().catch((error: unknown) => failures.push(error))
  if (failures.length > 0)
    throw new TreeUnreadable(
      `it was changed by somebody else meanwhile, and ${failures.length} changes of ${run.root} could not be taken back`,
      { cause: failures[0] },
    )
}

/** Makes renames durable. A directory that was removed needs no sync. */
export async function syncTouched({ root, touched }: Pick<Run, 'root' | 'touched'>): Promise<void> {
  for (const path of touched) {
    const opened = openDirectory(root, splitPath(path) ?? [])
    if (!opened.ok) continue
    try {
      await syncDirectory(opened.fd)
    } finally {
      closeSync(opened.fd)
    }
  }
}
