import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ShownPlace } from '../../checks/observed-runs/run-in-view.js'
import type { Confinement } from '../../confinement/confinement.js'
import type { CompilePlace } from '../../confinement/view/go-build-cache.js'
import type { Resources } from '../resources.js'

type Caches = Pick<Resources, 'goCache' | 'crates'>

/** Compiles what the tests of a tree need that no agent has changed. Runs find it with `findCompiled`. */
export async function compileForTests(app: Caches, place: Omit<CompilePlace, 'seeds' | 'cache'>): Promise<void> {
  if (isGo(place.job.tree)) await app.goCache.compileProject(place)
  if (isRust(place.job.tree)) await app.crates.compile(place)
}

/** What is compiled already for the tests of a tree, if nobody else can write it. */
export async function findCompiled(
  app: Caches,
  tree: string,
  { provider }: Pick<Confinement, 'provider'>,
): Promise<Pick<ShownPlace, 'goCache' | 'layer'>> {
  if (provider === 'none') return {}
  // Compiling the library beside the one that is being made would take both longer.
  if (isGo(tree)) await app.goCache.make()
  return {
    goCache: isGo(tree) ? app.goCache.findSeeds(tree) : [],
    layer: isRust(tree) ? await app.crates.findLayer(tree) : null,
  }
}

function isGo(tree: string): boolean {
  return ['go.mod', 'go.work'].some((name) => existsSync(join(tree, name)))
}

function isRust(tree: string): boolean {
  return existsSync(join(tree, 'Cargo.toml'))
}
