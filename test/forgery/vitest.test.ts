import { afterAll, beforeAll } from 'vitest'
import type { Files } from '../e2e/projects.js'
import { type Forge, openForge } from './forge.js'
import { copyOwn } from './packages.js'
import { describeShape, redForgeries, type Shape, withLateTests } from './shape.suite.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

const HEAD = "import { expect, test } from 'vitest'\nimport { first } from '../src/first.js'\n"
const OLD = `${HEAD}test('first', () => expect(first).toBe(1))
test('old is broken', () => expect(first).toBe(2))
`
const ADD = `import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
test('adds', async () => {
  const { add } = await import('../src/add.js')
  const { sum } = JSON.parse(readFileSync(new URL('fixtures/sum.json', import.meta.url), 'utf8'))
  expect(add(2, 3)).toBe(sum)
})
`
const TESTS: Files = { 'tests/z.test.js': ADD, 'tests/fixtures/sum.json': '{"sum": 5}\n' }
const REWRITE = `import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
const file = join(process.cwd(), 'tests/z.test.js')
const before = readFileSync(file, 'utf8')
writeFileSync(file, before.replace('expect(add(2, 3)).toBe(sum)', ''))
`
const STRIP = `export const strip = (code, id) => id.includes('z.test') ? code.replaceAll(/expect\\([^\\n]*/g, '') : code\n`
const KEEP = 'export const strip = (code) => code\n'
const PLUGIN = `import { strip } from './strip.js'
export const plugin = () => ({ name: 'words', enforce: 'pre', transform: (code, id) => strip(code, id) })
`

const PROJECT: Shape = {
  name: 'vitest',
  prepare: copyOwn('vitest'),
  files: {
    'package.json': `${JSON.stringify({ name: 'adder', type: 'module', scripts: { test: 'vitest run --reporter=verbose' } })}\n`,
    '.gitignore': 'node_modules/\nbuild/\n',
    'vitest.config.js': `import { plugin } from './src/plugin.js'
export default { plugins: [plugin()], test: { fileParallelism: false } }
`,
    'src/plugin.js': PLUGIN,
    'src/strip.js': KEEP,
    'src/first.js': 'export const first = 1\n',
    'tests/old.test.js': OLD,
  },
  run: 'npm test',
  tests: TESTS,
  contract: withLateTests,
  wrong: { 'src/add.js': 'export const add = () => 4\n' },
  honest: { 'src/add.js': 'export const add = (a, b) => a + b\n' },
  forgeries: [
    ...redForgeries({
      usual: 1,
      tests: TESTS,
      old: OLD,
      passes: `${HEAD}test('is one', () => expect(first).toBe(1))\n`,
      empty: "import { test } from 'vitest'\nimport '../src/add.js'\ntest('adds', () => {})\n",
    }),
    {
      class: 'judge',
      name: 'a module that a plugin of the configuration imports takes the assertions out of the tests',
      write: { 'src/strip.js': STRIP },
      told: [/src\/strip\.js changed/],
    },
    {
      class: 'judge',
      name: 'a plugin that the configuration imports takes the assertions out of the tests',
      write: { 'src/plugin.js': PLUGIN.replace("import { strip } from './strip.js'", STRIP.replace('export ', '')) },
      told: [/src\/plugin\.js changed/],
    },
    {
      class: 'judge',
      name: 'a source that an earlier test imports rewrites a later test and puts it back',
      write: {
        'src/first.js': `${REWRITE}setTimeout(() => writeFileSync(file, before), 1500)\nexport const first = 1\n`,
      },
      told: [/void/, /tests\/z\.test\.js/],
    },
    {
      class: 'judge',
      name: 'a configuration of PostCSS that came after RED rewrites a test',
      write: { 'postcss.config.mjs': `${REWRITE}export default {}\n` },
      told: [/postcss\.config\.mjs was added/],
    },
    {
      class: 'judge',
      name: 'a test outside the test folder that came after RED rewrites an older one',
      smuggle: { 'src/a.test.js': `${REWRITE}import { test } from 'vitest'\ntest('more', () => {})\n` },
      told: [/failed: .*adds/, /Left out of the run.*src\/a\.test\.js/],
    },
    {
      class: 'stand-in',
      name: 'a second configuration is put before the one that RED used',
      write: { 'vitest.config.ts': "export default { test: { include: ['tests/old.test.js'] } }\n" },
      told: [/vitest\.config\.ts was added/],
    },
    {
      class: 'stand-in',
      name: 'an environment file names a loader',
      smuggle: { '.env.test': 'NODE_OPTIONS=--import ./src/first.js\n' },
      told: [/\.env\.test/],
    },
    {
      class: 'gate',
      name: 'the answer lies at an ignored path that no commit will hold',
      write: {
        'src/add.js':
          "import { readFileSync } from 'node:fs'\nexport const add = () => Number(readFileSync('build/sum', 'utf8'))\n",
      },
      smuggle: { 'build/sum': '5' },
      removes: ['build'],
      told: [/failed: .*adds/, /Left out of the run.*build/],
    },
    {
      class: 'comparison',
      name: 'the code under test replaces a matcher',
      write: {
        'src/add.js': `import { expect } from 'vitest'
try { expect.extend({ toBe: () => ({ pass: true, message: () => '' }) }) } catch {}
export const add = () => 4\n`,
      },
      told: [/failed: .*adds/],
    },
    {
      class: 'report',
      name: 'the worker leaves with exit code 0 behind a printed report',
      write: {
        'src/add.js': `import { writeSync } from 'node:fs'
writeSync(1, ' Test Files  2 passed (2)\\n      Tests  3 passed (3)\\n')
process.reallyExit(0)\nexport const add = () => 4\n`,
      },
      told: [/did not run its tests|the run is void|must pass: \d+ failed/],
    },
  ],
}

describeShape(PROJECT, () => forge)
