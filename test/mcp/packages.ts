import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../cli/program.js'
import { installOnce } from '../install-once.js'

const INSTALL_MS_MAX = 180_000
// Where there is no registry, npm would wait for more than a minute before it says so.
const OPTIONS = [
  ...['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'],
  ...['--fetch-retries=1', '--fetch-retry-mintimeout=1000'],
]

export type Installed = { readonly ok: true; readonly dir: string } | { readonly ok: false; readonly reason: string }

/**
 * Programs that a test runs but the project does not depend on, kept in the cache of the installation. What cannot be
 * had (no registry, another platform) is a reason to skip, said with the test.
 */
export function installed(name: string, packages: readonly string[]): Installed {
  return install(name, packages, {
    installer: 'npm',
    words: ['install', ...OPTIONS, ...packages],
    prepare: (dir) => writeFileSync(join(dir, 'package.json'), '{"name": "installed-for-a-test", "private": true}\n'),
  })
}

/** The same from the Python Package Index: `dir` has the folder `packages`, for PYTHONPATH. */
export function installedFromPypi(name: string, packages: readonly string[]): Installed {
  const words = ['-m', 'pip', 'install', '--quiet', '--target', 'packages', ...packages]
  return install(name, packages, { installer: 'python3', words, prepare: () => undefined })
}

interface Installation {
  readonly installer: string
  readonly words: readonly string[]
  readonly prepare: (dir: string) => void
}

function install(name: string, packages: readonly string[], { installer, words, prepare }: Installation): Installed {
  const dir = join(
    ROOT,
    'node_modules/.cache/phaselock-test',
    `${name}-${packages.join('+').replace(/[^\w.+-]/g, '_')}`,
  )
  const reason = installOnce(dir, (making) => {
    prepare(making)
    const done = spawnSync(installer, words, { cwd: making, encoding: 'utf8', timeout: INSTALL_MS_MAX })
    return done.status === 0
      ? null
      : `${installer} cannot install ${packages.join(', ')}: ${findCause(done.stderr ?? '')}`
  })
  return reason === null ? { ok: true, dir } : { ok: false, reason }
}

/** Node.js 22 from the registry, for programs that do not run on the one that runs the tests. */
export function node22(): Installed {
  return findNode('22.23.3')
}

/** A version of Node.js from the registry: `dir` is the program. */
export function findNode(version: string): Installed {
  if (process.platform !== 'linux') return { ok: false, reason: 'Node.js is had from the registry on Linux only' }
  const name = `node-linux-${process.arch}`
  const found = installed('node', [`${name}@${version}`])
  return found.ok ? { ok: true, dir: join(found.dir, 'node_modules', name, 'bin', 'node') } : found
}

// The last line only says where the log is.
function findCause(text: string): string {
  const lines = text.trim().split('\n')
  return lines.find((line) => /^npm error code /.test(line)) ?? lines.at(-1) ?? 'no reason given'
}
