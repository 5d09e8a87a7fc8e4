/** Which part of a file belongs to the test setup: all of it, or parts that a reader for its format knows. */
export type HarnessKind = 'whole' | 'package_json' | 'tsconfig' | 'pyproject' | 'cargo' | 'go_mod' | 'shadow'

/** A file's role in the test setup, by its name; null: none. */
export function findSetupKind(path: string): HarnessKind | null {
  const name = getFileName(path)
  const partly = PARTLY.find(([pattern]) => pattern.test(name))
  if (partly !== undefined) return partly[1]
  if (WHOLE_NAMES.test(name) || WHOLE_PATHS.test(path)) return 'whole'
  return SHADOWS.test(path) ? 'shadow' : null
}

const PARTLY: readonly (readonly [RegExp, HarnessKind])[] = [
  [/^package\.json$/, 'package_json'],
  [/^(ts|js)config(\.[\w.-]+)?\.json$/, 'tsconfig'],
  [/^pyproject\.toml$/, 'pyproject'],
  [/^Cargo\.toml$/, 'cargo'],
  [/^go\.mod$/, 'go_mod'],
]

const RUNNERS =
  'vitest|vite|jest|ava|playwright|playwright-ct|karma|babel|cypress|wdio|web-test-runner|jasmine|tap|mocha|nightwatch|testcafe'

// Files that decide which programs gate commands find, and in which environment they run.
const ENVIRONMENT: readonly RegExp[] = [
  /^\.npmrc$|^\.yarnrc(\.yml)?$|^\.pnp\.(cjs|js|loader\.mjs|data\.json)$|^\.pnpmfile\.[cm]?js$|^pnpm-workspace\.yaml$/,
  /^bunfig\.toml$|^pip\.conf$|^uv\.toml$|^rust-toolchain(\.toml)?$/,
  /^\.(nvmrc|node-version|python-version|ruby-version|java-version|go-version|tool-versions|sdkmanrc)$/,
  /^\.env(\.(local|ci|development|production)(\.local)?)?$/,
]

const WHOLE: readonly RegExp[] = [
  ...ENVIRONMENT,
  new RegExp(
    `^(${RUNNERS})[.-](config|conf|workspace|projects?|setup|shared|base|common|preset)\\b.*\\.([cm]?[jt]sx?|jsonc?)$`,
  ),
  /^\.(mocharc|babelrc|nycrc|c8rc|taprc|jestrc|swcrc)(\.\w+)?$/,
  // Loaded and run by the bundlers of test runners.
  /^(postcss|tailwind|svelte|uno|next|nuxt|astro|vue|rollup|esbuild|webpack|swc)\.config\.(\w+\.)*\w+$|^\.postcssrc(\.\w+)?$/,
  /^(nyc|c8)\.config\.[cm]?js$|^setupTests\.[jt]sx?$|^\.env\.test(\.local)?$/,
  /^package\.(yaml|json5)$|^node\.config\.json$|^deno\.jsonc?$|^import_map\.json$/,
  /^(lerna|nx|turbo|project)\.json$/,
  /^conftest\.py$|^\.?pytest\.(ini|toml)$|^tox\.(ini|toml)$|^setup\.cfg$|^noxfile\.py$|^\.coveragerc$|^hatch\.toml$/,
  /^(site|user)customize\.py$|\.pth$/,
  /^jasmine\.(json|[cm]?js)$|^\.testcaferc(\.\w+)?$|^mocha\.opts$/,
  /^build\.rs$|^go\.work$|^nextest\.toml$/,
  /^\.rspec$|^\.simplecov$|^phpunit\.xml(\.dist)?$|\.runsettings$/,
]
// One pattern: every gate asks for every path of the tree.
const WHOLE_NAMES = new RegExp(WHOLE.map(({ source }) => `(?:${source})`).join('|'))
// Jest replaces packages by the contents of a mocks folder anywhere; pytest loads plugins named by anything that looks
// like an installed package.
const WHOLE_PATHS =
  /(^|\/)(\.cargo\/config(\.toml)?$|\.yarn\/(releases|plugins)\/|\.mvn\/|__mocks__\/|[^/]+\.(egg|dist)-info\/entry_points\.txt$)/

// A project module with the name of a test framework is imported instead of it.
const SHADOWS = /(^|\/)(pytest|_pytest|unittest|pluggy|nose2?|doctest|hypothesis|assertpy|testtools)(\.py$|\/.*\.py$)/

/** Whether a file decides which programs are found and how they are set up, for any command. */
export function isEnvironment(path: string): boolean {
  return ENVIRONMENT.some((pattern) => pattern.test(getFileName(path)))
}

/** Whether one of these words is a program that runs tests. */
export function isTestRunner(words: ReadonlySet<string>): boolean {
  return [...words].some((word) => TEST_PROGRAM.test(word))
}

const TEST_PROGRAM = new RegExp(
  `(^|/)(${RUNNERS}|pytest|py\\.test|unittest|tox|nox|nose2|hatch|nx|turbo|lerna|phpunit|rspec|cargo|nextest|go|deno|bun|c8|nyc|react-scripts)$|^--test$`,
)

