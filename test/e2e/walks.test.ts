import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { depth } from '../depth.js'
import { makePlace, type Place, type Served, serve } from './process.js'
import { type Files, git, installTypescript, makeRepository, PYTHON, TYPESCRIPT } from './projects.js'
import { INVENTED_GREEN, INVENTED_RED, implementation, testFiles, Walker } from './walker.js'

const BUNDLED = new URL('../../contracts/tdd.yaml', import.meta.url)

interface Language {
  readonly name: string
  readonly requirement: string
  readonly files: Files
  readonly command: string
  readonly test: string
  /** Fails by itself, without any code to test. */
  readonly early: string
  readonly late: { readonly path: string; readonly text: string }
  readonly code: { readonly path: string; readonly text: string; readonly wrong: string }
  install(dir: string): void
}

const LANGUAGES: readonly Language[] = [
  {
    name: 'TypeScript with node:test',
    requirement: 'REQ-OBSERVED-7',
    files: TYPESCRIPT,
    command: 'npm test',
    test: 'tests/sum.test.ts',
    early: `import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n\ntest('sum', () => assert.ok(process.pid > 0))\n`,
    late: {
      path: 'tests/sum.test.ts',
      text: `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '../src/sum.js'

test('the prices of a cart are summed up', () => {
  assert.equal(sum([{ cents: 5 }, { cents: 7 }]), 12)
})

test('an empty cart costs nothing', () => {
  assert.equal(sum([]), 0)
})
`,
    },
    code: {
      path: 'src/sum.ts',
      text: `import type { Item } from './price.js'\n\nexport function sum(items: readonly Item[]): number {\n  return items.reduce((all, { cents }) => all + cents, 0)\n}\n`,
      wrong: `export function sum(_: readonly unknown[]): number {\n  return 12\n}\n`,
    },
    install: installTypescript,
  },
  {
    name: 'Python with unittest',
    requirement: 'REQ-OBSERVED-8',
    files: PYTHON,
    command: 'python3 -m unittest -v',
    test: 'tests/test_total.py',
    early: `import unittest\n\n\nclass TotalTest(unittest.TestCase):\n    def test_nothing(self):\n        self.assertTrue(unittest)\n`,
    late: {
      path: 'tests/test_total.py',
      text: `import unittest

from carts.total import total


class TotalTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([5, 7]), 12)

    def test_empty(self):
        self.assertEqual(total([]), 0)
`,
    },
    code: {
      path: 'carts/total.py',
      text: 'def total(prices):\n    return sum(prices)\n',
      wrong: 'def total(prices):\n    return 12\n',
    },
    install: () => undefined,
  },
]

describe.each(depth(LANGUAGES.slice(-1), LANGUAGES))('the five phases in $name', (language) => {
  let place: Place
  let server: Served
  let agent: Walker
  const { requirement } = language

  beforeAll(async () => {
    place = await makePlace()
    makeRepository(place.workspace, language.files)
    language.install(place.workspace)
    const contract = join(place.dir, 'tdd.yaml')
    const bundled = readFileSync(BUNDLED, 'utf8')
    writeFileSync(contract, bundled.replace('run: npm test', `run: ${language.command}`))
    server = await serve(place, contract)
    agent = await Walker.claim(server, 'carts')
    await agent.plan()
  })
  afterAll(async () => {
    await server?.stop()
    place?.remove()
  })

  it(`[${requirement}] tests that pass already are no red run, whatever is said of them`, async () => {
    await agent.does('write_files', { path: language.test, content: language.early })
    const blockers = await agent.refused('IMPL', { ...testFiles(language.test), ...INVENTED_RED })
    expect(blockers.map(({ check, grade }) => [check, grade])).toEqual([['tests_are_failing', 'observed']])
  })

  it('[REQ-OBSERVED-9] tests of a module that is not there yet are red', async () => {
    await agent.does('write_files', { path: language.late.path, content: language.late.text })
    expect(await agent.does('run_tests', {})).toMatchObject({ passed: expect.any(Number) })
    await agent.enters('IMPL', testFiles(language.late.path))
  })

  it(`[${requirement}] without the code, and with code that does not do it, the gate stays closed`, async () => {
    const invented = { ...implementation(language.code.path), ...INVENTED_GREEN }
    expect((await agent.refused('REVIEW', invented)).map((one) => [one.check, one.grade])).toContainEqual([
      'all_tests_pass',
      'observed',
    ])
    await agent.does('write_files', { path: language.code.path, content: language.code.wrong })
    const [blocker] = await agent.refused('REVIEW', invented)
    expect(blocker).toMatchObject({ check: 'all_tests_pass', grade: 'observed' })
    expect(blocker?.message).toMatch(/: 1 failed: .*empty/)
  })

  it(`[${requirement}] with the code the tests pass, and the change is committed with its tests`, async () => {
    await agent.does('write_files', { path: language.code.path, content: language.code.text })
    await agent.does('bash', { command: language.command })
    const entered = await agent.enters('REVIEW')
    expect(entered.artifacts).toContainEqual(expect.objectContaining({ type: 'test_run_result', grade: 'proved' }))
    await agent.finish('Sum up prices')
    expect(git(place.workspace, 'log', '-1', '--format=%s').trim()).toBe('Sum up prices')
    const names = git(place.workspace, 'show', '--name-only', '--format=', 'HEAD').trim().split('\n').sort()
    expect(names).toEqual([language.code.path, language.late.path].sort())
    expect(git(place.workspace, 'status', '--porcelain')).toBe('')
    expect((await server.call('GET', '/audit/verify', server.operator)).body).toMatchObject({ ok: true })
  })
})
