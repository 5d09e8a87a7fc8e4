import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from './harness.js'

const CONTRACT = `
name: diffs
version: "1"
phases:
  - id: TESTS
    allowed_tools: [write_files, bash]
    required_artifacts: [{type: test_files, schema: schemas/tests.json, description: the tests}]
    gates:
      - id: tests
        type: validation
        blockers:
          - {check: test_files_follow_convention, message: Place}
          - {check: tests_are_meaningful, message: Meaning}
  - id: WORK
    allowed_tools: [write_files, bash, git_commit]
    gates:
      - id: done
        type: validation
        blockers:
          - {check: expression, when: "size(changes) == 0 || changes.exists(c, c.path == 'NOTES.md' && c.change == 'created')", message: Notes}
          - {check: expression, when: "changes.all(c, c.change != 'deleted')", message: Kept}
          - {check: committed, message: Commit}
  - {id: DONE, allowed_tools: []}
`
const GOOD = "import { test } from 'node:test'\ntest('a', () => assert.equal(sum(1), 1))\n"
const HOLLOW = "import { test } from 'node:test'\ntest('a', () => assert.equal(1, 1))\n"

describe("the phase's changes", () => {
  let run: Running
  let token = ''
  const put = (path: string, content: string) => {
    mkdirSync(join(run.workspace, path, '..'), { recursive: true })
    writeFileSync(join(run.workspace, path), content)
  }
  const move = async (target_phase: string, ...paths: string[]): Promise<Answer> => {
    const artifacts =
      paths.length === 0 ? {} : { test_files: { test_files: paths.map((path) => ({ path, covers: ['x'] })) } }
    const answer = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase, artifacts })
    if (typeof answer.body.phase_token === 'string') token = answer.body.phase_token
    return answer
  }
  const tool = async (tool_name: string, args: object) => {
    const answer = await run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  }
  const write = (path: string, content: string) => tool('write_files', { path, content })
  const messages = (answer: Answer) => ((answer.body.blockers ?? []) as { message: string }[]).map((one) => one.message)

  beforeEach(async () => {
    run = await start({ contract: CONTRACT })
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], { cwd: run.workspace })
    git('init', '-q')
    put('.gitignore', '*.log\n')
    put('tests/old.test.mjs', HOLLOW)
    put('src/old.mjs', 'x\n')
    git('add', '.')
    git('commit', '-qm', 'base')
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
  })
  afterEach(() => run.stop())

  it('[REQ-DIFF-1] tests without assertions that nobody named and tests outside the patterns are reported; older ones are not', async () => {
    await write('tests/a.test.mjs', GOOD)
    await write('tests/b.mjs', HOLLOW)
    await tool('bash', { command: `mkdir -p lib && cp tests/a.test.mjs lib/check.mjs && echo x > tests/data.json` })
    put('tests/c.test.mjs', HOLLOW)
    const answer = await move('WORK', 'tests/a.test.mjs')
    expect(messages(answer)).toEqual([
      expect.stringMatching(/^Place: lib\/check\.mjs match none of /),
      'Meaning: no assertion in tests/b.mjs, tests/c.test.mjs',
    ])
    await tool('bash', { command: 'rm lib/check.mjs tests/c.test.mjs' })
    await write('tests/b.mjs', GOOD)
    expect((await move('WORK', 'tests/a.test.mjs')).body).toMatchObject({ allowed: true })
  })

  it('[REQ-DIFF-1] where one call changed more than is listed, every test of the project is judged', async () => {
    await write('tests/a.test.mjs', GOOD)
    await tool('bash', { command: 'mkdir many; for i in $(seq 250); do echo x > many/$i.txt; done' })
    expect(messages(await move('WORK', 'tests/a.test.mjs'))).toEqual(['Meaning: no assertion in tests/old.test.mjs'])
  })

  const work = async () => {
    await write('tests/a.test.mjs', GOOD)
    expect((await move('WORK', 'tests/a.test.mjs')).body).toMatchObject({ allowed: true })
  }

  it('[REQ-DIFF-3] expressions see what this phase created, modified and deleted, and nothing of the phase before', async () => {
    await work()
    expect(messages(await move('DONE'))).toEqual(['Commit: not committed: tests/a.test.mjs'])
    await write('src/new.mjs', 'x\n')
    expect(messages(await move('DONE')).join()).toMatch(/^Notes: .* is false/)
    await tool('bash', { command: 'rm src/old.mjs; echo x > NOTES.md' })
    expect(messages(await move('DONE')).join()).toMatch(/^Kept: .* is false/)
    await write('src/old.mjs', 'y\n')
    expect(messages(await move('DONE')).join()).toMatch(/^Commit: not committed/)
    await tool('bash', {
      command: 'rm -r src/new.mjs NOTES.md; mkdir many; for i in $(seq 250); do echo x > many/$i; done',
    })
    expect(messages(await move('DONE')).join()).toMatch(/Notes: a call of this phase changed more paths/)
  })

  it('[REQ-DIFF-4] a file that an edited .gitignore hides is not committed, and one that was ignored before does not count', async () => {
    await work()
    await write('NOTES.md', 'x\n')
    await write('src/hidden.mjs', 'x\n')
    await write('deep/er/hidden.txt', 'x\n')
    await write('.gitignore', 'hidden.mjs\ndeep/\n')
    put('run.log', 'x')
    await tool('git_commit', { message: 'most of it', paths: ['NOTES.md', '.gitignore', 'tests/a.test.mjs'] })
    expect(messages(await move('DONE'))).toEqual(['Commit: not committed: deep/er/hidden.txt, src/hidden.mjs'])
    await tool('bash', { command: 'rm -r deep src/hidden.mjs' })
    expect((await move('DONE')).body).toMatchObject({ allowed: true, status: 'completed' })
  })

  it('[REQ-DIFF-4] a task that has nothing left to commit holds', async () => {
    await work()
    await tool('git_commit', { message: 'all' })
    expect((await move('DONE')).body).toMatchObject({ allowed: true, status: 'completed' })
  })
})
