import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** Packs the package in a folder as `npm publish` would. */
export function pack(from: string, to: string): { readonly file: string; readonly files: readonly string[] } {
  mkdirSync(to, { recursive: true })
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', to]
  const packed = spawnSync('npm', args, { cwd: from, encoding: 'utf8' })
  if (packed.status !== 0) throw new Error(packed.stderr)
  const [{ filename, files }] = JSON.parse(packed.stdout) as [{ filename: string; files: { path: string }[] }]
  return { file: join(to, filename), files: files.map(({ path }) => path) }
}

/** Installs a packed package below a prefix, with its commands in `bin`. */
export function installForAll(file: string, prefix: string) {
  return spawnSync('npm', ['install', '--global', '--prefix', prefix, file], { encoding: 'utf8' })
}
