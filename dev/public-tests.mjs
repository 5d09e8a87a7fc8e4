// Checks test files of public packages: which of them does `tests_are_meaningful` refuse? The packages are downloaded
// to a temporary folder by go, cargo, npm and pip, with their versions. Run `npm run build` first, then
// `node dev/public-tests.mjs [language …]`. It ends with 1 if a file is refused that is not in HOLLOW.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { hasAssertions } from '../dist/checks/test-files/assertions.js'
import { openHelperFiles } from '../dist/checks/test-files/helper-files.js'
import { findLanguage, LANGUAGE_RULES } from '../dist/inverter/languages.js'
import { parseFile } from '../dist/inverter/parse.js'

const GO = `github.com/spf13/cobra@v1.10.1 github.com/go-chi/chi/v5@v5.2.3 github.com/gorilla/mux@v1.8.1
github.com/sirupsen/logrus@v1.9.3 go.uber.org/zap@v1.27.0 github.com/google/uuid@v1.6.0 github.com/gin-gonic/gin@v1.11.0
gopkg.in/yaml.v3@v3.0.1 golang.org/x/time@v0.13.0 github.com/hashicorp/go-multierror@v1.1.1 golang.org/x/tools@v0.38.0`
const RUST = `serde_json@1.0.145 semver@1.0.27 itertools@0.14.0 regex@1.12.2 rayon@1.11.0 syn@2.0.108 bytes@1.10.1
http@1.3.1 tokio@1.48.0 clap_builder@4.5.51 uuid@1.18.1 tempfile@3.23.0 smallvec@1.15.1 indexmap@2.12.0 anyhow@1.0.100`
const SCRIPTS = `zod@4.1.12 qs@6.13.0 resolve@1.22.10 object-inspect@1.13.4 deep-equal@2.2.3 side-channel@1.1.0
string.prototype.matchall@4.0.12 array.prototype.flat@1.3.3 minimist@1.2.8`
const PYTHON =
  'networkx==3.2.1 toolz==0.12.1 simplejson==3.19.2 more-itertools==10.5.0 sortedcontainers==2.4.0 sympy==1.12'

/** Files that assert nothing, each looked at. Their tests are empty, or only call something that must not throw. */
const HOLLOW = new Set([
  'zap@v1.27.0 zapcore/clock_test.go',
  'serde_json-1.0.145 tests/regression/issue845.rs',
  'itertools-0.14.0 tests/macros_hygiene.rs',
  'rayon-1.11.0 tests/debug.rs',
  'rayon-1.11.0 tests/issue671-unzip.rs',
  'rayon-1.11.0 tests/issue671.rs',
  'syn-2.0.108 tests/regression/issue1108.rs',
  'syn-2.0.108 tests/regression/issue1235.rs',
  'syn-2.0.108 tests/zzz_stable.rs',
  'tokio-1.48.0 src/runtime/tests/loom_local.rs',
  'tokio-1.48.0 tests/io_repeat.rs',
  'tokio-1.48.0 tests/io_sink.rs',
  'tokio-1.48.0 tests/join_handle_panic.rs',
  'tokio-1.48.0 tests/process_issue_42.rs',
  'tokio-1.48.0 tests/process_issue_7144.rs',
  'tokio-1.48.0 tests/process_kill_after_wait.rs',
  'tokio-1.48.0 tests/signal_multi_rt.rs',
  'indexmap-2.12.0 tests/macros_full_path.rs',
  'anyhow-1.0.100 tests/test_backtrace.rs',
  'zod@4.1.12 src/v3/tests/complex.test.ts',
  'zod@4.1.12 src/v3/tests/deepmasking.test.ts',
  'zod@4.1.12 src/v3/tests/language-server.test.ts',
  'zod@4.1.12 src/v3/tests/masking.test.ts',
  'zod@4.1.12 src/v3/tests/mocker.test.ts',
  'zod@4.1.12 src/v3/tests/recursive.test.ts',
  'zod@4.1.12 src/v4/classic/tests/coalesce.test.ts',
  'zod@4.1.12 src/v4/classic/tests/json.test.ts',
  'zod@4.1.12 src/v4/core/tests/extend.test.ts',
  'zod@4.1.12 src/v4/mini/tests/assignability.test.ts',
  'zod@4.1.12 src/v4/mini/tests/functions.test.ts',
  'sympy==1.12 sympy/core/tests/test_compatibility.py',
])

