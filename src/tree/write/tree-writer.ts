import { randomBytes } from 'node:crypto'
import { closeSync, fstatSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import type { Change } from '../change.js'
import { isTooDeep } from '../limits.js'
import { formatFdPath, formatInode, type OpenResult, splitPath } from '../lookup.js'
import { ignoreGone, makeRefused, type TreeRefusal, toRefused } from '../problems.js'
import { addHashes, type ChangePlan, planChange } from './change-plan.js'
import { makeRun, type Run, returnToSpot, runAtSpot, type Spot, syncTouched, takeBack } from './commit-run.js'
import { deleteEntry } from './delete-entry.js'
import { makeDirectory, openOrMakeParent } from './make-directory.js'
import { makeLink } from './make-link.js'
import { type FileStep, type Prepared, prepareFile, putFile } from './put-file.js'
import { setMode } from './set-mode.js'
import { type CommittedSteps, getParentPath, type TreeStep } from './tree-steps.js'

const STEPS_MAX = 200_000
const STAGED_AT_ONCE = 4

/** Changes a work tree and never anything outside it, whatever links or renames occur. */
interface TreeWriter {
  /**
   * Every step, in order, or none. Files are first written completely and synced next to their place, and renamed when
   * all are ready; if a later step is refused, the earlier ones are undone. A process killed in between leaves files
   * named `.phaselock-…`, and some of several steps may be done. After the signal fires nothing is begun.
   */
  commit(steps: readonly TreeStep[], signal?: AbortSignal): Promise<CommittedSteps | TreeRefusal>
  /** Like `commit`, but what is replaced and deleted is kept until the change is finished: it can be taken back. */
  begin(steps: readonly TreeStep[], options: BeginOptions): Promise<PendingChange | TreeRefusal>
}

export interface BeginOptions {
  readonly secret: string
  readonly signal?: AbortSignal | undefined
  /**
   * Called before temporary files are written, and again when all are ready and no path of the tree has changed. With
   * the newest plan a killed change can be undone.
   */
  readonly onPlanned: (plan: ChangePlan, isReady: boolean) => void
}

/** A change that is in the tree, and on disk. It is finished, or taken back with `undoPlan`. */
export interface PendingChange {
  readonly ok: true
  /** In the order of the steps, including created parent directories. */
  readonly changes: readonly Change[]
  /** Returns replaced entries that could not be removed. */
  finish(): Promise<readonly string[]>
}

export function openTreeWriter(root: string): TreeWriter {
  return {
    commit: async (steps, signal) => {
      const checked = checkSteps(steps)
      if (!checked.ok) return checked
      const keepsOld = steps.length > 1
      const run = makeRun(root, { secret: randomBytes(16).toString('hex'), steps: checked.steps, keepsOld })
      const done = await change(run, { ...checked, signal })
      return done.ok ? { ok: true, changes: done.changes, leftovers: await done.finish() } : done
    },
    begin: async (steps, { secret, signal, onPlanned }) => {
      const checked = checkSteps(steps)
      if (!checked.ok) return checked
      return change(makeRun(root, { secret, steps: checked.steps, keepsOld: true }), { ...checked, signal, onPlanned })
    },
  }
}

function checkSteps(steps: readonly TreeStep[]): OpenResult<{ readonly steps: readonly TreeStep[] }> {
  if (steps.length > STEPS_MAX) return makeRefused('too_many', '.')
  const bad = steps.find((step) => (splitPath(step.path)?.length ?? 0) === 0)
  if (bad !== undefined) return makeRefused('outside', bad.path)
  const clean = steps.map((step) => ({ ...step, path: (splitPath(step.path) ?? []).join('/') }))
  // Deeper entries can be removed: they are obstacles by then.
  const deep = clean.find((step) => step.type !== 'delete' && isTooDeep(step.path))
  return deep === undefined ? { ok: true, steps: clean } : makeRefused('too_deep', deep.path)
}

async function change(
  run: Run,
  { steps, signal, onPlanned }: { readonly steps: readonly TreeStep[] } & Partial<Omit<BeginOptions, 'secret'>>,
): Promise<PendingChange | TreeRefusal> {
  const prepared = new Map<TreeStep, Prepared>()
  const work = { steps, prepared, signal }
  let isDone = false
  try {
    const plan = onPlanned === undefined ? null : await planChange(run.root, run.secret, steps)
    if (plan !== null) onPlanned?.(plan, false)
    const unready = await prepareAll(run, work)
    if (unready !== null) return unready
    if (plan !== null)
      onPlanned?.(
        addHashes(plan, (index) => findStagedHash(prepared, steps[index])),
        true,
      )
    const problem = await applyAll(run, work)
    if (problem !== null) return problem
    await syncTouched(run)
    isDone = true
  } finally {
    await removeUnused(run)
    if (!isDone) await takeBack(run)
  }
  return { ok: true, changes: run.changes, finish: () => removeOld(run) }
}

function findStagedHash(prepared: ReadonlyMap<TreeStep, Prepared>, step: TreeStep | undefined): string | null {
  return (step === undefined ? undefined : prepared.get(step))?.staged.sha256 ?? null
}

async function removeOld(run: Run): Promise<readonly string[]> {
  const left: string[] = []
  for (const { path, remove } of run.finish) if (!(await remove())) left.push(path)
  return left
}

interface WriteWork {
  readonly steps: readonly TreeStep[]
  readonly prepared: Map<TreeStep, Prepared>
  readonly signal: AbortSignal | undefined
}

// Most failures, above all a full disk, happen here, where nothing has changed yet.
async function prepareAll(run: Run, { steps, prepared, signal }: WriteWork): Promise<TreeRefusal | null> {
  // A single step is prepared in its own directory: nothing can come between.
  const ready = steps.length === 1 && !run.keepsOld ? [] : selectIndependent(steps)
  let next = 0
  let problem: TreeRefusal | null = null
  const lane = async (): Promise<void> => {
    for (let step = ready[next++]; step !== undefined && problem === null; step = ready[next++]) {
      const one = signal?.aborted ? makeRefused('aborted', step.path) : await prepareEarly(run, step)
      if (one === null) continue
      if (one.ok) prepared.set(step, one)
      else problem ??= one
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: STAGED_AT_ONCE }, lane))
  for (const one of lanes) if (one.status === 'rejected') throw one.reason
  return problem
}

