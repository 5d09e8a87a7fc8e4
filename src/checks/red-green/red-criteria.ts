import type { ObservedRun } from '../../core/evidence/observed-run.js'
import type { CheckInputs } from '../check-inputs.js'
import type { NamedTest } from '../test-files/test-files.js'
import { isTestLike, readText } from '../test-files/test-files.js'
import { parseTestName } from './baseline-tests.js'
import { inspectRedFile, type RedFile } from './red-files.js'

/** A criterion as the plan names it: by its id or its text. */
export interface Criterion {
  readonly names: readonly string[]
  readonly shown: string
}

const NAMED_MAX = 3
const REASONS_MAX = 5

/** Criteria that no test covered at RED, each with its files and the reasons. */
export async function openCriteria(
  inputs: CheckInputs,
  run: ObservedRun,
  about: {
    readonly criteria: readonly Criterion[]
    readonly files: readonly NamedTest[]
    readonly isTogether: boolean
  },
): Promise<readonly string[]> {
  const seen = new Map<string, RedFile>()
  for (const { path } of about.files)
    if (path !== null && !seen.has(path)) seen.set(path, await inspectRedFile(inputs, run, path))
  const open: string[] = []
  for (const criterion of about.criteria) {
    const covering = about.files.filter((file) => about.isTogether || isCovered(criterion, file))
    const reasons: string[] = []
    let isHeld = false
    for (const file of covering) {
      const red = seen.get(file.path ?? '')
      if (red === undefined) continue
      const reason = await explainUnmetCriterion(inputs, { red, file, criterion, isTogether: about.isTogether })
      if (reason === null) isHeld = true
      else reasons.push(`${file.path}: ${reason}`)
    }
    if (!isHeld) open.push(`${criterion.shown}: ${reasons.slice(0, REASONS_MAX).join('; ')}`)
  }
  return open
}

function isCovered({ names }: Criterion, file: NamedTest): boolean {
  return names.some((name) => file.covers.includes(name))
}

// Null when a test of the file covers the criterion.
async function explainUnmetCriterion(
  inputs: CheckInputs,
  one: {
    readonly red: RedFile
    readonly file: NamedTest
    readonly criterion: Criterion
    readonly isTogether: boolean
  },
): Promise<string | null> {
  const { red, file, criterion } = one
  if (!red.isTest)
    return `the run reports no test of it${isTestLike(inputs.contract, red.path) ? '' : ', and its path matches none of tests.patterns in the contract'}`
  const patterns = criterion.names.flatMap((name) => file.criteria.get(name) ?? [])
  if (patterns.length > 0) return explainNoMatch(inputs, red, patterns)
  if (red.waits) return null
  if (red.failing.length === 0) return explainNoneFails(red)
  // Several criteria, fewer failures than criteria, and passing tests: one criterion may rely on the failure of
  // another.
  const isUnclear = !one.isTogether && red.failing.length < file.covers.length && red.passing.length > 0
  return isUnclear
    ? `${formatNames(red.passing)} already ${red.passing.length === 1 ? 'passes' : 'pass'}, and it covers ${file.covers.length} criteria: say in \`criteria\` which test covers which criterion`
    : null
}

async function explainNoMatch(inputs: CheckInputs, red: RedFile, patterns: readonly string[]): Promise<string | null> {
  const isMatching = (id: string): boolean => patterns.some((pattern) => matchesTest(pattern, id))
  if (red.failing.some(isMatching)) return null
  if (red.waits) {
    const text = (await readText(inputs.tree, red.path)) ?? ''
    if (patterns.some((pattern) => isNamedIn(text, pattern))) return null
  }
  const passing = red.passing.filter(isMatching)
  if (passing.length > 0) return `${formatNames(passing)} already passes`
  const refused = red.refused.find(({ id }) => id !== null && isMatching(id))
  if (refused !== undefined) return `${refused.id} ${refused.reason}`
  const failing = red.failing.length === 0 ? '' : `; those that fail are ${formatNames(red.failing)}`
  return `no failing test matches ${patterns.map((one) => JSON.stringify(one)).join(', ')}${failing}`
}

function explainNoneFails({ passing, refused }: RedFile): string {
  if (refused.length > 0)
    return refused
      .slice(0, NAMED_MAX)
      .map(({ id, reason }) => (id === null ? `it ${reason}` : `${id} ${reason}`))
      .join('; ')
  return passing.length > 0
    ? `${formatNames(passing)} already ${passing.length === 1 ? 'passes' : 'pass'}`
    : 'none of its tests is new or changed and fails'
}

/**
 * Whether a test matches: by its id, or by its name with as much of what stands before it as the agent wrote
 * (`test_sum`, `CartTest.test_sum`, `a cart > sums up`). `*` stands for anything.
 */
export function matchesTest(pattern: string, id: string): boolean {
  // pytest names each case of a parametrized test `test_sum[2-3]`: the name of the function means all of them.
  return [id, id.replace(/\[[^\]]*\]$/, '')].some(
    (name) =>
      matchesPattern(pattern, name) ||
      listNames(pattern, parseTestName(name)).some((one) => matchesPattern(pattern, one)),
  )
}

const JOINS = [' > ', '::', '.', '#', ' ']

// `tests.test_cart.CartTest.test_sum` is also `CartTest.test_sum` and `test_sum`. Never with more parts than the pattern
// has: `test_*` must not mean every test of the module test_cart.
function listNames(pattern: string, name: string): readonly string[] {
  const parts = splitName(name)
  return JOINS.flatMap((join) =>
    parts.flatMap((_, from) =>
      parts.length - from <= pattern.split(join).length ? [parts.slice(from).join(join)] : [],
    ),
  )
}

function splitName(name: string): readonly string[] {
  return name.split(/ > |::/).flatMap((part) => (IS_DOTTED.test(part) ? part.split('.') : [part]))
}

const IS_DOTTED = /^[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}_$][\p{L}\p{N}_$]*)+$/u

function matchesPattern(pattern: string, name: string): boolean {
  const parts = pattern.split('*')
  const [first = ''] = parts
  if (parts.length === 1) return pattern === name
  if (!name.startsWith(first)) return false
  const last = parts.at(-1) ?? ''
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}

// If a file does not load, only its text shows which tests it has.
function isNamedIn(text: string, pattern: string): boolean {
  const leaf = splitName(parseTestName(pattern)).at(-1) ?? ''
  // Go names a subtest `TestSum/empty_cart`, with underscores for spaces.
  return leaf.split('/').every((part) => {
    const longest = part.split('*').sort((a, b) => b.length - a.length)[0] ?? ''
    return longest !== '' && (text.includes(longest) || text.includes(longest.replaceAll('_', ' ')))
  })
}

function formatNames(names: readonly string[]): string {
  const more = names.length - NAMED_MAX
  return `${names.slice(0, NAMED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
