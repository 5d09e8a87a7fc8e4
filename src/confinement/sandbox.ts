import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAtOrBelow } from '../base/is-at-or-below.js'
import type { Change } from '../tree/change.js'
import { commitChanges } from './changes/commit-changes.js'
import { ChangesRefused, readChanges } from './changes/read-changes.js'
import { clearCollected, collectFiles } from './collect-files.js'
import { type Child, cleanEnv, NO_CHANGES, watchChild } from './confined.js'
import type { ChangeSet, Composition, ConfinedCommand, Job } from './confinement.js'
import type { Identity } from './launch/identity.js'
import type { Keeper } from './launch/keeper.js'
import { FILTER_FD, type Launch, type Launcher, OBSERVED_FILTER_FD } from './launch/launch.js'
import { buildLimitsLine, type Groups, type Limits } from './launch/limits.js'
import { buildSeccompFilter } from './launch/seccomp.js'
import { type Filters, type Starter, Starters } from './launch/starters.js'
import { checkSockets } from './sockets.js'
import { coverLate } from './view/base-root.js'
import { composeView } from './view/compose-view.js'
import { FETCHED, FETCHED_INSIDE, findFetched, keepFetched } from './view/fetched-packages.js'
import { GO_CACHE } from './view/go-cache.js'
import { CACHE_MERGED, CACHE_VARIABLES, listLower, mountCache, readCacheChanges } from './view/home-cache.js'
import type { HostView } from './view/host-view.js'
import { isInside } from './view/toolchains.js'
import { listFoldersToHold, watchView } from './view/watch-view.js'
import { copy, MERGED, makePlainRun, mountOverlay, type Run, readKind, remove, TOUCHED } from './view/work-tree-view.js'

interface Parts {
  readonly keeper: Keeper
  readonly identity: Identity
  readonly base: string
  readonly view: HostView
  readonly launcher: Launcher
  readonly trees: 'overlay' | 'copy'
  /** Files of the seccomp filters; null if there are none for this processor. */
  readonly filters: Filters | null
  readonly limits: Limits
  readonly groups: Groups | null
  readonly stateDir: string
  /** Beside the state directory, what commands never see. */
  readonly unshown: readonly string[]
  readonly where: (program: string) => string
}

const GIT = '.git'
/** Installed packages: large, and agents never change them. A copied tree mounts them instead of copying them. */
const DEPENDENCIES = new Set(['node_modules', '.venv', 'venv'])
// Under a root server the processes of all commands count together; control groups limit each command.
const SHARED_PROCESSES_FACTOR = 8

// Over all sandboxes of the process: one that is opened again meets what the one before left behind.
let runs = 0

/** Runs commands in namespaces, each with its own view of the work tree. */
export class Sandbox {
  readonly #covered = new Map<string, number>()
  readonly #starters: Starters

  constructor(private readonly parts: Parts) {
    const { filters, groups, limits } = parts
    this.#starters = new Starters({ dir: parts.stateDir, filters, groups, limits })
  }

  close(): Promise<void> {
    return this.#starters.close()
  }

