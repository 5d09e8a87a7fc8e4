import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Files } from '../e2e/projects.js'
import { expectRefused, type Forge, openForge, type Project } from './forge.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

const FILES: Files = {
  'package.json': `${JSON.stringify({ name: 'adder', type: 'module', imports: { '#sum': './src/sum.js' } })}\n`,
  '.gitignore': 'node_modules/\nbuild/\n',
  'src/first.js': 'export const first = 1\n',
  'tests/a.test.js': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { first } from '../src/first.js'
test('first', () => assert.equal(first, 1))
`,
}
const TEST = `import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
test('adds', async () => {
  const { add } = await import('../src/add.js')
  const { sum } = JSON.parse(readFileSync(new URL('fixtures/sum.json', import.meta.url), 'utf8'))
  assert.equal(add(2, 3), sum)
})
`
const TESTS: Files = { 'tests/z.test.js': TEST, 'tests/fixtures/sum.json': '{"sum": 5}\n' }
const PROJECT: Project = { files: FILES, run: 'node --test --test-concurrency=1 tests/', tests: TESTS }
const HONEST: Files = { 'src/add.js': 'export const add = (a, b) => a + b\n' }
const EMPTY = 'export const add = () => 4\n'

const REWRITE = `import { readFileSync, writeFileSync } from 'node:fs'
const test = new URL('../tests/z.test.js', import.meta.url)
const before = readFileSync(test, 'utf8')
writeFileSync(test, before.replace('assert.equal(add(2, 3), sum)', ''))
`

describe.concurrent('a run that changes what it is judged by', () => {
  it('[REQ-VIEW-3] an honest implementation completes', async () => {
    const task = await forge.inImpl(PROJECT)
    await task.write(HONEST)
    await task.completes()
  })

  it('[REQ-VIEW-3] a source that an earlier test imports and that rewrites a later test makes the run void', async () => {
    const task = await forge.inImpl(PROJECT)
    await task.write({ 'src/add.js': EMPTY, 'src/first.js': `${REWRITE}export const first = 1\n` })
    await expectRefused(task, /void/, /tests\/z\.test\.js/)
  })

  it('[REQ-VIEW-3] putting the test back afterwards does not help', async () => {
    const task = await forge.inImpl(PROJECT)
    const back = `${REWRITE}process.on('exit', () => writeFileSync(test, before))\nexport const first = 1\n`
    await task.write({
      'src/first.js': back,
      'src/add.js': `${REWRITE}writeFileSync(test, before)\n${HONEST['src/add.js']}`,
    })
    await expectRefused(task, /void/, /tests\/z\.test\.js/)
  })

  it('[REQ-VIEW-3] a fixture that the code writes before the test reads it makes the run void', async () => {
    const task = await forge.inImpl(PROJECT)
    const code = `import { writeFileSync } from 'node:fs'
writeFileSync(new URL('../tests/fixtures/sum.json', import.meta.url), '{"sum": 4}')\n${EMPTY}`
    await task.write({ 'src/add.js': code })
    await expectRefused(task, /void/, /tests\/fixtures\/sum\.json/)
  })

  it('[REQ-VIEW-3] a run that makes another test is void', async () => {
    const task = await forge.inImpl(PROJECT)
    const code = `import { writeFileSync } from 'node:fs'
writeFileSync(new URL('../tests/more.test.js', import.meta.url), '')\n${HONEST['src/add.js']}`
    await task.write({ 'src/add.js': code })
    await expectRefused(task, /void/, /tests\/more\.test\.js/)
  })

  it('[REQ-VIEW-3] code that writes its own files beside the tests completes', async () => {
    const task = await forge.inImpl(PROJECT)
    const code = `import { writeFileSync } from 'node:fs'
writeFileSync(new URL('../tests/last-run.txt', import.meta.url), 'now')
writeFileSync(new URL('../last-run.json', import.meta.url), '{}')\n${HONEST['src/add.js']}`
    await task.write({ 'src/add.js': code })
    await task.completes()
  })
})

describe.concurrent('files that came since RED', () => {
  // IMPL may write tests, so that only what RED recorded keeps them.
  const loose = (text: string): string => text.replace(', ".env*", "@tests"]', ', ".env*"]')

  it('[REQ-VIEW-4] a new test that rewrites an older one is not in the view, and is named', async () => {
    const task = await forge.inImpl({ ...PROJECT, contract: loose })
    await task.write({
      'src/add.js': EMPTY,
      'tests/0.test.js': REWRITE.replace('../tests/', './'),
    })
    await expectRefused(task, /1 failed/, /Left out of the run.*tests\/0\.test\.js/)
  })

  it('[REQ-VIEW-4] a new test beside honest code completes', async () => {
    const task = await forge.inImpl({ ...PROJECT, contract: loose })
    await task.write({ ...HONEST, 'tests/0.test.js': 'throw new Error("not in the view")\n' })
    await task.completes()
  })

  it('[REQ-VIEW-4] a helper that is changed after RED blocks and is named', async () => {
    const task = await forge.inImpl({ ...PROJECT, contract: loose })
    await task.write({ 'src/add.js': EMPTY, 'tests/fixtures/sum.json': '{"sum": 4}\n' })
    await expectRefused(task, /tests\/fixtures\/sum\.json \(changed\)/)
  })

  it('[REQ-VIEW-5] tests whose names match no pattern are recorded too', async () => {
    const files = { ...FILES, 'checks/first.js': FILES['tests/a.test.js'] ?? '' }
    const contract = (text: string): string => loose(text.replace('["tests/**",', '["checks/**", "tests/**",'))
    const project = {
      files,
      run: 'node --test checks/*.js',
      contract,
      tests: {
        'checks/sum.js': TEST.replace('fixtures/', '../src/'),
        'tests/b.test.js': FILES['tests/a.test.js'] ?? '',
      },
    }
    const sources = { 'src/sum.json': '{"sum": 5}\n' }
    const task = await forge.inTdd({ ...project, files: { ...files, ...sources } })
    await task.write(project.tests)
    await task.agent.enters('IMPL', { test_files: { test_files: [{ path: 'checks/sum.js', covers: ['AC1'] }] } })
    await task.write({
      'src/add.js': EMPTY,
      'checks/sum.js': 'import { test } from "node:test"\ntest("adds", () => {})\n',
    })
    await expectRefused(task, /checks\/sum\.js \(changed\)/)
    await task.write({ ...HONEST, 'checks/sum.js': project.tests['checks/sum.js'] })
    await task.completes()
  })
})

describe.concurrent('other files that stand in for code', () => {
  const CHAI = {
    'node_modules/chai/package.json': '{"name": "chai", "main": "index.js"}',
    'node_modules/chai/index.js':
      'exports.assert = { equal(a, b) { if (a !== b) throw new Error(a + " is not " + b) } }\n',
  }
  const WITH_CHAI: Project = {
    ...PROJECT,
    ignored: CHAI,
    tests: {
      'tests/z.test.js': `import { test } from 'node:test'
import chai from 'chai'
test('adds', async () => {
  const { add } = await import('../src/add.js')
  chai.assert.equal(add(2, 3), 5)
})
`,
    },
  }
  const FORGED = 'exports.assert = { equal() {} }\n'

  it('[REQ-VIEW-6] installed packages that were there at the start are in the view', async () => {
    const task = await forge.inImpl(WITH_CHAI)
    await task.write(HONEST)
    await task.completes()
  })

  it.each([
    ['tests/node_modules/chai', 'beside the tests'],
    ['node_modules/chai', 'in the place of the installed one'],
  ])('[REQ-VIEW-6] a forged assertion package in %s is left out or blocks', async (folder) => {
    const task = await forge.inImpl(WITH_CHAI)
    await task.write({ 'src/add.js': EMPTY })
    task.smuggle({ [`${folder}/index.js`]: FORGED, [`${folder}/package.json`]: '{"name":"chai","main":"index.js"}' })
    const told = await task.refused()
    expect(told).toContain(folder.replace('/chai', ''))
  })

  it('[REQ-VIEW-6] build output that was added since is left out and named', async () => {
    const files = { ...FILES, 'src/index.js': 'export { add } from "../build/add.js"\n' }
    const tests = {
      'tests/z.test.js': TEST.replace('../src/add.js', '../build/add.js'),
      'tests/fixtures/sum.json': '{"sum": 5}',
    }
    const task = await forge.inImpl({ ...PROJECT, files, tests })
    task.smuggle({ 'build/add.js': 'export const add = () => 5\n' })
    await task.write({ 'src/add.js': EMPTY })
    await expectRefused(task, /Left out of the run.*build/)
  })

  it('[REQ-VIEW-6] build output that was there at the start is in the view', async () => {
    const tests = { ...TESTS, 'tests/z.test.js': TEST.replace("'../src/add.js'", "'../src/built.js'") }
    const ignored = { 'build/add.js': 'export const add = (a, b) => a + b\n' }
    const task = await forge.inImpl({ ...PROJECT, tests, ignored })
    await task.write({ 'src/built.js': 'export { add } from "../build/add.js"\n' })
    await task.completes()
  })

  it('[REQ-VIEW-7] imports of package.json that lead elsewhere block', async () => {
    const files = { ...FILES, 'src/sum.js': 'export const sum = () => 0\n' }
    const tests = {
      'tests/z.test.js': TEST.replace("'../src/add.js'", "'#sum'").replace('{ add }', '{ sum: add }'),
      'tests/fixtures/sum.json': '{"sum": 5}',
    }
    const task = await forge.inImpl({ ...PROJECT, files, tests })
    await task.write({
      'src/forged.js': 'export const sum = () => 5\n',
      'package.json': (FILES['package.json'] ?? '').replace('./src/sum.js', './src/forged.js'),
    })
    await expectRefused(task, /package\.json \(imports\) changed/)
    await task.write({
      'package.json': FILES['package.json'] ?? '',
      'src/sum.js': 'export const sum = (a, b) => a + b\n',
    })
    await task.completes()
  })

  it('[REQ-VIEW-7] a new configuration that bundlers run blocks', async () => {
    const task = await forge.inImpl(PROJECT)
    await task.write({ ...HONEST, 'postcss.config.js': 'export default {}\n' })
    await expectRefused(task, /postcss\.config\.js was added/)
  })
})
