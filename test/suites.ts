import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readTimes, type TestTimes } from './times.js'

/**
 * Which suite runs a test file. `docs/internals/testing.md` explains the suites.
 *
 * A test is a unit test when nothing that it imports, directly or through other files, starts a process, a thread or a
 * server, or reads the built program. That is read from the imports. What `npm test` leaves out follows from measured
 * times. By hand is only `left-out.json`: the files that may be left out, and which tests hold their promise meanwhile.
 */

const TEST = import.meta.dirname
const ROOT = dirname(TEST)

/** What the files of `npm test` may take, added up. Six of them run at a time on two cores: that is seven minutes. */
export const NPM_TEST_SECONDS_MAX = 2_450

interface LeftOut {
  /** What it tests. */
  readonly reason: string
  /** Tests of `npm test` that hold its promise, and which part of it. */
  readonly heldBy: Readonly<Record<string, string>>
}

/** Files that `npm test` may leave out. Paths are below `test/`, without `.test.ts`. */
export const MAY_BE_LEFT_OUT = JSON.parse(readFileSync(join(TEST, 'left-out.json'), 'utf8')) as Readonly<
  Record<string, LeftOut>
>

const RUNS_PROCESSES = /['"]node:(child_process|worker_threads|inspector|net|http)['"]/
const RUNS_SERVERS_OR_BUILD = /\bfetch\(|\.listen\(|\bdist\/(program|app|cli|core|store)\b/
const IMPORTED = /\bfrom ['"](\.[^'"]+)['"]|\bimport\(['"](\.[^'"]+)['"]\)/g

export interface Suites {
  readonly unit: readonly string[]
  readonly integration: readonly string[]
  /** What only `npm run test:full` runs. */
  readonly full: readonly string[]
}

/** Every test file, once, as a path below the root of the project. */
export function sortIntoSuites(): Suites {
  const names = readdirSync(TEST, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => name.slice(0, -'.test.ts'.length))
    .toSorted()
  const leftOut = chooseLeftOut(names, readTimes())
  const isUnit = (name: string): boolean => isUnitTest(join(TEST, `${name}.test.ts`))
  const kept = names.filter((name) => !leftOut.has(name))
  return {
    unit: kept.filter(isUnit).map(toPath),
    integration: kept.filter((name) => !isUnit(name)).map(toPath),
    full: [...leftOut].toSorted().map(toPath),
  }
}

/** What does not fit the time of `npm test`. Of the files that may be left out, those that take longest are. */
export function chooseLeftOut(names: readonly string[], times: TestTimes): ReadonlySet<string> {
  const may = names.filter((name) => name in MAY_BE_LEFT_OUT)
  let seconds = addSeconds(
    names.filter((name) => !(name in MAY_BE_LEFT_OUT)),
    times,
  )
  const leftOut = new Set(may)
  for (const name of may.toSorted((a, b) => times.getSeconds(a, 'usual') - times.getSeconds(b, 'usual'))) {
    seconds += times.getSeconds(name, 'usual')
    if (seconds > NPM_TEST_SECONDS_MAX) break
    leftOut.delete(name)
  }
  return leftOut
}

export function addSeconds(names: readonly string[], times: TestTimes): number {
  return names.reduce((sum, name) => sum + times.getSeconds(name, 'usual'), 0)
}

function toPath(name: string): string {
  return `test/${name}.test.ts`
}

/** The files that a word of the command line names: by their path or the end of it, `test/torture/power.test.ts:12`. */
export function findNamedFiles(files: readonly string[], words: readonly string[]): readonly string[] {
  const names = words.filter((word) => word.includes('.test.ts')).map((word) => word.replace(/:\d+$/, ''))
  return files.filter((file) => names.some((name) => resolve(ROOT, file).includes(name.replace(/^(?:\.\/)+/, ''))))
}

/** The files in the folders that the command line names: `test/torture`. */
export function findFilesBelow(files: readonly string[], words: readonly string[]): readonly string[] {
  const folders = words.map((word) => resolve(ROOT, word)).filter((folder) => folder.startsWith(TEST))
  return files.filter((file) => folders.some((folder) => resolve(ROOT, file).startsWith(`${folder}/`)))
}

interface SourceFile {
  /** Starts no process, thread or server, and reads nothing that is built. */
  readonly isPlain: boolean
  readonly imports: readonly string[]
}

const read = new Map<string, SourceFile>()

function isUnitTest(test: string): boolean {
  const seen = new Set([test])
  for (const path of seen) {
    const file = readSource(path)
    if (!file.isPlain) return false
    for (const imported of file.imports) seen.add(imported)
  }
  return true
}

function readSource(path: string): SourceFile {
  const before = read.get(path)
  if (before !== undefined) return before
  const text = readFileSync(path, 'utf8')
  const isInTest = path.startsWith(TEST)
  const file = {
    isPlain: !RUNS_PROCESSES.test(text) && !(isInTest && RUNS_SERVERS_OR_BUILD.test(text)),
    imports: [...text.matchAll(IMPORTED)]
      .map((match) => resolve(dirname(path), (match[1] ?? match[2] ?? '').replace(/\.js$/, '.ts')))
      .filter((imported) => existsSync(imported)),
  }
  read.set(path, file)
  return file
}
