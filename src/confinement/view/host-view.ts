import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { findPersonalPrograms } from './personal-programs.js'
import { findToolchains, isInside, readSurroundings, type Toolchain } from './toolchains.js'

/** The parts of the machine that commands can see, all read-only. Everything else does not exist for them. */
export interface HostView {
  /** Folders that are mounted at their own place. */
  readonly shown: readonly string[]
  /** Settings that are copied: each mount costs every command a little. */
  readonly copied: readonly string[]
  /** Links such as /bin to usr/bin. */
  readonly links: readonly { readonly path: string; readonly target: string }[]
  /** Never shown, whether they exist yet or not: tools keep credentials there. */
  readonly covered: readonly string[]
  /** Covered as soon as they exist, before the next command starts. */
  readonly coveredLate: readonly string[]
  /** PATH inside. */
  readonly path: string
  /** Variables that tools need inside, where the home directory differs. */
  readonly variables: Readonly<Record<string, string>>
  readonly toolchains: readonly Toolchain[]
  /** Folders of the server's PATH that commands do not see. */
  readonly hiddenPrograms: readonly string[]
}

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store']
// Only the parts of /etc that programs need, and nothing that contains secrets.
const SETTINGS = [
  'alternatives',
  'bash.bashrc',
  'ca-certificates',
  'ca-certificates.conf',
  'debian_version',
  'fonts',
  'gai.conf',
  'host.conf',
  'hosts',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'locale.alias',
  'magic',
  'magic.mime',
  // Its settings may hold passwords.
  'maven/logging',
  'maven/m2.conf',
  'mime.types',
  'networks',
  'nsswitch.conf',
  'os-release',
  'perl',
  'php.d',
  'pki/ca-trust',
  'pki/tls/certs',
  'protocols',
  'python3',
  'python3.11',
  'python3.12',
  'python3.13',
  'resolv.conf',
  'services',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'timezone',
]
/** Where language tools install themselves below a home directory. Nothing else of a home directory is shown. */
const TOOLCHAINS = [
  '.nvm',
  '.fnm',
  '.local/share/fnm',
  '.volta',
  '.bun',
  '.deno',
  '.pyenv',
  '.local/share/uv',
  '.rbenv',
  '.asdf',
  '.local/share/mise',
  '.goenv',
  '.nodenv',
  '.sdkman',
  '.local/share/pnpm',
  '.npm-global',
  '.yarn/bin',
  'go/bin',
  'miniconda3',
]
/** Where tools keep credentials in a home. */
const CREDENTIALS = [
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.asdf/.env',
  '.volta/.env',
  '.bun/install/auth',
  '.deno/credentials.json',
  '.local/share/uv/credentials',
  '.npm-global/etc',
  'miniconda3/.condarc',
  'miniconda3/condarc',
  'miniconda3/condarc.d',
  'miniconda3/pip.conf',
  ...['.npmrc', '.yarnrc', '.yarnrc.yml', '.bunfig.toml', '.netrc', '.pypirc', '.git-credentials', '.condarc'],
  ...['.m2/settings.xml', '.m2/settings-security.xml', '.gradle/gradle.properties', '.gem/credentials'],
  ...['.composer/auth.json', '.nuget/NuGet/NuGet.Config', '.docker/config.json'],
  ...['.ssh', '.aws', '.azure', '.gnupg', '.kube', '.config'],
]
/**
 * Settings for all users of one installed version, which may contain tokens: the folder of the versions, and the file
 * in each.
 */
const VERSION_SETTINGS: readonly (readonly [folder: string, file: string])[] = [
  ...[
    ...['.nvm/versions/node', '.volta/tools/image/node', '.asdf/installs/nodejs', '.local/share/mise/installs/node'],
    '.nodenv/versions',
  ].map((folder) => [folder, 'etc/npmrc'] as const),
  ...['.fnm/node-versions', '.local/share/fnm/node-versions'].map(
    (folder) => [folder, 'installation/etc/npmrc'] as const,
  ),
  ...[
    ...['.pyenv/versions', '.asdf/installs/python', '.local/share/mise/installs/python', '.local/share/uv/python'],
    'miniconda3/envs',
  ].map((folder) => [folder, 'pip.conf'] as const),
  ['miniconda3/envs', '.condarc'],
  ...['.sdkman/candidates/maven', '.asdf/installs/maven', '.local/share/mise/installs/maven'].map(
    (folder) => [folder, 'conf/settings.xml'] as const,
  ),
]
const MACHINE_SETTINGS = ['/usr/local/etc', '/usr/etc']
/** Settings of npm for all users of a Node.js, next to its programs. */
const NPM_SETTINGS = 'etc/npmrc'
const SYSTEM_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

