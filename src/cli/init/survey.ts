import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

/** What a repository tells about itself. */
export interface Survey {
  readonly project: string
  readonly language: string
  /** The file that gave it away. */
  readonly because: string
  readonly testCommand: string | null
  /** What the test command runs in the end, with the scripts of package.json that it leads to. */
  readonly runs: string
  readonly hasGit: boolean
}

type Kind = readonly [file: string, language: string, testCommand: string | null]

const KINDS: readonly Kind[] = [
  ['Cargo.toml', 'Rust', 'cargo test'],
  // Without -json or -v, go test does not count the tests that passed.
  ['go.mod', 'Go', 'go test -json ./...'],
  ['pyproject.toml', 'Python', null],
  ['setup.py', 'Python', null],
  ['requirements.txt', 'Python', null],
  ['pom.xml', 'Java', 'mvn test'],
  ['build.gradle', 'Java', './gradlew test'],
  ['build.gradle.kts', 'Kotlin', './gradlew test'],
  ['Gemfile', 'Ruby', 'bundle exec rake test'],
  ['mix.exs', 'Elixir', 'mix test'],
  ['composer.json', 'PHP', 'composer test'],
]

const RUNNERS: readonly (readonly [string, string])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun run'],
]

/** Looks at a folder without running anything in it. */
export function surveyFolder(folder: string): Survey {
  const has = (file: string): boolean => existsSync(join(folder, file))
  const common = { project: basename(resolve(folder)), hasGit: has('.git') }
  const isFile = (file: string): boolean => isRegular(join(folder, file))
  if (isFile('package.json')) {
    const language = has('tsconfig.json') ? 'TypeScript' : 'JavaScript'
    return { ...common, language, because: 'package.json', ...findNodeTests(folder, has) }
  }
  const kind = KINDS.find(([file]) => isFile(file))
  if (kind !== undefined) {
    const testCommand = kind[1] === 'Python' ? findPythonTests(folder) : kind[2]
    return { ...common, language: kind[1], because: kind[0], testCommand, runs: testCommand ?? '' }
  }
  if (isFile('Makefile') && /^test:/m.test(readFileSync(join(folder, 'Makefile'), 'utf8')))
    return { ...common, language: 'unknown', because: 'Makefile', testCommand: 'make test', runs: 'make test' }
  return { ...common, language: 'unknown', because: '', testCommand: null, runs: '' }
}

// Whoever reads a pipe waits for somebody who writes.
function isRegular(path: string): boolean {
  return existsSync(path) && statSync(path).isFile()
}

function findNodeTests(folder: string, has: (file: string) => boolean): Pick<Survey, 'testCommand' | 'runs'> {
  const scripts = readScripts(folder)
  // What `npm init` writes is no test command.
  if (typeof scripts.test !== 'string' || scripts.test.includes('no test specified'))
    return { testCommand: null, runs: '' }
  const runner = RUNNERS.find(([lock]) => has(lock))?.[1] ?? 'npm'
  return { testCommand: `${runner} test`, runs: expandScript('test', scripts) }
}

function readScripts(folder: string): Readonly<Record<string, unknown>> {
  try {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { scripts?: unknown }
    return typeof manifest.scripts === 'object' && manifest.scripts !== null ? { ...manifest.scripts } : {}
  } catch {
    // A manifest that is not JSON names no tests.
    return {}
  }
}

/** The text of a script, and of the scripts that it runs. */
function expandScript(name: string, scripts: Readonly<Record<string, unknown>>, seen = new Set<string>()): string {
  const text = scripts[name]
  if (typeof text !== 'string' || seen.has(name)) return ''
  seen.add(name)
  const inner = [...text.matchAll(/\b(?:npm|pnpm|yarn|bun)(?: run)? ([\w:.-]+)/g)]
  return [text, ...inner.map(([, next = '']) => expandScript(next, scripts, seen))].join('\n')
}

const PYTEST_SIGNS = ['pytest.ini', 'conftest.py', 'tests/conftest.py']
const PYTEST_NAMED = ['pyproject.toml', 'setup.py', 'setup.cfg', 'tox.ini', 'requirements.txt', 'requirements-dev.txt']

// Python comes with unittest; pytest must be named somewhere.
function findPythonTests(folder: string): string {
  const names = (file: string): boolean =>
    isRegular(join(folder, file)) && /\bpytest\b/.test(readFileSync(join(folder, file), 'utf8'))
  const hasPytest = PYTEST_SIGNS.some((file) => existsSync(join(folder, file))) || PYTEST_NAMED.some(names)
  return `${findPython(folder)} ${hasPytest ? '-m pytest' : '-m unittest -v'}`
}

// The sandbox does not know which environment is activated: its interpreter is named.
function findPython(folder: string): string {
  const environment = ['.venv', 'venv'].find((name) => isRegular(join(folder, name, 'pyvenv.cfg')))
  const program = `${environment}/bin/python`
  return environment !== undefined && isRegular(join(folder, program)) ? program : 'python3'
}
