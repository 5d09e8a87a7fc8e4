import { spawnSync } from 'node:child_process'
import { copyInstalled, jest, MOCHA } from '../forgery/packages.js'
import { type Installed, installed } from '../mcp/packages.js'
import type { Sample } from './sample.js'

const PRICE = 'export const cents = (euros) => euros * 100\n'
const SUM = 'export const sum = (prices) => prices.reduce((all, one) => all + one, 0)\n'
const IGNORED = { '.gitignore': 'node_modules/\ndist/\ncoverage/\n' }

function manifest(fields: object): string {
  return `${JSON.stringify({ name: 'carts', version: '1.0.0', private: true, ...fields }, null, 2)}\n`
}

/** Tests of one look for every runner: `head` imports what is needed, `expects` compares. */
function writeTests(head: string, expects: (got: string, wanted: number) => string) {
  const test = (name: string, got: string, wanted: number): string =>
    `test('${name}', () => {\n  ${expects(got, wanted)}\n})\n`
  return {
    price: `${head}import { cents } from '../src/price.js'\n\n${test('a price has cents', 'cents(2)', 200)}`,
    sum: `${head}import { sum } from '../src/sum.js'\n\n${test('prices are summed up', 'sum([5, 7])', 12)}${test('no prices are nothing', 'sum([])', 0)}`,
    old: `${head}import { cents } from '../src/price.js'

${test('broken for long', 'cents(1)', 99)}
test.skip('skipped for long', () => {
  ${expects('cents(3)', 300)}
})
${test('flickers', 'cents(Date.now() % 3 === 0 ? 2 : 1)', 100)}`,
  }
}

const NODE_HEAD = "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n"
const ofNode = writeTests(NODE_HEAD, (got, wanted) => `assert.equal(${got}, ${wanted})`)
const byExpect = (head: string) => writeTests(head, (got, wanted) => `expect(${got}).toBe(${wanted})`)
const ofVitest = byExpect("import { expect, test } from 'vitest'\n")
const ofJest = byExpect('')
const ofMocha = writeTests("import { expect } from 'chai'\n", (got, wanted) => `expect(${got}).to.equal(${wanted})`)
const asMocha = (text: string): string => text.replaceAll('test(', 'it(').replaceAll('test.skip(', 'it.skip(')

const install = (get: () => Installed) => (dir: string) => {
  const found = get()
  if (!found.ok) return found.reason
  copyInstalled(found)(dir)
  return null
}

export const NODE_TEST: Sample = {
  name: 'node:test',
  files: {
    ...IGNORED,
    'package.json': manifest({ type: 'module', scripts: { test: 'node --test' } }),
    'src/price.js': PRICE,
    'test/price.test.js': ofNode.price,
  },
  format: 'node',
  passed: 1,
  tests: { 'test/sum.test.js': ofNode.sum },
  code: { 'src/sum.js': SUM },
  old: { 'test/old.test.js': ofNode.old },
}

export const VITEST: Sample = {
  name: 'vitest',
  files: {
    ...IGNORED,
    'package.json': manifest({
      type: 'module',
      scripts: { test: 'vitest run' },
      devDependencies: { vitest: '^4.0.0' },
    }),
    'vitest.config.js':
      "import { defineConfig } from 'vitest/config'\n\nexport default defineConfig({ test: { environment: 'node' } })\n",
    'src/price.js': PRICE,
    'src/price.test.js': ofVitest.price.replace('../src/', './'),
  },
  install: install(() => installed('vitest', ['vitest@4'])),
  format: 'vitest',
  passed: 1,
  tests: { 'src/sum.test.js': ofVitest.sum.replace('../src/', './') },
  code: { 'src/sum.js': SUM },
  old: { 'src/old.test.js': ofVitest.old.replace('../src/', './') },
}

// Jest of its own accord loads CommonJS; most of its users write for that.
const asCommon = (text: string): string =>
  text
    .replace(/^import \{ (\w+) \} from '(.*)'$/gm, "const { $1 } = require('$2')")
    .replace(/^export const (\w+) = (.*)$/gm, 'const $1 = $2\n\nmodule.exports = { $1 }')

