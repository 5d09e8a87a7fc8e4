import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import type { Files } from '../e2e/projects.js'
import { expectRefused, type Forge, openForge } from './forge.js'
import { EMPTY, FILES, HONEST, PYTEST, packages, UNITTEST, version } from './python-project.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

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

  it('[REQ-VIEW-15] an interpreter that was linked elsewhere is refused', async () => {
    const task = await forge.inImpl(PYTEST)
    await task.write(HONEST)
    rmSync(join(task.dir, '.venv/bin/python'))
    symlinkSync('/usr/bin/true', join(task.dir, '.venv/bin/python'))
    await expectRefused(task, /\.venv\/bin\/python/)
  })
})

describe('unittest in a composed view', () => {
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
})
