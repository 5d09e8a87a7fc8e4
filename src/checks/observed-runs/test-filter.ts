/** A test command with the filter of an agent, and the words that were added to it. */
interface FilteredCommand {
  readonly line: string
  readonly added: string
  /** What the test runner takes the filter for; 'word' means the name of a test or a part of a path. */
  readonly kind: 'name' | 'path' | 'word'
}

const GO_TEST = /^go test(?:\s|$)/
const PYTEST = /^(?:python3? -m )?pytest(?:\s|$)/
/** Shell syntax: what is added at the end would go to another command. */
const SEVERAL_COMMANDS = /[;&|<>]/

/** Adds a filter to a test command in the way that its test runner takes it. */
export function addFilter(run: string, filter: string): FilteredCommand {
  const word = quoteWord(filter)
  const isPlain = !SEVERAL_COMMANDS.test(run)
  // As a bare word, Go and pytest would take the name of a test for a package or a file.
  const flag = isPlain && isTestName(filter) ? findNameFlag(run) : null
  // Package runners pass arguments after two dashes to the script.
  const dashes = /^(npm|pnpm|yarn)\b/.test(run) && !/\s--(\s|$)/.test(run) ? '-- ' : ''
  const added = flag === null ? `${dashes}${word}` : `${flag} ${word}`
  const kind = flag !== null ? 'name' : isPath(filter) ? 'path' : 'word'
  return { line: `${run} ${added}`, added, kind }
}

function findNameFlag(run: string): string | null {
  if (GO_TEST.test(run) && !/\s-args(\s|$)/.test(run)) return '-run'
  return PYTEST.test(run) ? '-k' : null
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
