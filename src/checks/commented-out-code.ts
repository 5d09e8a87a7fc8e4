import { abortCheck, type Check, type CheckInputs, failCheck, passCheck } from './check-inputs.js'
import { listChangedPaths } from './test-files/test-files.js'

const NAMED_MAX = 5
const FILES_MAX = 20_000
const COMMENTED_LINES_MIN = 3
const LINE_CHARS_MAX = 1000

/** The changes of the phase, committed or not, add no block of commented-out code. */
export const checkNoCommentedOutCode: Check = async (inputs) => {
  const { changes, contentAtStart } = inputs
  if (changes === undefined || changes === null || contentAtStart === undefined)
    return abortCheck('the changes of this phase are unknown', 'observed')
  const paths = await listChangedFiles(inputs)
  if (paths === null) return abortCheck('git was not run', 'observed')
  if (paths.length > FILES_MAX) return abortCheck(`more than ${FILES_MAX} files were changed`, 'observed')
  const found: string[] = []
  for (const path of paths) {
    // A file that is too large to read throws, and the check is an error.
    const now = (await inputs.tree.read(path))?.toString('utf8') ?? ''
    if (!hasNewBlock('', now)) continue
    const before = await contentAtStart(path)
    if (before === null) found.push(`${path} (its content when the phase began is unknown, so every line counts)`)
    else if (hasNewBlock(before, now)) found.push(path)
  }
  return found.length === 0
    ? passCheck('no commented-out code was added', 'observed')
    : failCheck(`commented-out code in ${formatPaths(found)}`, 'observed')
}

// Without reconciliation nobody compares the tree: then changes that git sees besides those of the tools count too.
async function listChangedFiles(inputs: CheckInputs): Promise<readonly string[] | null> {
  const { contract, git } = inputs
  const changed = await listChangedPaths(inputs)
  if (contract.enforcement.reconcile !== 'off') return changed.filter(isCode)
  return git === null ? null : [...new Set([...changed, ...git.changed])].filter(isCode).sort()
}

function isCode(path: string): boolean {
  return SOURCE.test(path)
}

const SOURCE = /\.(c|cc|cpp|cs|go|h|hpp|java|js|jsx|kt|mjs|cjs|php|py|rb|rs|scala|sh|swift|ts|tsx|mts|cts)$/
// Endings of statements that sentences hardly ever have.
const CODE =
  /[;{}]\s*$|^\s*(return|if|for|while|const|let|var|def|class|import|from|func|fn|use|else|elif|try|except|switch|case)\b.*[:({=;]|\w+\([^)]*\)\s*;?\s*$|^\s*[\w.]+\s*[-+*/]?=\s*\S|=>/

/**
 * Whether the later text has a block of commented-out code with enough lines that are new. Lines that moved are not
 * new; one changed line inside an old block is not a block.
 */
function hasNewBlock(before: string, now: string): boolean {
  const more = new Map<string, number>()
  const lines = now.split('\n').map(extractCommentedCode)
  for (const line of lines) if (line !== null) more.set(line, (more.get(line) ?? 0) + 1)
  for (const line of before.split('\n').map(extractCommentedCode))
    if (line !== null) more.set(line, (more.get(line) ?? 0) - 1)
  let added = 0
  for (const line of lines) {
    if (line === null) added = 0
    else if ((more.get(line) ?? 0) > 0) added += 1
    if (added >= COMMENTED_LINES_MIN) return true
  }
  return false
}

/** The code in a line that is only a comment; null for other lines. */
function extractCommentedCode(line: string): string | null {
  const [, comment] = /^\s*(?:\/\/|#|\*|\/\*)\s?(.*)$/.exec(line) ?? []
  if (comment === undefined) return null
  // Only the ends of a line are examined, so that a line of a megabyte does not take more than linear time.
  const ends =
    comment.length > LINE_CHARS_MAX
      ? comment.slice(0, LINE_CHARS_MAX / 2) + comment.slice(-LINE_CHARS_MAX / 2)
      : comment
  return CODE.test(ends) ? comment.trim() : null
}

function formatPaths(paths: readonly string[]): string {
  const more = paths.length - NAMED_MAX
  return `${paths.slice(0, NAMED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
