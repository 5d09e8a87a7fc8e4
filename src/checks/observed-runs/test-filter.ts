/** A test command with the filter of an agent, and the words that were added to it. */
interface FilteredCommand {
  readonly line: string
  readonly added: string
  /** What the test runner takes the filter for; 'word' means the name of a test or a part of a path. */
  readonly kind: 'name' | 'path' | 'word'
}

const GO_TEST = /^go test(?:\s|$)/
/** Also behind an interpreter of the repository or a package manager: `.venv/bin/python -m pytest`, `uv run pytest`. */
const PYTEST = /(?:^|[\s/])pytest(?:\s|$)/
const UNITTEST = /\s-m unittest(?:\s|$)/
const JEST_OR_VITEST = /(?:^|[\s/])(?:jest|vitest)(?:\s|$)/
const MOCHA = /(?:^|[\s/])mocha(?:\s|$)/
/** Shell syntax: what is added at the end would go to another command. */
const SEVERAL_COMMANDS = /[;&|<>]/

/** Adds a filter to a test command in the way that its test runner takes it. */
export function addFilter(run: string, filter: string): FilteredCommand {
  const word = quoteWord(filter)
  const isPlain = !SEVERAL_COMMANDS.test(run)
  // As a bare word, the name of a test would be taken for a package or a file.
  const flag = isPlain ? findNameFlag(run, filter) : null
  // Package runners pass arguments after two dashes to the script.
  const dashes = /^(npm|pnpm|yarn)\b/.test(run) && !/\s--(\s|$)/.test(run) ? '-- ' : ''
  const added = flag === null ? `${dashes}${word}` : `${flag} ${word}`
  const kind = flag !== null ? 'name' : isPath(filter) ? 'path' : 'word'
  return { line: `${run} ${added}`, added, kind }
}

function findNameFlag(run: string, filter: string): string | null {
  if (isTestName(filter)) {
    if (GO_TEST.test(run) && !/\s-args(\s|$)/.test(run)) return '-run'
    if (PYTEST.test(run) || UNITTEST.test(run)) return '-k'
  }
  // In JavaScript a single word may be part of a path, which these runners take first.
  if (!/\s/.test(filter)) return null
  if (JEST_OR_VITEST.test(run)) return '-t'
  return MOCHA.test(run) ? '-g' : null
}

// Paths have slashes, dots or colons.
function isTestName(filter: string): boolean {
  return /^\w+$/.test(filter)
}

function isPath(filter: string): boolean {
  return !/\s/.test(filter) && (filter.includes('/') || /\w\.\w+$/.test(filter))
}

function quoteWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
