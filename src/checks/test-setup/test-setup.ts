import { posix } from 'node:path'
import type { Contract } from '../../core/contract/contract.js'
import type { PinnedHarness } from '../../core/evidence/observed-run.js'
import {
  findSetupKind,
  type HarnessKind,
  isBuildFileOf,
  isEnvironment,
  isTestName,
  isTestRunner,
} from '../../core/paths/test-setup-names.js'
import { NOT_THE_PROJECT } from '../../tree/work-tree.js'
import { type Parts, parseExtends, parseParts } from './file-parts.js'
import { detectLanguage, isNodeScript } from './languages.js'
import { type Listing, makeListing } from './listing.js'
import { isFree, listImported, listLoaded, listSearchedFolders, listShadows } from './loaded-files.js'
import {
  findBins,
  findMain,
  listLoadedByPackages,
  type NodeScript,
  type Package,
  parseNodeScript,
  parsePackages,
  pickResolutionParts,
} from './packages.js'
import type { ReadTree, Scope } from './scope.js'
import { buildLines, findNamedFiles, type Line, type NamedFiles } from './script-lines.js'
import { PRESENT } from './setup-changes.js'

const FILES_MAX = 5000
const QUEUE_MAX = 21_000
const EXTENDED_MAX = 200

/** The commands that run the tests of a contract. */
export function testScope(contract: Contract): Scope {
  return { of: 'tests', commands: TESTING.flatMap((name) => contract.commands.get(name) ?? []) }
}

const TESTING = ['tests', 'coverage'] as const

/** The files that decide what commands do, and whether the command itself names a path. */
interface Harness {
  readonly pins: PinnedHarness
  isNamed(path: string): boolean
}

/**
 * The current test setup of the tree: configurations of runners and package managers, the scripts of package.json,
 * build files of programs that the command names, and files that the command, a script it reaches or a runner's
 * configuration names, with everything these files import or run. For a command that does not run tests, only what it
 * reaches by name. `known` paths are read whether they are still named or not.
 */
export async function readTestSetup(
  tree: ReadTree,
  contract: Contract,
  known: readonly string[] = [],
  scope: Scope = testScope(contract),
): Promise<PinnedHarness> {
  return (await readHarness(tree, contract, { known, scope })).pins
}

export async function readHarness(
  tree: ReadTree,
  contract: Contract,
  { known, scope }: { readonly known: readonly string[]; readonly scope: Scope },
): Promise<Harness> {
  const listing = makeListing(await tree.list(NOT_THE_PROJECT))
  const into: TakenFiles = { found: new Map(), texts: new Map(), of: scope.of }
  for (const file of listing.setup) await take(tree, file, into)
  await takeExtended(tree, into)
  const packages = parsePackages(into.texts)
  const reading = buildLines(scope, into.texts)
  const programs = new Set(reading.flatMap(({ words }) => words.map((word) => word.text)))
  const isNarrow = scope.of === 'command' && !isTestRunner(programs)
  if (isNarrow) narrow(into, { reading, programs })
  const offered = new Set(reading.flatMap((line) => line.offered))
  const bins = packages.flatMap((pkg) => [...findBins(pkg, offered).values()])
  const named = findNamedFiles(reading, { texts: into.texts, listing, contract, isNarrow })
  const entered = packages.filter(({ folder }) => named.scripts.has(folder))
  const built = listing.buildFiles.filter((path) => !into.found.has(path) && isBuildFileOf(programs, path))
  const tasks = [...into.texts].filter(([path, text]) => /\.jsonc?$/.test(path) && detectLanguage(path, text).isShell)
  const queue = [...built, ...bins, ...entered.flatMap(findMain), ...named.paths, ...named.loaded]
  for (const [path, text] of tasks) queue.push(...listLoaded(path, text))
  const isNamed = (path: string): boolean => named.isNamed(path) || bins.includes(path)
  const scripts = await follow({ tree, into, listing, packages, named, isNamed, isNarrow }, { queue, known })
  const about = { scripts, programs: offered, entered: new Set(entered.map(({ folder }) => folder)) }
  for (const one of packages)
    addParts(into.found, one, pickResolutionParts(one, { ...about, isOfTests: scope.of === 'tests' }))
  for (const path of known) if (!into.found.has(path) && listing.has(path)) into.found.set(path, {})
  return { pins: Object.fromEntries([...into.found].sort(([a], [b]) => (a < b ? -1 : 1))), isNamed }
}

interface Scene {
  readonly tree: ReadTree
  readonly into: TakenFiles
  readonly listing: Listing
  readonly packages: readonly Package[]
  readonly named: NamedFiles
  readonly isNamed: (path: string) => boolean
  readonly isNarrow: boolean
}

/**
 * Collects the named files, then the files they load, and so on; then the files known before. Returns the Node.js
 * scripts among them.
 */
