import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { sha256Hex } from '../../base/sha256.js'
import { hasComputedName } from '../../checks/inverted/find-test.js'
import type { TurnedFile } from '../../checks/inverted/subjects.js'
import { isSource, readText } from '../../checks/test-files/test-files.js'
import type { Composition, ViewEntry } from '../../confinement/confinement.js'
import type { Contract } from '../../core/contract/contract.js'
import type { Json } from '../../core/json.js'
import { findSetupKind, isTestName } from '../../core/paths/test-setup-names.js'
import type { TaskState } from '../../core/task/state.js'
import { invertInThread } from '../../inverter/invert-in-thread.js'
import type { InvertRequest } from '../../inverter/invert-tests.js'
import type { FoundTest } from '../../inverter/types.js'
import { openWorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import { WORK_BEGAN } from '../trees/trees.js'
import { startOfWork } from './start-of-work.js'

export const FILES_MAX = 500
const HELPERS_MAX = 100

/** A file to invert, as the view of the plain run has it. */
interface TestText {
  readonly path: string
  readonly text: string
  readonly mode: number
  /** Its content when work on the task began; null: it did not exist. */
  readonly before: string | null
}

export interface TestTexts {
  /** New and changed test files, and those that the task handed in. */
  readonly tests: readonly TestText[]
  /** Their helper files, which may assert too but contain no tests. */
  readonly helpers: readonly TestText[]
  /** Unchanged test files. */
  readonly others: readonly TestText[]
}

/** The new and changed test files of a view, and the helper files they name. */
export async function readTestTexts(
  app: App,
  contract: Contract,
  state: TaskState,
  { composition, named }: { readonly composition: Composition; readonly named: readonly string[] },
): Promise<TestTexts> {
  const tree = openWorkTree(state.workspace)
  const start = app.trees.readMark(state.workspace, state.id, WORK_BEGAN)?.entries ?? null
  const before = startOfWork(app, contract, state).tree
  const put = new Map(composition.put.map((entry) => [entry.path, entry]))
  const isOut = new Set(composition.leftOut)
  const isPinned = new Set(composition.pinned)
  const texts = new Map<string, TestText>()
  const tests: TestText[] = []
  for (const path of new Set([...composition.pinned, ...named])) {
    if (!isSource(path) || isOut.has(path) || findSetupKind(path) !== null) continue
    const entry = put.get(path)
    const text = entry?.type === 'file' ? entry.content.toString('utf8') : await readText(tree, path).catch(() => null)
    if (text === null || (!isPinned.has(path) && !HOLDS_TESTS.test(text))) continue
    const hash = `file ${sha256Hex(text)}`
    const isChanged = start === null ? named.length === 0 || named.includes(path) : start[path] !== hash
    const was = isChanged && start?.[path] !== undefined ? await before.read(path) : null
    const mode = entry?.type === 'file' ? entry.mode : readMode(join(state.workspace, path))
    const one = { path, text, mode, before: isChanged ? (was?.toString('utf8') ?? null) : text }
    texts.set(path, one)
    // The task names an unchanged file when it only added cases to the data that the file reads.
    if (named.includes(path) || (isChanged && isLikelyTest(path, text))) tests.push(one)
  }
  const others = [...texts.values()].filter((one) => !tests.includes(one) && isLikelyTest(one.path, one.text))
  return { tests, helpers: findHelpers(tests, texts), others }
}

// A source file that also contains tests is not pinned.
const HOLDS_TESTS = /#\[cfg\(test\)\]|\bimport\.meta\.vitest\b/

function readMode(file: string): number {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats?.isFile() === true ? stats.mode & 0o777 : 0o644
}

function isLikelyTest(path: string, text: string): boolean {
  return isTestName(path) || DEFINES_TEST.test(text)
}

const DEFINES_TEST =
  /(?<![\w$.])(?:test|it|specify)(?:\.\w+){0,3}\s*\(|^[ \t]*(?:async[ \t]+)?def[ \t]+test|\bfunc[ \t]+Test|#\[(?:\w+::)?test\]/m

// By name only: an extra file is inverted, whether or not its assertions run.
function findHelpers(tests: readonly TestText[], texts: ReadonlyMap<string, TestText>): readonly TestText[] {
  const chosen = new Set(tests)
  const queue = [...tests]
  for (const from of queue) {
    for (const one of texts.values()) {
      if (chosen.has(one) || isLikelyTest(one.path, one.text) || chosen.size > tests.length + HELPERS_MAX) continue
      if (!from.text.includes(parseModuleName(one.path))) continue
      chosen.add(one)
      queue.push(one)
    }
  }
  return [...chosen].slice(tests.length)
}

function parseModuleName(path: string): string {
  const stem = posix.basename(path).replace(/\.[^.]+$/, '')
  return stem === 'index' || stem === 'mod' || stem === '__init__' ? posix.basename(posix.dirname(path)) : stem
}

/** The test files that the task handed in. */
export async function listNamedFiles(app: App, state: TaskState): Promise<readonly string[]> {
  const kept = state.artifacts.get('test_files')
  const content = kept === undefined ? null : await app.ledger.store.readBlob(kept.sha256)
  const { test_files } = (content === null ? {} : JSON.parse(content)) as { readonly test_files?: Json }
  if (!Array.isArray(test_files)) return []
  const paths = test_files.map((file) => (typeof file === 'string' ? file : (file as { path?: Json } | null)?.path))
  return paths.filter((path) => typeof path === 'string')
}

/** Inverted test files, with their twins as entries of a view. */
export interface TurnedFiles {
  readonly files: readonly TurnedFile[]
  readonly unturned: readonly ViewEntry[]
  readonly turned: readonly ViewEntry[]
}

type How = Pick<InvertRequest, 'outerOnly' | 'leavesCaught' | 'namesLines' | 'goesDown'>

/** Inverts the files with a random seed that is stored nowhere else, without the tests that `spare` names. */
export async function turnAround(
  texts: Pick<TestTexts, 'tests' | 'helpers'>,
  { spare, ...how }: How & { readonly spare: (file: TurnedFile) => readonly string[] },
): Promise<TurnedFiles> {
  const turned = await turnFiles(texts, how, new Map())
  const spared = new Map(turned.files.map((file) => [file.path, spare(file)]))
  return [...spared.values()].every((names) => names.length === 0) ? turned : turnFiles(texts, how, spared)
}

async function turnFiles(
  { tests, helpers }: Pick<TestTexts, 'tests' | 'helpers'>,
  how: How,
  spared: ReadonlyMap<string, readonly string[]>,
): Promise<TurnedFiles> {
  const all = [...tests, ...helpers]
  const seed = randomBytes(32).toString('hex')
  const olds = tests.filter(({ before }) => before !== null)
  const inversions = await invertInThread([
    ...all.map(({ path, text }) => ({ path, text, seed: `${seed} ${path}`, ...how, spared: spared.get(path) ?? [] })),
    ...olds.map(({ path, before }) => ({ path, text: before ?? '', seed })),
  ])
  const files: TurnedFile[] = []
  const unturned: ViewEntry[] = []
  const turned: ViewEntry[] = []
  for (const [index, { path, text, mode }] of all.entries()) {
    const inversion = inversions[index]
    if (inversion === undefined) continue
    const at = olds.findIndex((old) => old.path === path)
    const then = at < 0 ? [] : (inversions[all.length + at]?.tests ?? [])
    if (index < tests.length)
      files.push({
        path,
        text,
        inversion,
        old: findUnchangedTests(inversion.tests, then),
      })
    if (inversion.outcome !== 'rewritten') continue
    const entry = { path, type: 'file', mode } as const
    unturned.push({ ...entry, content: Buffer.from(inversion.unturned) })
    turned.push({ ...entry, content: Buffer.from(inversion.turned) })
  }
  return { files, unturned, turned }
}

/** Names of tests with the same text in both. */
function findUnchangedTests(now: readonly FoundTest[], then: readonly FoundTest[]): ReadonlySet<string> {
  const before = new Map(then.map(({ name, digest }) => [name, digest]))
  const digests = new Set(before.values())
  // A computed name is identified by its line, which moves.
  const isSame = ({ name, digest }: FoundTest): boolean =>
    hasComputedName(name) ? digests.has(digest) : before.get(name) === digest
  const changed = new Set(now.filter((test) => !isSame(test)).map(({ name }) => name))
  return new Set(now.map(({ name }) => name).filter((name) => !changed.has(name)))
}
