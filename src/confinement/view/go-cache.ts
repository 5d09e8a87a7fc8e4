import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { sha256Hex } from '../../base/sha256.js'
import type { Confinement } from '../confinement.js'
import { type CompilePlace, compileForTests } from './go-build-cache.js'
import { findOnPath, readSurroundings } from './toolchains.js'
import { isOwnFolder, openUserCache } from './user-cache.js'

type Sandbox = Pick<Confinement, 'start' | 'provider'>

/** Its folder in the state directory, and in the user's cache folder. */
export const GO_CACHE = 'go-cache'
/** The name that Go gives its cache below the cache folder of a home directory. */
const BUILD = 'go-build'
/** Maximum number of work trees with compiled packages; the oldest are removed. */
const PROJECTS_MAX = 8
/** Maximum number of toolchains whose library is kept. */
const LIBRARIES_MAX = 8
const MAKING = 'new-'
const LIBRARY = /^[0-9a-f]{16}$/
const REMOVED = { recursive: true, force: true } as const

// The packages that tests use most. Their imports are compiled and vetted with them.
const PACKAGES = [
  ...[
    'bufio',
    'bytes',
    'context',
    'encoding/json',
    'errors',
    'fmt',
    'io',
    'math',
    'math/rand',
    'net/http/httptest',
    'os',
  ],
  ...['os/exec', 'path/filepath', 'reflect', 'regexp', 'sort', 'strconv', 'strings', 'sync', 'text/template', 'time'],
]
const MODULE = 'module phaselock.example/cache\n\ngo 1.16\n'
const TEST = `package cache\n\nimport (\n\t"testing"\n${PACKAGES.map((name) => `\t_ "${name}"\n`).join('')})\n\nfunc TestNothing(t *testing.T) {}\n`

/** Values of the environment that change what Go compiles, and that commands in the sandbox get. */
const FLAGS = /^(?:-(?:trimpath|race|tags=[\w,.]+|mod=\w+|buildvcs=\w+)(?: +|$))*$/

/**
 * The compiled standard library of Go for tests, so that not every observed run compiles it again, and the packages of
 * work trees. The library is compiled in the sandbox in a module of its own, without a file of any work tree. It is in
 * the user's cache folder, one for each toolchain, for all servers of the user; commands see it read-only.
 */
export class GoCache {
  #making: Promise<string | null> | null = null
  readonly #closing = new AbortController()

