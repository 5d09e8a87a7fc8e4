import { type Folder, isTestFile, type Project } from './project.js'

const SIGNS = [
  ...['pyproject.toml', 'uv.lock', 'poetry.lock', 'tox.ini', 'noxfile.py', 'setup.py', 'setup.cfg', 'Pipfile'],
  'requirements.txt',
]
const PYTEST_SIGNS = ['pytest.ini', 'conftest.py', 'tests/conftest.py', 'test/conftest.py']
const PYTEST_NAMED = [
  ...['pyproject.toml', 'setup.py', 'setup.cfg', 'tox.ini', 'noxfile.py', 'Pipfile', 'uv.lock', 'poetry.lock'],
  ...['requirements.txt', 'requirements-dev.txt', 'requirements-test.txt', 'dev-requirements.txt'],
]
const TESTS_READ_MAX = 20

/** A Python project; null if nothing indicates one. */
export function findPythonProject(folder: Folder): Project | null {
  const signs = SIGNS.filter((name) => folder.hasFile(name))
  const environment = ['.venv', 'venv'].find((name) => folder.hasFile(`${name}/pyvenv.cfg`))
  const [because] = signs
  if (because === undefined && environment === undefined) return null
  const manifest = folder.readManifest(because ?? '')
  const runner = findRunner(folder)
  const program = findInterpreter(folder, environment)
  const testCommand = `${program.run} ${runner.args}`
  const found = [...signs.slice(0, 3), ...(program.sign === null ? [] : [program.sign])]
  return {
    language: 'Python',
    because: because ?? `${environment}/pyvenv.cfg`,
    reason: `${[...new Set(found)].join(', ')}; ${runner.why}`,
    testCommand,
    runs: testCommand,
    ...{ builds: [], lints: [], install: findInstall(folder) },
    problem: 'problem' in manifest ? manifest.problem : null,
  }
}

// The sandbox does not know the activated environment: name its interpreter.
function findInterpreter(folder: Folder, environment: string | undefined): { run: string; sign: string | null } {
  const program = `${environment}/bin/python`
  if (environment !== undefined && folder.hasFile(program)) return { run: program, sign: environment }
  if (folder.hasFile('uv.lock')) return { run: 'uv run --offline python', sign: 'uv.lock' }
  if (folder.hasFile('poetry.lock')) return { run: 'poetry run python', sign: 'poetry.lock' }
  return { run: 'python3', sign: null }
}

// Python includes unittest; pytest must be mentioned somewhere, or be imported by a test.
function findRunner(folder: Folder): { readonly args: string; readonly why: string } {
  const named = PYTEST_NAMED.find((name) => /\bpytest\b/.test(folder.read(name)))
  const sign = PYTEST_SIGNS.find((name) => folder.has(name)) ?? named
  if (sign !== undefined) return { args: '-m pytest', why: `pytest, from ${sign}` }
  const tests = folder.files.filter((path) => path.endsWith('.py') && isTestFile(path))
  const using = tests.slice(0, TESTS_READ_MAX).find((path) => /^\s*(import|from) pytest\b/m.test(folder.read(path)))
  if (using !== undefined) return { args: '-m pytest', why: `pytest, which ${using} imports` }
  // Tests of Django need its settings and databases, which its own command sets up.
  if (/\bdjango\b/.test(folder.read('manage.py'))) return { args: 'manage.py test -v 2', why: 'manage.py of Django' }
  // Discovery enters packages only.
  const [top] = /^tests?(?=\/test[^/]*\.py$)/m.exec(tests.join('\n')) ?? []
  const isPlain = top !== undefined && !folder.has(`${top}/__init__.py`)
  return { args: isPlain ? `-m unittest discover -v -s ${top}` : '-m unittest -v', why: 'pytest is not mentioned' }
}

function findInstall(folder: Folder): string {
  if (folder.hasFile('uv.lock')) return 'uv sync'
  if (folder.hasFile('poetry.lock')) return 'poetry config virtualenvs.in-project true --local && poetry install'
  const from = folder.hasFile('requirements.txt') ? '-r requirements.txt' : '-e .'
  return `python3 -m venv .venv && .venv/bin/pip install ${from} pytest`
}
