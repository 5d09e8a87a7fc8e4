import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from './harness.js'

const CONTRACT = `
name: gits
version: "1"
phases:
  - id: TESTS
    allowed_tools: [write_files]
    required_artifacts: [{type: test_files, schema: schemas/tests.json, description: the tests}]
    gates:
      - id: tests
        type: validation
        blockers:
          - {check: test_files_follow_convention, message: Place}
          - {check: tests_are_meaningful, message: Meaning}
          - {check: no_commented_out_code, message: Comments}
  - id: COMMIT
    allowed_tools: [write_files, git_commit]
    gates: [{id: done, type: validation, blockers: [{check: committed, message: Commit}, {check: command_succeeds, run: "test -f ready", message: Ready}]}]
  - {id: DONE, allowed_tools: []}
`

describe('checks over git and the change', () => {
  let run: Running
  let token = ''
  const put = (path: string, content: string) => {
    mkdirSync(join(run.workspace, path, '..'), { recursive: true })
    writeFileSync(join(run.workspace, path), content)
  }
  const move = async (target_phase: string, artifacts: object = {}): Promise<Answer> => {
    const answer = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase, artifacts })
    if (typeof answer.body.phase_token === 'string') token = answer.body.phase_token
    return answer
  }
  const messages = (answer: Answer) => ((answer.body.blockers ?? []) as { message: string }[]).map((one) => one.message)
  const files = (...paths: string[]) => ({ test_files: { test_files: paths.map((path) => ({ path, covers: ['x'] })) } })

  beforeEach(async () => {
    run = await start({ contract: CONTRACT })
    execFileSync('git', ['init', '-q'], { cwd: run.workspace })
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
  })
  afterEach(() => run.stop())

  it('[REQ-CHECK-9] tests elsewhere, tests that assert nothing and commented-out code are named', async () => {
    put('lib/a.js', 'x')
    put('tests/b.test.js', "// expect(1)\nconst text = 'expect(1)'\n")
    expect(messages(await move('COMMIT', files('lib/a.js', 'tests/b.test.js')))).toEqual([
      expect.stringMatching(/^Place: lib\/a\.js match none of/),
      'Meaning: no assertion in lib/a.js, tests/b.test.js',
    ])
    put('tests/b.test.js', 'assert.equal(sum(1), 1)\n')
    put('src/c.js', '// const a = 1;\n// if (a) {\n//   run(a);\n// }\nexport {}\n')
    expect(messages(await move('COMMIT', files('tests/b.test.js')))).toEqual([
      'Comments: commented-out code in src/c.js',
    ])
    put('src/c.js', '// This says in plain words\n// what the module is for,\n// and nothing else.\nexport {}\n')
    expect((await move('COMMIT', files('tests/b.test.js'))).body).toMatchObject({ allowed: true })
  })

  it('[REQ-CHECK-10] what is not committed and a command that fails close the gate', async () => {
    put('tests/b.test.js', 'assert.equal(sum(1), 1)\n')
    await move('COMMIT', files('tests/b.test.js'))
    expect(messages(await move('DONE'))).toEqual([
      'Commit: not committed: tests/b.test.js',
      'Ready: test -f ready ended with exit code 1',
    ])
    put('ready', '')
    const commit = await run.call('POST', '/tools/execute', token, {
      task_id: 't',
      tool_name: 'git_commit',
      args: { message: 'all' },
    })
    expect(commit.status).toBe(200)
    expect((await move('DONE')).body).toMatchObject({ allowed: true, status: 'completed' })
  })
})