  async start(asked: Job): Promise<ConfinedCommand> {
    checkSockets(asked)
    const fetched = findFetched(this.parts.stateDir, asked)
    const job = {
      ...asked,
      shown: [
        ...[...(asked.shown ?? []), ...fetched.shown].filter((path) => this.#mayShow(path, asked.tree)),
        ...(this.parts.trees === 'copy' && asked.cache !== undefined ? listLower(asked.cache) : []),
      ],
      env: { ...(asked.cache === undefined ? {} : CACHE_VARIABLES), ...fetched.env, ...asked.env },
    }
    const { base, view } = this.parts
    await coverLate(this.parts.keeper, base, { paths: view.coveredLate, covered: this.#covered })
    runs += 1
    const name = `run-${runs}`
    const { keeper, launcher } = this.parts
    const mounted = this.#mounted(job)
    const [run, starter] = await Promise.all([this.#prepare(name, job, mounted), this.#starters.take()])
    const { watched, fresh } = await this.#compose(run, job, starter)
    const confined = watchChild(starter.child as Child, job, async (stopped) => {
      await starter.waitUntilGone()
      starter.cleanUp()
      const collected = await collectFiles(join(run.seen, MERGED), fresh, job)
      const written = await watched()
      await keepCache(run, job)
      const keep = job.writes === 'keep' && stopped === null
      const changes = keep ? await this.#changes(run, job, mounted) : dropChanges(keeper, run)
      // Without its process the view is empty: a command that changed much would seem to have changed nothing.
      if (!keeper.isAlive) throw new Error('the view of the command has ended with the process that made it')
      return { ...collected, written, changes }
    })
    starter.startCommand(launcher(this.#launch(run, job, mounted)), { ...cleanEnv(this.parts.view, job), ...job.env })
    return confined
  }

  // A view that cannot be composed runs nothing.
  async #compose(
    run: Run,
    job: Job,
    starter: Starter,
  ): Promise<{ readonly watched: () => Promise<readonly string[]>; readonly fresh: readonly string[] }> {
    const view = join(run.seen, MERGED)
    const composition = job.writes === 'read' ? undefined : job.composition
    try {
      if (composition !== undefined) await composeView(view, composition)
      const fresh = await clearCollected(view, job)
      if (composition === undefined) return { watched: async () => [], fresh }
      const touched = this.parts.trees === 'overlay' ? join(run.seen, TOUCHED) : null
      return { watched: await watchView({ view, touched }, composition), fresh }
    } catch (error) {
      starter.discard()
      remove(this.parts.keeper, run)
      throw error
    }
  }

  async #prepare(name: string, job: Job, mounted: ReadonlySet<string>): Promise<Run> {
    const { keeper, trees } = this.parts
    const run = await this.#prepareTree(name, job, mounted)
    if (job.cache !== undefined) await mountCache(keeper, run, { cache: job.cache, trees })
    return run
  }

  async #prepareTree(name: string, job: Job, mounted: ReadonlySet<string>): Promise<Run> {
    const { keeper, trees } = this.parts
    // A read-only command sees the tree itself, including what others write to it meanwhile.
    if (job.writes === 'read') return makePlainRun(keeper, name)
    if (trees === 'overlay') return mountOverlay(keeper, name, job)
    return copy(keeper, name, { job, without: [...mounted] })
  }

  // The author of the tree may have influenced which folders are shown: never folders above the tree, or the server's
  // keys. Of the state directory only the compiled Go library, and packages that were fetched for the tree.
  #mayShow(path: string, tree: string): boolean {
    if ([GO_CACHE, FETCHED].some((name) => isInside(join(this.parts.stateDir, name), path))) return true
    const { stateDir, unshown } = this.parts
    return !isInside(path, tree) && ![stateDir, ...unshown].some((one) => isInside(path, one) || isInside(one, path))
  }

  // Top-level folders of the tree that are mounted read-only over the view of it.
  #mounted(job: Job): ReadonlySet<string> {
    const names = new Set<string>()
    if (job.git === 'read' && readKind(job.tree, GIT) === 'directory') names.add(GIT)
    if (this.parts.trees === 'copy' && job.isInstall !== true)
      for (const name of DEPENDENCIES)
        if (readKind(job.tree, name) === 'directory' && !isComposed(job, name)) names.add(name)
    return names
  }

  #launch(run: Run, job: Job, mounted: ReadonlySet<string>): Launch {
    const { identity, keeper, base, limits, groups, trees, view: host } = this.parts
    const view = job.writes === 'read' ? job.tree : join(run.dir, MERGED)
    const processes = groups === null ? limits.processes : limits.processes * SHARED_PROCESSES_FACTOR
    return {
      identity,
      keeperPid: keeper.pid,
      base,
      belowTmp: host.shown.filter((path) => path.startsWith('/tmp/')),
      tree: view,
      runDir: run.dir,
      cache: job.cache === undefined ? null : join(run.dir, CACHE_MERGED),
      job,
      // Through an overlay the other end of a socket cannot be reached; in a folder of the tree itself, sockets are
      // covered.
      readOnly: [...mounted].map((name) => ({ from: join(trees === 'overlay' ? view : job.tree, name), at: name })),
      held: trees === 'copy' && job.composition !== undefined ? listHeldFolders(run, job.composition, mounted) : [],
      covered: [
        ...job.hidden.flatMap((at) => {
          const type = readKind(job.tree, at)
          return type === 'file' || type === 'directory' ? [{ at, type }] : []
        }),
        ...(view === job.tree || trees === 'copy' ? [...mounted].flatMap((name) => findSockets(job.tree, name)) : []),
      ],
      limits: buildLimitsLine({ ...limits, processes }, job.timeoutMs),
      filterFd: this.parts.filters === null ? null : job.isObserved === true ? OBSERVED_FILTER_FD : FILTER_FD,
      where: this.parts.where,
    }
  }

  async #changes(run: Run, job: Job, mounted: ReadonlySet<string>): Promise<ChangeSet> {
    const { keeper, trees } = this.parts
    const after = join(run.seen, MERGED)
    const touched = trees === 'overlay' ? join(run.seen, TOUCHED) : null
    try {
      const { isInstall = false, aside = COUNTED } = job
      const skipped = job.fetches === undefined ? mounted : new Set([...mounted, FETCHED_INSIDE])
      const views = { before: job.tree, layer: job.layer ?? null, after, touched, skipped }
      const { list, isCut } = await readChanges({ ...views, aside, isInstall })
      return {
        list,
        isCut,
        view: after,
        commit: async (only, write) => {
          try {
            const problem = await commitChanges(after, only, write)
            if (problem === null) await keepFetched(this.parts.stateDir, job, after)
            return problem
          } finally {
            remove(keeper, run)
          }
        },
        discard: async () => remove(keeper, run),
      }
    } catch (error) {
      remove(keeper, run)
      if (!(error instanceof ChangesRefused)) throw error
      return { ...NO_CHANGES, list: [makeRefusedChange(error.message)] }
    }
  }
}