const FILES_OF_PACKAGE_MAX = 150
const dir = mkdtempSync(join(tmpdir(), 'phaselock-public-'))
const run = (program, args, cwd = dir, env = {}) =>
  execFileSync(program, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
const split = (list) => list.split(/\s+/)

/** For each language: the folders of its packages, and which of their files are tests. */
const FETCH = {
  go: [
    () =>
      split(GO).map(
        (name) => JSON.parse(run('go', ['mod', 'download', '-json', name], dir, { GOFLAGS: '', GOWORK: 'off' })).Dir,
      ),
    /_test\.go$/,
  ],
  rust: [
    () => {
      const project = join(dir, 'crates')
      mkdirSync(join(project, 'src'), { recursive: true })
      writeFileSync(join(project, 'src/lib.rs'), '')
      const needs = split(RUST).map((name) => name.replace(/^(.*)@(.*)$/, '$1 = "=$2"'))
      writeFileSync(
        join(project, 'Cargo.toml'),
        `[package]\nname = "crates"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n${needs.join('\n')}\n`,
      )
      run('cargo', ['vendor', '-q', '--versioned-dirs'], project)
      return split(RUST).map((name) => join(project, 'vendor', name.replace('@', '-')))
    },
    /(?:^|\/)tests\/.*\.rs$/,
  ],
  scripts: [
    () =>
      split(SCRIPTS).map((name) => {
        const folder = join(dir, name)
        mkdirSync(folder)
        const [packed] = JSON.parse(run('npm', ['pack', '--json', '--silent', name], folder))
        run('tar', ['-xzf', packed.filename], folder)
        return join(folder, 'package')
      }),
    /\.(?:test|spec)\.[cm]?[jt]sx?$|(?:^|\/)tests?\/.*\.[cm]?[jt]sx?$/,
  ],
  python: [
    () =>
      split(PYTHON).map((name) => {
        run('pip', ['install', '-q', '--no-deps', '--only-binary', ':all:', '--target', join(dir, name), name])
        return join(dir, name)
      }),
    /(?:^|\/)test_[^/]*\.py$/,
  ],
}

let unexpected = 0
try {
  for (const language of process.argv.length > 2 ? process.argv.slice(2) : Object.keys(FETCH)) {
    const [fetch, isTest] = FETCH[language]
    let files = 0
    const refused = []
    for (const folder of fetch()) {
      const name = posix.basename(folder) === 'package' ? posix.basename(posix.dirname(folder)) : posix.basename(folder)
      const listed = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
        (path) => isTest.test(path) && !/fixtures|testdata/.test(path),
      )
      let used = 0
      for (const path of listed.toSorted()) {
        if (used >= FILES_OF_PACKAGE_MAX) break
        const text = readFileSync(join(folder, path), 'utf8')
        if (!(await declaresTests(path, text))) continue
        used += 1
        files += 1
        if (!(await hasAssertions(path, text, openFolder(folder)))) refused.push(`${name} ${path}`)
      }
    }
    const wrong = refused.filter((file) => !HOLLOW.has(file))
    unexpected += wrong.length
    process.stdout.write(
      `${language}: ${files} test files, ${refused.length} refused, ${wrong.length} of them not known to be hollow\n`,
    )
    for (const file of wrong) process.stdout.write(`  ${file}\n`)
  }
} finally {
  run('chmod', ['-R', 'u+w', dir])
  rmSync(dir, { recursive: true, force: true })
}
process.exitCode = unexpected === 0 ? 0 : 1

/** Helpers without tests of their own are no test files. */
async function declaresTests(path, text) {
  const language = findLanguage(path)
  const parsed = await parseFile(language, text, performance.now() + 20_000)
  if (typeof parsed === 'string') return true
  return LANGUAGE_RULES[language]
    .findTests(parsed.root)
    .some(({ name }) => language !== 'go' || !/^Example/.test(name) || /\/\/\s*output:/i.test(text))
}

function openFolder(root) {
  const contract = { tests: { patterns: ['**/*_test.go', '**/tests/**', '**/test/**'] }, commands: new Map() }
  const tree = {
    read: async (path) => (existsSync(join(root, path)) ? readFileSync(join(root, path)) : null),
    listFolder: async (folder) => readdirSync(join(root, folder)).map((name) => ({ path: posix.join(folder, name) })),
  }
  return openHelperFiles({ contract, tree })
}
