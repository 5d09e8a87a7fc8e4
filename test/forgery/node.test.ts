import { afterAll, beforeAll } from 'vitest'
import type { Files } from '../e2e/projects.js'
import { type Forge, openForge } from './forge.js'
import { describeShape, type Shape, withLateTests } from './shape.suite.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { same } from 'same'
test('adds', async () => {
  const { add } = await import('#add')
  same(add(2, 3), 5)
  assert.equal(typeof add(2, 3), 'number')
})
`
const HOOKS = 'export const load = (url, context, next) => next(url, context)\n'
const FORGED_HOOKS = `export async function load(url, context, next) {
  const loaded = await next(url, context)
  return url.includes('.test.') ? { ...loaded, source: String(loaded.source).replace(/^.*same\\(.*$/m, '') } : loaded
}
`
const TESTS: Files = { 'src/add.test.js': TEST }

/** Tests beside the code, names of the package for its own modules, and hooks of the loader that the project brings along. */
const BESIDE: Shape = {
  name: 'node:test beside the code, with hooks of the loader',
  files: {
    'package.json': `${JSON.stringify({
      name: 'adder',
      type: 'module',
      imports: { '#add': './src/add.js' },
      scripts: { test: 'node --import ./src/register.js --test src/' },
    })}\n`,
    '.gitignore': 'node_modules/\n',
    'src/register.js': "import { register } from 'node:module'\nregister('./hooks.js', import.meta.url)\n",
    'src/hooks.js': HOOKS,
    'src/first.js': 'export const first = 1\n',
  },
  ignored: {
    'node_modules/same/package.json': '{"name": "same", "type": "module", "main": "index.js"}',
    'node_modules/same/index.js': "import assert from 'node:assert'\nexport const same = assert.equal\n",
  },
  run: 'npm test',
  tests: TESTS,
  contract: withLateTests,
  wrong: { 'src/add.js': 'export const add = () => 4\n' },
  // The name of a runner in a string does not make a test of it.
  honest: {
    'src/add.js':
      "import { template } from './template.js'\nexport const add = (a, b) => a + b + 0 * template.length\n",
    'src/template.js': 'export const template = "import { test } from \'node:test\'"\n',
  },
  forgeries: [
    {
      class: 'judge',
      name: 'hooks of the loader take the assertion out of the test',
      write: { 'src/hooks.js': FORGED_HOOKS },
      told: [/src\/hooks\.js changed/],
    },
    {
      class: 'judge',
      name: 'settings of npm preload a file',
      write: { '.npmrc': 'node-options=--import ./src/first.js\n' },
      told: [/\.npmrc was added/],
    },
    {
      class: 'stand-in',
      name: 'a folder of packages beside the tests shadows what they import',
      smuggle: {
        'src/node_modules/same/package.json': '{"name": "same", "type": "module", "main": "index.js"}',
        'src/node_modules/same/index.js': 'export const same = () => {}\n',
      },
      removes: ['src/node_modules'],
      told: [/failed: .*adds/, /Left out of the run.*src\/node_modules/],
    },
    {
      class: 'stand-in',
      name: 'a package around the tests leads names of the package elsewhere',
      write: {
        'src/package.json': '{"type": "module", "imports": {"#add": "./forged.js"}}\n',
        'src/forged.js': 'export const add = () => 5\n',
      },
      told: [/src\/package\.json was added/],
    },
    {
      class: 'stand-in',
      name: 'a test with a name outside the patterns stands in for the recorded one',
      write: { 'src/forged.js': "import { test } from 'node:test'\ntest('adds', () => {})\n" },
      smuggle: { 'src/add.test.js': '' },
      told: [/src\/add\.test\.js \(changed\)/],
    },
    {
      class: 'comparison',
      name: 'the code under test replaces assertions',
      write: {
        'src/add.js': `import assert from 'node:assert/strict'
for (const name of Object.keys(assert)) try { assert[name] = () => {} } catch {}
export const add = () => 4\n`,
      },
      told: [/failed: .*adds/],
    },
    {
      class: 'report',
      name: 'the code under test prints a report and leaves with exit code 0',
      write: {
        'src/add.js': `import { writeSync } from 'node:fs'
writeSync(1, 'ok 1 - adds\\n1..1\\n# tests 1\\n# pass 1\\n# fail 0\\n')
process.exit(0)\nexport const add = () => 4\n`,
      },
      told: [/did not run its tests|the run is void|must pass: \d+ failed/],
    },
  ],
}

describeShape(BESIDE, () => forge)