// Also after a timeout: a build that takes longer than a command may run gets further with each try.
async function keepCache(run: Run, { cache }: Job): Promise<void> {
  if (cache === undefined || cache.keep === null) return
  // A cache that cannot be read is not kept. The result of the command does not depend on it.
  const left = await readCacheChanges(run, cache.layer).catch(() => null)
  if (left !== null && (left.list.length > 0 || left.isCut)) await cache.keep(left)
}

const COUNTED = (): null => null

// Mounted folders cannot differ: a folder with differences is copied like the rest.
function isComposed({ composition }: Job, folder: string): boolean {
  const isIn = (path: string): boolean => isAtOrBelow(folder, path)
  return composition !== undefined && [...composition.leftOut, ...composition.put.map(({ path }) => path)].some(isIn)
}

function listHeldFolders(run: Run, composition: Composition, mounted: ReadonlySet<string>): Launch['held'] {
  const isThere = (at: string): boolean =>
    readKind(join(run.seen, MERGED), at) === 'directory' && !mounted.has(at.split('/')[0] ?? '')
  return listFoldersToHold(composition)
    .filter(isThere)
    .map((at) => ({ from: join(run.dir, MERGED, at), at }))
}

// A read-only mount does not prevent connections to a listening program, such as git's own daemon.
function findSockets(tree: string, folder: string): readonly { readonly at: string; readonly type: 'file' }[] {
  return readdirSync(join(tree, folder), { withFileTypes: true })
    .filter((entry) => entry.isSocket())
    .map((entry) => ({ at: join(folder, entry.name), type: 'file' }))
}

function dropChanges(keeper: Keeper, run: Run): ChangeSet {
  remove(keeper, run)
  return NO_CHANGES
}

function makeRefusedChange(problem: string): Change {
  return { path: '.', kind: 'modified', type: 'directory', bytes: null, sha256: null, problem }
}

/** Null if the processor is unknown. */
export function writeFilters(dir: string): Filters | null {
  const write = (name: string, use: 'agent' | 'observed'): string | null => {
    const filter = buildSeccompFilter(use)
    if (filter === null) return null
    writeFileSync(join(dir, name), filter, { mode: 0o600 })
    return join(dir, name)
  }
  const agent = write('seccomp.bpf', 'agent')
  const observed = write('seccomp-observed.bpf', 'observed')
  return agent === null || observed === null ? null : { agent, observed }
}
