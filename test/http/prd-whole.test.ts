import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { removedAtExit } from '../leaving.js'
import { type Running, start } from './harness.js'

// Another file of the same form, such as the one that PRD-007 itself comes with; `schemas` beside it is read too.
const OTHER = process.env.PHASELOCK_PRD_CONTRACT
const BOARD = fileURLToPath(new URL('../cases/review-board.yaml', import.meta.url))
const LISTS = { type: 'array', items: { type: 'string' } }
/** Schemas as a project has them in files: test files are paths, and the implementation lists what it created. */
const OWN_SCHEMAS = {
  tests: { properties: { test_files: LISTS, test_count: { type: 'integer' }, coverage_areas: LISTS } },
  implementation: { properties: { files_modified: LISTS, files_created: LISTS, summary: { type: 'string' } } },
  review: { properties: { reviewer: { type: 'string' }, approved: { type: 'boolean' }, comments: LISTS } },
}

/** A folder with the contract and its schemas. */
function folderOf(file: string): string {
  const folder = removedAtExit(mkdtempSync(join(tmpdir(), 'phaselock-prd-')))
  const schemas = join(dirname(file), 'schemas')
  cpSync(file, join(folder, 'agent_workflow.yaml'))
  if (existsSync(schemas)) cpSync(schemas, join(folder, 'schemas'), { recursive: true })
  else {
    mkdirSync(join(folder, 'schemas'))
    for (const [name, schema] of Object.entries(OWN_SCHEMAS))
      writeFileSync(join(folder, `schemas/${name}.json`), JSON.stringify({ type: 'object', ...schema }))
  }
  return join(folder, 'agent_workflow.yaml')
}

const FILES: readonly (readonly [name: string, file: string, hasOwnSchemas: boolean])[] = [
  ['in the form of PRD-007', BOARD, false],
  ['in the form of PRD-007 with schemas of its own', BOARD, true],
  ...(OTHER === undefined
    ? []
    : ([
        ['of PRD-007 itself', OTHER, false],
        ['of PRD-007 itself with its own schemas', OTHER, true],
      ] as const)),
]

interface Written {
  readonly phases: readonly { readonly id: string; readonly auto_spawn?: readonly { readonly models: string[] }[] }[]
}

const PLAN = {
  title: 'Add and double numbers',
  acceptance_criteria: [
    { id: 'AC1', criterion: 'Two numbers are added', how_to_verify: 'a unit test' },
    { id: 'AC2', criterion: 'A number is doubled', how_to_verify: 'a unit test' },
  ],
  implementation_steps: ['write the tests', 'write the functions'],
  scope: { in_scope: ['adding'], out_of_scope: ['everything else'] },
  open_questions: [],
}
const SCOPE = { in_scope: ['adding'], out_of_scope: ['everything else'], constraints: ['no dependency'] }
const TESTS = {
  test_files: [
    { path: 'tests/add.test.js', covers: ['AC1'] },
    { path: 'tests/double.test.js', covers: ['AC2'] },
  ],
  coverage: { acceptance_criteria_covered: ['AC1', 'AC2'] },
}
const IMPLEMENTATION = {
  files_changed: [{ path: 'lib/numbers.js', change_type: 'created' }],
  summary: 'Two small functions, add and double, which the tests ask for and nothing else.',
}
const PATHS = {
  test_files: TESTS.test_files.map(({ path }) => path),
  test_count: 2,
  coverage_areas: ['adding', 'doubling'],
}
const CREATED = { files_created: ['lib/numbers.js'], files_modified: [], summary: IMPLEMENTATION.summary }
const COMPLETION = {
  summary:
    'Numbers are added and doubled by two functions in one file; both have a test that failed before they were written.',
  files_changed: ['lib/numbers.js', 'tests/add.test.js', 'tests/double.test.js'],
  tests_added: 2,
  acceptance_criteria_met: ['AC1', 'AC2'],
}
const testOf = (name: string, call: string, value: number): string =>
  `import assert from 'node:assert/strict'\nimport { test } from 'node:test'\nimport { ${name} } from '../lib/numbers.js'\n\ntest('${name}', () => assert.equal(${call}, ${value}))\n`

