import { posix } from 'node:path'
import type { ObservedLoadFailure, ObservedRun, ObservedTest } from '../../core/evidence/observed-run.js'
import type { CheckInputs } from '../check-inputs.js'
import { scoreName } from '../inverted/find-test.js'
import { hasAssertions } from '../test-files/assertions.js'
import { openHelperFiles } from '../test-files/helper-files.js'
import { extractInlineCode, isRust } from '../test-files/inline-tests.js'
import { isTestLike, isTestPath, readText } from '../test-files/test-files.js'
import { mayComputeNames, readTestNames } from '../test-files/test-names.js'
import { BaselineTests, parseTestName } from './baseline-tests.js'
import { findReasonAgainst, findReasonAgainstLoad } from './failure-reasons.js'

/** What the RED run shows about one named test file. */
export interface RedFile {
  readonly path: string
  /** The run reported tests of it, or that it does not load. */
  readonly isTest: boolean
  /** New or changed tests that fail because code is missing. */
  readonly failing: readonly string[]
  /** It does not load because code is missing, so its tests are unknown. */
  readonly waits: boolean
  /** New or changed tests that pass already. */
  readonly passing: readonly string[]
  /** Failures that do not count, each with the reason. */
  readonly refused: readonly { readonly id: string | null; readonly reason: string }[]
}

type Inputs = Pick<CheckInputs, 'contract' | 'tree' | 'start' | 'baseline'>

/** Compares a file with the run. Without a baseline (older tasks) everything counts as new. */
export async function inspectRedFile(inputs: Inputs, run: ObservedRun, path: string): Promise<RedFile> {
  const whole = (await readText(inputs.tree, path)) ?? ''
  // For a source that contains its tests, only these count.
  const text = isRust(path) && !isTestPath(inputs.contract, path) ? await extractInlineCode(path, whole) : whole
  // If the runner does not report the file, only files that are tests by their path are searched.
  const mayHold = isTestLike(inputs.contract, path)
  const isChanged = await isChangedFile(inputs, path)
  const isIn = (test: ObservedTest): boolean => (test.file !== null || mayHold) && isTestIn(test, path, text)
  const computed = mayHold && isChanged ? await findComputed(inputs, run, { path, text }) : new Set<ObservedTest>()
  const tests = run.tests.filter((test) => isIn(test) || computed.has(test))
  const loads = run.loadFailures.filter((failure) => findFile(failure) === path && !isEmptyFile(failure))
  const before = inputs.baseline === null || inputs.baseline === undefined ? null : new BaselineTests(inputs.baseline)
  const isNew = (test: ObservedTest): boolean =>
    before === null || isChanged || (before.isWhole && !before.has(test) && !hadLoadFailureBefore(before, path))
  const failing: string[] = []
  const refused: { id: string | null; reason: string }[] = []
  for (const test of tests.filter((one) => one.status === 'failed')) {
    const reason =
      run.flaky?.includes(test.id) === true || before?.isFlaky(test) === true
        ? 'passes in some runs and fails in others'
        : before?.hadStatus(test, 'failed') === true
          ? 'failed before the task too'
          : !isNew(test)
            ? 'was there before the task and is not changed'
            : isAmbiguous(run, test)
              ? 'has the same name as a test that does not fail'
              : await findReasonAgainst(inputs, { message: test.message, file: path })
    if (reason === null) failing.push(test.id)
    else refused.push({ id: test.id, reason })
  }
  let waits = false
  for (const failure of loads) {
    const reason =
      before?.hadLoadFailure(failure) === true
        ? 'did not load before the task either'
        : !isChanged && before !== null
          ? 'was there before the task and is not changed'
          : ((await findReasonAgainstLoad(inputs, failure, path)) ??
            ((await hasAssertions(path, text, openHelperFiles(inputs)))
              ? null
              : 'has no assertion, so its failure to load proves nothing'))
    if (reason === null) waits = true
    else refused.push({ id: null, reason })
  }
  const passing = tests.filter((test) => test.status === 'passed' && isNew(test) && before?.has(test) !== true)
  return {
    path,
    isTest: tests.length > 0 || loads.length > 0,
    failing,
    waits: waits && refused.every((one) => one.id !== null),
    passing: passing.map((test) => test.id),
    refused,
  }
}

/**
 * Failing tests without a file whose computed names a changed file could make, and no other file explains as well. Of
 * other files only those are read that may hold such a name.
 */
async function findComputed(
  { contract, tree }: Inputs,
  run: ObservedRun,
  { path, text }: { readonly path: string; readonly text: string },
): Promise<ReadonlySet<ObservedTest>> {
  const failing = run.tests.filter(
    (test) => test.status === 'failed' && test.file === null && !isTestIn(test, path, text),
  )
  const names = failing.length === 0 ? [] : await readTestNames(path, text)
  const scores = new Map(failing.map((test) => [test, scoreName(test.id, names)]))
  const possible = new Set(failing.filter((test) => (scores.get(test) ?? -1) >= 0))
  if (possible.size === 0) return possible
  for (const other of await listTestLike(contract, tree)) {
    if (other === path) continue
    const its = (await readText(tree, other)) ?? ''
    if (!mayComputeNames(other, its) && ![...possible].some((test) => isTestIn(test, other, its))) continue
    const others = await readTestNames(other, its)
    for (const test of possible) if (scoreName(test.id, others) >= (scores.get(test) ?? -1)) possible.delete(test)
  }
  return possible
}

const FILES_MAX = 200

