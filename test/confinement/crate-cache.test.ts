import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { CrateCache } from '../../src/app/test-runs/crate-cache.js'
import { openConfinement } from '../../src/confinement/open-confinement.js'
import { runCommand } from '../../src/confinement/run-command.js'
import { HAS_CARGO } from '../forgery/cargo-project.js'
import { run } from '../repositories/python-packages.js'

const COMPILE_MS_MAX = 600_000
const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-crates-')))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

it.runIf(HAS_CARGO)(
  '[REQ-MATRIX-4] crates that a project depends on are kept, its own are not, and no run changes what is kept',
  async ({ skip }) => {
    const [tree, stateDir] = [join(dir, 'tree'), join(dir, 'state')]
    for (const folder of [join(tree, 'src'), stateDir]) mkdirSync(folder, { recursive: true })
    const manifest = '[package]\nname = "carts"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\nitoa = "1"\n'
    writeFileSync(join(tree, 'Cargo.toml'), manifest)
    writeFileSync(join(tree, 'src/lib.rs'), 'pub fn one() -> i32 {\n    1\n}\n')
    const failed = run('cargo', ['fetch', '--quiet'], tree)
    if (failed !== null) return skip(`cargo cannot download the crates: ${failed}`)
    const cache = new CrateCache(stateDir)
    const confinement = await openConfinement({ stateDir, only: null })
    try {
      const job = { tree, hidden: [], signal: new AbortController().signal }
      expect(await cache.findLayer(tree)).toBeNull()
      await cache.compile({ confinement, job, env: {} })
      const layer = String(await cache.findLayer(tree))
      const names = readdirSync(layer, { recursive: true, encoding: 'utf8' })
      const [kept = ''] = names.filter((name) => /deps\/libitoa-\w+\.rlib$/.test(name))
      expect(names.filter((name) => name.includes('carts'))).toEqual([])
      const before = readFileSync(join(layer, kept))
      const planting = await runCommand(confinement, {
        ...{ ...job, argv: ['bash', '-c', `echo planted > ${kept} && cat ${kept}`], cwd: '.', env: {} },
        ...{ layer, network: false, writes: 'discard', git: 'read', timeoutMs: COMPILE_MS_MAX },
      })
      expect(planting.stdout).toBe('planted\n')
      expect(readFileSync(join(layer, kept)).equals(before)).toBe(true)
    } finally {
      await confinement.close()
    }
  },
  COMPILE_MS_MAX,
)
