import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStand, type Stand } from '../checks/second-run.js'
import { jest } from './packages.js'

const OWN_PACKAGES = new URL('../../node_modules', import.meta.url).pathname
const JEST = jest()
const BUILD = 'mkdir -p build && cp -r src tests build/'
const REWRITE = `const file = process.cwd() + '/build/tests/z.test.js'
fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replaceAll('toBe(5)', 'toBe(4)'))
`
const BY_JEST = {
  'package.json': '{}',
  'src/first.js': 'exports.first = 1\n',
  'src/add.js': 'exports.add = (a, b) => a + b\n',
  'tests/a.test.js': "const { first } = require('../src/first.js')\ntest('first', () => expect(first).toBe(1))\n",
  'tests/z.test.js': "const { add } = require('../src/add.js')\ntest('adds', () => expect(add(2, 3)).toBe(5))\n",
}
const FORGED_JEST = {
  'src/first.js': `const fs = require('node:fs')\n${REWRITE}exports.first = 1\n`,
  'src/add.js': 'exports.add = () => 4\n',
}
const HEAD = "import { expect, test } from 'vitest'\n"
const BY_VITEST = {
  'package.json': '{}',
  'src/first.js': 'export const first = 1\n',
  'src/add.js': 'export const add = (a, b) => a + b\n',
  'tests/a.test.js': `${HEAD}import { first } from '../src/first.js'\ntest('first', () => expect(first).toBe(1))\n`,
  'tests/z.test.js': `${HEAD}import { add } from '../src/add.js'\ntest('adds', () => expect(add(2, 3)).toBe(5))\n`,
}
const FORGED_VITEST = {
  'src/first.js': `import fs from 'node:fs'\n${REWRITE}export const first = 1\n`,
  'src/add.js': 'export const add = () => 4\n',
}
const vitest = `${BUILD} && node node_modules/vitest/vitest.mjs run --no-color --dir build --no-file-parallelism`
const ofJest = (flags: string) => `${BUILD} && npx jest --ci --verbose --roots build ${flags}`

describe('tests that a build step writes and code under test rewrites', () => {
  let stand: Stand
  beforeAll(async () => {
    stand = await openStand()
  })
  afterAll(() => stand?.close())

  it.for([
    { name: 'vitest', files: BY_VITEST, forgery: FORGED_VITEST, run: vitest, format: 'vitest', packages: OWN_PACKAGES },
    { name: 'jest', files: BY_JEST, forgery: FORGED_JEST, run: ofJest('--runInBand'), format: 'jest', packages: null },
  ] as const)(
    '[REQ-VIEW-17] make the run of $name void, which names the file; the same run without that passes',
    { timeout: 120_000 },
    async ({ files, forgery, run, format, packages }, { skip }) => {
      if (packages === null && !JEST.ok) return skip(JEST.reason)
      const modules = packages ?? join(JEST.ok ? JEST.dir : '', 'node_modules')
      const observe = (more: Readonly<Record<string, string>>) =>
        stand.observe({ ...files, ...more }, { run, format }, modules)
      expect(await observe({})).toMatchObject({ exitCode: 0, problem: null, counts: { passed: 2, failed: 0 } })
      const forged = await observe(forgery)
      expect(forged.exitCode).not.toBe(0)
      expect(JSON.stringify(forged)).toContain('build/tests/z.test.js was changed while the tests ran')
    },
  )
})
