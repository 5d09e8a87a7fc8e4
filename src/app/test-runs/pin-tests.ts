import {
  buildInlineRecord,
  formatInlineKey,
  INLINE_LOOKED_FOR,
  isRust,
  parseInlineKey,
} from '../../checks/test-files/inline-tests.js'
import { importsTestRunner, mayImportRunner } from '../../checks/test-files/runner-imports.js'
import { findCompiledTests, isSource, isTestLike, isTestPath, readText } from '../../checks/test-files/test-files.js'
import type { Contract } from '../../core/contract/contract.js'
import type { ObservedRun } from '../../core/evidence/observed-run.js'
import { isTestName } from '../../core/paths/test-setup-names.js'
import type { TaskState } from '../../core/task/state.js'
import { NOT_THE_PROJECT, type WorkTree } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import type { TreeComparison } from '../trees/trees.js'
import type { PinnedFiles } from './task-views.js'

const TEST_FILES_MAX = 20_000

/** What this gate's look at the tree found: most files need not be read again to know that they run no tests. */
type Looked = Pick<TreeComparison, 'index' | 'namesRunner'>

/** The files that RED records: tests by name, files next to them, and files that run tests under any other name. */
export async function findTestFiles(
  contract: Contract,
  tree: WorkTree,
  isIgnored: (path: string) => boolean,
  looked: Looked | null = null,
): Promise<PinnedFiles> {
  const mayRunTests = (path: string): boolean =>
    mayImportRunner(path) && (looked?.index.entries[path]?.startsWith('file ') !== true || looked.namesRunner.has(path))
  const named: string[] = []
  const others: string[] = []
  const sources: string[] = []
  const listed = await tree.list(NOT_THE_PROJECT)
  const compiled = findCompiledTests(
    contract,
    listed.map(({ path }) => path),
    isIgnored,
  )
  for (const { path, isLink } of listed) {
    if (compiled.has(path)) continue
    if (isTestPath(contract, path)) named.push(path)
    else if (isIgnored(path)) continue
    else if (
      isTestLike(contract, path) ||
      (!isLink && mayRunTests(path) && (await importsTestRunner(path, await readSource(tree, path))))
    )
      others.push(path)
    else if (!isLink && isRust(path)) sources.push(path)
  }
  const inline = await collectInlineTests(tree, sources)
  others.push(...inline.files.filter((path) => !isIgnored(path)))
  // A link that leaves the tree is not a test; one that is named like a test cannot be recorded.
  const whole = { ...(await hashFiles(tree, named)), ...(await hashFiles(tree, others, () => null)) }
  const records = Object.entries(inline.records).filter(([key]) => whole[parseInlineKey(key) ?? ''] === undefined)
  return { ...whole, ...Object.fromEntries(records) }
}

/** The tests inside source files, and files that only such tests load. */
async function collectInlineTests(
  tree: WorkTree,
  sources: readonly string[],
): Promise<{ readonly records: PinnedFiles; readonly files: readonly string[] }> {
  const records: Record<string, string> = {}
  const files: string[] = []
  for (const path of sources) {
    const record = await buildInlineRecord(path, (await readText(tree, path)) ?? '')
    if (!record.isEmpty) records[formatInlineKey(path)] = record.hash
    files.push(...record.files)
  }
  if (sources.length > 0) records[INLINE_LOOKED_FOR] = (await buildInlineRecord('', '')).hash
  return { records, files }
}

async function readSource(tree: WorkTree, path: string): Promise<string> {
  return isSource(path) ? ((await readText(tree, path).catch(() => null)) ?? '') : ''
}

/**
 * Stores what RED records, including every file that its run reported as a test; null when there is nothing to record.
 */
export async function keepTests(
  app: Pick<App, 'views'>,
  state: TaskState,
  one: {
    readonly contract: Contract
    readonly files: PinnedFiles | null
    readonly ran: ObservedRun | undefined
    readonly tree: WorkTree
    readonly isIgnored: (path: string) => boolean
  },
): Promise<PinnedFiles | null> {
  const { files, ran } = one
  if (files === null) return null
  const all = ran === undefined ? files : await addReportedTests({ ...one, files, run: ran })
  await app.views.keepPins(state.id, state.workspace, all)
  return all
}

// Adds the test files that the run reported, except sources that also contain tests, and compiled tests.
async function addReportedTests({
  contract,
  files,
  run,
  tree,
  isIgnored,
}: Parameters<typeof keepTests>[2] & { files: PinnedFiles; run: ObservedRun }): Promise<PinnedFiles> {
  const reported = new Set([...run.tests, ...run.loadFailures].flatMap(({ file }) => file ?? []))
  const compiled = findCompiledTests(contract, [...reported, ...Object.keys(files)], isIgnored)
  const missing = [...reported].filter(
    (path) => files[path] === undefined && !path.startsWith('..') && !compiled.has(path),
  )
  const paths: string[] = []
  for (const path of missing) if (!(await containsCode(tree, path))) paths.push(path)
  return { ...files, ...(await hashFiles(tree, paths)) }
}

// For a doctest or an in-source test of Rust or vitest, the implementation must be free to change the file.
async function containsCode(tree: WorkTree, path: string): Promise<boolean> {
  if (isTestName(path)) return false
  const text = await readSource(tree, path)
  // Cargo reports the root of a crate for the tests of all its modules.
  if (/\.rs$/.test(path)) return /(^|\/)src\//.test(path) || /#\[cfg\(test\)\]|^\s*\/\/[/!]/m.test(text)
  if (/\.py$/.test(path)) return !/^[ \t]*(async[ \t]+)?def[ \t]+test|\bTestCase\b/m.test(text)
  return /import\.meta\.vitest/.test(text)
}

async function hashFiles(
  tree: WorkTree,
  paths: readonly string[],
  onFault?: (error: unknown) => null,
): Promise<PinnedFiles> {
  if (paths.length > TEST_FILES_MAX) throw new Error(`there are more than ${TEST_FILES_MAX} test files`)
  const files: Record<string, string> = {}
  for (const path of paths) {
    const hash = await (onFault === undefined ? tree.hash(path) : tree.hash(path).catch(onFault))
    if (hash !== null) files[path] = hash
  }
  return files
}
