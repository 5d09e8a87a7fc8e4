/** A package manager: the words that install, and what an install may change. */
interface PackageManager {
  readonly verbs: readonly string[]
  /** Names of the manifests and lock files, at any depth. */
  readonly files: RegExp
  /** Folders and files that hold the packages themselves, at any depth. */
  readonly folders: RegExp
  /** It runs no code of the packages, so every change in its own files is its own. */
  readonly runsNoPackages?: true
}

const NODE = {
  files: /^(package\.json|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?)$/,
  folders:
    /^(?:.*\/)?(?:node_modules|\.yarn\/(?:cache|unplugged|install-state\.gz)|\.pnp\.(?:cjs|loader\.mjs))(?=\/|$)/,
}
const PYTHON = {
  files:
    /^(pyproject\.toml|requirements[\w.-]*\.(txt|in)|constraints[\w.-]*\.txt|Pipfile|(uv|poetry|pdm|Pipfile)\.lock)$/,
  folders: /^(?:.*\/)?(?:\.venv|venv|__pypackages__)(?=\/|$)/,
}
const VENDOR = /^(?:.*\/)?vendor(?=\/|$)/
const NOWHERE = /^(?!)/

const MANAGERS: Readonly<Record<string, PackageManager>> = {
  npm: {
    ...NODE,
    verbs: ['install', 'i', 'add', 'ci', 'update', 'up', 'upgrade', 'uninstall', 'remove', 'rm', 'un', 'dedupe'],
  },
  pnpm: { ...NODE, verbs: ['install', 'i', 'add', 'update', 'up', 'upgrade', 'remove', 'rm', 'un', 'dedupe'] },
  yarn: { ...NODE, verbs: ['install', 'add', 'up', 'upgrade', 'remove', 'dedupe'] },
  bun: { ...NODE, verbs: ['install', 'i', 'add', 'update', 'remove', 'rm'] },
  pip: { ...PYTHON, verbs: ['install', 'uninstall'] },
  pip3: { ...PYTHON, verbs: ['install', 'uninstall'] },
  uv: { ...PYTHON, verbs: ['add', 'remove', 'sync', 'lock', 'pip install', 'pip uninstall', 'pip sync'] },
  poetry: { ...PYTHON, verbs: ['add', 'remove', 'install', 'update', 'lock', 'sync'] },
  pdm: { ...PYTHON, verbs: ['add', 'remove', 'install', 'update', 'lock', 'sync'] },
  pipenv: { ...PYTHON, verbs: ['install', 'uninstall', 'update', 'lock', 'sync'] },
  go: {
    verbs: ['get', 'mod download', 'mod tidy', 'mod vendor'],
    files: /^go\.(mod|sum|work|work\.sum)$/,
    folders: VENDOR,
    runsNoPackages: true,
  },
  cargo: {
    verbs: ['add', 'remove', 'update', 'fetch', 'generate-lockfile', 'vendor'],
    files: /^Cargo\.(toml|lock)$/,
    folders: VENDOR,
    runsNoPackages: true,
  },
  mvn: {
    verbs: ['dependency:resolve', 'dependency:go-offline', 'dependency:get'],
    files: /^pom\.xml$/,
    folders: NOWHERE,
  },
  gradle: {
    verbs: ['dependencies'],
    files: /^((build|settings)\.gradle(\.kts)?|libs\.versions\.toml|(buildscript-)?gradle\.lockfile)$/,
    folders: NOWHERE,
  },
  bundle: {
    verbs: ['install', 'add', 'remove', 'update', 'lock'],
    files: /^(Gemfile|Gemfile\.lock|gems\.rb|gems\.locked)$/,
    folders: /^(?:.*\/)?(?:vendor\/bundle|\.bundle)(?=\/|$)/,
  },
  composer: {
    verbs: ['install', 'require', 'remove', 'update'],
    files: /^composer\.(json|lock)$/,
    folders: VENDOR,
  },
  dotnet: {
    verbs: ['add', 'remove', 'restore'],
    files: /^([\w.-]+\.(cs|fs|vb)proj|Directory\.Packages\.props|packages\.lock\.json)$/,
    folders: /^(?:.*\/)?obj(?=\/|$)/,
  },
}

