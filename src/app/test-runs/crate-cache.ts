import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isAtOrBelow } from '../../base/is-at-or-below.js'
import { ScratchLayers } from '../../confinement/changes/scratch-layers.js'
import type { Confinement, Job } from '../../confinement/confinement.js'
import { runCommand } from '../../confinement/run-command.js'

/** Its folder in the state directory. */
const CRATE_CACHE = 'crate-cache'
const COMPILE_MS_MAX = 10 * 60_000
const TARGET = 'target'

// The project's own crates are removed: cargo compares file times to decide whether they are current. Dependencies have
// versions.
const COMPILE = `set -o pipefail
cargo test --no-run --workspace --offline >/dev/null 2>&1 </dev/null || cargo test --no-run --offline >/dev/null 2>&1 </dev/null
own=$(cargo tree --workspace --offline --prefix none -e all 2>/dev/null | sed -n 's# v.*(/.*##p' | sort -u) || exit 1
[ -n "$own" ] || exit 1
while IFS= read -r name; do cargo clean --offline -p "$name" >/dev/null 2>&1 || exit 1; done <<<"$own"`

interface CratePlace {
  readonly confinement: Pick<Confinement, 'start'>
  /** A tree that no agent has changed. */
  readonly job: Pick<Job, 'tree' | 'hidden' | 'signal' | 'composition'>
  readonly env: Readonly<Record<string, string>>
}

/**
 * The compiled dependencies of a project, one set per work tree, built from a tree that no agent has changed. Observed
 * runs see them as a layer over the tree and cannot change them.
 */
export class CrateCache {
  readonly #layers: ScratchLayers

  constructor(stateDir: string) {
    this.#layers = new ScratchLayers(join(stateDir, CRATE_CACHE))
  }

  /** The folder to lay over the tree; null if there is none. */
  async findLayer(tree: string): Promise<string | null> {
    return (await this.#layers.prepare(tree, tree)).layer
  }

  /** Compiles the dependencies. If that fails or the result is too large, each run compiles them itself. */
  async compile({ confinement, job, env }: CratePlace): Promise<void> {
    await this.#layers.sweep(async (tree) => !existsSync(tree))
    const run = await runCommand(confinement, {
      ...job,
      argv: ['bash', '-c', COMPILE],
      ...{ cwd: '.', env, network: false, writes: 'keep', git: 'read' },
      layer: await this.findLayer(job.tree),
      aside: (path) => (isInTarget(path) ? 'kept' : 'dropped'),
      timeoutMs: COMPILE_MS_MAX,
    })
    try {
      // Only new files: the layer must not hide files of the tree.
      const made = run.changes.list.filter(({ path, kind, problem }) => {
        return isInTarget(path) && kind === 'created' && problem === null
      })
      const plan = run.exitCode === 0 ? this.#layers.plan(job.tree, made, run.changes.isCut) : null
      if (plan !== null) await this.#layers.save(plan, run.changes.view)
    } finally {
      await run.changes.discard()
    }
  }
}

function isInTarget(path: string): boolean {
  return isAtOrBelow(TARGET, path)
}