const JEST: Sample = {
  name: 'jest',
  files: {
    ...IGNORED,
    'package.json': manifest({ scripts: { test: 'jest' }, devDependencies: { jest: '^30.0.0' } }),
    'src/price.js': asCommon(PRICE),
    '__tests__/price.test.js': asCommon(ofJest.price),
  },
  install: install(jest),
  format: 'jest',
  passed: 1,
  tests: { '__tests__/sum.test.js': asCommon(ofJest.sum) },
  code: { 'src/sum.js': asCommon(SUM) },
  old: { '__tests__/old.test.js': asCommon(ofJest.old) },
}

export const MOCHA_CHAI: Sample = {
  name: 'mocha',
  files: {
    ...IGNORED,
    'package.json': manifest({
      type: 'module',
      scripts: { test: 'mocha' },
      devDependencies: { mocha: '^11.0.0', chai: '^5.0.0' },
    }),
    '.mocharc.json': '{ "spec": "test/**/*.spec.js" }\n',
    'src/price.js': PRICE,
    'test/price.spec.js': asMocha(ofMocha.price),
  },
  install: install(() => MOCHA),
  format: 'mocha',
  passed: 1,
  tests: { 'test/sum.spec.js': asMocha(ofMocha.sum) },
  code: { 'src/sum.js': SUM },
  old: { 'test/old.spec.js': asMocha(ofMocha.old) },
}

const TSCONFIG = {
  compilerOptions: {
    module: 'nodenext',
    target: 'es2022',
    strict: true,
    rootDir: '.',
    outDir: 'dist',
    types: ['node'],
    lib: ['es2022'],
    skipLibCheck: true,
  },
  include: ['src', 'test'],
}
const TYPES = 'export const sum = (prices: readonly number[]): number => prices.reduce((all, one) => all + one, 0)\n'

const TYPESCRIPT: Sample = {
  name: 'TypeScript with a build',
  files: {
    ...IGNORED,
    'package.json': manifest({
      type: 'module',
      scripts: { build: 'tsc -p .', test: 'npm run build && node --test dist/test/*.test.js' },
      devDependencies: { typescript: '^5.0.0', '@types/node': '^24.0.0' },
    }),
    'tsconfig.json': `${JSON.stringify(TSCONFIG, null, 2)}\n`,
    'src/price.ts': 'export const cents = (euros: number): number => euros * 100\n',
    'test/price.test.ts': ofNode.price,
  },
  install: install(() => installed('typescript', ['typescript@5', '@types/node@24'])),
  format: 'node',
  passed: 1,
  tests: { 'test/sum.test.ts': ofNode.sum },
  code: { 'src/sum.ts': TYPES },
  old: { 'test/old.test.ts': ofNode.old },
}

const WORKSPACES: Sample = {
  name: 'npm workspaces',
  files: {
    ...IGNORED,
    'package.json': manifest({ workspaces: ['packages/*'], scripts: { test: 'npm test --workspaces --if-present' } }),
    'packages/prices/package.json': manifest({
      name: '@carts/prices',
      type: 'module',
      exports: { './*': './src/*' },
      scripts: { test: 'node --test' },
    }),
    'packages/prices/src/price.js': PRICE,
    'packages/prices/test/price.test.js': ofNode.price,
    'packages/shop/package.json': manifest({
      name: '@carts/shop',
      type: 'module',
      scripts: { test: 'node --test' },
      dependencies: { '@carts/prices': '^1.0.0' },
    }),
    'packages/shop/src/shop.js':
      "import { cents } from '@carts/prices/price.js'\n\nexport const total = (euros) => cents(euros)\n",
    'packages/shop/test/shop.test.js': `${NODE_HEAD}import { total } from '../src/shop.js'\n\ntest('a shop counts in cents', () => assert.equal(total(3), 300))\n`,
  },
  install: (dir) => {
    const done = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--offline', '--no-package-lock'], {
      cwd: dir,
      encoding: 'utf8',
    })
    return done.status === 0 ? null : `npm cannot link the workspaces: ${done.stderr.trim().split('\n').at(-1)}`
  },
  format: 'node',
  passed: 2,
  tests: { 'packages/prices/test/sum.test.js': ofNode.sum },
  code: { 'packages/prices/src/sum.js': SUM },
  old: { 'packages/shop/test/old.test.js': ofNode.old.replace('../src/price.js', '@carts/prices/price.js') },
}

export const JAVASCRIPT: readonly Sample[] = [NODE_TEST, VITEST, JEST, MOCHA_CHAI, TYPESCRIPT, WORKSPACES]
