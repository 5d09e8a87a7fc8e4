import { join } from 'node:path'
import { ScratchLayers } from '../../confinement/changes/scratch-layers.js'
import type { Confinement } from '../../confinement/confinement.js'
import { openConfinement } from '../../confinement/open-confinement.js'
import { CACHE_LIMITS } from '../../confinement/view/home-cache.js'
import { Upstream } from '../../tools/upstream/upstream.js'
import { Library } from '../knowledge.js'
import type { OrchestratorOptions } from '../orchestrator-options.js'
import type { Resources } from '../resources.js'
import { TaskViews } from '../test-runs/task-views.js'
import { readExcludes } from '../trees/git-excludes.js'
import { type GitSettings, readGitSettings } from '../trees/git-settings.js'
import { Trees } from '../trees/trees.js'
import { PROGRAM_VERSION } from '../version.js'
import { Running } from './running-tools.js'

/** The runtime of tools. Its parts are opened on first use. */
interface Workshop {
  readonly running: Running
  readonly confinement: (place?: 'walled' | 'open') => Promise<Confinement>
  /** False while the sandbox was opened and can start nothing. */
  readonly isSandboxOpen: () => boolean
  readonly upstream: () => Upstream
  readonly trees: Trees
  readonly gitSettings: (repository: string) => Promise<GitSettings>
  readonly scratch: ScratchLayers
  readonly buildCaches: ScratchLayers
  readonly views: TaskViews
  readonly library: Library
  /** Stops every tool and closes everything opened for them. */
  close(): Promise<void>
}

export function openWorkshop(options: OrchestratorOptions, kept: Pick<Resources, 'keptDir' | 'fence'>): Workshop {
  const running = new Running()
  const { stateDir, workspace, contractFile = null, contractBases = [], contractParts = [] } = options
  const { keptDir, fence } = kept
  const excludesOf = (tree: string) => readExcludes(tree, options.environment)
  const trees = new Trees(join(keptDir, 'trees'), options.now, excludesOf, fence)
  const gitSettings = (repository: string) => readGitSettings(repository, options.environment)
  const scratch = new ScratchLayers(join(options.stateDir, 'scratch'))
  const buildCaches = new ScratchLayers(join(options.stateDir, 'build-caches'), CACHE_LIMITS)
  const views = new TaskViews(join(keptDir, 'views'), trees, fence)
  const library = new Library(
    { contractFile, contractBases, contractParts, stateDir, workspace },
    options.environment,
    options.onNotice ?? (() => undefined),
  )
  // Started now, the index is ready when the first agent asks.
  library.openFor(options.contract.contract, workspace)
  let sandbox: Promise<Confinement> | null = null
  let opened: Confinement | null = null
  let servers: Upstream | null = null
  let open: Promise<Confinement> | null = null
  const confinement = (place: 'walled' | 'open' = 'walled'): Promise<Confinement> => {
    if (place === 'open') {
      open ??= openConfinement({ stateDir, only: 'none' })
      return open
    }
    sandbox ??= (
      options.confinement?.() ?? openConfinement({ stateDir, only: options.provider ?? null, unshown: [keptDir] })
    ).then((found) => {
      opened = found
      return found
    })
    return sandbox
  }
  const { secretEnvVar } = options.contract.contract.enforcement
  const upstream = (): Upstream => {
    servers ??= new Upstream({
      start: async (job) => (await confinement()).start(job),
      environment: (name) => (name === secretEnvVar ? undefined : options.environment[name]),
      version: PROGRAM_VERSION,
    })
    return servers
  }
  const close = async (): Promise<void> => {
    await running.close()
    await servers?.close()
    await trees.close()
    await library.close()
    // A borrowed one is closed by its owner.
    if (sandbox !== null && options.confinement === undefined) await sandbox.then((one) => one.close())
  }
  const isSandboxOpen = (): boolean => opened?.isOpen() ?? true
  return {
    running,
    confinement,
    isSandboxOpen,
    upstream,
    trees,
    gitSettings,
    scratch,
    buildCaches,
    views,
    library,
    close,
  }
}
