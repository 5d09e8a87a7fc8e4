import { posix } from 'node:path'
import type { Contract, ObservedCommand } from '../../core/contract.js'
import type { PinnedHarness } from '../../core/observed.js'
import {
  type HarnessKind,
  harnessKind,
  isBuildFileOf,
  isEnvironment,
  isTestName,
  runsTests,
} from '../../core/pinned-names.js'
import { type Listed, NOT_THE_PROJECT, type WorkTree } from '../../tree/work-tree.js'
import { loadedBy } from './loads.js'
import { extendedBy, type Parts, partsOf, scriptsIn } from './parts.js'
import { namedInConfig, pathsOf, runWordsOf, scriptsReached, type Word, wordsOf } from './words.js'

const FILES_MAX = 5000
const CANDIDATES_MAX = 20_000
const FOLDERS_MAX = 50
const EXTENDED_MAX = 200
const LOADED_MAX = 1000

/** A tree of which files can be looked at. */
export type ReadTree = Pick<WorkTree, 'list' | 'hash' | 'read'>

/** Commands of a contract, and what is asked about them: how tests are run, or what one other command does. */
export interface Scope {
  readonly of: 'tests' | 'command'
  readonly commands: readonly Pick<ObservedCommand, 'run' | 'env'>[]
}

/** The commands that run the tests of a contract. */
export function testScope(contract: Contract): Scope {
  return { of: 'tests', commands: TESTING.flatMap((name) => contract.commands.get(name) ?? []) }
}

const TESTING = ['tests', 'coverage'] as const

/**
 * What decides how the contract's tests are run, as it is in the tree now: configurations of runners and package managers, the
 * scripts of package.json, build files of programs that the command names, and files that the command, a script it reaches or a
 * runner's configuration names, with what these files import or run by a relative path. Of another command than that of the tests
 * only what it reaches by name. Paths that are `known` already are looked at whether they are still named or not.
 */
export async function harnessOf(
  tree: ReadTree,
  contract: Contract,
  known: readonly string[] = [],
  scope: Scope = testScope(contract),
): Promise<PinnedHarness> {
  const listed = await tree.list(NOT_THE_PROJECT)
  const into: Taken = { found: new Map(), texts: new Map(), of: scope.of }
  for (const { path } of listed) {
    const kind = harnessKind(path)
    if (kind !== null) await take(tree, { path, kind }, into)
  }
  await takeExtended(tree, into)
  const wasKnown = new Set(known)
  const reading = linesOf(scope, into.texts)
  const programs = new Set(reading.flatMap(({ words }) => words.map((word) => word.text)))
  const isNarrow = scope.of === 'command' && !runsTests(programs)
  if (isNarrow) narrow(into, { reading, programs })
  const built = listed.map(({ path }) => path).filter((path) => !into.found.has(path) && isBuildFileOf(programs, path))
  const named = [...known, ...built, ...candidatesOf(reading, into.texts, { listed, isNarrow })]
  for (let at = 0; at < named.length; at += 1) {
    const path = named[at] ?? ''
    const kind = harnessKind(path)
    if (into.found.has(path) || (isTestName(path) && !wasKnown.has(path))) continue
    if (isNarrow && kind === 'package_json' && !wasKnown.has(path)) continue
    await take(tree, { path, kind: isNarrow ? (kind ?? 'whole') : 'whole' }, into)
    const text = into.found.has(path) ? into.texts.get(path) : undefined
    if (text === undefined) continue
    named.push(...loadedBy(path, text))
    if (named.length > CANDIDATES_MAX + LOADED_MAX) throw new Error('too many paths could decide what a command does')
  }
  return Object.fromEntries([...into.found].sort(([a], [b]) => (a < b ? -1 : 1)))
}

