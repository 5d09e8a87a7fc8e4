import { afterAll, beforeAll } from 'vitest'
import type { Files } from '../e2e/projects.js'
import { type Forge, openForge } from './forge.js'
import { copyInstalled, jest } from './packages.js'
import { describeShape, redForgeries, type Shape, withLateTests } from './shape.suite.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

const HEAD = "const { same } = require('same')\nconst first = require('../src/first.js')\n"
const OLD = `${HEAD}test('first', () => same(expect(first), 1))
test('old is broken', () => same(expect(first), 2))
`
const ADD = `const { readFileSync } = require('node:fs')
const { same } = require('same')
test('adds', () => {
  const { add } = require('../src/add.js')
  const { sum } = JSON.parse(readFileSync(__dirname + '/fixtures/sum.json', 'utf8'))
  same(expect(add(2, 3)), sum)
  expect(sum).toBe(5)
})
`
const TESTS: Files = { 'tests/z.test.js': ADD, 'tests/fixtures/sum.json': '{"sum": 5}\n' }
const REWRITE = `const { readFileSync, writeFileSync } = require('node:fs')
const file = require('node:path').join(__dirname, '../tests/z.test.js')
const before = readFileSync(file, 'utf8')
writeFileSync(file, before.replaceAll(/^.*expect.*$/gm, ''))
`
const JEST = jest()
const STRIP = `exports.strip = (code, path) => path.includes('z.test') ? code.replaceAll(/^.*expect.*$/gm, '') : code\n`
const TRANSFORM = `const { strip } = require('./strip.js')
exports.process = (code, path) => ({ code: strip(code, path) })
`

