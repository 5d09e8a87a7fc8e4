import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Files } from '../e2e/projects.js'
import { expectRefused, type Forge, openForge, type Project } from './forge.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
}, 60_000)
afterAll(() => forge?.end())

const FILES: Files = {
  'pyproject.toml': '[project]\nname = "adder"\nversion = "1.0.0"\n',
  '.gitignore': '__pycache__/\nbuild/\n.venv/\n',
  'adder/__init__.py': '',
  'adder/first.py': 'FIRST = 1\n',
  'tests/__init__.py': '',
  'tests/test_a.py': `import unittest

from adder.first import FIRST


class FirstTest(unittest.TestCase):
    def test_first(self):
        self.assertEqual(FIRST, 1)
`,
}
const TESTS: Files = {
  'tests/test_z.py': `import statistics
import unittest
from pathlib import Path


class AddTest(unittest.TestCase):
    def test_adds(self):
        from adder.add import add

        expected = int((Path(__file__).parent / "data" / "sum.txt").read_text())
        self.assertEqual(add(2, 3), expected)
        self.assertEqual(statistics.mean([add(1, 1), 4]), 3)
`,
  'tests/data/sum.txt': '5\n',
}
const UNITTEST: Project = { files: FILES, run: 'python3 -m unittest -v', tests: TESTS }

