import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startPhased, type Worker } from './phasing.js'

const FILES = `
name: files
version: "1"
phases:
  - id: A
    allowed_tools: [write_files, bash]
    writable: ['**']
    min_verified: 1
    checkpoint:
      evidence:
        report: {type: string, grade: artifact, optional: true, description: the report}
        more: {type: array, grade: artifact, optional: true, description: more files}
        note: {type: string, optional: true, description: a note}
  - {id: B, allowed_tools: []}
enforcement: {reconcile: off, denial_budget: 500}
`

describe('evidence that names files', () => {
  let one: Worker
  beforeEach(async () => {
    one = await startPhased(FILES)
  })
  afterEach(() => one.run.stop())

  const put = (path: string, content: string) => {
    mkdirSync(join(one.run.workspace, path, '..'), { recursive: true })
    writeFileSync(join(one.run.workspace, path), content)
  }
  const missing = async (evidence: object) => (await one.complete('A', evidence)).body.missing_evidence

  it('[REQ-EVIDENCE-1] a file that is not there, is empty or is not a file does not count', async () => {
    put('empty.md', '')
    mkdirSync(join(one.run.workspace, 'folder'))
    expect(await missing({ report: 'nope.md' })).toEqual(['report (validation failed: "nope.md" not found)'])
    expect(await missing({ report: 'empty.md' })).toEqual(['report (validation failed: "empty.md" is empty)'])
    expect(await missing({ report: 'folder' })).toEqual(['report (validation failed: "folder" is a directory)'])
    execFileSync('mkfifo', [join(one.run.workspace, 'pipe')])
    expect(await missing({ report: 'pipe' })).toEqual([expect.stringMatching(/^report \(validation failed: "pipe" /)])
    expect(await missing({ report: 7 })).toEqual(['report (wrong type: expected string, got integer)'])
    expect(await missing({ more: [] })).toEqual(['more (validation error: it must name a file of the work tree)'])
    expect(await missing({ more: ['a', 1] })).toEqual(['more (validation error: it must name a file of the work tree)'])
  })

  it('[REQ-EVIDENCE-1] a path that leaves the tree, a link, and what belongs to git or to the contract do not count', async () => {
    put('.git/HEAD', 'ref: refs/heads/main\n')
    put('agent_workflow.yaml', 'name: x\n')
    put('real.md', 'text')
    symlinkSync('/etc/passwd', join(one.run.workspace, 'link.md'))
    symlinkSync('/etc', join(one.run.workspace, 'etc'))
    symlinkSync('real.md', join(one.run.workspace, 'inner.md'))
    for (const path of [
      ...['../state/operator.token', '/etc/passwd', 'a/../../x', '', '.', 'link.md', 'etc/passwd', 'inner.md'],
      ...[
        '.git/HEAD',
        'sub/.git/x',
        'agent_workflow.yaml',
        './agent_workflow.yaml',
        'real.md/x',
        'real.md\0',
        'x'.repeat(5000),
      ],
    ])
      expect(await missing({ report: path }), path).toEqual([expect.stringMatching(/^report \(validation failed: /)])
    expect((await one.run.call('GET', '/tasks/t', one.run.operator)).body.phase).toBe('A')
  })

  it('[REQ-EVIDENCE-1] more bytes than are looked at do not count, under however many names', async () => {
    put('large.bin', '')
    truncateSync(join(one.run.workspace, 'large.bin'), 200 * 1024 * 1024)
    const names = Array.from({ length: 100 }, (_, n) => `${'./'.repeat(n)}large.bin`)
    const started = Date.now()
    expect(await missing({ report: 'large.bin', more: names })).toEqual([expect.stringContaining('more than')])
    expect(Date.now() - started).toBeLessThan(20_000)
  })

  it('[REQ-EVIDENCE-2] a file from before the visit does not count, also when its time is set to the future', async () => {
    one.run.now = Date.now() + 60_000
    await one.run.call('POST', '/tasks/t/rewind', one.run.operator, { to_phase: 'A', reason: 'again' })
    one.run.now = Date.now() + 61_000
    put('old.md', 'text')
    const later = new Date(Date.now() + 3_600_000)
    utimesSync(join(one.run.workspace, 'old.md'), later, later)
    one.token = await one.run.claim('a', one.agent, 't')
    const older = 'report (validation failed: "old.md" is older than this visit of the phase)'
    expect(await missing({ report: 'old.md' })).toEqual([older])
  })

  it('[REQ-EVIDENCE-2] a file whose content is old does not count when only its name is new', async () => {
    put('old.md', 'text')
    const before = new Date(Date.now() - 3_600_000)
    utimesSync(join(one.run.workspace, 'old.md'), before, before)
    linkSync(join(one.run.workspace, 'old.md'), join(one.run.workspace, 'new.md'))
    expect(await missing({ report: 'new.md' })).toEqual([expect.stringContaining('is older than this visit')])
  })

  it('[REQ-EVIDENCE-3] a file of this visit counts and its hash is recorded', async () => {
    put('docs/report.md', 'text')
    const answer = await one.complete('A', { report: 'docs/report.md', more: ['docs/report.md'] })
    expect(answer.body).toMatchObject({ checkpoint_passed: true })
    const passed = (await one.events()).find((event) => event.type === 'checkpoint_passed')
    const file = {
      path: 'docs/report.md',
      sha256: '982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1',
      bytes: 4,
    }
    expect(passed?.data.proofs).toEqual({
      report: { grade: 'artifact', files: [file] },
      more: { grade: 'artifact', files: [file] },
    })
  })

  const use = async (tool_name: string, args: object) => {
    const used = await one.run.call('POST', '/tools/execute', one.token, { task_id: 't', tool_name, args })
    expect(used.status, JSON.stringify(used.body)).toBe(200)
  }

  it('[REQ-EVIDENCE-3] what the agent wrote with its tools in this visit counts', async () => {
    await use('write_files', { path: 'a.md', content: 'by a tool' })
    await use('bash', { command: 'echo by a command > b.md' })
    expect((await one.complete('A', { report: 'a.md', more: ['b.md'] })).body).toMatchObject({
      checkpoint_passed: true,
    })
  })

  it('[REQ-EVIDENCE-2] a command that gives a file of before another time does not make it new', async () => {
    put('old.md', 'text')
    await new Promise((resolve) => setTimeout(resolve, 50))
    await one.run.call('POST', '/tasks/t/rewind', one.run.operator, { to_phase: 'A', reason: 'again' })
    one.token = await one.run.claim('a', one.agent, 't')
    for (const command of ['touch old.md', 'touch -d 2099-01-01 old.md', 'cat old.md']) {
      await use('bash', { command })
      expect(await missing({ report: 'old.md' }), command).toEqual([
        expect.stringContaining('is older than this visit'),
      ])
    }
  })

  it('[REQ-EVIDENCE-4] min_verified counts fields that are worth more than a word', async () => {
    expect(await missing({ note: 'trust me' })).toEqual([
      'min_verified (validation failed: 1 fields must be proved by a file or a run, and 0 are)',
    ])
  })

  it('[REQ-EVIDENCE-5] a request for a transition and a claim to be done are judged alike', async () => {
    const body = { task_id: 't', target_phase: 'B', evidence: { report: 'nope.md', surprise: 1 } }
    const asked = await one.run.call('POST', '/tasks/transition', one.token, body)
    const claims = { A_complete: true }
    const said = await one.run.call('POST', '/prompt/next', one.token, { claims, evidence: body.evidence })
    const messages = (blockers: unknown) => (blockers as { message: string }[]).map((each) => each.message)
    const problems = await missing(body.evidence)
    expect(problems).toHaveLength(2)
    expect(messages(asked.body.blockers)).toEqual(problems)
    expect(messages(said.body.blockers)).toEqual(problems)
  })
})

const RUNS = `
name: runs
version: "1"
phases:
  - id: A
    allowed_tools: [write_files]
    checkpoint:
      evidence:
        tests_passed: {type: integer, min: 2, grade: observed, description: tests that pass}
        tests_failed: {type: integer, must_be: 0, grade: observed}
        lint: {type: boolean, grade: observed}
        note: {type: string, description: a note}
    gates: [{id: g, type: validation, blockers: [{check: expression, when: "evidence.tests_passed >= 2", message: Two at least}]}]
  - {id: B, allowed_tools: []}
commands:
  tests: {run: "node --test tests/", format: node, timeout_seconds: 60}
  lint: {run: "test ! -e bad.txt", timeout_seconds: 60}
enforcement: {reconcile: off, denial_budget: 500}
`
const testsOf = (count: number) =>
  `import { test } from 'node:test'\n${Array.from({ length: count }, (_, i) => `test('t${i}', () => {})\n`).join('')}`

describe('evidence that Phaselock observes', () => {
  let one: Worker
  beforeEach(async () => {
    one = await startPhased(RUNS)
    mkdirSync(join(one.run.workspace, 'tests'))
  })
  afterEach(() => one.run.stop())
  const put = (path: string, content: string) => writeFileSync(join(one.run.workspace, path), content)

  it('[REQ-EVIDENCE-6] a claim that contradicts what was observed is refused and says both', async () => {
    put('tests/a.test.mjs', testsOf(3))
    put('bad.txt', '')
    const answer = await one.complete('A', { note: 'n', tests_passed: 12, lint: true })
    expect(answer.body).toMatchObject({
      checkpoint_passed: false,
      missing_evidence: [
        'lint (validation failed: claimed true, observed false)',
        'tests_passed (validation failed: claimed 12, observed 3)',
      ],
    })
    expect((await one.complete('A', { note: 'n', tests_passed: '3' })).body.missing_evidence).toEqual([
      'tests_passed (wrong type: expected integer, got string)',
    ])
  })

  it('[REQ-EVIDENCE-6] too few observed tests close the gate, and the number is told', async () => {
    put('tests/a.test.mjs', testsOf(1))
    expect((await one.complete('A', { note: 'n' })).body.missing_evidence).toEqual([
      'tests_passed (validation failed: tests that pass; observed 1)',
    ])
  })

  it("[REQ-EVIDENCE-7] nothing is run while the agent's own fields do not hold", async () => {
    put('tests/a.test.mjs', testsOf(2))
    expect((await one.complete('A', {})).body.missing_evidence).toEqual(['note (required: a note)'])
    expect(JSON.stringify(await one.events())).not.toContain('tree_hash')
  })

  it('[REQ-EVIDENCE-7] observed fields are filled, kept with their command and handed on', async () => {
    put('tests/a.test.mjs', testsOf(2))
    const answer = await one.complete('A', { note: 'n', tests_passed: 2 })
    const outputs = { lint: true, note: 'n', tests_failed: 0, tests_passed: 2 }
    expect(answer.body).toMatchObject({ checkpoint_passed: true })
    const passed = (await one.events()).find((event) => event.type === 'checkpoint_passed')
    expect(passed?.data).toMatchObject({
      evidence: outputs,
      proofs: { lint: { grade: 'observed', command: 'lint' }, tests_passed: { grade: 'observed', command: 'tests' } },
    })
  })
})
