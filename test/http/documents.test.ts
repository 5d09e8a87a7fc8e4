import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBundledContract } from '../../src/contract/bundled-contracts.js'
import { type Running, start } from './harness.js'

const METADATA =
  'workflow_type: demo\nversion: "1"\nallowed_tools: [read_files, grep, glob, write_files, bash]\nwritable: ["**"]\n'
const SECRET = 'The answer of phase two is 42.'
const PHASES = [
  '# Phase 1: Look\n\nLook around.\n\n## Checkpoint\n\n- `count` (integer, at least 2)\n',
  `# Phase 2: Write\n\n${SECRET}\n\n## Checkpoint\n\n- [ ] Done {#done}\n`,
]

describe('a workflow of documents in the work tree', () => {
  let run: Running
  let token: string
  const execute = (tool_name: string, args: object) =>
    run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })

  beforeAll(async () => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-documents-')))
    const flow = join(dir, 'tree', 'flow')
    for (const [index, text] of PHASES.entries()) {
      mkdirSync(join(flow, 'phases', String(index + 1)), { recursive: true })
      writeFileSync(join(flow, 'phases', String(index + 1), 'phase.md'), text)
    }
    writeFileSync(join(flow, 'metadata.yaml'), METADATA)
    writeFileSync(join(flow, 'standards.md'), 'Names are sentences.\n')
    run = await start({ dir, contractFile: flow })
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
  })
  afterAll(() => run.stop())

  it('[REQ-DOC-11] documents of later phases cannot be read, found, listed or printed', async () => {
    expect(await execute('read_files', { path: 'flow/phases/2/phase.md' })).toMatchObject({ status: 400 })
    const found = JSON.stringify([
      (await execute('grep', { pattern: 'answer of phase' })).body,
      (await execute('glob', { pattern: '**/*.md' })).body,
      (await execute('bash', { command: 'cd flow; cat phases/*/* metadata.yaml; cd ..; find flow; grep -r answer .' }))
        .body,
    ])
    expect(found).not.toContain('is 42')
    expect(found).not.toContain('phases/2')
    expect(found).toContain('flow/standards.md')
  })

  it('[REQ-DOC-11] nothing of the workflow can be changed, replaced or added to, wherever the phase may write', async () => {
    for (const path of ['flow/phases/2/phase.md', 'flow/phases/3/phase.md', 'flow/metadata.json', 'flow/standards.md'])
      expect(await execute('write_files', { path, content: 'x' }), path).toMatchObject({ status: 403 })
    await execute('bash', { command: 'mkdir -p flow/phases/3; echo x > flow/phases/3/phase.md; mv flow gone' })
    expect(existsSync(join(run.workspace, 'flow/phases/3'))).toBe(false)
    expect(existsSync(join(run.workspace, 'flow/phases/2/phase.md'))).toBe(true)
    expect(await execute('write_files', { path: 'notes.md', content: 'x' })).toMatchObject({ status: 200 })
  })

  it('[REQ-DOC-12] a transition needs the evidence that the document demands', async () => {
    const move = (evidence: object) =>
      run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: '2', evidence })
    const short = await move({ count: 1 })
    expect(JSON.stringify(short.body)).toContain('count (validation failed')
    const moved = await move({ count: 2 })
    expect(JSON.stringify(moved.body)).toContain('"2"')
  })

  it('[REQ-DOC-12] the text of one Markdown file can be made known to a server', async () => {
    const source = `# Posted\n\n## Phase 1: One\n\n### Checkpoint\n\n- \`a\` (integer)\n`
    expect(await run.call('POST', '/contracts', run.operator, { source })).toMatchObject({
      body: { name: 'Posted', version: '1' },
    })
    const refused = await run.call('POST', '/contracts', run.operator, { source: source.replace('integer', 'quark') })
    expect(refused.body).toMatchObject({ code: 'contract.invalid', errors: [{ code: 'unknown_type', line: 7 }] })
  })
})