// Of a command that runs no tests only what it reaches counts: the scripts it names, and what every program is set up by.
function narrow(
  { found, texts }: Taken,
  about: { readonly reading: readonly Line[]; readonly programs: ReadonlySet<string> },
): void {
  const reached = new Map(about.reading.map((line) => [line.file ?? '', line]))
  const folders = new Set(['.', ...about.reading.map(({ folder }) => folder)])
  for (const [path, parts] of found) {
    const line = reached.get(path)
    const isLoaded =
      line !== undefined ||
      (isEnvironment(path) && folders.has(posix.dirname(path))) ||
      (LOADED_BY[harnessKind(path) ?? 'whole']?.some((program) => about.programs.has(program)) ?? false)
    if (isLoaded && line !== undefined) found.set(path, reachedParts(parts, line))
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

function reachedParts(parts: Parts, { scripts }: Line): Parts {
  const isReached = (part: string): boolean =>
    part.startsWith('scripts.') ? (scripts?.includes(part.slice('scripts.'.length)) ?? false) : part !== 'name'
  return Object.fromEntries(Object.entries(parts).filter(([part]) => isReached(part)))
}

interface Taken {
  readonly found: Map<string, Parts>
  readonly texts: Map<string, string>
  readonly of: Scope['of']
}

async function take(tree: ReadTree, file: { path: string; kind: HarnessKind }, into: Taken): Promise<void> {
  const { path, kind } = file
  const hash = await tree.hash(path)
  if (hash === null) return
  if (into.found.size >= FILES_MAX) throw new Error(`more than ${FILES_MAX} files decide what a command does`)
  const text = MACHINE_MADE.test(path) ? null : ((await tree.read(path))?.toString('utf8') ?? null)
  // A link: where it leads is part of what it is.
  if (text === null || kind === 'whole' || kind === 'shadow') into.found.set(path, { '': hash })
  else into.found.set(path, partsOf(kind, text, into.of))
  if (text !== null) into.texts.set(path, text)
}

// What a tsconfig builds on decides with it, whatever its name is.
async function takeExtended(tree: ReadTree, into: Taken): Promise<void> {
  const configs = [...into.texts.keys()].filter((path) => harnessKind(path) === 'tsconfig')
  let extended = 0
  for (let at = 0; at < configs.length; at += 1) {
    const config = configs[at] ?? ''
    for (const named of extendedBy(into.texts.get(config) ?? ''))
      for (const path of [named, `${named}.json`].map((one) => posix.join(posix.dirname(config), one))) {
        if (into.found.has(path) || path.startsWith('..')) continue
        await take(tree, { path, kind: 'tsconfig' }, into)
        if (!into.found.has(path)) continue
        extended += 1
        if (extended > EXTENDED_MAX) throw new Error('too many configurations build on each other')
        configs.push(path)
      }
  }
}

// Too large to be read for what it names, and it names nothing of the project.
const MACHINE_MADE = /(^|\/)(\.pnp\.[^/]+|\.yarn\/.+)$/

interface Line {
  /** Where it is read: paths in it are relative to this folder or to the root. */
  readonly folder: string
  readonly words: readonly Word[]
  /** The package.json that it comes from, and the scripts of it that are reached. */
  readonly file?: string
  readonly scripts?: readonly string[]
}

function linesOf({ commands, of }: Scope, texts: ReadonlyMap<string, string>): readonly Line[] {
  const text = commands.flatMap(({ run, env }) => [run, ...Object.values(env)]).join('\n')
  const wordsIn = of === 'tests' ? wordsOf : runWordsOf
  const lines: Line[] = [{ folder: '.', words: wordsIn(text) }]
  for (const [path, content] of texts) {
    if (harnessKind(path) !== 'package_json') continue
    const scripts = scriptsIn(content) ?? new Map<string, string>()
    const reached = scriptsReached(text, scripts)
    const words = wordsIn(reached.map((name) => scripts.get(name) ?? '').join('\n'))
    if (reached.length > 0) lines.push({ folder: posix.dirname(path), words, file: path, scripts: reached })
  }
  return lines
}

function candidatesOf(
  lines: readonly Line[],
  texts: ReadonlyMap<string, string>,
  about: { readonly listed: readonly Listed[]; readonly isNarrow: boolean },
): ReadonlySet<string> {
  const { listed } = about
  const folders = foldersOf(listed)
  const links = listed.filter((one) => one.isLink).map((one) => one.path)
  const candidates = new Set<string>()
  const add = (folder: string, path: string): void => {
    const whole = posix.normalize(posix.join(folder, path))
    if (whole === '.' || whole.startsWith('..')) return
    const link = links.find((one) => whole.startsWith(`${one}/`))
    if (link !== undefined)
      throw new Error(`${whole} decides how tests are run, and ${link} on the way to it is a link`)
    candidates.add(whole)
    if (candidates.size > CANDIDATES_MAX) throw new Error('too many paths could decide how tests are run')
  }
  for (const { folder, words } of lines) {
    const entered = words
      .map((word) => posix.join(folder, word.text))
      .filter((path) => folders.has(posix.normalize(path)))
    const from = [...new Set(['.', folder, ...entered])].slice(0, FOLDERS_MAX)
    for (const word of words) for (const path of pathsOf(word)) for (const base of from) add(base, path)
  }
  for (const [path, text] of texts)
    if (harnessKind(path) === 'whole' || (harnessKind(path) === 'package_json' && !about.isNarrow))
      for (const named of namedInConfig(text)) add(posix.dirname(path), named)
  return candidates
}

function foldersOf(listed: readonly Listed[]): ReadonlySet<string> {
  const folders = new Set<string>()
  for (const { path } of listed)
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const folder = path.slice(0, at)
      if (folders.has(folder)) break
      folders.add(folder)
    }
  return folders
}
