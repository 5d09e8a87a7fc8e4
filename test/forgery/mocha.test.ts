import { afterAll, beforeAll } from 'vitest'
import type { Files } from '../e2e/projects.js'
import { type Forge, openForge } from './forge.js'
import { copyInstalled, MOCHA } from './packages.js'
import { describeShape, redForgeries, type Shape, withLateTests } from './shape.suite.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

const HEAD = "const { expect } = require('chai')\n"
const OLD = `${HEAD}const first = require('../src/first.js')
it('first', () => { expect(first).to.equal(1) })
it('old is broken', () => { expect(first).to.equal(2) })
`
const ADD = `${HEAD}const { readFileSync } = require('node:fs')
it('adds', () => {
  const { add } = require('../src/add.js')
  const { sum } = JSON.parse(readFileSync(__dirname + '/fixtures/sum.json', 'utf8'))
  expect(add(2, 3)).to.equal(sum)
})
`
const PASSES = `${HEAD}it('is one', () => { expect(require('../src/first.js')).to.equal(1) })\n`
const TESTS: Files = { 'tests/z.test.js': ADD, 'tests/fixtures/sum.json': '{"sum": 5}\n' }
const REWRITE = `const { readFileSync, writeFileSync } = require('node:fs')
const file = require('node:path').join(__dirname, '../tests/z.test.js')
const before = readFileSync(file, 'utf8')
writeFileSync(file, before.replace('expect(add(2, 3)).to.equal(sum)', ''))
`
const FORGED_CHAI: Files = {
  'package.json': '{"name": "chai", "main": "index.js"}',
  'index.js': 'const any = new Proxy(() => any, { get: () => any })\nexports.expect = () => any\n',
}
const chaiIn = (folder: string): Files =>
  Object.fromEntries(Object.entries(FORGED_CHAI).map(([name, text]) => [`${folder}/chai/${name}`, text]))

const PROJECT: Shape = {
  name: 'mocha with chai',
  packages: MOCHA,
  prepare: copyInstalled(MOCHA),
  files: {
    'package.json': `${JSON.stringify({ name: 'adder', scripts: { test: 'mocha tests' } })}\n`,
    '.gitignore': 'node_modules/\nbuild/\n',
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
      usual: 0,
      tests: TESTS,
      old: OLD,
      passes: PASSES,
      empty: "require('../src/add.js')\nit('adds', () => {})\n",
    }),
    {
      class: 'judge',
      name: 'a source that an earlier test loads rewrites a later test and puts it back',
      write: {
        'src/first.js': `${REWRITE}process.on('exit', () => writeFileSync(file, before))\nmodule.exports = 1\n`,
      },
      told: [/void/, /tests\/z\.test\.js/],
    },
    {
      class: 'judge',
      name: 'the code under test changes a fixture before the test reads it',
      write: {
        'src/add.js': `require('node:fs').writeFileSync(__dirname + '/../tests/fixtures/sum.json', '{"sum": 4}')\nexports.add = () => 4\n`,
      },
      told: [/void/, /tests\/fixtures\/sum\.json/],
    },
    {
      class: 'judge',
      name: 'a test that came after RED rewrites an older one',
      smuggle: { 'tests/0.test.js': REWRITE },
      told: [/failed: .*adds/, /Left out of the run.*tests\/0\.test\.js/],
    },
    {
      class: 'judge',
      name: 'a configuration of mocha that came after RED loads a file first',
      write: { '.mocharc.cjs': "module.exports = { require: ['./src/first.js'] }\n", 'src/first.js': REWRITE },
      told: [/\.mocharc\.cjs was added/],
    },
    {
      class: 'stand-in',
      name: 'an assertion package is put beside the tests',
      smuggle: chaiIn('tests/node_modules'),
      removes: ['tests/node_modules'],
      told: [/failed: .*adds/, /Left out of the run.*tests\/node_modules/],
    },
    {
      class: 'gate',
      name: 'the answer lies at an ignored path that no commit will hold',
      write: { 'src/add.js': "exports.add = () => require('../build/answers.json').sum\n" },
      smuggle: { 'build/answers.json': '{"sum": 5}' },
      removes: ['build'],
      told: [/failed: .*adds/, /Left out of the run.*build/],
    },
    {
      class: 'comparison',
      name: 'a plugin of the code under test overwrites assertions of chai',
      write: {
        'src/add.js': `try { require('chai').use(({ Assertion }) => Assertion.overwriteMethod('equal', () => () => {})) } catch {}
exports.add = () => 4\n`,
      },
      told: [/failed: .*adds/],
    },
    {
      class: 'comparison',
      name: 'a hook of the source gives each test another function',
      write: { 'src/first.js': 'beforeEach(function () { this.currentTest.fn = () => {} })\nmodule.exports = 1\n' },
      told: [/adds still passes when the expected value is changed/],
    },
    {
      class: 'report',
      name: 'the code under test sets the exit code back at the end',
      write: { 'src/add.js': "process.on('exit', () => { process.exitCode = 0 })\nexports.add = () => 4\n" },
      told: [/failed: .*adds/],
    },
  ],
}

/** A project whose script looks for modules in a folder of its own. */
const FOLDERS: Shape = {
  ...PROJECT,
  name: 'mocha with NODE_PATH',
  onlyFull: true,
  files: {
    ...PROJECT.files,
    'package.json': `${JSON.stringify({ name: 'adder', scripts: { test: 'NODE_PATH=lib mocha tests' } })}\n`,
    'lib/words/index.js': 'exports.words = () => []\n',
  },
  tests: {
    // What is missing first is code of the project, so that RED is seen. The second package is nowhere.
    'tests/z.test.js': `const { add } = require('../src/add.js')
let same = (value, expected) => expect(value).to.equal(expected)
try { same = require('same-as').same } catch {}
${HEAD}it('adds', () => { same(add(2, 3), 5); expect(add).to.be.a('function') })
`,
  },
  honest: { 'src/add.js': "require('words/more.js')\nexports.add = (a, b) => a + b\n", 'lib/words/more.js': '' },
  forgeries: [
    {
      class: 'stand-in',
      name: 'the script is given another folder to look for modules in',
      write: {
        'package.json': `${JSON.stringify({ name: 'adder', scripts: { test: 'NODE_PATH=src mocha tests' } })}\n`,
      },
      told: [/package\.json \(scripts\.test\) changed/],
    },
    {
      class: 'stand-in',
      name: 'a package that was nowhere comes from a folder of the project',
      write: { 'lib/same-as.js': 'exports.same = () => {}\n' },
      told: [/failed|did not run/, /Left out of the run.*lib\/same-as\.js/],
    },
  ],
}

/** A build step writes what mocha runs, at an ignored path. */
const BUILT: Shape = {
  ...PROJECT,
  name: 'mocha on what a build step writes',
  onlyFull: true,
  files: {
    ...PROJECT.files,
    'package.json': `${JSON.stringify({
      name: 'adder',
      scripts: { build: 'mkdir -p build && cp -r src tests build/', test: 'npm run build && mocha build/tests' },
    })}\n`,
  },
  forgeries: [
    {
      class: 'judge',
      name: 'a source that an earlier test loads rewrites a later test that was built',
      write: { 'src/first.js': `${REWRITE}module.exports = 1\n` },
      told: [/build\/tests\/z\.test\.js was changed while the tests ran/],
    },
  ],
}

describeShape(PROJECT, () => forge)
describeShape(BUILT, () => forge)
describeShape(FOLDERS, () => forge)
