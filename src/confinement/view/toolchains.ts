import { accessSync, constants, existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join, relative } from 'node:path'

/** The tools of a language on this machine, and what commands need to find them. */
export interface Toolchain {
  readonly name: string
  /** Shown read-only. */
  readonly folders: readonly string[]
  /** Never shown, whether they exist yet or not. */
  readonly credentials: readonly string[]
  /**
   * Covered before the next command once they exist: in large folders, where leaving a place out would take many
   * mounts.
   */
  readonly lateCredentials: readonly string[]
  readonly variables: Readonly<Record<string, string>>
  /** Folders of programs that are put on the PATH. */
  readonly programs: readonly string[]
}

interface Surroundings {
  readonly environment: NodeJS.ProcessEnv
  readonly home: string
  /** The folders of the PATH that exist. */
  readonly onPath: readonly string[]
}

export function readSurroundings(environment: NodeJS.ProcessEnv): Surroundings {
  const home = environment.HOME ?? homedir()
  const onPath = (environment.PATH ?? '').split(delimiter).filter((entry) => isAbsolute(entry) && existsSync(entry))
  return { environment, home, onPath }
}

const NOTHING = { folders: [], credentials: [], lateCredentials: [], variables: {}, programs: [] } as const

/** Found in the environment that the server was started in. */
export function findToolchains(around: Surroundings): readonly Toolchain[] {
  return [go, findRust, findPyenv, findNvm, findJava, findMaven, findGradle].flatMap((find) => find(around) ?? [])
}

function go(around: Surroundings): Toolchain | null {
  const program = findOnPath(around, 'go')
  if (program === null) return null
  const root = dirname(dirname(program))
  const isRoot = isFolder(join(root, 'src', 'runtime')) && existsSync(join(root, 'VERSION'))
  const [path = join(around.home, 'go')] = (around.environment.GOPATH ?? '')
    .split(delimiter)
    .filter((one) => one !== '')
  const modules = around.environment.GOMODCACHE ?? join(path, 'pkg', 'mod')
  const hasModules = mayShow(around, modules)
  return {
    ...NOTHING,
    name: 'go',
    folders: [...(isRoot && mayShow(around, root) ? [root] : []), ...(hasModules ? [modules] : [])],
    programs: [dirname(program)],
    // Clones of private repositories contain the addresses they came from, including tokens.
    lateCredentials: hasModules ? [join(modules, 'cache', 'vcs')] : [],
    variables: {
      ...(hasModules ? { GOMODCACHE: modules, GOPROXY: 'off' } : {}),
      ...pickVariables(around, ['GOFLAGS', 'GOTOOLCHAIN']),
    },
  }
}

function findRust(around: Surroundings): Toolchain | null {
  const { environment, home } = around
  const cargo = environment.CARGO_HOME ?? join(home, '.cargo')
  const rustup = environment.RUSTUP_HOME ?? join(home, '.rustup')
  const hasCargo = mayShow(around, cargo) && (isFolder(join(cargo, 'bin')) || isFolder(join(cargo, 'registry')))
  const hasRustup = mayShow(around, rustup) && isFolder(join(rustup, 'toolchains'))
  if (!hasCargo && !hasRustup) return null
  const settings = ['config.toml', 'config'].map((name) => join(cargo, name))
  return {
    ...NOTHING,
    name: 'rust',
    folders: [...(hasCargo ? [cargo] : []), ...(hasRustup ? [rustup] : [])],
    credentials: [
      ...['credentials', 'credentials.toml'].map((name) => join(cargo, name)),
      ...settings.filter((file) => CARGO_SECRET.test(readText(file))),
    ],
    variables: {
      ...(hasCargo ? { CARGO_HOME: cargo, CARGO_NET_OFFLINE: 'true' } : {}),
      ...(hasRustup ? { RUSTUP_HOME: rustup, RUSTUP_AUTO_INSTALL: '0' } : {}),
      ...pickVariables(around, ['RUSTUP_TOOLCHAIN']),
    },
  }
}

