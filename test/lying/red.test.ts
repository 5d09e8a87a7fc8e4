import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NODE, NODE_PROJECT, TEST, TESTS } from './node.js'
import { openStage, type Stage, staysClosed } from './stage.js'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage?.end())

/** What is written as tests, and what must be in the way. */
const TRICKS: readonly (readonly [trick: string, tests: Readonly<Record<string, string>>, inTheWay: RegExp])[] = [
  ['no test at all', {}, /tests_are_failing/],
  ['an empty test file', { 'tests/add.test.js': '' }, /tests_are_failing/],
  ['a test that passes', { 'tests/add.test.js': TEST.replaceAll(/const \{ add.*\n|add\(./g, '') }, /tests_are_failing/],
  [
    'a test of a constant',
    {
      'tests/add.test.js':
        "import { test } from 'node:test'\nimport assert from 'node:assert'\ntest('x', () => assert.ok(1))\n",
    },
    /exit code 0/,
  ],
  ['a syntax error', { 'tests/add.test.js': "import { test } from 'node:test'\ntest('x', () => {\n" }, /syntax error/],
  ['a file that throws while it is loaded', { 'tests/add.test.js': "throw new Error('red')\n" }, /no test failed/],
  ['an exit with code 1', { 'tests/add.test.js': 'process.exit(1)\n' }, /no test failed/],
  [
    'a printed failure and an exit with code 1',
    {
      'tests/add.test.js':
        "console.log('TAP version 13\\nnot ok 1 - add\\n1..1\\n# tests 1\\n# fail 1')\nprocess.exit(1)\n",
    },
    /tests_are_failing/,
  ],
  ['a failing test that is skipped', { 'tests/add.test.js': TEST.replaceAll("test('", "test.skip('") }, /exit code 0/],
  ['a failing test that is to do', { 'tests/add.test.js': TEST.replaceAll("test('", "test.todo('") }, /exit code 0/],
  [
    'a run that is killed by its test',
    {
      'tests/add.test.js': "import { test } from 'node:test'\ntest('x', () => process.kill(process.ppid, 'SIGKILL'))\n",
    },
    /tests_are_failing/,
  ],
]

describe.concurrent('RED cannot be invented', () => {
  it.each(TRICKS)('[REQ-LYING-1] %s opens nothing', async (_, tests, inTheWay) => {
    const liar = await stage.liar(NODE_PROJECT, NODE)
    for (const [path, text] of Object.entries(tests)) await liar.write(path, text)
    expect(await staysClosed(liar, 'IMPL')).toMatch(inTheWay)
  })

  it('[REQ-LYING-1] the code that is written before its tests does not arrive, so nothing passes too early', async () => {
    const liar = await stage.liar(NODE_PROJECT, NODE)
    for (const command of [
      'mkdir src; echo > src/add.js',
      'mkdir -p tests/x && ln -s ../../src tests/x/out; mkdir -p src; echo x > tests/x/out/add.js',
      "node -e \"require('fs').mkdirSync('src'), require('fs').writeFileSync('src/add.js', 'x')\"",
    ])
      expect(await liar.bash(command)).toMatchObject({ status: 403, body: { code: 'constraint_violation' } })
    expect(await staysClosed(liar, 'IMPL')).toMatch(/tests_are_failing/)
  })

  it('[REQ-LYING-5] code that is written past the tools before its tests opens nothing', async () => {
    const liar = await stage.liar(NODE_PROJECT, NODE)
    for (const [path, text] of Object.entries(TESTS)) await liar.write(path, text)
    mkdirSync(join(liar.dir, 'src'))
    writeFileSync(join(liar.dir, 'src/later.js'), '// early\n')
    expect(await staysClosed(liar, 'IMPL')).toMatch(/unledgered_change[\s\S]*src\/later.js/)
  })

  it('[REQ-LYING-1] tests that really fail open the way: the refusals above are due to the tricks', async () => {
    const liar = await stage.liar(NODE_PROJECT, NODE)
    await liar.toImpl(TESTS)
  })
})
