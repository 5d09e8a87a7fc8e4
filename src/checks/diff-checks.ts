import { type Check, errs, fails, holds } from './check-inputs.js'
import { assertsSomething } from './test-files/assertions.js'
import { isTestPath, testsOfPhase, textOf } from './test-files/test-files.js'

const NAMED_MAX = 5

/** Nothing that counts for the task differs from the last commit. */
export const workTreeClean: Check = ({ git }) => {
  if (git === null) return errs('git was not asked', 'observed')
  if (!git.isRepository) return fails(NO_REPOSITORY, 'observed')
  if (git.isCut) return errs(CUT, 'observed')
  const left = [...git.changed, ...git.hidden.map(hiddenText)]
  return left.length === 0
    ? holds('the work tree is clean', 'observed')
    : fails(`not committed: ${listed(left)}`, 'observed')
}

const CUT = 'git could not list the whole change, or it is too large'
const NO_REPOSITORY = 'the work tree is not a git repository; an operator can create one with `git init`'

/** Everything that does not lie where the rules of the start ignore it is committed, also what an edited rule hides. */
export const committed: Check = ({ git }) => {
  if (git === null) return errs('git was not asked', 'observed')
  if (!git.isRepository) return fails(NO_REPOSITORY, 'observed')
  if (git.isCut) return errs(CUT, 'observed')
  const left = [...git.uncommitted, ...git.hidden.map(hiddenText)]
  return left.length === 0
    ? holds('everything is committed', 'observed')
    : fails(`not committed: ${listed(left)}`, 'observed')
}

function hiddenText(path: string): string {
  return `${path} (attributes or flags hide from git what it holds)`
}

/** Every test file of the phase, named or not, lies where the contract looks for tests. */
export const testFilesFollowConvention: Check = async (inputs) => {
  const { named, changed } = await testsOfPhase(inputs)
  const paths = [...new Set([...named, ...changed])]
  if (paths.length === 0) return fails('test_files names no test file')
  const odd = paths.filter((path) => !isTestPath(inputs.contract, path))
  return odd.length === 0
    ? holds(`${paths.length} test files lie where tests are looked for`, 'artifact')
    : fails(`${listed(odd)} match none of ${inputs.contract.tests.patterns.join(', ')}`, 'artifact')
}

/** Every test file of the phase, named or not, asserts something. */
export const testsAreMeaningful: Check = async (inputs) => {
  const { named, changed } = await testsOfPhase(inputs)
  const paths = [...new Set([...named, ...changed])]
  if (paths.length === 0) return fails('test_files names no test file')
  const empty: string[] = []
  for (const path of paths) {
    const text = await textOf(inputs.tree, path)
    if (text === null || !assertsSomething(path, text)) empty.push(path)
  }
  return empty.length === 0
    ? holds(`${paths.length} test files assert something`, 'artifact')
    : fails(`no assertion in ${listed(empty)}`, 'artifact')
}

function listed(paths: readonly string[]): string {
  const more = paths.length - NAMED_MAX
  return `${paths.slice(0, NAMED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
