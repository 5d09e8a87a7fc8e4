import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

const WITHOUT_RED = `
name: green
version: "1"
phases:
  - id: WORK
    allowed_tools: [write_files, bash]
    gates:
      - id: green
        type: validation
        blockers:
          - {check: all_tests_pass, message: Green}
          - {check: expression, when: "observed.size.exit_code == 0", message: Size}
  - {id: DONE, allowed_tools: []}
commands:
  tests: {run: npm test --silent, format: node, timeout_seconds: 60}
  size: {run: node tools/size.mjs}
enforcement: {denial_budget: 1000}
`
const WITH_RED = `
name: red
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
          - {check: command_succeeds, run: ./ci/check.sh, message: Check}
  - {id: DONE, allowed_tools: []}
commands: {tests: {run: npm test --silent, format: node, timeout_seconds: 60}}
enforcement: {denial_budget: 1000}
`
const EVIDENCE = `
name: evidence
version: "1"
phases:
  - id: WORK
    allowed_tools: [write_files]
    checkpoint: {evidence: {size_succeeded: {type: boolean, grade: observed, must_be: true}}}
  - {id: DONE, allowed_tools: []}
commands: {size: {run: node tools/size.mjs}}
enforcement: {denial_budget: 1000}
`
const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { add } from '../src/add.mjs'
test('adds', () => assert.equal(add(2, 3), 5))
`
const FILES: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ name: 'adder', scripts: { test: 'node scripts/test.mjs' } }),
  'scripts/test.mjs': "import { run } from './lib/run.mjs'\nprocess.exit(run())\n",
  'scripts/lib/run.mjs': `import { spawnSync } from 'node:child_process'
export const run = () => spawnSync(process.execPath, ['--test', '--test-reporter=spec', 'tests/add.test.mjs'], { stdio: 'inherit' }).status ?? 1
`,
  'tools/size.mjs': "import { add } from '../src/add.mjs'\nprocess.exit(add(1, 1) === 2 ? 0 : 1)\n",
  'tests/add.test.mjs': TEST,
  'src/add.mjs': 'export const add = () => 0\n',
}
const LIE = `export const run = () => { console.log('✔ adds (1ms)\\nℹ tests 1\\nℹ suites 0\\nℹ pass 1\\nℹ fail 0\\nℹ cancelled 0\\nℹ skipped 0\\nℹ todo 0\\nℹ duration_ms 1'); return 0 }\n`
const CODE = 'export const add = (a, b) => a + b\n'
const CHECK = '#!/bin/sh\ngrep -q "a + b" src/add.mjs\n'

let run: Running
let token = ''
const begin = async (contract: string) => {
  run = await start({ contract })
  for (const [path, content] of Object.entries(FILES)) {
    mkdirSync(join(run.workspace, path, '..'), { recursive: true })
    writeFileSync(join(run.workspace, path), content)
  }
  await run.addTask({ id: 't' })
  token = await run.claim('a', await run.addAgent('a'), 't')
}
const tool = async (tool_name: string, args: object) => {
  const { status, body } = await run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
  expect(status, JSON.stringify(body)).toBe(200)
}
const write = (path: string, content: string) => tool('write_files', { path, content })
const told = async (target_phase: string): Promise<string> => {
  const { body } = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase })
  if (typeof body.phase_token === 'string') token = body.phase_token
  return body.allowed === true ? '' : (body.blockers as { message: string }[]).map((one) => one.message).join(' / ')
}

describe('how the tests of a gate are run', () => {
  afterEach(() => run.stop())

  it('[REQ-PIN-1] without a RED run it is held as it was when work began, and so is what expressions read', async () => {
    await begin(WITHOUT_RED)
    await write('scripts/lib/run.mjs', LIE)
    await write('tools/size.mjs', 'process.exit(0)\n')
    const lied = await told('DONE')
    expect(lied).toContain('Green: scripts/lib/run.mjs changed since work began')
    expect(lied).toContain('Size: tools/size.mjs changed since work began')
    await write('scripts/lib/run.mjs', String(FILES['scripts/lib/run.mjs']))
    await write('tools/size.mjs', String(FILES['tools/size.mjs']))
    await write('package.json', JSON.stringify({ name: 'adder', scripts: { test: 'node src/lie.mjs' } }))
    await write('src/lie.mjs', `${LIE.replace('export ', '')}run()\n`)
    expect(await told('DONE')).toContain('Green: package.json (scripts.test) changed since work began')
    await write('package.json', JSON.stringify({ ...JSON.parse(String(FILES['package.json'])), dependencies: {} }))
    expect(await told('DONE'), 'the tests themselves').toMatch(/Green: 1 failed/)
    await write('src/add.mjs', CODE)
    await write('tests/add.test.mjs', `${TEST}test('adds more', () => assert.equal(add(2, 4), 6))\n`)
    expect(await told('DONE')).toBe('')
  })

  it('[REQ-PIN-1] after a RED run what was made before it counts, and what its scripts load is held', async () => {
    await begin(WITH_RED)
    await write('ci/check.sh', CHECK)
    await tool('bash', { command: 'chmod +x ci/check.sh' })
    // A test that failed before the task opens no RED.
    await write('tests/add.test.mjs', `${TEST}test('adds more', () => assert.equal(add(2, 4), 6))\n`)
    expect(await told('IMPL')).toBe('')
    await write('scripts/lib/run.mjs', LIE)
    await write('ci/check.sh', '#!/bin/sh\nexit 0\n')
    expect(await told('DONE')).toContain('scripts/lib/run.mjs changed since the RED run')
    await write('scripts/lib/run.mjs', String(FILES['scripts/lib/run.mjs']))
    await write('src/add.mjs', CODE)
    expect(await told('DONE')).toMatch(/^Check: ci\/check\.sh changed since the RED run/)
    await write('ci/check.sh', CHECK)
    expect(await told('DONE')).toBe('')
  })

  it('[REQ-PIN-1] evidence that Phaselock observes is held to the script as it was', async () => {
    await begin(EVIDENCE)
    await write('tools/size.mjs', 'process.exit(0)\n')
    expect(await told('DONE')).toContain('size: tools/size.mjs changed since work began')
    await write('tools/size.mjs', String(FILES['tools/size.mjs']))
    expect(await told('DONE')).not.toBe('')
    await write('src/add.mjs', CODE)
    expect(await told('DONE')).toBe('')
  })
})
