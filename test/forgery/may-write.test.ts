import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testFiles } from '../e2e/walker.js'
import { expectRefused, type Forge, openForge, type Project } from './forge.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

const TEST = `import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
test('adds', async () => {
  writeFileSync('tests/last-run.json', String(Date.now()))
  const { add } = await import('../src/add.js')
  assert.equal(add(2, 3), 5)
})
`
const mayWrite =
  (glob: string) =>
  (text: string): string =>
    text.replace('\ntests:\n', `\ntests:\n  may_write: ["${glob}"]\n`)
const PROJECT: Project = {
  files: { 'package.json': '{"type": "module"}\n', 'src/one.js': '\n', 'tests/last-run.json': '0' },
  run: 'node --test tests/',
  tests: { 'tests/add.test.js': TEST },
}
const HONEST = { 'src/add.js': 'export const add = (a, b) => a + b\n' }
// Writes the test while it runs, and puts it back.
const FORGED = `import { readFileSync, writeFileSync } from 'node:fs'
const path = 'tests/add.test.js'
const text = readFileSync(path)
writeFileSync(path, '')
writeFileSync(path, text)
export const add = () => 5
`

describe('data that the tests write', () => {
  it('[REQ-INIT-6] closes the gate unless the contract names it in tests.may_write', async () => {
    const task = await forge.inTdd(PROJECT)
    await task.write(PROJECT.tests)
    const told = JSON.stringify(await task.agent.refused('IMPL', testFiles('tests/add.test.js')))
    expect(told).toMatch(/tests\/last-run\.json: written while the command ran/)
    const allowed = await forge.inImpl({ ...PROJECT, contract: mayWrite('tests/*.json') })
    await allowed.write(HONEST)
    await allowed.completes()
  })

  it('[REQ-INIT-6] may be left at an ignored path by runs before the task', async () => {
    const { 'tests/last-run.json': left, ...files } = PROJECT.files
    const ignored = { 'tests/last-run.json': left ?? '', 'tests/helper.mjs': '\n' }
    const used = { ...PROJECT, files: { ...files, '.gitignore': 'tests/last-run.json\ntests/helper.mjs\n' }, ignored }
    const task = await forge.inImpl(used)
    await task.write({ 'src/add.js': FORGED.replace('add.test.js', 'helper.mjs') })
    await expectRefused(task, /tests\/helper\.mjs: written while the command ran/)
    await task.write(HONEST)
    await task.completes()
    // What was put there since work began is held like a test.
    const fresh = await forge.inTdd({ ...used, ignored: {} })
    await fresh.write(PROJECT.tests)
    fresh.smuggle({ 'tests/last-run.json': '1' })
    await fresh.agent.enters('IMPL', testFiles('tests/add.test.js'))
    await fresh.write(HONEST)
    await expectRefused(fresh, /tests\/last-run\.json: written while the command ran/)
  })

  it('[REQ-INIT-6] is a fixture if git tracks it, although an ignore rule matches it', async () => {
    const task = await forge.inImpl({
      ...PROJECT,
      tests: { 'tests/add.test.js': TEST.replace(/^ {2}writeFileSync.*\n/m, '') },
      ignored: { '.gitignore': 'tests/last-run.json\n' },
    })
    const writes = "import { writeFileSync } from 'node:fs'\nwriteFileSync('tests/last-run.json', '1')\n"
    await task.write({ 'src/add.js': `${writes}${HONEST['src/add.js']}` })
    await expectRefused(task, /tests\/last-run\.json: written while the command ran/)
    await task.write(HONEST)
    await task.completes()
  })

  it('[REQ-INIT-6] is never a test, whatever tests.may_write says', async () => {
    const task = await forge.inImpl({ ...PROJECT, contract: mayWrite('tests/**') })
    await task.write({ 'src/add.js': FORGED })
    await expectRefused(task, /tests\/add\.test\.js: written while the command ran/)
  })
})