describe.each(FILES)('a contract %s', (_name, file, hasOwnSchemas) => {
  const test_files = hasOwnSchemas ? PATHS : TESTS
  const implementation_files = hasOwnSchemas ? CREATED : IMPLEMENTATION
  const text = readFileSync(file, 'utf8')
  const { phases } = parse(text) as Written
  const [plan = '', red = '', green = '', review = '', done = ''] = phases.map((phase) => phase.id)
  const names = phases.flatMap((phase) => phase.auto_spawn ?? []).flatMap((spawn) => spawn.models)
  let run: Running
  let token = ''
  const use = async (tool_name: string, args: Record<string, unknown>) => {
    const answer = await run.call('POST', '/tools/execute', token, { task_id: 'N', tool_name, args })
    if (typeof answer.body.phase_token === 'string') token = answer.body.phase_token
    return answer
  }
  const write = (path: string, content: string) => use('write_files', { path, content })
  const move = async (target_phase: string, artifacts: Record<string, unknown> = {}) => {
    const { body } = await run.call('POST', '/tasks/transition', token, { task_id: 'N', target_phase, artifacts })
    if (typeof body.phase_token === 'string') token = body.phase_token
    return body
  }
  const approve = (as: string, pending: unknown) => {
    const { id, digest } = pending as { id: string; digest: string }
    return run.call('POST', `/approvals/${id}/decision`, as, { decision: 'approve', digest })
  }
  // What the agent says of its tests is what it saw.
  const tested = async () => {
    const { body } = await use('bash', { command: 'npm test' })
    const { exit_code, stdout } = body.result as { exit_code: number; stdout: string }
    const count = (word: string): number => Number(new RegExp(`^(?:#|ℹ) ${word} (\\d+)`, 'm').exec(stdout)?.[1] ?? -1)
    const at = new Date().toISOString()
    return {
      ...{ command: 'npm test', exit_code, timestamp: at },
      ...{ passed: count('pass'), failed: count('fail'), skipped: count('skipped') },
    }
  }

  beforeAll(async () => {
    run = await start(hasOwnSchemas ? { contractFile: folderOf(file) } : { contract: text })
    const manifest = { name: 'numbers', type: 'module', scripts: { test: 'node --test' } }
    mkdirSync(join(run.workspace, 'lib'))
    writeFileSync(join(run.workspace, 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(run.workspace, 'lib/.keep'), '')
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: run.workspace })
    git('init', '-q')
    git('add', '.')
    git('commit', '-qm', 'first')
    const agent = await run.addAgent('coder')
    const created = await run.call('POST', '/tasks', run.operator, { id: 'N', title: 'Numbers' })
    expect(created).toMatchObject({ status: 201 })
    token = await run.claim('coder', agent, 'N')
  })
  afterAll(() => run.stop())

  it('[REQ-PRD-1] nothing is written before a human has approved the plan, and the agent is not a human', async () => {
    expect(await write('tests/add.test.js', 'early')).toMatchObject({ status: 403, body: { code: 'forbidden_tool' } })
    const asked = await move(red, { plan_document: PLAN, scope_definition: SCOPE })
    expect(asked).toMatchObject({ allowed: false, phase: plan, blockers: [{ code: 'approval_pending' }] })
    expect(await approve(token, asked.pending_approval)).toMatchObject({ status: 403 })
    expect(await approve(run.operator, asked.pending_approval)).toMatchObject({ status: 200 })
    expect(await move(red)).toMatchObject({ allowed: true, phase: red })
  })

  it('[REQ-PRD-1] [REQ-ADVANCE-1] the tests are written first, really fail, and the last of them opens the gate by itself', async () => {
    expect(await write('docs/numbers.js', 'early')).toMatchObject({ status: 403 })
    expect(await write('tests/add.test.js', testOf('add', 'add(2, 3)', 5))).toMatchObject({ status: 200 })
    const test_run_result = await tested()
    expect(test_run_result).toMatchObject({ failed: 1, passed: 0 })
    const blocked = await move(green, { test_files, test_run_result })
    expect(blocked).toMatchObject({ allowed: false, phase: red })
    expect(JSON.stringify(blocked.blockers)).toContain('not in the work tree: tests/double.test.js')
    const answer = await write('tests/double.test.js', testOf('double', 'double(2)', 4))
    expect(answer).toMatchObject({ status: 200, body: { decision: 'allowed', advanced: { phase: green } } })
  })

  it('[REQ-PRD-1] the phase is left with tests that pass, not with a claim that they do', async () => {
    const test_run_result = await tested()
    expect(test_run_result.exit_code).not.toBe(0)
    expect(await move(review, { implementation_files, test_run_result })).toMatchObject({
      allowed: false,
    })
    const content = 'export const add = (a, b) => a + b\nexport const double = (a) => add(a, a)\n'
    const written = await write('lib/numbers.js', content)
    expect(written).toMatchObject({ status: 200 })
    expect(written.body.advanced).toBeUndefined()
    const passing = await tested()
    expect(passing).toMatchObject({ exit_code: 0, passed: 2, failed: 0, skipped: 0 })
    expect(await move(review, { implementation_files, test_run_result: passing })).toMatchObject({
      allowed: true,
      phase: review,
    })
  })

  it('[REQ-PRD-1] [REQ-SLOT-1] the review opens a place for each model and waits for all of them', async () => {
    const { body } = await run.call('GET', '/tasks/N', run.operator)
    expect(body.reviewers_wanted).toEqual(names.map((name) => ({ name, status: 'wanted', awaited: true })))
    const reviews = Object.fromEntries(names.map((name) => [name, { status: 'completed' }]))
    const lie = { review_report: { reviews, consolidated_issues: [], blocking_issues: [] } }
    expect(await move(done, lie)).toMatchObject({ allowed: false, phase: review })
    for (const [index, name] of names.entries()) {
      expect(await move(done)).toMatchObject({ allowed: false })
      const added = await run.call('POST', '/tasks/N/reviewers', run.operator, { name })
      const report = { status: index === 0 ? 'approved' : 'completed', summary: `${name} is content` }
      const sent = await run.call('POST', '/tasks/N/reviews', String(added.body.review_token), { report })
      expect(sent).toMatchObject({ status: 201, body: { finished: true } })
    }
    const after = await run.call('GET', '/tasks/N', run.operator)
    expect(after.body).toMatchObject({ refusals: expect.any(Number), status: 'active' })
    expect((after.body.reviewers_wanted as { status: string }[]).every((one) => one.status === 'finished')).toBe(true)
  })

  it('[REQ-PRD-1] a human approves what the reviewers said, and the committed work completes the task', async () => {
    const asked = await move(done)
    expect(asked).toMatchObject({ allowed: false, blockers: [{ code: 'approval_pending' }] })
    expect(await approve(run.operator, asked.pending_approval)).toMatchObject({ status: 200 })
    expect(await move(done)).toMatchObject({ allowed: true, phase: done })
    expect(await use('git_commit', { message: 'Add and double numbers' })).toMatchObject({ status: 200 })
    expect(await move(done, { completion_summary: { ...COMPLETION, files_changed: [] } })).toMatchObject({
      allowed: false,
    })
    expect(await move(done, { completion_summary: COMPLETION })).toMatchObject({ allowed: true, status: 'completed' })
    const log = execFileSync('git', ['log', '--format=%s'], { cwd: run.workspace, encoding: 'utf8' })
    expect(log.split('\n')[0]).toBe('Add and double numbers')
    expect(run.faults).toEqual([])
  })

  it('[REQ-ADVANCE-3] what Phaselock did by itself is in the ledger under its own name, and cost the agent nothing', async () => {
    const { body } = await run.call('GET', '/tasks/N/timeline?limit=1000', run.operator)
    const events = body.events as { type: string; actor: string; data: Record<string, unknown> }[]
    const own = events.filter((event) => event.actor === 'orchestrator').map((event) => event.type)
    expect(own).toEqual(['transition_requested', 'tests_pinned', 'gate_passed', 'phase_entered'])
    expect(events.filter((event) => event.type === 'reviewers_wanted')).toMatchObject([{ data: { names } }])
    expect(events.some((event) => event.type === 'task_parked')).toBe(false)
  })
})
