import { matchesGlob } from '../../contract/glob.js'
import type { ObservedRun } from '../../core/evidence/observed-run.js'
import { findEnding } from './project.js'

/** Where runners of a language look for tests, and where a repository without tests would put them. */
const CONVENTIONS: Readonly<Record<string, { readonly always: readonly string[]; readonly first: readonly string[] }>> =
  {
    JavaScript: { always: ['**/*.test.*', '**/*.spec.*', '**/__tests__/**'], first: ['test/**', 'tests/**'] },
    TypeScript: { always: ['**/*.test.*', '**/*.spec.*', '**/__tests__/**'], first: ['test/**', 'tests/**'] },
    Python: { always: ['**/test_*.py', '**/*_test.py'], first: ['tests/**'] },
    Go: { always: ['**/*_test.go', '**/testdata/**'], first: [] },
    Rust: { always: ['**/tests/**'], first: [] },
    Java: { always: ['**/src/test/**'], first: [] },
    Kotlin: { always: ['**/src/test/**'], first: [] },
    Ruby: { always: ['**/*_spec.rb', '**/*_test.rb'], first: ['spec/**', 'test/**'] },
    PHP: { always: ['**/*Test.php'], first: ['tests/**'] },
    Elixir: { always: ['**/*_test.exs'], first: ['test/**'] },
    'C#': { always: ['**/*Test.cs', '**/*Tests.cs'], first: ['tests/**'] },
  }
const OTHER = { always: ['**/*.test.*', '**/*.spec.*', '**/*_test.*', '**/test_*.py'], first: ['test/**', 'tests/**'] }

/** What decides about tests without being run by their runner: snapshots, and the type tests of tsd and vitest. */
const BESIDE_TESTS = ['**/__snapshots__/**', '**/*.test-d.*']

const FOLDER = /^(tests?|__tests?__|specs?|e2e|testdata|__snapshots__)$/
const PATHS_MAX = 50

/**
 * Globs of a repository's tests: the conventions of its runner, and what its test files and test run add to them. A
 * file that matches no folder or convention is listed by its path.
 */
export function findTestPatterns(
  language: string,
  found: { readonly testFiles: readonly string[]; readonly files: readonly string[]; readonly run: ObservedRun | null },
): readonly string[] {
  const { always, first } = CONVENTIONS[language] ?? OTHER
  const patterns = [...always]
  const named: string[] = []
  const isKnown = new Set(found.files)
  for (const path of [...found.testFiles, ...listReported(language, found.run).filter((file) => isKnown.has(file))]) {
    // A package may be called `test`.
    if (findSourceSet(path) === 'main') continue
    const matching = patterns.filter((pattern) => matchesGlob(pattern, path))
    const glob = findFolder(path)
    // A file name such as `**/*.test.*` leaves out what lies beside the test.
    if (matching.some((pattern) => pattern.endsWith('/**')) || (matching.length > 0 && glob === null)) continue
    if (glob !== null && !patterns.includes(glob)) patterns.push(glob)
    if (glob === null && !named.includes(path)) named.push(path)
  }
  patterns.push(
    ...BESIDE_TESTS.filter((glob) => !patterns.includes(glob) && found.files.some((path) => matchesGlob(glob, path))),
  )
  const isFirst = found.testFiles.length === 0 && named.length === 0
  return [...patterns, ...(isFirst ? first : []), ...named.slice(0, PATHS_MAX)].filter(isWhole)
}

// Rust tests are inside source files: they are pinned by their syntax, not by their path.
function listReported(language: string, run: ObservedRun | null): readonly string[] {
  if (language === 'Rust') return []
  const files = new Set((run?.tests ?? []).flatMap(({ file }) => (file === null ? [] : [file])))
  return [...files].filter((file) => findEnding(language).test(file))
}

/** Source sets of Maven and Gradle. */
const SOURCE_SET = /(?:^|\/)src\/(main|it|\w*[tT]est\w*)\/(?:java|kotlin|groovy|scala|resources)\//

function findSourceSet(path: string): string | undefined {
  return SOURCE_SET.exec(path)?.[1]
}

function findFolder(path: string): string | null {
  const set = findSourceSet(path)
  if (set !== undefined) return `**/src/${set}/**`
  const parts = path.split('/').slice(0, -1)
  const at = parts.findIndex((part) => FOLDER.test(part))
  if (at === -1) return null
  return at === 0 ? `${parts[0]}/**` : `**/${parts[at]}/**`
}

// Leave out paths with characters that have a meaning in globs.
function isWhole(pattern: string, at: number, all: readonly string[]): boolean {
  return !/[[\]{}!?\\]/.test(pattern) && all.indexOf(pattern) === at
}
