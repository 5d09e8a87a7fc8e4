import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Installed, installed } from '../mcp/packages.js'

const OWN = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** Mocha and chai from the registry, which the project does not depend on. */
export const MOCHA = installed('mocha', ['mocha@11', 'chai@5'])

/** Jest from the registry. */
export function jest(): Installed {
  return installed('jest', ['jest@30'])
}

/** Puts everything that was installed into the repository, as `npm install` would. */
export function copyInstalled(from: Installed): (dir: string) => void {
  return (dir) => {
    if (from.ok)
      cpSync(join(from.dir, 'node_modules'), join(dir, 'node_modules'), { recursive: true, verbatimSymlinks: true })
  }
}

/** Puts packages that this project has into the repository, with what they depend on. */
export function copyOwn(...names: readonly string[]): (dir: string) => void {
  return (dir) => {
    for (const name of closureOf(names))
      cpSync(join(OWN, name), join(dir, 'node_modules', name), { recursive: true, dereference: true })
    mkdirSync(join(dir, 'node_modules/.bin'), { recursive: true })
    for (const name of names)
      for (const [program, file] of Object.entries(manifestOf(name)?.bin ?? {}))
        writeFileSync(
          join(dir, 'node_modules/.bin', program),
          `#!/bin/sh\nexec node "$(dirname "$0")/../${name}/${file}" "$@"\n`,
          { mode: 0o755 },
        )
  }
}

function closureOf(names: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>()
  const queue = [...names]
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const manifest = manifestOf(name)
    if (found.has(name) || manifest === null) continue
    found.add(name)
    queue.push(...Object.keys(manifest.dependencies ?? {}), ...Object.keys(manifest.optionalDependencies ?? {}))
  }
  return found
}

interface Manifest {
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: object
  readonly optionalDependencies?: object
}

function manifestOf(name: string): Manifest | null {
  const file = join(OWN, name, 'package.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : null
}
