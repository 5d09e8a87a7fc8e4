import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ShownPlace } from '../../checks/observed-runs/run-in-view.js'
import type { Confinement } from '../../confinement/confinement.js'
import type { CompilePlace } from '../../confinement/view/go-build-cache.js'
import type { Resources } from '../resources.js'

type Caches = Pick<Resources, 'goCache' | 'crates'>

/** Compiles the tests' dependencies from a tree that no agent has changed. `findCompiled` finds the result. */
export async function compileForTests(
  app: Caches,
  place: Omit<CompilePlace, 'seeds' | 'cache'> & { readonly confinement: Pick<Confinement, 'start' | 'provider'> },
): Promise<void> {
  if (isGo(place.job.tree)) await app.goCache.compileProject(place)
  if (isRust(place.job.tree)) await app.crates.compile(place)
}

/** The compiled dependencies for the tests of a tree; none without a sandbox, where others could write them. */
export async function findCompiled(
  app: Caches,
  tree: string,
  confinement: Pick<Confinement, 'start' | 'provider'>,
): Promise<Pick<ShownPlace, 'goCache' | 'layer'>> {
  if (confinement.provider === 'none') return {}
  // Wait for a build of the standard library that is in progress: building it twice would take longer.
  if (isGo(tree)) await app.goCache.make(confinement)
  return {
    goCache: isGo(tree) ? app.goCache.findSeeds(tree) : [],
    layer: isRust(tree) ? await app.crates.findLayer(tree) : null,
  }
}

/** Folders with compiled dependencies for commands of agents, which can read but never write them. */
export function findSeedFolders(app: Pick<Caches, 'goCache'>, tree: string): readonly string[] {
  return isGo(tree) ? app.goCache.findSeeds(tree).map((folder) => dirname(folder)) : []
}

function isGo(tree: string): boolean {
  return ['go.mod', 'go.work'].some((name) => existsSync(join(tree, name)))
}

function isRust(tree: string): boolean {
  return existsSync(join(tree, 'Cargo.toml'))
}