async function follow(
  scene: Scene,
  { queue, known }: { readonly queue: string[]; readonly known: readonly string[] },
): Promise<readonly NodeScript[]> {
  const { tree, into, listing } = scene
  const wasKnown = new Set(known)
  const searched = new Set(scene.named.searched)
  const shadows = new Set<string>()
  const judges = new Set(scene.named.judges)
  const scripts: NodeScript[] = []
  const looked = new Set<string>()
  const look = async (path: string): Promise<void> => {
    const kind = findSetupKind(path)
    if (looked.has(path) || into.found.has(path)) return
    looked.add(path)
    if (isTestName(path) && !wasKnown.has(path) && !(scene.isNarrow && scene.isNamed(path))) return
    if (kind === 'package_json' && scene.isNarrow) return
    await take(tree, { path, kind: scene.isNarrow ? (kind ?? 'whole') : 'whole' }, into)
    const text = into.found.has(path) ? into.texts.get(path) : undefined
    if (text === undefined) return
    const around = { isFolder: listing.isFolder, searched: [...searched] }
    for (const folder of listSearchedFolders(path, text, around)) searched.add(folder)
    queue.push(...listLoaded(path, text, { ...around, searched: [...searched] }))
    if (judges.has(path) || (HOOKS.test(text) && /['"](node:)?module['"]/.test(text)))
      for (const one of listImported(path, text)) {
        judges.add(one)
        queue.push(one)
      }
    for (const shadow of listShadows(path, text)) shadows.add(shadow)
    if (!isNodeScript(path, text)) return
    const script = parseNodeScript(path, text)
    scripts.push(script)
    queue.push(...listLoadedByPackages(script, scene.packages))
  }
  const drain = async (): Promise<void> => {
    for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
      for (const file of listing.filesAt(path)) if (file === path || !isFree(file)) await look(file)
      if (looked.size + queue.length > QUEUE_MAX) throw new Error('the command depends on too many paths')
    }
  }
  await drain()
  if (into.of === 'command')
    for (const path of shadows)
      if (!into.found.has(path) && (await tree.hash(path)) !== null) into.found.set(path, { [PRESENT]: '' })
  queue.push(...known)
  await drain()
  return scripts
}

// Files that are loaded first and decide how other files are loaded.
const HOOKS = /\bregister(Hooks)?\s*\(|\b_extensions\b|\b_compile\b/

function addParts(found: Map<string, Parts>, { path }: Package, parts: Parts): void {
  const present = found.get(path)
  if (Object.keys(parts).length === 0 || (present !== undefined && Object.hasOwn(present, ''))) return
  found.set(path, { ...present, ...parts })
}

// For a command that runs no tests, only what it reaches counts: the scripts it names, and the setup of every program.
function narrow(
  { found, texts }: TakenFiles,
  about: { readonly reading: readonly Line[]; readonly programs: ReadonlySet<string> },
): void {
  const reached = new Map(about.reading.map((line) => [line.file ?? '', line]))
  const folders = new Set(['.', ...about.reading.map(({ folder }) => folder)])
  for (const [path, parts] of found) {
    const line = reached.get(path)
    const isLoaded =
      line !== undefined ||
      (isEnvironment(path) && folders.has(posix.dirname(path))) ||
      (LOADED_BY[findSetupKind(path) ?? 'whole']?.some((program) => about.programs.has(program)) ?? false)
    if (isLoaded && line !== undefined) found.set(path, filterReachedParts(parts, line))
    if (isLoaded) continue
    found.delete(path)
    texts.delete(path)
  }
}

const LOADED_BY: Partial<Record<HarnessKind, readonly string[]>> = {
  tsconfig: ['tsc', 'vue-tsc', 'tsx', 'ts-node', 'tsup', 'svelte-check', 'eslint'],
  pyproject: [
    'ruff',
    'black',
    'mypy',
    'isort',
    'pyright',
    'pylint',
    'flake8',
    'bandit',
    'uv',
    'poetry',
    'hatch',
    'pdm',
  ],
}

function filterReachedParts(parts: Parts, { scripts }: Line): Parts {
  const isReached = (part: string): boolean =>
    part.startsWith('scripts.') ? (scripts?.includes(part.slice('scripts.'.length)) ?? false) : part !== 'name'
  return Object.fromEntries(Object.entries(parts).filter(([part]) => isReached(part)))
}

interface TakenFiles {
  readonly found: Map<string, Parts>
  readonly texts: Map<string, string>
  readonly of: Scope['of']
}

async function take(tree: ReadTree, file: { path: string; kind: HarnessKind }, into: TakenFiles): Promise<void> {
  const { path, kind } = file
  const hash = await tree.hash(path)
  if (hash === null) return
  if (into.found.size >= FILES_MAX) throw new Error(`the command depends on more than ${FILES_MAX} files`)
  const text = MACHINE_MADE.test(path) ? null : ((await tree.read(path))?.toString('utf8') ?? null)
  // A link: its target is part of its content.
  if (text === null || kind === 'whole' || kind === 'shadow') into.found.set(path, { '': hash })
  else into.found.set(path, parseParts(kind, text, into.of))
  if (text !== null) into.texts.set(path, text)
}

// The files that a tsconfig extends decide with it, whatever their names are.
async function takeExtended(tree: ReadTree, into: TakenFiles): Promise<void> {
  const configs = [...into.texts.keys()].filter((path) => findSetupKind(path) === 'tsconfig')
  let extended = 0
  for (let at = 0; at < configs.length; at += 1) {
    const config = configs[at] ?? ''
    for (const named of parseExtends(into.texts.get(config) ?? ''))
      for (const path of [named, `${named}.json`].map((one) => posix.join(posix.dirname(config), one))) {
        if (into.found.has(path) || path.startsWith('..')) continue
        await take(tree, { path, kind: 'tsconfig' }, into)
        if (!into.found.has(path)) continue
        extended += 1
        if (extended > EXTENDED_MAX) throw new Error('too many configurations extend each other')
        configs.push(path)
      }
  }
}

// Too large to be searched for names; assume that it names nothing of the project.
const MACHINE_MADE = /(^|\/)(\.pnp\.[^/]+|\.yarn\/.+)$/