/** Build files and settings that count only if a command names their program. */
export function isBuildFileOf(words: ReadonlySet<string>, path: string): boolean {
  const name = getFileName(path)
  return BUILD_FILES.some(([program, file]) => file.test(name) && [...words].some((word) => program.test(word)))
}

/** Whether a file tells a build tool or a linter what to do. */
export function isBuildFile(path: string): boolean {
  return BUILD_FILES.some(([, file]) => file.test(getFileName(path)))
}

const BUILD_FILES: readonly (readonly [program: RegExp, file: RegExp])[] = [
  [/(^|\/)g?make$/, /^(GNUm|m|M)akefile$|\.mk$/],
  [/(^|\/)just$/, /^\.?justfile$/i],
  [/(^|\/)(go-)?task$/, /^taskfile(\.dist)?\.ya?ml$/i],
  [/(^|\/)(rake|rspec|bundle)$/, /^Rakefile$|\.rake$/],
  [/(^|\/)mvnw?$/, /^pom\.xml$/],
  [/(^|\/)gradlew?$/, /^(build|settings)\.gradle(\.kts)?$|^gradle\.properties$/],
  [/(^|\/)(gulp|grunt)$/, /^gulpfile\b|^gruntfile\b/i],
  [/(^|\/)(cmake|ctest)$/, /^CMakeLists\.txt$|^CTestTestfile\.cmake$/],
  [/(^|\/)(inv|invoke)$/, /^tasks\.py$/],
  [/(^|\/)composer$/, /^composer\.json$/],
  [/(^|\/)mix$/, /^mix\.exs$/],
  [/(^|\/)bazel(isk)?$/, /^(BUILD|WORKSPACE|MODULE)(\.bazel)?$|^\.bazelrc$/],
  [/(^|\/)eslint$/, /^eslint\.config\.[cm]?[jt]s$|^\.eslintrc(\.\w+)?$|^\.eslintignore$/],
  [/(^|\/)biome$/, /^biome\.jsonc?$/],
  [/(^|\/)oxlint$/, /^\.oxlintrc\.json$/],
  [/(^|\/)prettier$/, /^\.prettierrc(\.\w+)?$|^prettier\.config\.\w+$|^\.prettierignore$/],
  [/(^|\/)stylelint$/, /^stylelint\.config\.\w+$|^\.stylelintrc(\.\w+)?$|^\.stylelintignore$/],
  [
    /(^|\/)(ruff|mypy|dmypy|flake8|pylint|pyright)$/,
    /^\.?ruff\.toml$|^\.?mypy\.ini$|^\.flake8$|^\.?pylintrc(\.toml)?$|^pyrightconfig\.json$/,
  ],
  [/(^|\/)golangci-lint$/, /^\.golangci\.\w+$/],
  [/(^|\/)rubocop$/, /^\.rubocop(_todo)?\.yml$/],
  [/(^|\/)cargo$/, /^\.?(clippy|rustfmt|deny)\.toml$/],
  [/(^|\/)shellcheck$/, /^\.shellcheckrc$/],
  [
    /(^|\/)(webpack|rollup|next|nuxt|astro|tsup|esbuild|parcel)$/,
    /^(webpack|rollup|next|nuxt|astro|tsup|esbuild)\.config\.\w+$|^\.parcelrc$/,
  ],
]

/** Whether the folder of this file affects the tests: it is the root, or tests lie below it. */
export function isNearTests(path: string, tests: readonly string[]): boolean {
  const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')))
  return folder === '' || tests.some((test) => test.startsWith(`${folder}/`))
}

/** The folder from which a module of that name is imported. */
export function isShadowNear(path: string, tests: readonly string[]): boolean {
  const at = SHADOWS.exec(path)
  const folder = at === null ? path : path.slice(0, at.index)
  return folder === '' || folder === 'src' || folder === 'lib' || tests.some((test) => test.startsWith(`${folder}/`))
}

/** Whether a file is a test by its name. */
export function isTestName(path: string): boolean {
  return TEST_NAME.test(path)
}

const TEST_NAME =
  /(^|\/)(test_[^/]*\.py|[^/]+[._-](test|spec)\.[cm]?[jt]sx?|[^/]+_(test|spec)\.(py|go|rb|exs|dart|cc|cpp|php|rs)|[^/]+Tests?\.(java|kt|cs|swift|php|scala)|__tests__\/.*\.[cm]?[jt]sx?)$/

/** Whether a file lies next to tests: helpers, fixtures and snapshots belong to them. */
export function isBelowTestFolder(path: string): boolean {
  return TEST_FOLDER.test(path)
}

const TEST_FOLDER =
  /(^|\/)(tests?|__tests?__|specs?|e2e|test[_-]?(data|helpers?|utils?|support|kit)|fixtures|__fixtures__|__snapshots__|__mocks__)\//

function getFileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
