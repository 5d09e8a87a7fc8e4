import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT, SCRIPT } from '../cli/program.js'
import { makeRepository } from '../e2e/projects.js'

const NEEDED = ['node', 'git', 'sh', 'env', 'readlink', 'dirname']

/** A host with a repository, and no engine until one is installed. */
export class Host {
  readonly dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-container-')))
  readonly repository = join(this.dir, 'carts')

  constructor() {
    for (const folder of ['home', 'bin', 'engine']) mkdirSync(join(this.dir, folder))
    makeRepository(this.repository, { 'package.json': '{"scripts": {"test": "node --test"}}\n' })
    for (const name of NEEDED) {
      const found = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim()
      symlinkSync(realpathSync(found), join(this.dir, 'bin', name))
    }
  }

  /** Puts the stand-in on the PATH under the name of an engine. */
  install(name: 'docker' | 'podman'): void {
    writeFileSync(join(this.dir, 'bin', name), readFileSync(join(ROOT, 'test/container/stand-in.mjs')))
    chmodSync(join(this.dir, 'bin', name), 0o755)
  }

  /** Makes the engine behave: `silent` or `broken`. */
  set(state: 'silent' | 'broken'): void {
    writeFileSync(join(this.dir, 'engine', state), '')
  }

  phaselock(...words: readonly string[]): { readonly status: number | null; readonly said: string } {
    const env = {
      ...{ HOME: join(this.dir, 'home'), PATH: join(this.dir, 'bin'), FULL_PATH: process.env.PATH ?? '' },
      ...{ STAND_IN: join(this.dir, 'engine'), SCRIPT },
    }
    const done = spawnSync(process.execPath, [SCRIPT, ...words], { cwd: this.repository, env, encoding: 'utf8' })
    return { status: done.status, said: `${done.stderr}${done.stdout}` }
  }

  up(...words: readonly string[]): { readonly status: number | null; readonly said: string } {
    return this.phaselock('up', '--container', '--port', '0', ...words)
  }

  calls(): readonly (readonly string[])[] {
    const lines = readFileSync(join(this.dir, 'engine/calls.jsonl'), 'utf8').trim().split('\n')
    return lines.map((line) => JSON.parse(line))
  }

  containers(): readonly string[] {
    return readdirSync(join(this.dir, 'engine/containers'))
  }

  stateDir(): string {
    const base = join(this.dir, 'home/.local/state/phaselock')
    return join(base, readdirSync(base).find((name) => name.startsWith('carts-')) ?? '')
  }

  close(): void {
    this.phaselock('down')
    rmSync(this.dir, { recursive: true, force: true })
  }
}