describe('a work tree that is itself a workflow', () => {
  it('[REQ-DOC-11] keeps its phases and metadata from agents, and nothing else', async () => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-documents-')))
    cpSync(findBundledContract('test-generation'), join(dir, 'tree'), { recursive: true })
    const run = await start({ dir, contractFile: join(dir, 'tree') })
    await run.addTask({ id: 't' })
    const token = await run.claim('a', await run.addAgent('a'), 't')
    const read = (path: string) =>
      run.call('POST', '/tools/execute', token, { task_id: 't', tool_name: 'read_files', args: { path } })
    expect((await read('phases/5/phase.md')).status).toBe(400)
    expect((await read('metadata.yaml')).status).toBe(400)
    expect((await read('standards/test-names.md')).status).toBe(200)
    await run.stop()
  })
})

describe('the bundled test-generation', () => {
  it('[REQ-DOC-12] is completed by an honest agent, from the first document to the last', async () => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-documents-')))
    const tree = join(dir, 'tree')
    mkdirSync(join(tree, 'src'), { recursive: true })
    writeFileSync(join(tree, 'package.json'), JSON.stringify({ type: 'module', scripts: { test: 'node --test' } }))
    writeFileSync(join(tree, 'src/add.js'), 'export const add = (a, b) => a + b\n')
    const run = await start({ dir, contractFile: findBundledContract('test-generation') })
    await run.addTask({ id: 't' })
    let token = await run.claim('a', await run.addAgent('a'), 't')
    const complete = async (phase: number, evidence: object) => {
      const { body } = await run.call('POST', `/phases/${phase}/complete`, token, { task_id: 't', evidence })
      if (typeof body.phase_token === 'string') token = body.phase_token
      return body
    }
    const tool = (tool_name: string, args: object) =>
      run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
    const cases = Array.from({ length: 5 }, (_, n) => `adds ${n} | two numbers | added | the sum`)
    const first = { target_file: 'src/add.js', functions_list: ['add'], branch_count: 0 }
    expect(await complete(1, { ...first, function_count: 2 })).not.toMatchObject({ phase_completed: 1 })
    expect(await complete(1, { ...first, function_count: 1 })).toMatchObject({ checkpoint_passed: true, next_phase: 2 })
    const behaviours = ['add: sums', 'add: keeps 0', 'add: is commutative']
    await complete(2, { behaviours, edge_cases: ['0', '-1'], failure_modes: [] })
    await complete(3, { dependency_count: 0, dependencies: [], replaced: [] })
    await complete(4, { framework: 'node:test', test_folder: 'test', tested_already: [] })
    expect(await complete(5, { case_count: 5, cases, uncovered_branches: [] })).toMatchObject({ next_phase: 6 })
    const tests = cases.map((name, n) => `test('${name}', () => assert.equal(add(${n}, 1), ${n + 1}))`)
    const head =
      "import assert from 'node:assert'\nimport { test } from 'node:test'\nimport { add } from '../src/add.js'\n"
    expect(await tool('write_files', { path: 'src/add.js', content: 'x' })).toMatchObject({ status: 403 })
    await tool('write_files', { path: 'test/add.test.js', content: `${head}${tests.join('\n')}\n` })
    const written = { test_files: ['test/add.test.js'], test_count: 5, skipped_cases: [] }
    expect(await complete(6, written)).not.toMatchObject({ phase_completed: 6 })
    for (const task of ['task-1', 'task-2', 'task-3'])
      await run.call('POST', '/prompt/next', token, { task_id: 't', claims: { [task]: true } })
    const answer = await complete(6, written)
    expect(answer, JSON.stringify(answer).slice(0, 900)).toMatchObject({ checkpoint_passed: true, next_phase: 7 })
    expect(await complete(7, { found_defects: [] })).toMatchObject({ checkpoint_passed: true, next_phase: 8 })
    const report = {
      cases_accounted_for: true,
      tests_can_fail: true,
      only_tests_changed: true,
      defects_described: true,
    }
    expect(await complete(8, { ...report, tests_can_fail: false })).toMatchObject({ checkpoint_passed: false })
    expect(await complete(8, report)).toMatchObject({ checkpoint_passed: true, workflow_complete: true })
    await run.stop()
  })
})
