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
 * Globs of a repository's tests: the conventions of its runner, and what its test files and test run add to them: their
 * folders, and how they are named. A file whose name says nothing is listed by its path.
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
  const { globs, rest } = findNaming(named)
  return [...patterns, ...globs, ...(isFirst ? first : []), ...rest.slice(0, PATHS_MAX)].filter(isWhole)
}

const WORD = '(?:tests?|specs?)'
const ENDING = '(?:\\.\\w{1,10}){1,3}'
/** How names of tests are made: `cart-test.js`, `test-cart.js`, `CartTest.php`. */
const NAMINGS: readonly (readonly [pattern: RegExp, glob: string])[] = [
  [new RegExp(`^.+([-_.]${WORD}${ENDING})$`), '*$1'],
  [new RegExp(`^(${WORD}[-_.]).+?(${ENDING})$`), '$1*$2'],
  [new RegExp(`^.+?((?:Tests?|Specs?)${ENDING})$`), '*$1'],
]
/** Every folder has its test under the same name: `src/cart/test.ts`. */
const SAME_NAME = new RegExp(`^${WORD}${ENDING}$`)

/** Globs of files that are named as tests, below the folder that all of them are in, and the files that are not. */
function findNaming(paths: readonly string[]): { readonly globs: readonly string[]; readonly rest: readonly string[] } {
  const folders = new Map<string, string[]>()
  const rest: string[] = []
  for (const path of paths) {
    const [folder, name] = splitName(path)
    const naming = findNameGlob(name)
    // In the root there is one file of this name, and no other can have it.
    if (naming === null || (naming === name && folder === '')) rest.push(path)
    else folders.set(naming, [...(folders.get(naming) ?? []), folder])
  }
  return { globs: [...folders].map(([naming, all]) => joinGlob(naming, all)), rest }
}

function findNameGlob(name: string): string | null {
  if (SAME_NAME.test(name)) return name
  const naming = NAMINGS.find(([pattern]) => pattern.test(name))
  return naming === undefined ? null : name.replace(naming[0], naming[1])
}

function joinGlob(naming: string, folders: readonly string[]): string {
  // A file that has the same name everywhere is in a folder of its own.
  const isSame = !naming.includes('*')
  const homes = isSame ? folders.map((folder) => splitName(folder)[0]) : folders
  const [first = '', ...others] = homes
  if (others.every((home) => home === first)) return joinParts(first, isSame ? '*' : '', naming)
  return joinParts(findCommonFolder(homes), '**', naming)
}

function findCommonFolder([first = '', ...others]: readonly string[]): string {
  const common = first.split('/')
  for (const other of others) {
    const parts = other.split('/')
    const at = common.findIndex((part, index) => parts[index] !== part)
    if (at !== -1) common.splice(at)
  }
  return common.join('/')
}

function splitName(path: string): readonly [folder: string, name: string] {
  const at = path.lastIndexOf('/')
  return at === -1 ? ['', path] : [path.slice(0, at), path.slice(at + 1)]
}

function joinParts(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('/')
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