const CARGO_SECRET = /\b(token|secret-key|password)\s*=|:\/\/[^\s/"']*@/

function findPyenv(around: Surroundings): Toolchain | null {
  const root = around.environment.PYENV_ROOT ?? join(around.home, '.pyenv')
  const versions = join(root, 'versions')
  if (!mayShow(around, root) || !isFolder(versions) || !around.onPath.some((entry) => isInside(root, entry)))
    return null
  return {
    ...NOTHING,
    name: 'pyenv',
    folders: [root],
    lateCredentials: readNames(versions).map((name) => join(versions, name, 'pip.conf')),
    variables: { PYENV_ROOT: root, ...pickVariables(around, ['PYENV_VERSION']) },
  }
}

function findNvm(around: Surroundings): Toolchain | null {
  const root = around.environment.NVM_DIR ?? join(around.home, '.nvm')
  const versions = join(root, 'versions', 'node')
  if (!mayShow(around, root) || !isFolder(versions) || !around.onPath.some((entry) => isInside(root, entry)))
    return null
  return {
    ...NOTHING,
    name: 'nvm',
    folders: [root],
    lateCredentials: readNames(versions).map((name) => join(versions, name, 'etc')),
    variables: { NVM_DIR: root },
  }
}

function findJava(around: Surroundings): Toolchain | null {
  const program = findOnPath(around, 'java')
  const root = around.environment.JAVA_HOME ?? (program === null ? null : dirname(dirname(program)))
  if (root === null || !existsSync(join(root, 'bin', 'java')) || !isFolder(join(root, 'lib'))) return null
  if (!mayShow(around, root)) return null
  return { ...NOTHING, name: 'java', folders: [root], variables: pickVariables(around, ['JAVA_HOME']) }
}

// Only the repository: passwords are in the settings next to it.
function findMaven(around: Surroundings): Toolchain | null {
  const repository = join(around.home, '.m2', 'repository')
  if (!mayShow(around, repository)) return null
  return {
    ...NOTHING,
    name: 'maven',
    folders: [repository],
    variables: { MAVEN_OPTS: `-Dmaven.repo.local=${repository} ${FROM_ANYWHERE}`, MAVEN_ARGS: '-o' },
  }
}

// Packages are marked with the name of the server that they came from. A mirror is named in the settings, which are hidden.
const FROM_ANYWHERE = '-Daether.enhancedLocalRepository.trackingFilename=none.repositories'

function findGradle(around: Surroundings): Toolchain | null {
  const caches = join(around.environment.GRADLE_USER_HOME ?? join(around.home, '.gradle'), 'caches')
  const modules = join(caches, 'modules-2')
  if (!mayShow(around, modules)) return null
  return { ...NOTHING, name: 'gradle', folders: [modules], variables: { GRADLE_RO_DEP_CACHE: caches } }
}

/** The program that the PATH leads to, with links resolved. */
export function findOnPath({ onPath }: Surroundings, name: string): string | null {
  const found = onPath.map((folder) => join(folder, name)).find((file) => existsSync(file))
  return found === undefined ? null : realpathSync(found)
}

// A variable that names the home directory, or a folder above it, would show everything in it.
function mayShow({ home }: Surroundings, folder: string): boolean {
  return (
    isAbsolute(folder) &&
    isFolder(folder) &&
    !isInside(realpathSync(folder), resolveRealPath(home)) &&
    !isInside(folder, home)
  )
}

function pickVariables({ environment }: Surroundings, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])))
}

// A folder that this account may not look into, such as PYENV_ROOT of root after `su`, is none that commands could use.
function isFolder(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.X_OK)
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

function readNames(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function resolveRealPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

/** True when `path` is the folder or is below it. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '' || (!way.startsWith('..') && !isAbsolute(way))
}