/** The files of the work tree that are tests by their path. */
export async function listTestLike(
  contract: CheckInputs['contract'],
  tree: CheckInputs['tree'],
): Promise<readonly string[]> {
  const files = await tree.list({ anywhere: new Set(['.git', 'node_modules']), atRoot: new Set() })
  return files
    .map(({ path }) => path)
    .filter((path) => isTestLike(contract, path))
    .slice(0, FILES_MAX)
}

function hadLoadFailureBefore({ baseline }: BaselineTests, path: string): boolean {
  return baseline.loadFailures.some(({ file }) => file === path)
}

async function isChangedFile({ tree, start }: Inputs, path: string): Promise<boolean> {
  if (start === undefined || start === null) return true
  return (await tree.hash(path)) !== (await start.tree.hash(path))
}

// Runners that load every file of a folder report those without tests this way.
function isEmptyFile({ kind, message }: ObservedLoadFailure): boolean {
  return kind === 'other' && /\bno tests?\b|none of its tests/.test(message) && !/Error\b/.test(message)
}

/** The file that a failure names; compilers name it at the beginning of the line. */
export function findFile({ file, message }: ObservedLoadFailure): string | null {
  if (file !== null) return posix.normalize(file)
  const [, named] = /^([^\s(:][^(:]{0,400}\.[cm]?tsx?)[(:]\d{1,9}[,:]/.exec(message) ?? []
  return named === undefined ? null : posix.normalize(named)
}

/** Whether a test belongs to the file: by the runner's report or, without one, by its name in the text. */
export function isTestIn(test: ObservedTest, path: string, text: string): boolean {
  const unit = isRustUnitTest(test, path)
  if (unit !== null)
    return unit && new RegExp(`\\bfn\\s+${parseLeaf(test.id).split('::').at(-1)?.replace(/\W/g, '')}\\b`).test(text)
  if (test.file === path) return true
  if (test.file !== null) {
    const isBuilt = getStem(test.file) === getStem(path) && posix.extname(test.file) !== posix.extname(path)
    return isBuilt && text.includes(parseLeaf(test.id))
  }
  if (path.endsWith('.py')) return isPythonTestIn(test.id, path, text)
  if (/\.go$/.test(path)) {
    const name = parseLeaf(test.id).split('/')[0]?.replace(/\W/g, '') ?? ''
    return new RegExp(`^func ${name}\\(`, 'm').test(text)
  }
  const parts = parseTestName(test.id).split(' > ')
  if (JVM.test(path)) return parts.some((part) => isClassIn(part, path, text))
  return parts.every((part) => part !== '' && text.includes(part))
}

/**
 * unittest names a test after its module: `tests.test_cart.CartTest.test_sum`. With `discover -s tests` the module is
 * named from that folder: `test_cart.CartTest.test_sum`. Then class and method must be in the text too.
 */
function isPythonTestIn(id: string, path: string, text: string): boolean {
  const module = path.slice(0, -3).split('/')
  if (id.startsWith(`${module.join('.')}.`)) return true
  const isFromFolder = module.some((_, from) => from > 0 && id.startsWith(`${module.slice(from).join('.')}.`))
  const [owner = '', method = ''] = id.split('.').slice(-2)
  return isFromFolder && hasPythonName(text, 'class', owner) && hasPythonName(text, 'def', method)
}

function hasPythonName(text: string, keyword: 'class' | 'def', name: string): boolean {
  return /^\w+$/.test(name) && new RegExp(`^[ \\t]*(?:async )?${keyword} ${name}\\b`, 'm').test(text)
}

const JVM = /\.(?:java|kt|groovy|scala)$/

/** Reports of the JVM name the class: `carts.SumTest`, or `carts.SumTest$Empty` inside of it. Only Java ties it to a path. */
function isClassIn(name: string, path: string, text: string): boolean {
  const [, folder = '', own = ''] = /^((?:\w+\.)*)(\w+)(?:\$[\w$]+)?$/.exec(name) ?? []
  if (own === '') return false
  const stem = `${folder.replaceAll('.', '/')}${own}`
  if (`/${path.replace(JVM, '')}`.endsWith(`/${stem}`)) return true
  const declared = /^package ([\w.]+)/m.exec(text)?.[1] ?? ''
  return !path.endsWith('.java') && `${declared}.` === folder && new RegExp(`\\bclass ${own}\\b`).test(text)
}

/**
 * Whether a test belongs to a module: cargo names the root of the crate for all of them. Null if it is not such a case.
 */
export function isRustUnitTest({ file, id }: ObservedTest, path: string): boolean | null {
  const [, root] = /^(.*\bsrc\/)(?:lib|main|bin\/[^/]+)\.rs$/.exec(file ?? '') ?? []
  if (root === undefined || !isRust(path) || !path.startsWith(root)) return null
  if (path === file) return true
  const module = path
    .slice(root.length)
    .replace(/(\/mod)?\.rs$/, '')
    .replaceAll('/', '::')
  return parseLeaf(id).startsWith(`${module}::`)
}

// If the runner does not report the file, two tests of one name cannot be distinguished.
function isAmbiguous(run: ObservedRun, test: ObservedTest): boolean {
  if (test.file !== null) return false
  const name = parseTestName(test.id)
  return run.tests.some((one) => parseTestName(one.id) === name && one.status !== 'failed')
}

function getStem(path: string): string {
  return posix.basename(path).replace(/(\.d)?\.[cm]?[jt]sx?$/, '')
}

/** The name of a test in its file. */
export function parseLeaf(id: string): string {
  return parseTestName(id).split(' > ').at(-1) ?? ''
}
