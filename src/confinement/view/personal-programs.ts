import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isInside } from './toolchains.js'

/** What an account installed for itself, outside of a version manager. */
export interface PersonalPrograms {
  /** Files and folders to show. */
  readonly shown: readonly string[]
  readonly links: readonly { readonly path: string; readonly target: string }[]
  readonly variables: Readonly<Record<string, string>>
  /** The folder of programs, if any of it is shown. */
  readonly onPath: readonly string[]
}

// Only these: other files in this folder are scripts of the person, which may hold passwords.
const NAMES = new Set([
  ...['uv', 'uvx', 'poetry', 'pdm', 'pipenv', 'hatch', 'tox', 'nox', 'pytest', 'ruff', 'mypy', 'black'],
  ...['pnpm', 'pnpx', 'yarn', 'bun', 'bunx', 'deno', 'just', 'task', 'bazel', 'bazelisk', 'cmake', 'ninja', 'meson'],
])
/** Where the links among them lead: each entry is an installation of its own. */
const INSTALLATIONS = ['.local/share/pipx/venvs', '.local/pipx/venvs', '.local/share/uv/tools', '.local/share/pypoetry']
/** What package managers keep in a home and look for in the home of the command, by the variable that leads there. */
const KEPT = [
  ['.local/share/uv/python', 'UV_PYTHON_INSTALL_DIR'],
  ['.cache/pypoetry/virtualenvs', 'POETRY_VIRTUALENVS_PATH'],
  ['.local/share/virtualenvs', 'WORKON_HOME'],
  ['.cache/node/corepack', 'COREPACK_HOME'],
] as const

export function findPersonalPrograms(home: string, onPath: readonly string[]): PersonalPrograms {
  const kept = KEPT.map(([name, variable]) => [join(home, name), variable] as const).filter(([path]) => isFolder(path))
  const folder = join(home, '.local/bin')
  const programs = onPath.includes(folder) ? readdirSync(folder).filter((name) => NAMES.has(name)) : []
  const shown: string[] = []
  const links: { path: string; target: string }[] = []
  for (const name of programs) {
    const path = join(folder, name)
    if (!existsSync(path)) continue
    if (!lstatSync(path).isSymbolicLink()) shown.push(path)
    else {
      const installation = findInstallation(home, realpathSync(path))
      if (installation === null) continue
      shown.push(installation)
      links.push({ path, target: readlinkSync(path) })
    }
  }
  return {
    shown: [...new Set([...shown, ...kept.map(([path]) => path)])],
    links,
    variables: {
      ...Object.fromEntries(kept.map(([path, variable]) => [variable, path])),
      ...(kept.some(([, variable]) => variable === 'COREPACK_HOME') ? { COREPACK_ENABLE_NETWORK: '0' } : {}),
    },
    onPath: shown.some((path) => dirname(path) === folder) || links.length > 0 ? [folder] : [],
  }
}

/** The installation that a program belongs to: `venvs/tox` of `venvs/tox/bin/tox`. */
function findInstallation(home: string, program: string): string | null {
  for (const name of INSTALLATIONS) {
    const above = join(home, name)
    if (!isInside(above, program)) continue
    const [first = ''] = program.slice(above.length + 1).split('/')
    return join(above, first)
  }
  return null
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
