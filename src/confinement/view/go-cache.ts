import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sha256Hex } from '../../base/sha256.js'
import { type CompilePlace, compileForTests } from './go-build-cache.js'
import { findOnPath, readSurroundings } from './toolchains.js'

/** Its folder in the state directory. */
export const GO_CACHE = 'go-cache'
/** The name that Go gives its cache below the cache folder of a home directory. */
const BUILD = 'go-build'
const MADE_WITHIN_MS = 10 * 60_000
/** Maximum number of work trees with compiled packages; the oldest are removed. */
const PROJECTS_MAX = 8
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

/**
 * The compiled standard library of Go for tests, so that not every observed run compiles it again. It is built in a
 * separate module out of reach of agents, and shown to observed runs read-only.
 */
export class GoCache {
  #making: Promise<string | null> | null = null

  constructor(
    private readonly dir: string,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /** The folder, if it matches the installed version of Go. */
  findReadyFolder(): string | null {
    const go = this.#program()
    const folder = go === null ? null : this.#folderFor(go)
    return folder !== null && existsSync(folder) ? folder : null
  }

  /** Builds it if it is missing. Null if Go is missing or the build fails; then runs use no cache. */
  make(): Promise<string | null> {
    const folder = this.findReadyFolder()
    if (folder !== null) return Promise.resolve(folder)
    this.#making ??= this.#compile().catch(() => null)
    return this.#making
  }

  /** Build caches for the tests of a work tree; empty if there are none. */
  findSeeds(tree: string): readonly string[] {
    const library = this.findReadyFolder()
    if (library === null) return []
    const project = nameProject(library, tree)
    return [library, ...(existsSync(project) ? [project] : [])].map((folder) => join(folder, BUILD))
  }

  /** Compiles the packages of a tree that no agent has changed. If that fails, each run compiles them itself. */
  async compileProject(place: Omit<CompilePlace, 'seeds' | 'cache'>): Promise<void> {
    const library = await this.make()
    if (library === null) return
    const seeds = this.findSeeds(place.job.tree)
    const files = await compileForTests({ ...place, seeds, cache: GO_CACHE_INSIDE }).catch(() => null)
    if (files === null || files.size === 0) return
    const project = nameProject(library, place.job.tree)
    const making = `${project}.new`
    await rm(making, REMOVED)
    for (const [name, content] of files) {
      await mkdir(join(making, BUILD, dirname(name)), { recursive: true, mode: 0o755 })
      await writeFile(join(making, BUILD, name), content)
    }
    await rm(project, REMOVED)
    await rename(making, project)
    await this.#dropProjects()
  }

  async #dropProjects(): Promise<void> {
    const names = (await readdir(this.dir)).filter((name) => name.includes('-') && !name.endsWith('.new'))
    const aged = await Promise.all(
      names.map(async (name) => ({ name, at: (await stat(join(this.dir, name))).mtimeMs })),
    )
    const oldest = aged.sort((a, b) => b.at - a.at).slice(PROJECTS_MAX)
    for (const { name } of oldest) await rm(join(this.dir, name), REMOVED)
  }

  async #compile(): Promise<string | null> {
    const go = this.#program()
    if (go === null) return null
    const folder = this.#folderFor(go)
    const making = `${folder}.new`
    for (const name of await readdir(this.dir).catch(() => [])) await rm(join(this.dir, name), REMOVED)
    await mkdir(join(making, 'module'), { recursive: true, mode: 0o755 })
    await writeFile(join(making, 'module', 'go.mod'), MODULE)
    await writeFile(join(making, 'module', 'cache_test.go'), TEST)
    if (!(await this.#runs(go, making))) return null
    for (const name of await readdir(making)) if (name !== BUILD) await rm(join(making, name), REMOVED)
    await rename(making, folder)
    return folder
  }

  #runs(go: string, making: string): Promise<boolean> {
    const { PATH = '' } = this.environment
    const env = {
      ...{ PATH, HOME: making, GOCACHE: join(making, BUILD), GOPATH: join(making, 'path') },
      ...{ GOENV: 'off', GOFLAGS: '', GOTOOLCHAIN: 'local', GOPROXY: 'off', GOWORK: 'off' },
    }
    const cwd = join(making, 'module')
    return new Promise((resolve) => {
      const child = spawn(go, ['test', '.'], { cwd, env, stdio: 'ignore', timeout: MADE_WITHIN_MS })
      child.once('error', () => resolve(false))
      child.once('close', (code) => resolve(code === 0))
    })
  }

  #program(): string | null {
    return findOnPath(readSurroundings(this.environment), 'go')
  }

  #folderFor(go: string): string {
    const version = join(dirname(dirname(go)), 'VERSION')
    const about = `${BUILD} ${go} ${existsSync(version) ? readFileSync(version, 'utf8') : ''}`
    return join(this.dir, sha256Hex(about).slice(0, 16))
  }
}

function nameProject(library: string, tree: string): string {
  return `${library}-${sha256Hex(tree).slice(0, 16)}`
}

/** The Go cache of an observed run: in its own temporary folder, filled with links to the compiled packages. */
export const GO_CACHE_INSIDE = '/tmp/phaselock-go-cache'