// A step at or below the path of an earlier one cannot be checked before that one is done.
function selectIndependent(steps: readonly TreeStep[]): readonly FileStep[] {
  const earlier = new Set<string>()
  const ready: FileStep[] = []
  for (const step of steps) {
    if ((step.type === 'write' || step.type === 'append') && !hasEarlier(earlier, step.path)) ready.push(step)
    earlier.add(step.path)
  }
  return ready
}

function hasEarlier(earlier: ReadonlySet<string>, path: string): boolean {
  for (let at = path; at !== ''; at = getParentPath(at)) if (earlier.has(at)) return true
  return false
}

async function prepareEarly(run: Run, step: FileStep): Promise<({ ok: true } & Prepared) | TreeRefusal | null> {
  const done = await runAtSpot(run.root, step.path, (spot) => prepareFile(run, step, spot))
  // Directories are made when it is their turn.
  const isForLater = !done.ok && done.problem === 'missing' && done.path !== step.path
  return isForLater ? null : done
}

async function applyAll(run: Run, { steps, prepared, signal }: WriteWork): Promise<TreeRefusal | null> {
  for (const step of steps) {
    if (signal?.aborted) return makeRefused('aborted', step.path)
    const spot = step.type === 'delete' || step.type === 'set_mode' ? null : await openOrMakeParent(run, step.path)
    if (spot === null) {
      const done = await runAtSpot(run.root, step.path, (there) => applyStep(run, step, { ...there, prepared: null }))
      if (done !== null) return done
      continue
    }
    if (!spot.ok) return spot
    try {
      const done = await applyStep(run, step, { ...spot, prepared: prepared.get(step) ?? null })
      if (done !== null) return done
    } finally {
      closeSync(spot.fd)
    }
  }
  return null
}

async function applyStep(
  run: Run,
  step: TreeStep,
  at: Spot & { readonly prepared: Prepared | null },
): Promise<TreeRefusal | null> {
  switch (step.type) {
    case 'write':
    case 'append':
      return applyFile(run, step, at)
    case 'delete':
      return deleteEntry(run, step, at)
    case 'make_directory':
      return makeDirectory(run, step, at)
    case 'make_link':
      return makeLink(run, step, at)
    case 'set_mode':
      return setMode(run, step, at)
  }
}

async function applyFile(
  run: Run,
  step: FileStep,
  at: Spot & { readonly prepared: Prepared | null },
): Promise<TreeRefusal | null> {
  if (at.prepared === null) {
    const made = await prepareFile(run, step, at)
    if (!made.ok) return made
    const problem = await putFile(run, step, { ...at, ...made })
    if (problem !== null) await ignoreGone(unlink(formatFdPath(at.fd, made.staged.name)))
    return problem
  }
  // The directory was replaced since the file was written into it.
  if (formatInode(fstatSync(at.fd, { bigint: true })) !== at.prepared.staged.directory)
    return makeRefused('changed', step.path)
  return putFile(run, step, { ...at, ...at.prepared })
}

async function removeUnused(run: Run): Promise<void> {
  for (const [name, home] of run.unused) {
    try {
      await returnToSpot(run.root, home, ({ fd }) => ignoreGone(unlink(formatFdPath(fd, name))))
    } catch (error) {
      toRefused(error, home.path)
    }
  }
}