// A virtual environment with what the machine has of pytest: commands see no home directories.
const SYSTEM = '/usr/bin/python3'
const python = (program: string, line: string): string | null => {
  const { status, stdout } = spawnSync(program, ['-c', line], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}
const packages = python('python3', 'import pytest, os; print(os.path.dirname(os.path.dirname(pytest.__file__)))')
const version = python(SYSTEM, 'import sys; print("python%d.%d" % sys.version_info[:2])')
const NEEDED = /^(_?pytest|pluggy(-.*)?|iniconfig|packaging|pygments|py\.py)$/
const PYTEST: Project = {
  ...UNITTEST,
  run: '.venv/bin/python -m pytest -v',
  prepare: (dir) => {
    const site = join(dir, '.venv/lib', version ?? '', 'site-packages')
    for (const name of readdirSync(packages ?? '').filter((one) => NEEDED.test(one)))
      cpSync(join(packages ?? '', name), join(site, name), { recursive: true })
    mkdirSync(join(dir, '.venv/bin'))
    symlinkSync(SYSTEM, join(dir, '.venv/bin/python3'))
    symlinkSync('python3', join(dir, '.venv/bin/python'))
    writeFileSync(join(dir, '.venv/pyvenv.cfg'), 'home = /usr/bin\ninclude-system-site-packages = false\n')
  },
}
const RUNNERS = [
  ['unittest', UNITTEST],
  ...(packages === null || version === null ? [] : [['pytest', PYTEST] as const]),
] as const

const HONEST: Files = { 'adder/add.py': 'def add(a, b):\n    return a + b\n' }
const EMPTY: Files = { 'adder/add.py': 'def add(a, b):\n    return 4\n' }

describe.concurrent.each(RUNNERS)('%s in a composed view', (_, PROJECT) => {
  it('[REQ-VIEW-3] an honest implementation completes, and leaves its caches nowhere', async () => {
    const task = await forge.inImpl(PROJECT)
    await task.write(HONEST)
    await task.completes()
  })

  it('[REQ-VIEW-3] code that rewrites a later test and puts it back makes the run void', async () => {
    const task = await forge.inImpl(PROJECT)
    const code = `import atexit
from pathlib import Path

FIRST = 1
test = Path(__file__).parent.parent / "tests" / "test_z.py"
text = test.read_text()
test.write_text("import unittest\\n\\n\\nclass AddTest(unittest.TestCase):\\n    def test_adds(self):\\n        pass\\n")
atexit.register(lambda: test.write_text(text))
`
    await task.write({ ...EMPTY, 'adder/first.py': code })
    await expectRefused(task, /void/, /tests\/test_z\.py/)
  })

  it('[REQ-VIEW-3] data that the code changes before the test reads it makes the run void', async () => {
    const task = await forge.inImpl(PROJECT)
    const code = `from pathlib import Path\n\n(Path(__file__).parent.parent / "tests" / "data" / "sum.txt").write_text("4")\n\n\n`
    await task.write({ 'adder/add.py': `${code}def add(a, b):\n    return 4\n` })
    await expectRefused(task, /void/, /tests\/data\/sum\.txt/)
  })
})

const FORGED = `#!/bin/sh\necho "tests/test_a.py::FirstTest::test_first PASSED"\necho "==== 2 passed in 0.01s ===="\n`

describe.skipIf(packages === null || version === null)('pytest in a virtual environment', () => {
  const site = `.venv/lib/${version}/site-packages`

  it.each<readonly [string, Files, readonly RegExp[]]>([
    [
      'a changed package is left out',
      { [`${site}/pytest/__init__.py`]: 'raise SystemExit(0)\n' },
      [/Left out of the run.*\.venv/],
    ],
    [
      'a plugin that came since is left out',
      { [`${site}/evil.pth`]: 'import os; os._exit(0)\n' },
      [/1 failed/, /\.venv.*evil\.pth/],
    ],
    ['a pytest.py of the project blocks', { 'pytest.py': 'raise SystemExit(0)\n' }, [/pytest\.py was added/]],
    [
      'a conftest.py that came since blocks',
      { 'conftest.py': 'def pytest_runtest_call(item):\n    item.runtest = lambda: None\n' },
      [/conftest\.py/],
    ],
    ['options of pytest block', { 'pytest.ini': '[pytest]\naddopts = -p adder.first\n' }, [/pytest\.ini was added/]],
    [
      'options of pytest in pyproject.toml block',
      { 'pyproject.toml': `${FILES['pyproject.toml']}\n[tool.pytest.ini_options]\naddopts = "-p adder.first"\n` },
      [/pyproject\.toml \(\[tool\.pytest\.ini_options\]\) was added/],
    ],
    [
      'a plugin that metadata of the project names blocks',
      {
        'adder.egg-info/entry_points.txt': '[pytest11]\nadder = adder.first\n',
        'adder.egg-info/PKG-INFO': 'Name: adder\n',
      },
      [/adder\.egg-info\/entry_points\.txt/],
    ],
    ['a sitecustomize.py blocks', { 'sitecustomize.py': 'raise SystemExit(0)\n' }, [/sitecustomize\.py/]],
    [
      'a test that would run first is left out',
      { 'tests/test_0.py': 'def test_0():\n    pass\n' },
      [/1 failed/, /tests\/test_0\.py/],
    ],
  ])('[REQ-VIEW-3] %s', async (_, files, patterns) => {
    const task = await forge.inImpl(PYTEST)
    await task.write(EMPTY)
    task.smuggle(files)
    await expectRefused(task, ...patterns)
  })

  it('[REQ-VIEW-13] an interpreter that was linked elsewhere is refused', async () => {
    const task = await forge.inImpl(PYTEST)
    await task.write(HONEST)
    rmSync(join(task.dir, '.venv/bin/python'))
    task.smuggle({ 'adder/forged.sh': FORGED })
    symlinkSync('/usr/bin/true', join(task.dir, '.venv/bin/python'))
    await expectRefused(task, /\.venv\/bin\/python/)
  })
})

describe.concurrent('Python in a composed view', () => {
  it('[REQ-VIEW-3] a conftest.py that the run makes makes it void', async () => {
    const task = await forge.inImpl(UNITTEST)
    const code = `from pathlib import Path\n\n(Path(__file__).parent.parent / "conftest.py").write_text("")\n\n\n`
    await task.write({ 'adder/add.py': `${code}${HONEST['adder/add.py']}` })
    await expectRefused(task, /void/, /conftest\.py/)
  })

  it('[REQ-VIEW-8] a module that stands in for one from outside the project is left out and named', async () => {
    const task = await forge.inImpl(UNITTEST)
    await task.write({
      'adder/add.py': 'def add(a, b):\n    return 5\n',
      'statistics.py': 'def mean(values):\n    return 3\n',
    })
    await expectRefused(task, /Left out of the run.*statistics\.py/)
  })

  it.each<readonly [string, Files, readonly RegExp[]]>([
    [
      'a unittest package of the project blocks',
      { 'unittest/__init__.py': 'class TestCase: pass\n' },
      [/unittest\/__init__\.py/],
    ],
    ['a changed test is put back and named', { 'tests/test_z.py': 'import unittest\n' }, [/tests\/test_z\.py/]],
    ['changed data of a test is put back and named', { 'tests/data/sum.txt': '4\n' }, [/tests\/data\/sum\.txt/]],
    [
      'a package of tests that loads other ones is put back',
      { 'tests/__init__.py': 'def load_tests(*a):\n    import unittest\n    return unittest.TestSuite()\n' },
      [/tests\/__init__\.py/],
    ],
  ])('[REQ-VIEW-3] unittest: %s', async (_, files, patterns) => {
    const task = await forge.inImpl(UNITTEST)
    await task.write(EMPTY)
    task.smuggle(files)
    await expectRefused(task, ...patterns)
  })

  it('[REQ-VIEW-8] a module with such a name that no test imports stays', async () => {
    const task = await forge.inImpl(UNITTEST)
    await task.write({ ...HONEST, 'colorsys.py': 'NAME = "mine"\n', 'adder/more.py': 'X = 1\n' })
    await task.completes()
  })

  it('[REQ-VIEW-6] compiled code that came since is left out', async () => {
    const task = await forge.inImpl(UNITTEST)
    await task.write(EMPTY)
    const made = `import py_compile, os
open('/tmp/add.py', 'w').write('def add(a, b):\\n    return a + b\\n')
py_compile.compile('/tmp/add.py', cfile='add.pyc', invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
import base64
print(base64.b64encode(open('add.pyc', 'rb').read()).decode())`
    const { stdout } = await task.agent.does('bash', {
      command: `cd /tmp && python3 -c "${made.replaceAll('"', '\\"')}"`,
    })
    const compiled = Buffer.from(String(stdout).trim(), 'base64')
    expect(compiled.length).toBeGreaterThan(50)
    const { stdout: tag } = await task.agent.does('bash', {
      command: 'python3 -c "import sys; print(sys.implementation.cache_tag)"',
    })
    task.smuggle({ [`adder/__pycache__/add.${String(tag).trim()}.pyc`]: compiled.toString('latin1') }, 'latin1')
    await expectRefused(task, /1 failed/)
  })

  it('[REQ-VIEW-9] write_files puts ignored paths into the scratch of the task, not into the tree', async () => {
    const task = await forge.inImpl(UNITTEST)
    await task.write(HONEST)
    const done = await task.agent.does('write_files', { path: 'build/out.txt', content: 'one\n' })
    expect(done).toMatchObject({ status: 'success', scratch: 1 })
    await task.agent.does('write_files', { path: 'build/out.txt', content: 'two\n', mode: 'a' })
    await task.agent.does('edit_files', { path: 'build/out.txt', edits: [{ old: 'one', new: '1' }] })
    expect(await task.agent.does('read_files', { path: 'build/out.txt' })).toMatchObject({ content: '1\ntwo\n' })
    expect(await task.agent.does('bash', { command: 'cat build/out.txt; echo 3 >> build/out.txt' })).toMatchObject({
      stdout: '1\ntwo\n',
    })
    expect(await task.agent.does('read_files', { path: 'build/out.txt' })).toMatchObject({ content: '1\ntwo\n3\n' })
    expect(task.has('build/out.txt')).toBe(false)
    const mixed = await task.agent.use('write_files', {
      files: [
        { path: 'build/x', content: '' },
        { path: 'adder/y.py', content: '' },
      ],
    })
    expect(mixed.body.detail).toContain('build/x: ignored')
    await task.completes()
  })
})
