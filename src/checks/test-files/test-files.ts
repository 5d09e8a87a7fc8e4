import { posix } from 'node:path'
import { rememberAnswersBy } from '../../base/remember-answers.js'
import { matchesGlob } from '../../contract/glob.js'
import { isGlob } from '../../contract/patterns.js'
import type { Contract } from '../../core/contract/contract.js'
import type { Json } from '../../core/json.js'
import { findSetupKind, isBelowTestFolder, isBuildFile, isTestName } from '../../core/paths/test-setup-names.js'
import { NOT_THE_PROJECT, type WorkTree } from '../../tree/work-tree.js'
import { asList, asObject, type CheckInputs, getField, isText } from '../check-inputs.js'
import { ALWAYS_TESTS, findImportedModules } from './runner-imports.js'
import { stripComments, stripCommentsAndTexts } from './test-code.js'

const TEXT_CHARS_MAX = 1024 * 1024
const FILES_MAX = 20_000

/** The test files that a phase is judged by: those it names, and those it changed without naming them. */
interface TestsOfPhase {
  readonly named: readonly string[]
  readonly changed: readonly string[]
}

/** One entry of `test_files`: an object or, if the contract's schema says so, a path. */
export interface NamedTest {
  /** Null if the entry names none. */
  readonly path: string | null
  /** Criteria by id or text. */
  readonly covers: readonly string[]
  /** Which tests of the file cover a criterion, by ids or patterns; empty if not given. */
  readonly criteria: ReadonlyMap<string, readonly string[]>
}

export function listNamedTests(inputs: Pick<CheckInputs, 'all'>): readonly NamedTest[] {
  return asList(getField(asObject(inputs.all.get('test_files')), 'test_files')).map((one) => {
    const path = typeof one === 'string' ? one : getField(asObject(one), 'path')
    const covers = asList(getField(asObject(one), 'covers')).filter(isText)
    const criteria = Object.entries(asObject(getField(asObject(one), 'criteria')) ?? {})
    return {
      path: isText(path) ? path : null,
      covers: covers.map((name) => name.trim()),
      criteria: new Map(criteria.map(([name, tests]) => [name.trim(), parsePatterns(tests)])),
    }
  })
}

function parsePatterns(tests: Json): readonly string[] {
  return (Array.isArray(tests) ? (tests as readonly Json[]) : [tests]).filter(isText)
}

export async function findTestsOfPhase(inputs: CheckInputs): Promise<TestsOfPhase> {
  const named = listNamedTests(inputs).flatMap(({ path }) => (path === null ? [] : [path]))
  const changed: string[] = []
  const candidates = await listChangedSources(inputs)
  if (candidates.length > FILES_MAX) throw new Error(`more than ${FILES_MAX} files were changed`)
  for (const path of candidates)
    if (findSetupKind(path) === null && isTest(path, await readText(inputs.tree, path))) changed.push(path)
  return { named, changed }
}

async function listChangedSources(inputs: CheckInputs): Promise<readonly string[]> {
  return (await listChangedPaths(inputs)).filter(isSource)
}

/** Files that the phase created or modified. If the changes are unknown, all files count. */
export async function listChangedPaths({ changes, tree }: CheckInputs): Promise<readonly string[]> {
  if (changes === undefined || changes === null) return []
  return changes.isComplete
    ? changes.list.filter((change) => change.change !== 'deleted').map((change) => change.path)
    : (await tree.list(NOT_THE_PROJECT)).map((file) => file.path)
}

function isTest(path: string, text: string | null): boolean {
  if (isTestName(path)) return true
  if (text === null) return false
  const code = stripCommentsAndTexts(path, text)
  if (/\.py$/.test(path)) return PYTHON_TEST.test(code)
  return JS.test(path) && (mentionsRunnerImport(stripComments(path, text)) || DEFINES_TEST.test(code))
}

