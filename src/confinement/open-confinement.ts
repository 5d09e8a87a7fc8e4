import { join } from 'node:path'
import { type Confinement, GUARANTEES, type Guarantee, type Missing, type ProviderName } from './confinement.js'
import { launchWithBubblewrap } from './launch/bubblewrap.js'
import { detectIdentity, type Identity } from './launch/identity.js'
import { Keeper, quoteWord } from './launch/keeper.js'
import type { Launcher } from './launch/launch.js'
import { computeDefaultLimits, openControlGroups } from './launch/limits.js'
import { startOpenly } from './launch/unconfined.js'
import { filterLoader, launchWithUnshare } from './launch/unshare.js'
import { findProgram, probe } from './probes.js'
import { type OpenedSandbox, ReopeningSandbox } from './reopening.js'
import { Sandbox, writeFilters } from './sandbox.js'
import { makeBaseRoot } from './view/base-root.js'
import { sweepFetched } from './view/fetched-packages.js'
import { buildHostView } from './view/host-view.js'

interface Options {
  readonly stateDir: string
  /** Only this provider is tried; null: the best one the machine has. */
  readonly only: ProviderName | null
  /** Beside the state directory, what commands never see. */
  readonly unshown?: readonly string[]
}

interface Kind {
  readonly name: Exclude<ProviderName, 'none'>
  readonly launcher: Launcher
  readonly trees: 'overlay' | 'copy'
  readonly programs: readonly string[]
}

const KINDS: readonly Kind[] = [
  { name: 'overlay+bubblewrap', launcher: launchWithBubblewrap, trees: 'overlay', programs: ['bwrap', 'nsenter'] },
  { name: 'bubblewrap', launcher: launchWithBubblewrap, trees: 'copy', programs: ['bwrap', 'nsenter'] },
  { name: 'unshare', launcher: launchWithUnshare, trees: 'overlay', programs: ['nsenter', 'setpriv', 'pivot_root'] },
]

/** The strongest sandbox that the machine offers, proved by trying to break out of it. */
export async function openConfinement(options: Options): Promise<Confinement> {
  const refused: Missing[] = []
  for (const kind of KINDS) {
    if (options.only !== null && options.only !== kind.name) continue
    const open = () => openKind(kind, options.stateDir, options.unshown)
    const opened = await open()
    if (opened.confinement.missing.length === 0) return new ReopeningSandbox(opened, open)
    await opened.confinement.close()
    refused.push(...opened.confinement.missing)
  }
  return makeUnconfined(options.only === 'none' ? [] : refused)
}

/** Every provider, each tried; for display. */
export async function tryAllProviders(stateDir: string): Promise<readonly Confinement[]> {
  const found: Confinement[] = []
  for (const kind of KINDS) {
    const { confinement } = await openKind(kind, join(stateDir, kind.name))
    await confinement.close()
    found.push(confinement)
  }
  return found
}

async function openKind(kind: Kind, stateDir: string, unshown: readonly string[] = []): Promise<OpenedSandbox> {
  const lacking = ['unshare', 'mount', 'sh', 'bash', ...kind.programs].filter((name) => findProgram(name) === null)
  if (process.platform !== 'linux') return makeUnusable(kind.name, `it needs Linux, and this is ${process.platform}`)
  if (lacking.length > 0) return makeUnusable(kind.name, `${lacking.join(', ')} cannot be found`)
  let keeper: Keeper | null = null
  try {
    const identity = detectIdentity()
    keeper = await Keeper.open(stateDir, identity)
    const one = keeper
    const confinement = await assemble(kind, { keeper, identity, stateDir, unshown })
    return { confinement, isAlive: () => one.isAlive, ended: one.ended }
  } catch (error) {
    await keeper?.close()
    return makeUnusable(kind.name, error instanceof Error ? error.message : String(error))
  }
}

// Programs are looked up once, because the server's PATH may be long.
const WHERE: ReadonlyMap<string, string> = new Map(
  ['nsenter', 'bwrap', 'setpriv', 'unshare', 'bash'].flatMap((name) => {
    const path = findProgram(name)
    return path === null ? [] : [[name, path] as const]
  }),
)

const LAYER_BYTES_MAX = 1024 ** 3

async function assemble(
  kind: Kind,
  one: {
    readonly keeper: Keeper
    readonly identity: Identity
    readonly stateDir: string
    readonly unshown: readonly string[]
  },
): Promise<Confinement> {
  const { keeper, identity, stateDir, unshown } = one
  // In memory: bounded, and removed with the keeper. A copied tree may be larger than that and is on disk.
  if (kind.trees === 'overlay')
    await keeper.ask(
      `mount -t tmpfs -o nosuid,nodev,mode=755,size=${LAYER_BYTES_MAX} phaselock ${quoteWord(keeper.dir)}`,
    )
  else await keeper.ask(`rm -rf ${quoteWord(keeper.dir)}/*`)
  await sweepFetched(stateDir)
  const view = buildHostView()
  const base = await makeBaseRoot(keeper, view)
  const canFilter = kind.launcher === launchWithBubblewrap || filterLoader() !== null
  const groups = openControlGroups()
  const sandbox = new Sandbox({
    keeper,
    identity,
    base,
    view,
    launcher: kind.launcher,
    trees: kind.trees,
    filters: canFilter ? writeFilters(stateDir) : null,
    limits: computeDefaultLimits(),
    groups,
    ...{ stateDir, unshown },
    where: (program) => WHERE.get(program) ?? program,
  })
  const missing = await probe(sandbox, stateDir)
  return {
    provider: kind.name,
    missing,
    notes: groups === null ? [NO_GROUPS] : [],
    isOpen: () => keeper.isAlive,
    start: (job) => sandbox.start(job),
    close: async () => {
      await sandbox.close()
      await keeper.close()
    },
  }
}

const NO_GROUPS =
  'Memory and processes are limited for each process, not for a command as a whole: control groups need a server that runs as root.'

function makeUnusable(provider: ProviderName, found: string): OpenedSandbox {
  const missing = (Object.keys(GUARANTEES) as Guarantee[]).map((guarantee) => ({
    guarantee,
    found: `${provider}: ${found}`,
    remedy: findRemedy(found),
  }))
  const confinement = { ...makeUnconfined(missing), provider }
  return { confinement, isAlive: () => false, ended: Promise.resolve() }
}

function findRemedy(found: string): string {
  if (/bwrap/.test(found)) return 'Install bubblewrap: apt-get install bubblewrap (or dnf, pacman, apk).'
  if (/user namespaces|unshare failed|Operation not permitted|clone/.test(found))
    return 'Allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1, on Ubuntu sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, in a container --security-opt seccomp=unconfined.'
  if (/cannot be found/.test(found)) return 'Install util-linux and bash.'
  return 'Run `phaselock doctor` for what was tried.'
}

function makeUnconfined(missing: readonly Missing[]): Confinement {
  const view = buildHostView()
  const all =
    missing.length > 0
      ? missing
      : (Object.keys(GUARANTEES) as Guarantee[]).map((guarantee) => ({
          guarantee,
          found: 'no confinement was asked for',
          remedy: 'Start the server without --confinement none.',
        }))
  return {
    provider: 'none',
    missing: all,
    notes: [],
    isOpen: () => true,
    start: (job) => startOpenly(job, view),
    close: async () => undefined,
  }
}
