import { posix } from 'node:path'
import type { Contract } from '../../core/contract.js'
import type { PinnedHarness } from '../../core/observed.js'
import { type Listed, NOT_THE_PROJECT, type WorkTree } from '../../tree/work-tree.js'
import { type HarnessKind, harnessKind, isBuildFileOf, isNearTests, isTestName, shadowIsNear } from './names.js'
import { extendedBy, type Parts, partsOf, scriptsIn } from './parts.js'
import { namedInConfig, pathsOf, scriptsReached, type Word, wordsOf } from './words.js'

const FILES_MAX = 5000
const CANDIDATES_MAX = 20_000
const FOLDERS_MAX = 50
const EXTENDED_MAX = 200
const COMMANDS = ['tests', 'coverage'] as const

/**
 * What decides how the contract's tests are run, as it is in the tree now: configurations of runners and package managers, the
 * scripts of package.json, build files of programs that the command names, and files that the command, a script it reaches or a
 * runner's configuration names. Files that those files load in turn are not followed, but for what a tsconfig extends. Paths that
 * are `known` already are looked at whether they are still named or not.
 */
export async function harnessOf(
  tree: WorkTree,
  contract: Contract,
  known: readonly string[] = [],
): Promise<PinnedHarness> {
  const listed = await tree.list(NOT_THE_PROJECT)
  const found = new Map<string, Parts>()
  const texts = new Map<string, string>()
  for (const { path } of listed) {
    const kind = harnessKind(path)
    if (kind !== null) await take(tree, { path, kind }, { found, texts })
  }
  await takeExtended(tree, { found, texts })
  const wasKnown = new Set(known)
  const reading = linesOf(contract, texts)
  const programs = new Set(reading.flatMap(({ words }) => words.map((word) => word.text)))
  for (const { path } of listed)
    if (!found.has(path) && isBuildFileOf(programs, path)) await take(tree, { path, kind: 'whole' }, { found, texts })
  for (const path of [...known, ...candidatesOf(reading, texts, listed)]) {
    if (found.has(path) || (isTestName(path) && !wasKnown.has(path))) continue
    await take(tree, { path, kind: 'whole' }, { found, texts })
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}

interface Taken {
  readonly found: Map<string, Parts>
  readonly texts: Map<string, string>
}

async function take(tree: WorkTree, file: { path: string; kind: HarnessKind }, into: Taken): Promise<void> {
  const { path, kind } = file
  const hash = await tree.hash(path)
  if (hash === null) return
  if (into.found.size >= FILES_MAX) throw new Error(`more than ${FILES_MAX} files decide how tests are run`)
  const text = MACHINE_MADE.test(path) ? null : ((await tree.read(path))?.toString('utf8') ?? null)
  // A link: where it leads is part of what it is.
  if (text === null || kind === 'whole' || kind === 'shadow') into.found.set(path, { '': hash })
  else into.found.set(path, partsOf(kind, text))
  if (text !== null) into.texts.set(path, text)
}

// What a tsconfig builds on decides with it, whatever its name is.
async function takeExtended(tree: WorkTree, into: Taken): Promise<void> {
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
}

function linesOf(contract: Contract, texts: ReadonlyMap<string, string>): readonly Line[] {
  const commands = COMMANDS.flatMap((name) => contract.commands.get(name) ?? [])
  const text = commands.flatMap(({ run, env }) => [run, ...Object.values(env)]).join('\n')
  const lines: Line[] = [{ folder: '.', words: wordsOf(text) }]
  for (const [path, content] of texts) {
    if (harnessKind(path) !== 'package_json') continue
    const scripts = scriptsIn(content) ?? new Map<string, string>()
    const reached = scriptsReached(text, scripts).map((name) => scripts.get(name) ?? '')
    if (reached.length > 0) lines.push({ folder: posix.dirname(path), words: wordsOf(reached.join('\n')) })
  }
  return lines
}

function candidatesOf(
  lines: readonly Line[],
  texts: ReadonlyMap<string, string>,
  listed: readonly Listed[],
): ReadonlySet<string> {
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
    if (harnessKind(path) === 'whole' || harnessKind(path) === 'package_json')
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

/** What decides how tests are run and is not as it was at RED, each in words. `tests` are the test files of RED. */
export function harnessChanges(before: PinnedHarness, now: PinnedHarness, tests: readonly string[]): readonly string[] {
  const was = new Map(Object.entries(before))
  const is = new Map(Object.entries(now))
  const changes: string[] = []
  for (const [path, parts] of was) {
    const current = is.get(path)
    if (current === undefined) changes.push(`${path} was removed since the RED run`)
    else changes.push(...partChanges(path, parts, current))
  }
  for (const path of is.keys())
    if (!was.has(path) && counts(path, tests)) changes.push(`${path} was added since the RED run`)
  return changes
}

// A package of its own somewhere else is part of an implementation; one around the tests decides how they are run.
function counts(path: string, tests: readonly string[]): boolean {
  const kind = harnessKind(path)
  if (kind === 'shadow') return shadowIsNear(path, tests)
  return kind === null || kind === 'whole' || isNearTests(path, tests)
}

function partChanges(path: string, before: Parts, now: Parts): readonly string[] {
  const was = new Map(Object.entries(before))
  const is = new Map(Object.entries(now))
  // A file that can no longer be read in parts, or could not be, is compared as one.
  if (was.has('') !== is.has('')) return [`${path} changed since the RED run`]
  const named = (part: string): string => (part === '' ? path : `${path} (${part})`)
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((part) => was.get(part) !== is.get(part))
    .map(
      (part) =>
        `${named(part)} ${!is.has(part) ? 'was removed' : was.has(part) ? 'changed' : 'was added'} since the RED run`,
    )
}
