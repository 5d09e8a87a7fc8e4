import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Files } from '../e2e/projects.js'
import { expectRefused, type Forge, openForge, type Project } from './forge.js'

const WALK_MS_MAX = 300_000

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

function put(dir: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
}

type Ended = { readonly status: number | null; readonly output: string }

function ended(dir: string, program: string, args: readonly string[]): Ended {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: dir, encoding: 'utf8' })
  return { status, output: `${stdout}${stderr}` }
}

/** A package that was installed with `pip install -e`, and code that was generated, before work began. */
const PYTHON: Project = {
  files: {
    '.gitignore': '.venv/\n*.egg-info/\nsrc/carts/_generated.py\n__pycache__/\n',
    'setup.py':
      "from setuptools import setup\nsetup(name='carts', version='1', package_dir={'': 'src'}, packages=['carts'])\n",
    'src/carts/__init__.py': 'from carts._generated import RATE\n',
  },
  prepare: (dir) => {
    put(dir, { 'src/carts/_generated.py': 'RATE = 100\n' })
    // Of the machine if there is one: commands in the sandbox see that one wherever the home folder is.
    const made = ['/usr/bin/python3', 'python3'].some((one) => ended(dir, one, ['-m', 'venv', '.venv']).status === 0)
    expect(made).toBe(true)
    const python = join(dir, '.venv/bin/python')
    const installed = ended(dir, python, ['-m', 'pip', 'install', '--quiet', '--no-deps', '-e', '.'])
    // Without a registry pip cannot build anything; an editable install leaves this file behind.
    const [packages = ''] = ended(dir, python, ['-c', 'import site; print(site.getsitepackages()[0])']).output.split(
      '\n',
    )
    if (installed.status !== 0) writeFileSync(join(packages, '__editable__.carts-1.pth'), `${join(dir, 'src')}\n`)
  },
  run: '.venv/bin/python -m unittest discover -v -s tests',
  tests: {
    'tests/test_cents.py': `import unittest
import carts


class Cents(unittest.TestCase):
    def test_cents(self):
        self.assertEqual(carts.cents(2), 200)
`,
  },
}

/** npm workspaces: one package uses what was built of the other, through a link in `node_modules`. */
const WORKSPACES: Project = {
  files: {
    '.gitignore': 'node_modules/\ndist/\ngenerated/\n',
    'package.json': '{"name": "shop", "private": true, "type": "module", "workspaces": ["packages/*"]}\n',
    'packages/core/package.json':
      '{"name": "core", "version": "1.0.0", "type": "module", "exports": "./dist/index.js"}\n',
    'packages/core/src/index.js': 'export const rate = 100\n',
    'packages/app/package.json': '{"name": "app", "version": "1.0.0", "type": "module"}\n',
    'packages/app/src/name.js': "export const name = 'app'\n",
  },
  prepare: (dir) => {
    put(dir, {
      'packages/core/dist/index.js': 'export const rate = 100\n',
      'packages/app/generated/currency.js': "export const currency = 'EUR'\n",
    })
    mkdirSync(join(dir, 'node_modules'))
    symlinkSync('../packages/core', join(dir, 'node_modules/core'))
  },
  run: 'node --test packages/app/tests/',
  tests: {
    'packages/app/tests/cents.test.js': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rate } from 'core'
import { currency } from '../generated/currency.js'
test('has cents', async () => {
  const { cents } = await import('../src/cents.js')
  assert.equal(cents(2), \`\${2 * rate} \${currency}\`)
})
`,
  },
}
const CENTS = "import { rate } from 'core'\nimport { currency } from '../generated/currency.js'\n"

describe('what was installed, built and generated before work began', () => {
  it(
    '[REQ-VIEW-14] an editable install and generated code are in observed runs and see the code as it is now; another interpreter is named',
    async () => {
      const task = await forge.inImpl(PYTHON)
      await expectRefused(task, /test_cents/)
      const code = 'from carts._generated import RATE\n\n\ndef cents(euros):\n    return euros * RATE\n'
      await task.write({ 'src/carts/__init__.py': code })
      await task.completes()
      expect(await task.agent.goBack('IMPL', 'changes_requested')).toMatchObject({ allowed: true })
      const python = join(task.dir, '.venv/bin/python')
      rmSync(python)
      symlinkSync('/usr/bin/true', python)
      await expectRefused(task, /\.venv\/bin\/python/)
    },
    WALK_MS_MAX,
  )

  it(
    '[REQ-VIEW-14] built workspaces and generated code are in observed runs; what is built otherwise since is not',
    async () => {
      const task = await forge.inImpl(WORKSPACES)
      const code = `${CENTS}export const cents = (euros) => \`\${euros * rate} \${currency}\`\n`
      await task.write({ 'packages/app/src/cents.js': code })
      await task.completes()
      const other = await forge.inImpl(WORKSPACES)
      other.smuggle({ 'packages/core/dist/index.js': 'export const rate = 0\n' })
      await other.write({
        'packages/app/src/cents.js': `${CENTS}export const cents = () => \`\${rate} \${currency}\`\n`,
      })
      await expectRefused(other, /Left out of the run.*packages\/core\/dist/)
    },
    WALK_MS_MAX,
  )
})
