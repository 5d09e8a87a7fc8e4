import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Files } from '../e2e/projects.js'
import type { Project } from './forge.js'

export const FILES: Files = {
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
export const UNITTEST: Project = { files: FILES, run: 'python3 -m unittest -v', tests: TESTS }

// A virtual environment with what the machine has of pytest: commands see no home directories.
const SYSTEM = '/usr/bin/python3'
const python = (program: string, line: string): string | null => {
  const { status, stdout } = spawnSync(program, ['-c', line], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}
export const packages = python('python3', 'import pytest, os; print(os.path.dirname(os.path.dirname(pytest.__file__)))')
export const version = python(SYSTEM, 'import sys; print("python%d.%d" % sys.version_info[:2])')
const NEEDED = /^(_?pytest|pluggy(-.*)?|iniconfig|packaging|pygments|py\.py)$/
export const PYTEST: Project = {
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
export const RUNNERS = [
  ['unittest', UNITTEST],
  ...(packages === null || version === null ? [] : [['pytest', PYTEST] as const]),
] as const

export const HONEST: Files = { 'adder/add.py': 'def add(a, b):\n    return a + b\n' }
export const EMPTY: Files = { 'adder/add.py': 'def add(a, b):\n    return 4\n' }
