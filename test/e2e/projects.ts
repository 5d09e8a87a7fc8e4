import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))

export type Files = Readonly<Record<string, string>>

/** A git repository with these files as its first commit. */
export function makeRepository(dir: string, files: Files): void {
  mkdirSync(dir, { recursive: true })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(dir, dirname(path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  git(dir, 'init', '--quiet')
  git(dir, 'add', '.')
  git(dir, '-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '--quiet', '-m', 'Start')
}

export function git(dir: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-C', dir, ...args], { encoding: 'utf8', env: { PATH: process.env.PATH } })
}

/** Installs the compiler that this project has, as `npm install` would. */
export function installTypescript(dir: string): void {
  for (const name of ['typescript', '@typescript', '@types/node', 'undici-types'])
    if (existsSync(join(MODULES, name)))
      cpSync(join(MODULES, name), join(dir, 'node_modules', name), { recursive: true, dereference: true })
  mkdirSync(join(dir, 'node_modules/.bin'), { recursive: true })
  writeFileSync(
    join(dir, 'node_modules/.bin/tsc'),
    '#!/bin/sh\nexec node "$(dirname "$0")/../typescript/bin/tsc" "$@"\n',
    {
      mode: 0o755,
    },
  )
}

export const TYPESCRIPT: Files = {
  'package.json': `${JSON.stringify(
    {
      name: 'carts',
      version: '1.0.0',
      private: true,
      type: 'module',
      scripts: { test: 'tsc -p . && node --test build/tests/' },
      devDependencies: { typescript: '*' },
    },
    null,
    2,
  )}\n`,
  'tsconfig.json': `${JSON.stringify({
    compilerOptions: {
      module: 'nodenext',
      target: 'es2022',
      strict: true,
      outDir: 'build',
      rootDir: '.',
      types: ['node'],
      incremental: true,
    },
    include: ['src', 'tests'],
  })}\n`,
  '.gitignore': 'node_modules/\nbuild/\n*.tsbuildinfo\n',
  'src/price.ts': 'export interface Item {\n  readonly cents: number\n}\n',
  'tests/price.test.ts': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Item } from '../src/price.js'

test('an item has a price', () => {
  const item: Item = { cents: 5 }
  assert.equal(item.cents, 5)
})
`,
}

export const PYTHON: Files = {
  'pyproject.toml': '[project]\nname = "carts"\nversion = "1.0.0"\n',
  'carts/__init__.py': '',
  'carts/price.py': 'def cents(euros):\n    return euros * 100\n',
  'tests/__init__.py': '',
  'tests/test_price.py': `import unittest

from carts.price import cents


class PriceTest(unittest.TestCase):
    def test_cents(self):
        self.assertEqual(cents(2), 200)
`,
}
