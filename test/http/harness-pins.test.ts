import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { processesWith, within } from '../confinement/scene.js'
import { type Answer, type Running, start } from './harness.js'

const contract = (more: string, reconcile = 'off') => `
name: pins
version: "1"
phases:
  - id: TDD
    allowed_tools: [write_files, bash]
    gates: [{id: red, type: validation, blockers: [{check: tests_are_failing, message: Red}]}]
  - id: IMPL
    allowed_tools: [write_files, bash]
    gates:
      - id: green
        type: validation
        blockers:
          - {check: all_tests_pass, message: Green}
          - {check: no_skipped_tests, message: Skipped}
  - {id: DONE, allowed_tools: []}
commands: {tests: {run: "npm test --silent", format: node, timeout_seconds: 60}}
enforcement: {reconcile: ${reconcile}}
${more}
`
const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { add } from '../src/add.mjs'
test('adds', () => assert.equal(add(2, 3), 5))
test('adds nothing', () => assert.equal(add(2, 0), 2))
`
const CODE = 'export const add = (a, b) => a + b\n'
const PACKAGE = { name: 'adder', version: '1.0.0', scripts: { test: 'node tools/run.mjs' } }
const RUNNER = `import { spawnSync } from 'node:child_process'
const { status } = spawnSync(process.execPath, ['--test', '--test-reporter=spec', 'tests/add.test.mjs'], { stdio: 'inherit' })
process.exit(status ?? 1)
`

const BEGUN_MS_MAX = 180_000
let run: Running
let token = ''
const put = (path: string, content: string) => {
  mkdirSync(join(run.workspace, path, '..'), { recursive: true })
  writeFileSync(join(run.workspace, path), content)
}
const remove = (path: string) => rmSync(join(run.workspace, path), { recursive: true })
const move = async (target_phase: string): Promise<Answer> => {
  const answer = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase })
  if (typeof answer.body.phase_token === 'string') token = answer.body.phase_token
  return answer
}
const tool = (tool_name: string, args: object) =>
  run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
const write = (path: string, content: string) => tool('write_files', { path, content })
const messages = (answer: Answer): string[] =>
  ((answer.body.blockers ?? []) as { message: string }[]).map((one) => one.message)

const red = async (text: string) => {
  run = await start({ contract: text })
  put('package.json', JSON.stringify(PACKAGE))
  put('tools/run.mjs', RUNNER)
  put('node_modules/dep/index.js', 'module.exports = 1\n')
  put('.gitignore', 'node_modules/\n')
  put('src/add.mjs', 'export const add = () => 0\n')
  await run.addTask({ id: 't' })
  token = await run.claim('a', await run.addAgent('a'), 't')
  expect((await write('tests/add.test.mjs', TEST)).status).toBe(200)
  expect((await move('IMPL')).body).toMatchObject({ allowed: true, phase: 'IMPL' })
}
afterEach(() => run.stop())

describe('the test setup is pinned from RED to GREEN', () => {
  const lie = `console.log('✔ adds (1ms)\\n✔ adds nothing (1ms)\\nℹ tests 2\\nℹ suites 0\\nℹ pass 2\\nℹ fail 0\\nℹ cancelled 0\\nℹ skipped 0\\nℹ todo 0\\nℹ duration_ms 1')`

  it.each(['', 'tests: {allow_changes: true}'])(
    '[REQ-HARNESS-4] doctored scripts, configurations and runners keep GREEN closed, and honest work opens it (%s)',
    async (more) => {
      await red(contract(more))
      const words = more === '' ? /^Tests must stay as they were at RED: / : /^Green: /
      await write('tools/run.mjs', lie)
      const doctored = messages(await move('DONE'))
      expect(doctored.filter((one) => words.test(one)).join()).toContain('tools/run.mjs changed since the RED run')
      await write('tools/run.mjs', RUNNER)
      await write('package.json', JSON.stringify({ ...PACKAGE, scripts: { test: 'node tools/lie.mjs' } }))
      await write('tools/lie.mjs', lie)
      expect(messages(await move('DONE')).join()).toContain('package.json (scripts.test) changed since the RED run')
      await write('package.json', JSON.stringify({ ...PACKAGE, version: '1.1.0', dependencies: {} }))
      await write('.npmrc', 'script-shell=./x.sh\n')
      expect(messages(await move('DONE')).join()).toContain('.npmrc was added since the RED run')
      await tool('bash', { command: 'rm .npmrc tools/lie.mjs' })
      expect(messages(await move('DONE')).join()).toMatch(/Green: 2 failed/)
      await write('src/add.mjs', CODE)
      expect((await move('DONE')).body).toMatchObject({ allowed: true, status: 'completed' })
    },
  )

  it('[REQ-DIFF-5] where tests may change, a test that is skipped, to do or the only one keeps GREEN closed', async () => {
    await red(contract('tests: {allow_changes: true}'))
    await write('src/add.mjs', CODE)
    await write('tests/add.test.mjs', TEST.replace("test('adds nothing'", "test.skip('adds nothing'"))
    expect(messages(await move('DONE')).join()).toMatch(/Skipped: 1 skipped that ran at RED: .*adds nothing/)
    await write('tests/add.test.mjs', TEST.replace("test('adds nothing'", "test.todo('adds nothing'"))
    expect(messages(await move('DONE')).join()).toMatch(/Skipped: 1 .*adds nothing/)
    await write('tests/add.test.mjs', TEST.replace("test('adds nothing'", "test.only('adds nothing'"))
    expect(messages(await move('DONE')).join()).toContain(
      'Skipped: skip marks were added since the RED run: tests/add.test.mjs (test.only)',
    )
    await write('tests/add.test.mjs', `${TEST}// test.only is for later\n`)
    expect((await move('DONE')).body).toMatchObject({ allowed: true, status: 'completed' })
  })

  it('[REQ-HARNESS-6] doctored packages keep GREEN closed: by a tool, and behind its back, ignored by git', async () => {
    await red(contract('', 'block'))
    await write('src/add.mjs', CODE)
    expect(await write('node_modules/dep/index.js', 'x')).toMatchObject({ status: 403 })
    expect(await tool('bash', { command: 'echo x > node_modules/dep/index.js' })).not.toMatchObject({
      body: { result: { changes: [{ path: 'node_modules/dep/index.js' }] } },
    })
    expect(readFileSync(join(run.workspace, 'node_modules/dep/index.js'), 'utf8')).toContain('module.exports')
    put('node_modules/dep/index.js', 'module.exports = 2\n')
    expect((await move('DONE')).body).toMatchObject({
      allowed: false,
      blockers: [{ code: 'unledgered_change', message: expect.stringContaining('node_modules') }],
    })
  })

  it('[REQ-HARNESS-6] a run with other packages, or with something else built, is not an earlier run', async () => {
    await red(contract(''))
    const cached = async () => {
      await move('DONE')
      const { body } = await run.call('GET', '/tasks/t/timeline', run.operator)
      const events = body.events as { type: string; data: { observed?: { cached: boolean }[] } }[]
      return events.filter((one) => one.type === 'transition_requested').at(-1)?.data.observed?.[0]?.cached
    }
    expect(await cached()).toBe(true)
    put('node_modules/dep/index.js', 'module.exports = 3\n')
    expect(await cached()).toBe(false)
    expect(await cached()).toBe(true)
    put('dist/add.js', 'x')
    expect(await cached()).toBe(false)
    expect(await cached()).toBe(true)
    remove('node_modules/dep')
    expect(await cached()).toBe(false)
  })

  it('[REQ-HARNESS-7] what is changed while the tests run, and changed back, opens nothing', async () => {
    // The numbers are marks: a process that sleeps so long says how far the run is.
    const command = 'sleep 1.0301; npm test --silent; code=$?; sleep 1.0302; exit $code'
    await red(contract('').replace('npm test --silent', command))
    await write('src/add.mjs', 'export const add = () => 1\n')
    const asked = move('DONE')
    expect(await within(BEGUN_MS_MAX, () => processesWith('1.0301').length > 0)).toBe(true)
    put('src/add.mjs', CODE)
    put('sitecustomize.py', 'x')
    expect(await within(BEGUN_MS_MAX, () => processesWith('1.0302').length > 0)).toBe(true)
    put('src/add.mjs', 'export const add = () => 1\n')
    remove('sitecustomize.py')
    expect(messages(await asked).join()).toMatch(/Files changed while the commands ran: .*src\/add\.mjs/)
    expect(messages(await move('DONE')).join()).toMatch(/Green: 2 failed/)
  })
})
