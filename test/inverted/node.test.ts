import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TaskReport } from 'phaselock/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reportPage } from '../../src/cli/report/report-html.js'
import { reportText } from '../../src/cli/report/report-text.js'
import { invertInThread } from '../../src/inverter/invert-in-thread.js'
import { isFullDepth } from '../depth.js'
import { openStage, type Stage } from './stage.js'

const HEAD =
  "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\nimport { add } from '../src/add.mjs'\n"
const HONEST = `${HEAD}test('adds', () => assert.equal(add(2, 3), 5))\n`
const VACUOUS = `${HEAD}test('adds', () => {
  try {
    assert.equal(add(2, 3), 5)
  } catch {}
})
`
const CODE = 'export const add = (a, b) => a + b\n'
const NODE = { run: 'node --test tests/', format: 'node' }
const PATH = 'tests/add.test.mjs'
const COVERS = { [PATH]: ['AC-1'] }

describe('the thread that turns files around', () => {
  it('[REQ-TWINS-4] answers for each file, and one that it cannot take stops no other', async () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const texts = [HONEST, deep, HONEST, 'x'.repeat(2_000_000)]
    const made = await invertInThread(texts.map((text, at) => ({ path: `tests/${at}.test.mjs`, text, seed: 'x' })))
    expect(made.map(({ outcome }) => outcome)).toEqual(['rewritten', 'not_judged', 'rewritten', 'not_judged'])
  })
})

describe('the inverted run with node:test', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  })
  afterAll(() => stage.end())

  it('[REQ-TWINS-1] an honest test is proved, and the record says so', async () => {
    const task = await stage.task({}, NODE)
    await task.write({ 'tests/add.test.mjs': HONEST })
    await task.red(COVERS)
    await task.write({ 'src/add.mjs': CODE })
    expect(await task.green()).toEqual([])
    expect(await task.ran()).toMatchObject({ grade: 'proved', inverted: { proved: 1, survived: 0 } })
    const answer = await stage.run.call('GET', `/runs/${task.id}/report`, stage.run.operator)
    const body = answer.body as unknown as TaskReport
    const counts = { passed: 1, failed: 0, inverted: expect.objectContaining({ proved: 1, survived: 0 }) }
    const shown = { phase: 'IMPL', name: 'tests', grade: 'proved', run: expect.objectContaining(counts) }
    expect(body.evidence, '[REQ-TWINS-15]').toContainEqual(expect.objectContaining(shown))
    expect(reportText(body)).toMatch(/IMPL +tests +proved +1 passed; new tests: 1 proved/)
    expect(reportPage(body)).toMatch(/<td>proved<\/td>\s*<td>1 passed; new tests: 1 proved<\/td>/)
  })

  it.runIf(isFullDepth())('[REQ-TWINS-9] a linter before the tests does not see the rewritten ones', async () => {
    const scripts = { lint: 'node lint.mjs', test: 'npm run lint && node --test tests/' }
    const task = await stage.task(
      {
        'package.json': JSON.stringify({ name: 'adder', type: 'module', scripts }),
        'lint.mjs': `import { readdirSync, readFileSync } from 'node:fs'
for (const name of readdirSync('tests'))
  if (/.{120}/.test(readFileSync('tests/' + name, 'utf8'))) throw new Error(name + ' has a long line')
`,
      },
      { run: 'npm test', format: 'node' },
    )
    await task.write({ 'tests/add.test.mjs': HONEST })
    await task.red(COVERS)
    await task.write({ 'src/add.mjs': CODE })
    expect(await task.green()).toEqual([])
    expect(await task.ran()).toMatchObject({ grade: 'proved', inverted: { proved: 1, survived: 0 } })
  })

  it('[REQ-TWINS-2] a test that cannot fail blocks with its line, and the way back leads on', async () => {
    const task = await stage.task({}, NODE)
    await task.write({ 'tests/add.test.mjs': VACUOUS })
    await task.red(COVERS)
    await task.write({ 'src/add.mjs': CODE })
    const [blocked] = await task.green()
    expect(blocked).toMatchObject({
      check: 'tests_can_fail',
      message: expect.stringContaining('tests/add.test.mjs:4 adds still passes'),
      remedy: expect.stringContaining('Request TDD with "claims": {"tests_need_change": true}'),
    })
    await task.back()
    await task.write({ 'tests/add.test.mjs': HONEST })
    await task.red(COVERS)
    expect(await task.green()).toEqual([])
    expect(await task.ran()).toMatchObject({ grade: 'proved' })
  })

  it.runIf(isFullDepth())(
    '[REQ-TWINS-11] nothing of the rewritten text is left anywhere',
    async () => {
      const spy = `import { readFileSync, writeFileSync } from 'node:fs'
const text = readFileSync('${PATH}', 'utf8')
for (const place of ['/tmp/spied', 'spied.txt', 'node_modules/spied', '.cache/spied', process.env.HOME + '/spied'])
  try { writeFileSync(place, text) } catch {}
console.log(text)
console.error(text)
${CODE}`
      const test = HONEST.replace('5))', "5, 'sums up'))")
      const task = await stage.task({ '.gitignore': 'node_modules/\n.cache/\n' }, NODE)
      await task.write({ [PATH]: test })
      await task.red(COVERS)
      await task.write({ 'src/add.mjs': spy })
      const seen = [JSON.stringify(await task.green()), JSON.stringify(task.answer().body)]
      const timeline = await stage.run.call('GET', `/tasks/${task.id}/timeline`, stage.run.operator)
      seen.push(JSON.stringify(timeline.body))
      // The helper of the rewritten text captures this; no other text of the task does.
      const MARK = 'getOwnPropertyDescriptors'
      for (const text of seen) expect(text).not.toContain(MARK)
      for (const dir of [task.dir, stage.run.stateDir]) {
        const found = execFileSync('sh', ['-c', `grep -rlaF ${MARK} . || true`], { cwd: dir, encoding: 'utf8' })
        expect(found).toBe('')
      }
      expect(readdirSync(task.dir)).not.toContain('spied.txt')
      expect(readFileSync(join(task.dir, PATH), 'utf8')).toBe(test)
    },
    60_000,
  )
})
