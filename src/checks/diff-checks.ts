import { abortCheck, type Check, failCheck, passCheck } from './check-inputs.js'
import { hasAssertions } from './test-files/assertions.js'
import { openHelperFiles } from './test-files/helper-files.js'
import { findTestsOfPhase, isTestPath, readText } from './test-files/test-files.js'

const NAMED_MAX = 5

/** Nothing of the task is uncommitted. */
export const checkWorkTreeClean: Check = ({ git }) => {
  if (git === null) return abortCheck('git was not run', 'observed')
  if (!git.isRepository) return failCheck(NO_REPOSITORY, 'observed')
  if (git.isCut) return abortCheck(CUT, 'observed')
  const left = [...git.changed, ...git.hidden.map(formatHidden)]
  return left.length === 0
    ? passCheck('the work tree is clean', 'observed')
    : failCheck(`not committed: ${formatPaths(left)}`, 'observed')
}

const CUT = 'git could not list the whole change, or it is too large'
const NO_REPOSITORY = 'the work tree is not a git repository; an operator can create one with `git init`'

/**
 * Everything is committed unless the ignore rules of the start exclude it, including files that an edited rule hides.
 */
export const checkCommitted: Check = ({ git }) => {
  if (git === null) return abortCheck('git was not run', 'observed')
  if (!git.isRepository) return failCheck(NO_REPOSITORY, 'observed')
  if (git.isCut) return abortCheck(CUT, 'observed')
  const left = [...git.uncommitted, ...git.hidden.map(formatHidden)]
  return left.length === 0
    ? passCheck('everything is committed', 'observed')
    : failCheck(`not committed: ${formatPaths(left)}`, 'observed')
}

function formatHidden(path: string): string {
  return `${path} (attributes or flags hide its content from git)`
}

/** Every test file of the phase, named or not, matches the test patterns of the contract. */
export const checkTestFilesFollowConvention: Check = async (inputs) => {
  const { named, changed } = await findTestsOfPhase(inputs)
  const paths = [...new Set([...named, ...changed])]
  if (paths.length === 0) return failCheck('test_files names no test file')
  const odd = paths.filter((path) => !isTestPath(inputs.contract, path))
  return odd.length === 0
    ? passCheck(`${paths.length} test files match tests.patterns`, 'artifact')
    : failCheck(`${formatPaths(odd)} match none of ${inputs.contract.tests.patterns.join(', ')}`, 'artifact')
}

/** Every test file of the phase, named or not, asserts something. */
export const checkTestsAreMeaningful: Check = async (inputs) => {
  const { named, changed } = await findTestsOfPhase(inputs)
  const paths = [...new Set([...named, ...changed])]
  if (paths.length === 0) return failCheck('test_files names no test file')
  const empty: string[] = []
  const files = openHelperFiles(inputs)
  for (const path of paths) {
    const text = await readText(inputs.tree, path)
    if (text === null || !(await hasAssertions(path, text, files))) empty.push(path)
  }
  return empty.length === 0
    ? passCheck(
        paths.length === 1 ? '1 test file asserts something' : `${paths.length} test files assert something`,
        'artifact',
      )
    : failCheck(`no assertion in ${formatPaths(empty)}`, 'artifact')
}

function formatPaths(paths: readonly string[]): string {
  const more = paths.length - NAMED_MAX
  return `${paths.slice(0, NAMED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