const JAVA_SETTINGS = /^java-\d+-[a-z]+$/

export function buildHostView(environment: NodeJS.ProcessEnv = process.env): HostView {
  const around = readSurroundings(environment)
  const { home, onPath } = around
  const links: { path: string; target: string }[] = []
  const shown: string[] = []
  for (const path of SYSTEM) {
    if (!existsSync(path)) continue
    if (lstatSync(path).isSymbolicLink()) links.push({ path, target: readlinkSync(path) })
    else shown.push(path)
  }
  const java = readdirSync('/etc').filter((name) => JAVA_SETTINGS.test(name))
  const copied = [...SETTINGS, ...java, ...listPhpSettings()]
    .map((name) => `/etc/${name}`)
    .filter((path) => existsSync(path))
  const toolchains = findToolchains(around)
  const personal = findPersonalPrograms(home, onPath)
  links.push(...personal.links)
  const folders = [
    ...toolchains.flatMap((toolchain) => toolchain.folders),
    ...findOtherToolchains(home, onPath),
    ...findNodePrefix(home),
    ...personal.shown,
  ]
  for (const folder of folders) if (!shown.some((one) => isInside(one, folder))) shown.push(folder)
  const isShown = (path: string): boolean => shown.some((folder) => isInside(folder, path))
  const covered = [
    ...CREDENTIALS.map((credential) => join(home, credential)),
    ...toolchains.flatMap((toolchain) => toolchain.credentials),
    ...findNodeFolders(onPath).map((folder) => join(folder, NPM_SETTINGS)),
    ...findVersionSettings(home),
  ].filter(isShown)
  const late = toolchains
    .flatMap((toolchain) => toolchain.lateCredentials)
    .filter((one) => isShown(one) && !covered.includes(one))
  const isSeen = (entry: string): boolean =>
    SYSTEM_PATH.includes(entry) || isShown(entry) || personal.onPath.includes(entry)
  const path = [...onPath, ...toolchains.flatMap((toolchain) => toolchain.programs), ...SYSTEM_PATH].filter(isSeen)
  return {
    shown,
    copied,
    links,
    covered: [...new Set(covered)],
    coveredLate: [...MACHINE_SETTINGS, ...late],
    path: [...new Set(path)].join(delimiter),
    variables: Object.assign({}, personal.variables, ...toolchains.map((toolchain) => toolchain.variables)),
    toolchains,
    hiddenPrograms: [...new Set(onPath)].filter((entry) => !isSeen(entry)),
  }
}

// Which extensions PHP loads. Its php.ini may hold passwords.
function listPhpSettings(): readonly string[] {
  const versions = existsSync('/etc/php') ? readdirSync('/etc/php') : []
  return versions.flatMap((version) => [`php/${version}/cli/conf.d`, `php/${version}/mods-available`])
}

function findOtherToolchains(home: string, onPath: readonly string[]): readonly string[] {
  return TOOLCHAINS.map((name) => join(home, name)).filter(
    (folder) => existsSync(folder) && onPath.some((entry) => isInside(folder, entry)),
  )
}

// Only existing ones: a placeholder for each possible one would cost every command many mounts.
function findVersionSettings(home: string): readonly string[] {
  return VERSION_SETTINGS.flatMap(([folder, file]) => {
    const at = join(home, folder)
    const versions = statSync(at, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(at) : []
    return versions.map((version) => join(at, version, file)).filter((path) => existsSync(path))
  })
}

// Installations of the system keep their settings in /etc, which is not shown, or in a folder that is covered anyway.
function findNodeFolders(onPath: readonly string[]): readonly string[] {
  const programs = [...onPath.map((folder) => join(folder, 'node')), process.execPath].filter((path) =>
    existsSync(path),
  )
  const folders = programs.map((path) => dirname(dirname(realpathSync(path))))
  return [...new Set(folders)].filter((folder) => folder !== '/' && folder !== '/usr' && folder !== '/usr/local')
}

// Commands also see the Node that runs the server, wherever it is installed.
function findNodePrefix(home: string): readonly string[] {
  const prefix = dirname(dirname(realpathSync(process.execPath)))
  const isVersion =
    existsSync(join(prefix, 'bin', 'node')) && prefix !== '/' && prefix !== home && prefix !== join(home, '.local')
  return isVersion && statSync(prefix).isDirectory() && !isInside(prefix, home) ? [prefix] : []
}