  constructor(
    /** The folder of this server: packages of work trees, and the library if the user's cache cannot be trusted. */
    private readonly dir: string,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /** The library, if it matches the installed version of Go. */
  findReadyFolder(): string | null {
    const key = this.#key()
    const folder = key === null ? null : join(this.#root(), key)
    return folder !== null && isOwnFolder(folder) ? folder : null
  }

  /** Builds it if it is missing. Null if Go is missing or the build fails; then runs use no cache. */
  make(confinement: Sandbox): Promise<string | null> {
    const folder = this.findReadyFolder()
    if (folder !== null) return Promise.resolve(folder)
    // Without a sandbox commands could write what other servers read.
    if (confinement.provider === 'none' || this.#closing.signal.aborted) return Promise.resolve(null)
    this.#making ??= this.#compile(confinement).catch(() => null)
    return this.#making
  }

  /** Ends a compilation that is running. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#making
  }

  /** Build caches for the tests of a work tree; empty if there are none. */
  findSeeds(tree: string): readonly string[] {
    const library = this.findReadyFolder()
    // A work tree that has the cache in it has commands that write it.
    if (library === null || isInside(tree, library)) return []
    const project = this.#nameProject(library, tree)
    return [library, ...(existsSync(project) ? [project] : [])].map((folder) => join(folder, BUILD))
  }

  /** Compiles the packages of a tree that no agent has changed. If that fails, each run compiles them itself. */
  async compileProject(
    place: Omit<CompilePlace, 'seeds' | 'cache'> & { readonly confinement: Sandbox },
  ): Promise<void> {
    const library = await this.make(place.confinement)
    if (library === null) return
    const seeds = this.findSeeds(place.job.tree)
    const files = await compileForTests({ ...place, seeds, cache: GO_CACHE_INSIDE }).catch(() => null)
    if (files === null || files.size === 0) return
    const project = this.#nameProject(library, place.job.tree)
    const making = `${project}.new`
    await rm(making, REMOVED)
    await writeEntries(making, files)
    await rm(project, REMOVED)
    await rename(making, project)
    await dropOldest(this.dir, PROJECTS_MAX, (name) => name.includes('-') && !name.endsWith('.new'))
  }

  async #compile(confinement: Sandbox): Promise<string | null> {
    const key = this.#key()
    if (key === null) return null
    const module = await mkdtemp(join(tmpdir(), 'phaselock-go-'))
    try {
      await writeFile(join(module, 'go.mod'), MODULE)
      await writeFile(join(module, 'cache_test.go'), TEST)
      const files = await compileForTests({
        confinement,
        job: { tree: realpathSync(module), hidden: [], signal: this.#closing.signal },
        env: { GOENV: 'off', GOFLAGS: this.#flags(), GOPROXY: 'off', GOWORK: 'off' },
        ...{ seeds: [], cache: GO_CACHE_INSIDE, command: 'go test .', mustCompile: true },
      })
      return files === null || files.size === 0 ? null : await this.#keep(key, files)
    } finally {
      await rm(module, REMOVED)
    }
  }

  // Another server may have made the same meanwhile: then its folder stays.
  async #keep(key: string, files: ReadonlyMap<string, Buffer>): Promise<string> {
    const root = this.#root()
    const folder = join(root, key)
    await mkdir(root, { recursive: true, mode: 0o700 })
    const making = await mkdtemp(join(root, MAKING))
    await writeEntries(making, files)
    await rename(making, folder).catch(() => rm(making, REMOVED))
    await dropOldest(root, LIBRARIES_MAX, (name) => LIBRARY.test(name))
    // Left by servers that were killed.
    await dropOldest(root, LIBRARIES_MAX, (name) => name.startsWith(MAKING))
    return folder
  }

  #root(): string {
    return openUserCache(this.environment, GO_CACHE) ?? this.dir
  }

  // What toolexec and the like name would run while the library is compiled.
  #flags(): string {
    const { GOFLAGS = '' } = this.environment
    return FLAGS.test(GOFLAGS) ? GOFLAGS : ''
  }

  #key(): string | null {
    const go = findOnPath(readSurroundings(this.environment), 'go')
    if (go === null) return null
    const version = join(dirname(dirname(go)), 'VERSION')
    const toolchain = [go, existsSync(version) ? readFileSync(version, 'utf8') : '', process.platform, process.arch]
    const { GOTOOLCHAIN = '' } = this.environment
    return sha256Hex([BUILD, ...toolchain, this.#flags(), GOTOOLCHAIN].join('\n')).slice(0, 16)
  }

  #nameProject(library: string, tree: string): string {
    return join(this.dir, `${basename(library)}-${sha256Hex(tree).slice(0, 16)}`)
  }
}

async function writeEntries(folder: string, files: ReadonlyMap<string, Buffer>): Promise<void> {
  for (const [name, content] of files) {
    await mkdir(join(folder, BUILD, dirname(name)), { recursive: true, mode: 0o755 })
    await writeFile(join(folder, BUILD, name), content)
  }
}

async function dropOldest(dir: string, max: number, isMeant: (name: string) => boolean): Promise<void> {
  const names = (await readdir(dir)).filter(isMeant)
  const aged = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(dir, name))).mtimeMs })))
  const oldest = aged.toSorted((a, b) => b.at - a.at).slice(max)
  for (const { name } of oldest) await rm(join(dir, name), REMOVED)
}

function isInside(tree: string, path: string): boolean {
  const between = relative(realpathSync(tree), realpathSync(path))
  return between === '' || !(between === '..' || between.startsWith('../'))
}

/** The Go cache of an observed run: in its own temporary folder, filled with links to the compiled packages. */
export const GO_CACHE_INSIDE = '/tmp/phaselock-go-cache'