const WORDS_MAX = 50
const WORD_CHARS_MAX = 300
const PLAIN_WORD = /^[\x21-\x7e]+$/
// A command is never read by a shell. Words that look like a shell line would mislead the approver.
const SHELL = /^(?:&&?|\|\|?|;|[<>]{1,2})$|[`\n]|\$\(|;$/

/** Why words are not a command that installs dependencies; null when they are. */
export function findInstallProblem(words: readonly string[]): string | null {
  const [program = '', ...rest] = words
  if (words.length > WORDS_MAX || words.some((word) => word.length > WORD_CHARS_MAX))
    return `a command has at most ${WORDS_MAX} words of ${WORD_CHARS_MAX} characters`
  if (words.some((word) => !PLAIN_WORD.test(word)))
    return 'a word of the command is empty, or has spaces or other than plain ASCII characters'
  if (words.some((word) => SHELL.test(word))) return 'the command is a list of words, not a line for a shell'
  const manager = findManager(program)
  if (manager === null)
    return `${JSON.stringify(program)} is not a known package manager (${Object.keys(MANAGERS).join(', ')})`
  const isVerb = manager.verbs.some((verb) => verb.split(' ').every((word, at) => rest[at] === word))
  return isVerb ? null : `${program} must be followed by one of: ${manager.verbs.join(', ')}`
}

function findManager(program: string): PackageManager | null {
  return Object.hasOwn(MANAGERS, program) ? (MANAGERS[program] ?? null) : null
}

/** The manifest, lock file or package folder that a path belongs to; null if none. */
export function findInstalledAt(
  program: string,
  path: string,
): { readonly kind: 'manifest' | 'packages'; readonly at: string } | null {
  const manager = findManager(program)
  if (manager === null) return null
  const [folder] = manager.folders.exec(path) ?? []
  if (folder !== undefined) return { kind: 'packages', at: folder }
  return manager.files.test(path.slice(path.lastIndexOf('/') + 1)) ? { kind: 'manifest', at: path } : null
}

/** Whether an install may change this part of the test setup: only parts that list dependencies. */
export function isDependencyPart(program: string, path: string, part: string): boolean {
  const found = findInstalledAt(program, path)
  if (found === null) return false
  return found.kind === 'packages' || findManager(program)?.runsNoPackages === true || DEPENDENCY_TABLE.test(part)
}

const DEPENDENCY_TABLE =
  /^\[(?:[\w.-]+\.)?(?:dev-|build-)?dependenc(?:ies|y-groups)(?:\.[\w-]+)?\]$|^\[tool\.uv\.sources\]$/

/** Whether a path is a manifest or lock file of some package manager. */
export function isDependencyFile(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return Object.values(MANAGERS).some(({ files }) => files.test(name))
}

/**
 * The files of the tree that decide what a command installs: manifests, lock files, and what its words name in the tree.
 * An approval is bound to them.
 */
export function listInstallInputs(
  entries: Readonly<Record<string, string>>,
  words: readonly string[],
  cwd: string,
): Readonly<Record<string, string>> {
  const named = words.slice(1).flatMap((word) => findNamedPath(word, cwd) ?? [])
  const isInput = (path: string): boolean =>
    isDependencyFile(path) || named.some((at) => path === at || path.startsWith(`${at}/`))
  return Object.fromEntries(
    Object.entries(entries)
      .filter(([path]) => isInput(path))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

// `./packed/a.tgz`, `a@file:../a`, `--requirement=dev.txt`. Other words name no path of the tree.
function findNamedPath(word: string, cwd: string): string | null {
  const [, text = ''] = /^(?:-[\w-]*=)?(?:[^/]*@)?(?:file:|link:|portal:)?(.*)$/.exec(word) ?? []
  const parts: string[] = []
  for (const part of `${cwd}/${text}`.split('/')) {
    if (part === '..' && parts.pop() === undefined) return null
    if (part !== '..' && part !== '.' && part !== '') parts.push(part)
  }
  return parts.length === 0 ? null : parts.join('/')
}

/** Whether a command line seems to start a package manager that installs something. */
export function mentionsInstall(line: string): boolean {
  return INSTALL_LINE.test(line)
}

const INSTALL_LINE = new RegExp(
  `(?:^|[\\s;&|(/])(?:npx|${Object.entries(MANAGERS)
    .map(([program, { verbs }]) => `${program}(?:\\s+-\\S+)*\\s+(?:${verbs.join('|').replaceAll(' ', '\\s+')})`)
    .join('|')})(?:$|[\\s;&|)])`,
)

const NO_NETWORK = new RegExp(
  [
    ...['ENOTCACHED', 'EAI_AGAIN', 'ENOTFOUND', 'ENETUNREACH', 'ERR_PNPM_NO_OFFLINE', 'YN0080', 'getaddrinfo'],
    ...['only-if-cached', 'GOPROXY=off', '--offline was specified', 'offline mode', 'network is unreachable'],
    ...['temporary failure in name resolution', 'could not resolve', 'network connectivity is disabled'],
    ...['no matching distribution found', 'network is disabled', 'network access is disabled', 'network was disabled'],
    ...['could not be found in registry index', 'name or service not known', 'disabled by COMPOSER_DISABLE_NETWORK'],
    ...['could not reach', 'ConnectionRefused', 'connection error', 'all attempts to connect'],
  ].join('|'),
  'i',
)

/** Whether the output of a package manager says that there was no network. */
export function saysNoNetwork(output: string): boolean {
  return NO_NETWORK.test(output)
}
