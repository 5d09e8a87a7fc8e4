import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FULL_ONLY, sortIntoSuites } from './suites.js'

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

  it('[REQ-TIDY-7] every entry of the full suite names a test file and a reason', () => {
    for (const [name, reason] of Object.entries(FULL_ONLY)) {
      expect(existsSync(join(import.meta.dirname, `${name}.test.ts`)), name).toBe(true)
      expect(reason.length, name).toBeGreaterThan(20)
    }
  })

  it('[REQ-TIDY-7] what covers a file of the full suite meanwhile is run by npm test', () => {
    const named = Object.values(FULL_ONLY).flatMap((reason) => reason.match(/[a-z0-9-]+(?:\/[a-z0-9-]+)+/g) ?? [])
    expect(named.filter((name) => name in FULL_ONLY)).toEqual([])
  })

  it('[REQ-TIDY-7] docs/internals/testing.md lists every folder of tests and every file of the full suite', () => {
    const text = readFileSync(join(ROOT, 'docs/internals/testing.md'), 'utf8')
    const folders = readdirSync(import.meta.dirname, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'cases')
      .map((entry) => entry.name)
    expect(folders.filter((name) => !text.includes(`| \`${name}\` |`))).toEqual([])
    expect(Object.keys(FULL_ONLY).filter((name) => !text.includes(`\`${name}\``))).toEqual([])
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