const JS = /\.[cm]?[jt]sx?$/
const PYTHON_TEST = /^[ \t]*(?:async[ \t]+)?def[ \t]+test|^[ \t]*class[ \t]+\w+[ \t]*\([^)\n]*TestCase/m
const OFTEN_TESTS: ReadonlySet<string> = new Set(['vitest', '@jest/globals', '@playwright/test'])

function mentionsRunnerImport(text: string): boolean {
  for (const { module, names } of findImportedModules(text)) {
    if (ALWAYS_TESTS.has(module)) return true
    if (OFTEN_TESTS.has(module) && /\b(test|it|describe|suite)\b/.test(names)) return true
  }
  return false
}

// Globals that runners provide without an import: a block with a name and a function.
const DEFINES_TEST = /(?<![\w$.])(?:test|it|describe|suite)(?:\.\w+){0,4}\s*\(\s*""\s*,/

/** Whether the path matches the test patterns of the contract. */
export function isTestPath({ tests: { patterns } }: Contract, path: string): boolean {
  return matchesAny(patterns, path)
}

const matchesAny = rememberAnswersBy((patterns: readonly string[], path) =>
  patterns.some((pattern) => matchesGlob(pattern, path)),
)

/** Whether a file is a test, or belongs to tests, by its path alone. */
export function isTestLike(contract: Contract, path: string): boolean {
  return judgeTestLike(contract, path)
}

const judgeTestLike = rememberAnswersBy(
  (contract: Contract, path) =>
    (isTestName(path) || isBelowTestFolder(path) || isTestPath(contract, path)) && !isReport(contract, path),
)

/** Whether a file is neither a test, nor code, nor test setup, by its path alone. */
export function isData(path: string): boolean {
  return !isTestName(path) && !isSource(path) && findSetupKind(path) === null
}

/** Whether a run may write a file: data that the contract names. Never tests or their setup. */
export function mayWriteFile({ tests }: Contract, path: string): boolean {
  return isData(path) && (tests.mayWrite ?? []).some((pattern) => matchesGlob(pattern, path))
}

/**
 * Ignored files that a compiler made from tests: they are next to tests, and a test of the project has the same name.
 * Each run makes them again.
 */
export function findCompiledTests(
  contract: Contract,
  paths: readonly string[],
  isIgnored: (path: string) => boolean,
): ReadonlySet<string> {
  const outputs = paths.filter((path) => isTestLike(contract, path) && COMPILED.test(path) && isIgnored(path))
  if (outputs.length === 0) return new Set()
  const sources = paths.filter((path) => JS.test(path) && isTestLike(contract, path) && !isIgnored(path))
  const names = new Set(sources.map((path) => posix.basename(path).replace(JS, '')))
  return new Set(outputs.filter((path) => names.has(posix.basename(path).replace(COMPILED, ''))))
}

const COMPILED = /(\.[cm]?js(\.map)?|\.d\.[cm]?ts)$/

/** Whether a command of the contract writes its report there. */
export function isReport(contract: Contract, path: string): boolean {
  return [...contract.commands.values()].some(({ report }) => report !== null && isReportPath(report, path))
}

/** Whether a file is a report of the command. Sources and build files never count, even if the glob matches them. */
export function isReportPath(report: string, path: string): boolean {
  if (!isGlob(report)) return report === path
  return !isSource(path) && findSetupKind(path) === null && !isBuildFile(path) && matchesGlob(report, path)
}

/** Whether a file is written in a language that tests are written in. */
export function isSource(path: string): boolean {
  return SOURCE.test(path)
}

const SOURCE = /\.([cm]?[jt]sx?|py|rb|go|rs|java|kt|cs|php|swift|scala|exs?|dart|cc|cpp|c|sh|bash|bats|pl|r|jl)$/i

/** The text of a file; null when there is none, or it is larger than a test can be. */
export async function readText(tree: WorkTree, path: string): Promise<string | null> {
  const text = (await tree.read(path))?.toString('utf8') ?? null
  return text === null || text.length > TEXT_CHARS_MAX ? null : text
}
