import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { installed } from '../mcp/packages.js'
import { type Project, runTests } from './guards-run.js'

const JEST = installed('jest', ['jest@30'])
const MOCHA = installed('mocha', ['mocha@11'])
const VITEST = installed('vitest', ['vitest@4'])

/** A test of a program that reads its own command line, as libraries for command lines have them. */
const readsOptions = (...words: readonly string[]): string =>
  `test('sees the words of the command alone', () => {
  expect(process.argv.slice(2)).toEqual(${JSON.stringify(words)})
})
`

describe('what tests see of the command line', () => {
  it.each(['plain', 'guarded'] as const)('[REQ-COMMITS-3] is the same in a %s run of jest', (guard) => {
    if (!JEST.ok) throw new Error(JEST.reason)
    const words = ['--ci', '--silent']
    const project: Project = {
      files: { 'package.json': '{}', 'a.test.js': readsOptions(...words) },
      argv: [process.execPath, 'node_modules/jest/bin/jest.js', ...words],
      packages: join(JEST.dir, 'node_modules'),
      ...{ format: 'jest', pinned: [] },
    }
    expect(runTests(project, guard)).toMatchObject({ exitCode: 0 })
    const other = { ...project, files: { ...project.files, 'a.test.js': readsOptions('--other') } }
    expect(runTests(other, guard)).toMatchObject({ exitCode: 1 })
  })

  it.each(['plain', 'guarded'] as const)('[REQ-COMMITS-3] is the same in a %s run of vitest', (guard) => {
    if (!VITEST.ok) throw new Error(VITEST.reason)
    const test = "import { expect, test } from 'vitest'\n".concat(
      readsOptions().replace('process.argv.slice(2)', "process.argv.filter((word) => word.includes('reporter'))"),
    )
    const project: Project = {
      files: { 'package.json': '{}', 'a.test.js': test },
      argv: [process.execPath, 'node_modules/vitest/vitest.mjs', 'run', '--pool=threads'],
      packages: join(VITEST.dir, 'node_modules'),
      ...{ format: 'vitest', pinned: [] },
    }
    expect(runTests(project, guard)).toMatchObject({ exitCode: 0 })
  })
})

describe('a run that would end at the first failure', () => {
  it('[REQ-COMMITS-4] tells of all tests with mocha --bail', () => {
    if (!MOCHA.ok) throw new Error(MOCHA.reason)
    const test = `const assert = require('node:assert')
describe('cart', () => {
  it('is wrong', () => assert.equal(1, 2))
  it('is after it', () => assert.equal(1, 1))
})
`
    const project: Project = {
      files: {
        'package.json': '{}',
        'test/a.js': test,
        'test/b.js': "describe('list', () => it('is in another file', () => undefined))\n",
      },
      argv: [process.execPath, 'node_modules/mocha/bin/mocha.js', '--bail'],
      packages: join(MOCHA.dir, 'node_modules'),
      ...{ format: 'mocha', pinned: [] },
    }
    expect(runTests(project, 'plain').text).not.toMatch(/is after it|is in another file/)
    const guarded = runTests(project, 'guarded')
    expect(guarded.exitCode).toBe(1)
    for (const title of ['is after it', 'is in another file']) expect(guarded.text).toContain(title)
  })
})
