import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isFullDepth } from '../depth.js'
import { type Files, installTypescript, TYPESCRIPT } from '../e2e/projects.js'
import { expectRefused, type Forge, openForge, type Project, type Task } from './forge.js'

let forge: Forge
beforeAll(async () => {
  forge = await openForge()
})
afterAll(() => forge?.end())

const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
test('adds', async () => {
  const { add } = await import('../src/add.js')
  assert.equal(add(2, 3), 5)
})
`
const FILES: Files = {
  'package.json': '{"name": "adder", "type": "module"}\n',
  '.gitignore': 'node_modules/\nbuild/\n',
  'src/add.js': 'export const add = () => 0\n',
}
const PROJECT: Project = { files: FILES, run: 'node --test tests/', tests: { 'tests/add.test.js': TEST } }
const HONEST: Files = { 'src/add.js': 'export const add = (a, b) => a + b\n' }

describe('what is kept for the views of a task', () => {
  const kept = (): readonly string[] => {
    const folder = join(forge.place.stateDir, 'views')
    return existsSync(folder) ? readdirSync(folder) : []
  }

  it('[REQ-VIEW-10] goes when the task is cancelled', async () => {
    const before = new Set(kept())
    const task = await forge.inImpl(PROJECT)
    const [mine = ''] = kept().filter((name) => !before.has(name))
    expect(readdirSync(join(forge.place.stateDir, 'views', mine))).toEqual(
      expect.arrayContaining(['dependencies.json.gz', 'objects', 'pins.json']),
    )
    const done = await forge.server.call('POST', `/tasks/${task.agent.task}/cancel`, forge.server.operator, {
      reason: 'not needed',
    })
    expect(done.status).toBe(200)
    await expect.poll(() => kept().includes(mine)).toBe(false)
  })

  it('[REQ-VIEW-11] a task whose tests were recorded without contents sees RED again, and completes', async () => {
    const task = await recordedWithout(PROJECT)
    const { agent } = task
    const claimed = await forge.server.call('POST', '/tasks/claim', agent.agentToken, {
      agent_id: `agent-${agent.task}`,
      task_id: agent.task,
    })
    expect(JSON.stringify(claimed.body.warnings)).toContain('RED is run again')
    agent.token = String(claimed.body.phase_token)
    await task.write(HONEST)
    await task.completes()
  })

  it('[REQ-VIEW-11] RED is seen again with the code from the start, not with the code as it is now', async () => {
    const files = { ...FILES, 'src/add.js': 'export const add = () => 5\n' }
    const task = await forge.inTdd({ ...PROJECT, files })
    await task.write({ 'tests/add.test.js': TEST.replace('), 5)', '), 6)') })
    await task.agent.enters('IMPL', { test_files: { test_files: [{ path: 'tests/add.test.js', covers: ['AC1'] }] } })
    forget()
    await task.write({ 'src/add.js': 'export const add = () => 6\n' })
    await task.completes()
  })

  async function recordedWithout(project: Project): Promise<Task> {
    const task = await forge.inImpl(project)
    forget()
    return task
  }

  // As a version that did not keep them left it.
  function forget(): void {
    for (const name of kept()) {
      rmSync(join(forge.place.stateDir, 'views', name, 'pins.json'), { force: true })
      rmSync(join(forge.place.stateDir, 'views', name, 'objects'), { recursive: true, force: true })
    }
  }
})

describe('dependencies and ignored files', () => {
  const WITH_BUILD: Project = {
    ...PROJECT,
    tests: { 'tests/add.test.js': TEST.replace('../src/add.js', '../build/add.js') },
  }

  it('[REQ-VIEW-6] files added since are in the view once an operator accepts them', async () => {
    const task = await forge.inImpl(WITH_BUILD)
    task.smuggle({ 'build/add.js': HONEST['src/add.js'] ?? '' })
    await task.write(HONEST)
    await expectRefused(task, /Left out of the run.*build/)
    const accepted = await forge.server.call('POST', `/tasks/${task.agent.task}/tree/accept`, forge.server.operator, {
      paths: ['build'],
      reason: 'built by hand',
    })
    expect(accepted, JSON.stringify(accepted.body)).toMatchObject({ status: 200, body: { paths: ['build'] } })
    await task.completes()
  })

  it("[REQ-VIEW-6] what the contract names as writable is the task's to change", async () => {
    const contract = (text: string): string =>
      text.replace(
        '        forbidden_patterns: [".git/**",',
        '        allowed_patterns: ["src/**", "build/**"]\n        forbidden_patterns: [".git/**",',
      )
    const task = await forge.inImpl({ ...WITH_BUILD, contract })
    await task.write({ 'build/add.js': HONEST['src/add.js'] ?? '' })
    expect(task.has('build/add.js')).toBe(true)
    await task.completes()
  })
})

// In `npm test` forgery/typescript looks at the same project.
describe.runIf(isFullDepth())('a TypeScript project that is built before its tests run', () => {
  const SUM = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '../src/sum.js'
test('sums up', () => {
  assert.equal(sum([{ cents: 2 }, { cents: 3 }]), 5)
})
`
  const PROJECT: Project = {
    files: TYPESCRIPT,
    run: 'npm test',
    tests: { 'tests/sum.test.ts': SUM },
    prepare: installTypescript,
  }
  const HONEST: Files = {
    'src/sum.ts': `import type { Item } from './price.js'\nexport const sum = (items: readonly Item[]): number => items.reduce((all, { cents }) => all + cents, 0)\n`,
  }
  const WRONG: Files = { 'src/sum.ts': 'export const sum = (_: unknown): number => 0\n' }
  const PASSING = `import { test } from 'node:test'\ntest('sums up', () => {})\n`

  it('[REQ-VIEW-12] an honest implementation completes, also with stale output from the start', async () => {
    const ignored = { 'build/tests/old.test.js': "import { test } from 'node:test'\ntest('old', () => {})\n" }
    const task = await forge.inImpl({ ...PROJECT, ignored })
    await task.write(HONEST)
    await task.completes()
  })

  it('[REQ-VIEW-12] compiled tests that were put in the place of the real ones are left out', async () => {
    const task = await forge.inImpl(PROJECT)
    await task.write(WRONG)
    // The compiler takes what it wrote to be up to date when its record says so.
    const record = (
      await task.agent.does('bash', { command: 'npx tsc -p . ; cat build/*.tsbuildinfo *.tsbuildinfo 2>/dev/null' })
    ).stdout
    const [name] = String(
      (await task.agent.does('bash', { command: 'ls build/*.tsbuildinfo *.tsbuildinfo 2>/dev/null' })).stdout,
    ).split('\n')
    task.smuggle({
      [name ?? 'x']: String(record),
      'build/tests/sum.test.js': PASSING,
      'build/src/sum.js': 'export const sum = () => 5\n',
    })
    await expectRefused(task, /1 failed/, /Left out of the run.*build/)
  })

  it('[REQ-VIEW-12] a compiler that is told to emit no code blocks', async () => {
    const task = await forge.inImpl(PROJECT)
    const config = JSON.parse(TYPESCRIPT['tsconfig.json'] ?? '') as { compilerOptions: object }
    await task.write({
      ...WRONG,
      'tsconfig.json': JSON.stringify({
        ...config,
        compilerOptions: { ...config.compilerOptions, declaration: true, emitDeclarationOnly: true },
      }),
    })
    await expectRefused(task, /tsconfig\.json \(compilerOptions\.emitDeclarationOnly\) was added/)
  })
})
