import { join } from 'node:path'
import { git } from '../e2e/projects.js'
import { installPython, makeEnvironment, PYTHON_HOMES, run } from './python-packages.js'
import type { Sample } from './sample.js'

const PRICE = 'def cents(euros):\n    return euros * 100\n'
const SUM = 'def sum_up(prices):\n    return sum(prices)\n'
const IGNORED = { '.gitignore': '.venv/\n__pycache__/\n.pytest_cache/\n*.sqlite3\n' }

const PYTEST_OLD = `import time

import pytest

from carts.price import cents


def test_broken_for_long():
    assert cents(1) == 99


@pytest.mark.skip(reason="later")
def test_skipped_for_long():
    assert cents(3) == 300


def test_flickers():
    assert cents(2 if time.time_ns() // 1000 % 3 == 0 else 1) == 100
`

const withPytest = {
  environment: PYTHON_HOMES,
  format: 'pytest',
  passed: 1,
  tests: {
    'tests/test_sum.py': `from carts.sum import sum_up


def test_prices_are_summed_up():
    assert sum_up([5, 7]) == 12


def test_no_prices_are_nothing():
    assert sum_up([]) == 0
`,
  },
  old: { 'tests/test_old.py': PYTEST_OLD },
}
const PYTEST_FILES = {
  ...IGNORED,
  'tests/test_price.py': 'from carts.price import cents\n\n\ndef test_cents():\n    assert cents(2) == 200\n',
}

export const PYTEST: Sample = {
  ...withPytest,
  name: 'pytest in .venv',
  files: {
    ...PYTEST_FILES,
    'pyproject.toml':
      '[project]\nname = "carts"\nversion = "1.0.0"\n\n[tool.pytest.ini_options]\npythonpath = ["src"]\ntestpaths = ["tests"]\n',
    'src/carts/__init__.py': '',
    'src/carts/price.py': PRICE,
  },
  install: (dir) => makeEnvironment(dir, ['pytest']),
  code: { 'src/carts/sum.py': SUM },
}

const UV: Sample = {
  ...withPytest,
  name: 'pytest with uv',
  files: {
    ...PYTEST_FILES,
    'pyproject.toml':
      '[project]\nname = "carts"\nversion = "1.0.0"\nrequires-python = ">=3.9"\n\n[dependency-groups]\ndev = ["pytest"]\n\n[tool.pytest.ini_options]\npythonpath = ["."]\n',
    'carts/__init__.py': '',
    'carts/price.py': PRICE,
  },
  install: (dir) => {
    const uv = installPython(['uv'])
    if (!uv.ok) return uv.reason
    const failed = run(join(uv.dir, 'bin/uv'), ['sync', '--quiet', '--native-tls'], dir)
    if (failed !== null) return `uv cannot install the packages: ${failed}`
    git(dir, 'add', 'uv.lock')
    git(dir, '-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '--quiet', '-m', 'Lock')
    return null
  },
  code: { 'carts/sum.py': SUM },
}

const caseOf = (base: string, name: string, methods: string): string => `class ${name}(${base}):\n${methods}`
const METHODS = {
  price: '    def test_cents(self):\n        self.assertEqual(cents(2), 200)\n',
  sum: `    def test_prices_are_summed_up(self):
        self.assertEqual(sum_up([5, 7]), 12)

    def test_no_prices_are_nothing(self):
        self.assertEqual(sum_up([]), 0)
`,
  old: `    def test_broken_for_long(self):
        self.assertEqual(cents(1), 99)

    @unittest.skip("later")
    def test_skipped_for_long(self):
        self.assertEqual(cents(3), 300)

    def test_flickers(self):
        self.assertEqual(cents(2 if time.time_ns() // 1000 % 3 == 0 else 1), 100)
`,
}

const UNITTEST: Sample = {
  name: 'unittest',
  environment: PYTHON_HOMES,
  files: {
    ...IGNORED,
    'setup.py': 'from setuptools import setup\n\nsetup(name="carts", packages=["carts"])\n',
    'carts/__init__.py': '',
    'carts/price.py': PRICE,
    'tests/__init__.py': '',
    'tests/test_price.py': `import unittest\n\nfrom carts.price import cents\n\n\n${caseOf('unittest.TestCase', 'PriceTest', METHODS.price)}`,
  },
  format: 'unittest',
  passed: 1,
  tests: {
    'tests/test_sum.py': `import unittest\n\nfrom carts.sum import sum_up\n\n\n${caseOf('unittest.TestCase', 'SumTest', METHODS.sum)}`,
  },
  code: { 'carts/sum.py': SUM },
  old: {
    'tests/test_old.py': `import time\nimport unittest\n\nfrom carts.price import cents\n\n\n${caseOf('unittest.TestCase', 'OldTest', METHODS.old)}`,
  },
}

const MANAGE = `import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
`
const SETTINGS = `SECRET_KEY = "for development"
INSTALLED_APPS = ["carts"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "db.sqlite3"}}
USE_TZ = True
`
const djangoTests = (imports: string, name: string, methods: string): string =>
  `${imports}\n\n\n${caseOf('TestCase', name, methods)}`
const TESTCASE = 'from django.test import TestCase'

const DJANGO: Sample = {
  name: 'Django',
  environment: PYTHON_HOMES,
  files: {
    ...IGNORED,
    'manage.py': MANAGE,
    'requirements.txt': 'django\n',
    'shop/__init__.py': '',
    'shop/settings.py': SETTINGS,
    'carts/__init__.py': '',
    'carts/price.py': PRICE,
    'carts/tests/__init__.py': '',
    'carts/tests/test_price.py': djangoTests(
      `${TESTCASE}\n\nfrom carts.price import cents`,
      'PriceTest',
      METHODS.price,
    ),
  },
  install: (dir) => makeEnvironment(dir, ['django']),
  format: 'unittest',
  passed: 1,
  tests: {
    'carts/tests/test_sum.py': djangoTests(`${TESTCASE}\n\nfrom carts.sum import sum_up`, 'SumTest', METHODS.sum),
  },
  code: { 'carts/sum.py': SUM },
  old: {
    'carts/tests/test_old.py': djangoTests(
      `import time\nimport unittest\n\n${TESTCASE}\n\nfrom carts.price import cents`,
      'OldTest',
      METHODS.old,
    ),
  },
}

export const PYTHON: readonly Sample[] = [PYTEST, UV, UNITTEST, DJANGO]
