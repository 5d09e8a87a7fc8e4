import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { addSeconds, chooseLeftOut, MAY_BE_LEFT_OUT, NPM_TEST_SECONDS_MAX, sortIntoSuites } from './suites.js'
import { getTestName, readTimes, splitEvenly, TestTimes } from './times.js'

const ROOT = join(import.meta.dirname, '..')
const suites = sortIntoSuites()

describe('the suites', () => {
  it('[REQ-TIDY-7] every test file is in exactly one suite', () => {
    const all = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => `test/${name}`)
    expect([...suites.unit, ...suites.integration, ...suites.full].toSorted()).toEqual(all.toSorted())
  })

  it('[REQ-TIDY-7] a test that starts a server, a process or the built program is not a unit test', () => {
    for (const file of ['http/walk', 'cli/serve', 'store/sqlite', 'tools/own/own-tool', 'demo/demo', 'tidy'])
      expect(suites.integration).toContain(`test/${file}.test.ts`)
  })

  it('[REQ-TIDY-7] every test of the core is a unit test', () => {
    expect(suites.unit.filter((file) => file.startsWith('test/core/')).length).toBeGreaterThan(30)
    expect(suites.integration.filter((file) => file.startsWith('test/core/'))).toEqual([])
  })

  it('[REQ-TIDY-7] a file that npm test may leave out says what it tests, and which tests of npm test hold it', () => {
    for (const [name, { reason, heldBy }] of Object.entries(MAY_BE_LEFT_OUT)) {
      expect(existsSync(join(import.meta.dirname, `${name}.test.ts`)), name).toBe(true)
      expect(reason.length, name).toBeGreaterThan(10)
      expect(Object.keys(heldBy), name).not.toEqual([])
      for (const [holder, what] of Object.entries(heldBy)) {
        expect(existsSync(join(import.meta.dirname, `${holder}.test.ts`)), `${name}: ${holder}`).toBe(true)
        expect(holder in MAY_BE_LEFT_OUT, `${name}: ${holder} may be left out itself`).toBe(false)
        expect(what.length, `${name}: ${holder}`).toBeGreaterThan(3)
      }
    }
  })

  it('[REQ-TIDY-11] what npm test runs fits its time, and files that are no longer there have none', () => {
    const times = readTimes()
    const names = [...suites.unit, ...suites.integration].map((file) => getTestName(ROOT, join(ROOT, file)))
    const longest = names
      .filter((name) => !(name in MAY_BE_LEFT_OUT))
      .toSorted((a, b) => times.getSeconds(b, 'usual') - times.getSeconds(a, 'usual'))
    const hint = `Shorten or split one of the longest, or name in test/left-out.json what holds its promise meanwhile: ${longest.slice(0, 10).join(', ')}`
    expect(addSeconds(names, times), hint).toBeLessThanOrEqual(NPM_TEST_SECONDS_MAX)
    expect(times.names.filter((name) => !existsSync(join(import.meta.dirname, `${name}.test.ts`)))).toEqual([])
  })

  it('[REQ-TIDY-11] of the files that may be left out, those that take longest are, until the others fit', () => {
    const [short = '', middle = '', long = ''] = Object.keys(MAY_BE_LEFT_OUT)
    const others = { 'a/one': { usual: NPM_TEST_SECONDS_MAX - 30 } }
    const choose = (seconds: readonly [number, number, number]) => {
      const [first, second, third] = seconds.map((usual) => ({ usual, full: 1 }))
      const times = new TestTimes({ ...others, [short]: first ?? {}, [middle]: second ?? {}, [long]: third ?? {} })
      return [...chooseLeftOut(['a/one', short, middle, long], times)].toSorted()
    }
    expect(choose([10, 20, 40])).toEqual([long])
    expect(choose([10, 21, 40])).toEqual([long, middle].toSorted())
    expect(choose([31, 21, 9])).toEqual([short])
    expect(choose([1, 1, 1])).toEqual([])
    // What nobody said who else holds it is never left out.
    expect([...chooseLeftOut(['a/one', 'a/two'], new TestTimes({ 'a/one': { usual: 9_000 } }))]).toEqual([])
  })

  it('[REQ-TIDY-11] shards take about the same time, and each file is in one of them', () => {
    const files = [...suites.unit, ...suites.integration, ...suites.full]
    const times = readTimes()
    const getSeconds = (file: string) => times.getSeconds(getTestName(ROOT, join(ROOT, file)), 'full')
    const shards = splitEvenly(files, getSeconds, 4)
    expect(shards.flat().toSorted()).toEqual(files.toSorted())
    const seconds = shards.map((shard) => shard.reduce((sum, file) => sum + getSeconds(file), 0))
    expect(Math.max(...seconds) - Math.min(...seconds)).toBeLessThan(Math.max(...files.map(getSeconds)))
  })

  it('[REQ-TIDY-11] a measured time replaces one that it differs from by a fifth, at its depth alone', () => {
    const before = new TestTimes({
      'a/same': { usual: 10 },
      'a/other': { usual: 10, full: 50 },
      'a/gone': { usual: 1 },
    })
    const measured = new Map([...Object.entries({ 'a/same': 11, 'a/other': 13, 'a/new': 0.01 })])
    const after = before.update(measured, 'usual', (name) => name !== 'a/gone')
    expect(after.names).toEqual(['a/new', 'a/other', 'a/same'])
    expect(after.names.map((name) => after.getSeconds(name, 'usual'))).toEqual([0.1, 13, 10])
    expect(after.names.map((name) => after.getSeconds(name, 'full'))).toEqual([0.1, 50, 10])
    expect(after.getSeconds('a/gone', 'usual')).toBe(5)
  })

  it('[REQ-TIDY-7] a file of the full suite that the command line names runs, at full depth', () => {
    const { PHASELOCK_DEPTH: _, ...env } = process.env
    const list = (...words: string[]): readonly string[] =>
      execFileSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'list', ...words], {
        cwd: ROOT,
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
        .trim()
        .split('\n')
    const both = list('--filesOnly', './test/torture/power.test.ts', 'test/torture/kill.test.ts')
    expect(both.toSorted()).toEqual(['[named] test/torture/power.test.ts', '[separate] test/torture/kill.test.ts'])
    expect(list('--filesOnly', 'test/torture')).not.toContain('[named] test/torture/power.test.ts')
    // At the usual depth this file has one seed.
    expect(list('test/inverter/all-runs.test.ts').filter((name) => name.includes('seed 5'))).not.toEqual([])
  })
})