const PROJECT: Shape = {
  name: 'jest',
  packages: JEST,
  prepare: copyInstalled(JEST),
  ignored: {
    'node_modules/same/package.json': '{"name": "same", "main": "index.js"}',
    'node_modules/same/index.js': 'exports.same = (value, expected) => value.toBe(expected)\n',
  },
  files: {
    'package.json': `${JSON.stringify({
      name: 'adder',
      scripts: { test: 'jest --ci --runInBand --verbose' },
      jest: { cacheDirectory: '<rootDir>/.cache/jest', transform: { '\\.js$': '<rootDir>/src/transform.js' } },
    })}\n`,
    '.gitignore': 'node_modules/\n.cache/\n',
    'src/transform.js': TRANSFORM,
    'src/strip.js': 'exports.strip = (code) => code\n',
    'src/first.js': 'module.exports = 1\n',
    'tests/old.test.js': OLD,
  },
  run: 'npm test',
  tests: TESTS,
  contract: withLateTests,
  wrong: { 'src/add.js': 'exports.add = () => 4\n' },
  honest: { 'src/add.js': 'exports.add = (a, b) => a + b\n' },
  forgeries: [
    ...redForgeries({
      usual: 2,
      tests: TESTS,
      old: OLD,
      passes: `${HEAD}test('is one', () => expect(first).toBe(1))\n`,
      empty: "require('../src/add.js')\ntest('adds', () => {})\n",
    }),
    {
      class: 'judge',
      name: 'a module that the transform loads takes the assertions out of the tests',
      write: { 'src/strip.js': STRIP },
      told: [/src\/strip\.js changed/],
    },
    {
      class: 'judge',
      name: 'the transform that the configuration names takes the assertions out of the tests',
      write: {
        'src/transform.js': TRANSFORM.replace(
          "const { strip } = require('./strip.js')",
          STRIP.replace('exports.strip', 'const strip'),
        ),
      },
      told: [/src\/transform\.js changed/],
    },
    {
      class: 'judge',
      name: 'a source that an earlier test loads rewrites a later test and puts it back',
      write: {
        'src/first.js': `${REWRITE}setTimeout(() => writeFileSync(file, before), 500).unref()\nmodule.exports = 1\n`,
      },
      told: [/void/, /tests\/z\.test\.js/],
    },
    {
      class: 'judge',
      name: 'a test that came after RED rewrites an older one',
      smuggle: { 'src/a.spec.js': `${REWRITE}test('more', () => {})\n` },
      told: [/failed: .*adds/, /Left out of the run.*src\/a\.spec\.js/],
    },
    {
      class: 'stand-in',
      name: 'a package of the project takes the name of an installed one',
      write: {
        'src/same/package.json': '{"name": "same", "main": "index.js"}',
        'src/same/index.js': 'exports.same = () => {}\n',
      },
      told: [/src\/same\/package\.json/],
    },
    {
      class: 'stand-in',
      name: 'a mock takes the place of an installed package',
      write: { '__mocks__/same.js': 'exports.same = () => {}\n' },
      told: [/__mocks__\/same\.js was added/],
    },
    {
      class: 'stand-in',
      name: 'what the cache of the transform holds is forged',
      act: async (task) => {
        const { stdout } = await task.agent.does('bash', {
          command:
            'npx jest --ci >/dev/null 2>&1; grep -rl "add(2, 3)" .cache/jest | head -1 | tee name; cat $(cat name)',
        })
        const [name = '', ...text] = String(stdout).split('\n')
        if (!name.startsWith('.cache/jest/')) throw new Error(`no cache: ${stdout}`)
        task.smuggle({ [name]: text.join('\n').replaceAll(/^.*expect.*$/gm, '') })
      },
      removes: ['.cache', 'name'],
      told: [/failed: .*adds/, /Left out of the run.*\.cache/],
    },
    {
      class: 'stand-in',
      name: 'a second configuration is put beside the one that RED used',
      write: { 'jest.config.js': "module.exports = { testMatch: ['**/old.test.js'] }\n" },
      told: [/jest\.config\.js was added/],
    },
    {
      class: 'gate',
      name: 'the answer lies at an ignored path that no commit will hold',
      write: { 'src/add.js': "exports.add = () => require('../.cache/answers.json').sum\n" },
      smuggle: { '.cache/answers.json': '{"sum": 5}' },
      removes: ['.cache'],
      told: [/failed: .*adds/, /Left out of the run.*\.cache/],
    },
    {
      class: 'comparison',
      name: 'the code under test replaces a matcher',
      write: {
        'src/add.js': "expect.extend({ toBe: () => ({ pass: true, message: () => '' }) })\nexports.add = () => 4\n",
      },
      told: [/adds .*still passes when the expected value is changed/],
    },
    {
      class: 'report',
      name: 'the code under test sets the exit code back at the end',
      write: {
        'src/add.js': `const real = require('node:fs').readFileSync.constructor('return process')()
real.on('exit', () => { real.exitCode = 0 })\nexports.add = () => 4\n`,
      },
      told: [/failed: .*adds|void/],
    },
  ],
}

/** A project whose configuration looks for modules in a folder of its own first. */
const FOLDERS: Shape = {
  ...PROJECT,
  name: 'jest with modules of the project',
  onlyFull: true,
  files: {
    ...PROJECT.files,
    'package.json': `${JSON.stringify({
      name: 'adder',
      scripts: { test: 'jest --ci --runInBand --verbose' },
      jest: { moduleDirectories: ['lib', 'node_modules'] },
    })}\n`,
    'lib/words/index.js': 'exports.words = () => []\n',
  },
  honest: {
    'src/add.js': "require('words/more.js')\nexports.add = (a, b) => a + b\n",
    'lib/words/more.js': '',
    'lib/other.js': '',
  },
  forgeries: [
    {
      class: 'stand-in',
      name: 'a module in a folder that is searched first has the name of an installed package',
      write: { 'lib/same.js': 'exports.same = () => {}\n' },
      told: [/Left out of the run.*lib\/same\.js/],
    },
  ],
}

describeShape(PROJECT, () => forge)
describeShape(FOLDERS, () => forge)
