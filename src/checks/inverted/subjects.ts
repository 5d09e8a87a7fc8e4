import type { ObservedRun, ObservedTest } from '../../core/evidence/observed-run.js'
import type { FoundTest, Inversion } from '../../inverter/types.js'
import { parseTestName } from '../red-green/baseline-tests.js'
import { isTestIn, parseLeaf } from '../red-green/red-files.js'
import { mayImportRunner } from '../test-files/runner-imports.js'
import { findTest, scoreName, WHOLE_NAME } from './find-test.js'
import type { IsNewResult } from './new-results.js'

/** A test file, and the result of inverting it. */
export interface TurnedFile {
  readonly path: string
  readonly text: string
  readonly inversion: Inversion
  /** Names of tests that existed before the task with the same text. */
  readonly old: ReadonlySet<string>
}

/** A test file that has not changed since before the task. */
export interface OtherFile {
  readonly path: string
  readonly text: string
  /** Names of its tests as they are written; absent where they were not needed. */
  readonly names?: readonly string[]
}

/** A test to judge. */
export interface Subject {
  readonly id: string
  readonly file: TurnedFile
  readonly found: FoundTest | null
  /** Whether its result is new, whatever its text. */
  readonly hasNewResult?: boolean
}

/** The tests of these files that passed in the plain run. If it lists no passing tests, those that the files define. */
export function listSubjects(
  plain: ObservedRun,
  files: readonly TurnedFile[],
  /** Test files that have not changed since before the task. */
  others: readonly OtherFile[] = [],
  hasNewResult: IsNewResult = () => false,
): readonly Subject[] {
  const passed = plain.tests.filter(({ status }) => status === 'passed')
  const listed = passed.filter((test) => !isOfOthers(test, passed, others))
  return files.flatMap((file): readonly Subject[] => {
    const { tests } = file.inversion
    const isIn = (test: ObservedTest): boolean =>
      isTestIn(test, file.path, file.text) || (hasNewResult(test) && isComputedIn(test, file, [...files, ...others]))
    const its = listed.filter(
      (test) => (isIn(test) && !isDefinedElsewhere(test, file, files)) || isExample(test.id, file),
    )
    if (its.length > 0 || plain.isComplete)
      return its.map((test) => ({
        ...{ id: test.id, file, found: isExample(test.id, file) ? null : findTest(test.id, tests, file.path) },
        hasNewResult: hasNewResult(test),
      }))
    // A file that could not be read represents its tests, so that the reason is reported.
    if (tests.length === 0 && isUnread(file)) return [{ id: file.path, file, found: null }]
    return tests.map((found) => ({ id: found.name, file, found }))
  })
}

/** Whether the test was there before the task, with the same text and the same result. */
export function isOldTest({ found, file, hasNewResult }: Subject): boolean {
  return found !== null && file.old.has(found.name) && hasNewResult !== true
}

/** Whether it is an example in a Rust comment: `src/lib.rs - add`. It is code of the project, and not rewritten. */
export function isExample(id: string, { path }: Pick<TurnedFile, 'path'>): boolean {
  return path.endsWith('.rs') && parseLeaf(id).startsWith(`${path} - `)
}

function isUnread({ inversion }: TurnedFile): boolean {
  return (
    inversion.outcome === 'not_judged' && /^(?:too_large|too_deep|took_too_long|not_parsed)$/.test(inversion.reason)
  )
}

// If the runner does not report the file, only the shape of a computed name shows where the test is: in the file that
// explains most of it. Where two explain as much, it is in neither.
function isComputedIn(
  { id, file }: ObservedTest,
  here: TurnedFile,
  files: readonly (TurnedFile | OtherFile)[],
): boolean {
  if (file !== null || !mayImportRunner(here.path)) return false
  const own = scoreName(id, listNames(here))
  return own >= 0 && files.every((one) => one.path === here.path || scoreName(id, listNames(one)) < own)
}

function listNames(file: TurnedFile | OtherFile): readonly string[] {
  return 'inversion' in file ? file.inversion.tests.map(({ name }) => name) : (file.names ?? [])
}

// If the runner does not report the file, a test that also exists in an unchanged file counts as that one.
function isOfOthers(test: ObservedTest, passed: readonly ObservedTest[], others: readonly OtherFile[]): boolean {
  if (test.file !== null) return false
  const name = parseTestName(test.id)
  const holders = others.filter(({ path, text, names }) =>
    names === undefined ? isTestIn(test, path, text) : scoreName(test.id, names) === WHOLE_NAME,
  )
  return holders.length > 0 && passed.filter(({ id }) => parseTestName(id) === name).length <= holders.length
}

// If the runner does not report the file, a text that only contains the name of a test of another file is not its file.
function isDefinedElsewhere({ id, file }: ObservedTest, here: TurnedFile, files: readonly TurnedFile[]): boolean {
  const name = parseTestName(id)
  const defines = ({ inversion }: TurnedFile): boolean => inversion.tests.some((test) => test.name === name)
  return file === null && !defines(here) && files.some(defines)
}
