import { assertsSomething } from './assertions.js'
import { type Check, errs, fails, holds } from './inputs.js'
import { isTestPath, testsOfPhase, textOf } from './test-files.js'

const NAMED_MAX = 5
const COMMENTED_LINES_MIN = 3

/** Nothing that counts for the task differs from the last commit. */
export const workTreeClean: Check = ({ git }) => {
  if (git === null) return errs('git was not asked', 'observed')
  if (!git.isRepository) return fails(NO_REPOSITORY, 'observed')
  if (git.isCut) return errs(CUT, 'observed')
  return git.changed.length === 0
    ? holds('the work tree is clean', 'observed')
    : fails(`not committed: ${listed(git.changed)}`, 'observed')
}

const CUT = 'git could not list the whole change, or it is too large'
const NO_REPOSITORY = 'the work tree is no git repository; an operator can make it one with `git init`'

/** Everything that does not lie where the rules of the start ignore it is committed, also what an edited rule hides. */
export const committed: Check = ({ git }) => {
  if (git === null) return errs('git was not asked', 'observed')
  if (!git.isRepository) return fails(NO_REPOSITORY, 'observed')
  if (git.isCut) return errs(CUT, 'observed')
  return git.uncommitted.length === 0
    ? holds('everything is committed', 'observed')
    : fails(`not committed: ${listed(git.uncommitted)}`, 'observed')
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

/** The change adds no block of code that is only commented out. */
export const noCommentedOutCode: Check = ({ git }) => {
  if (git === null) return errs('git was not asked', 'observed')
  if (!git.isRepository) return fails(NO_REPOSITORY, 'observed')
  if (git.isCut) return errs(CUT, 'observed')
  const found = [...git.added]
    .filter(([path, lines]) => SOURCE.test(path) && hasCommentedCode(lines))
    .map(([path]) => path)
  return found.length === 0
    ? holds('no commented-out code was added', 'observed')
    : fails(`commented-out code in ${listed(found)}`, 'observed')
}

const SOURCE = /\.(c|cc|cpp|cs|go|h|hpp|java|js|jsx|kt|mjs|cjs|php|py|rb|rs|scala|sh|swift|ts|tsx|mts|cts)$/
// What stands at the ends of statements and hardly ever in sentences.
const CODE =
  /[;{}]\s*$|^\s*(return|if|for|while|const|let|var|def|class|import|from|func|fn|use|else|elif|try|except|switch|case)\b.*[:({=;]|\w+\([^)]*\)\s*;?\s*$|^\s*[\w.]+\s*[-+*/]?=\s*\S|=>/

function hasCommentedCode(lines: readonly string[]): boolean {
  let inARow = 0
  for (const line of lines) {
    const [, comment] = /^\s*(?:\/\/|#|\*|\/\*)\s?(.*)$/.exec(line) ?? []
    inARow = comment !== undefined && CODE.test(comment) ? inARow + 1 : 0
    if (inARow >= COMMENTED_LINES_MIN) return true
  }
  return false
}

function listed(paths: readonly string[]): string {
  const more = paths.length - NAMED_MAX
  return `${paths.slice(0, NAMED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
