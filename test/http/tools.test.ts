import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from './harness.js'

const CONTRACT = `
name: tools
version: "1"
phases:
  - id: TDD
    allowed_tools: [read_files, write_files, edit_files, glob, grep, search_codebase, bash, git_status, git_diff, git_log, git_commit, count, web_fetch]
    tool_constraints: {write_files: {allowed_patterns: ["tests/**", "big/**"]}, bash: {timeout_seconds: 30}}
  - id: LIMITED
    allowed_tools: [bash]
    tool_constraints: {bash: {allowed_commands: ["npm test"]}}
  - id: DONE
    allowed_tools: []
tools:
  count: {command: [wc, -l, "{path}"], args: {path: {type: string, path: read}}, description: Count the lines of a file.}
web: {allowed_hosts: [example.org]}
`

describe('tools from outside', () => {
  let run: Running
  let token = ''
  const execute = (tool_name: string, args: object): Promise<Answer> =>
    run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
  const tree = (path: string): string => join(run.workspace, path)

  beforeAll(async () => {
    run = await start({ contract: CONTRACT })
    for (const folder of ['src', 'tests', 'big']) mkdirSync(tree(folder))
    writeFileSync(tree('src/main.ts'), 'export const answer = 42\nexport function parseHeader() {}\n')
    writeFileSync(tree('src/bytes.bin'), Buffer.from([0, 1, 2, 0xff]))
    writeFileSync(tree('big/huge.txt'), 'a line of text\n'.repeat(2_000_000))
    writeFileSync(tree('.gitignore'), 'ignored/\n')
    mkdirSync(tree('ignored'))
    writeFileSync(tree('ignored/answer.txt'), 'answer')
    symlinkSync('/etc', tree('tests/out'))
    execFileSync('mkfifo', [tree('src/pipe')])
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: run.workspace })
    git('init', '-q')
    git('add', 'src/main.ts', '.gitignore')
    git('commit', '-qm', 'first')
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
  })
  afterAll(() => run.stop())

  it('[REQ-FILES-4] calls that append to one file at the same time all arrive', async () => {
    const append = (line: number) => execute('write_files', { path: 'tests/log', content: `${line}\n`, mode: 'a' })
    await Promise.all(Array.from({ length: 20 }, (_, line) => append(line)))
    const lines = readFileSync(tree('tests/log'), 'utf8').trim().split('\n').map(Number)
    expect(lines.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, line) => line))
  })

  it('[REQ-FILES-6] calls that edit one file at the same time are all kept', async () => {
    writeFileSync(tree('tests/edited'), Array.from({ length: 20 }, (_, line) => `<${line}>\n`).join(''))
    const edit = (line: number) =>
      execute('edit_files', { path: 'tests/edited', edits: [{ old: `<${line}>`, new: `[${line}]` }] })
    await Promise.all(Array.from({ length: 20 }, (_, line) => edit(line)))
    expect(readFileSync(tree('tests/edited'), 'utf8')).toBe(
      Array.from({ length: 20 }, (_, line) => `[${line}]\n`).join(''),
    )
  })

  const failing: readonly (readonly [string, string, object, number, string, RegExp])[] = [
    ['a missing file', 'read_files', { path: 'nope' }, 400, 'tool_failed', /not found/],
    ['a folder', 'read_files', { path: 'src' }, 400, 'tool_failed', /is a directory/],
    ['a binary', 'read_files', { path: 'src/bytes.bin' }, 400, 'tool_failed', /binary|UTF-8|text/],
    ['a pipe', 'read_files', { path: 'src/pipe' }, 400, 'tool_failed', /special file/],
    ['a link out of the tree', 'read_files', { path: 'tests/out/passwd' }, 400, 'tool_failed', /link/],
    ['the contract', 'read_files', { path: 'agent_workflow.yaml' }, 400, 'tool_failed', /not found/],
    ['no argument', 'read_files', {}, 400, 'invalid_request', /exactly one of/],
    ['an unknown argument', 'read_files', { path: 'a', depth: 1 }, 400, 'invalid_request', /unknown argument "depth"/],
    ['a wrong type', 'read_files', { path: 7 }, 400, 'invalid_request', /must be a string/],
    ['a way out', 'read_files', { path: '../x' }, 403, 'constraint_violation', /leaves the work tree/],
    [
      'a path that may not be written',
      'write_files',
      { path: 'src/a', content: '' },
      403,
      'constraint_violation',
      /allowed patterns/,
    ],
    ['a write through a link', 'write_files', { path: 'tests/out/x', content: '' }, 400, 'tool_failed', /link/],
    [
      'a bad mode',
      'write_files',
      { path: 'tests/a', content: '', mode: 'x' },
      400,
      'invalid_request',
      /"mode" must be/,
    ],
    [
      'one bad file of two',
      'write_files',
      {
        files: [
          { path: 'tests/ok', content: '' },
          { path: 'tests/out/x', content: '' },
        ],
      },
      400,
      'tool_failed',
      /link/,
    ],
    [
      'an absent text',
      'edit_files',
      { path: 'tests/edit.txt', edits: [{ old: 'zzz', new: '' }] },
      400,
      'tool_failed',
      /not found|no match|absent|0 /,
    ],
    [
      'an edit of nothing',
      'edit_files',
      { path: 'tests/none', edits: [{ old: 'a', new: '' }] },
      400,
      'tool_failed',
      /not found/,
    ],
    ['an invalid pattern', 'grep', { pattern: '(' }, 400, 'invalid_regex', /pattern/],
    ['a look-behind', 'grep', { pattern: '(?<=a)b' }, 400, 'invalid_regex', /pattern/],
    ['a pattern out of the tree', 'glob', { pattern: '../*' }, 403, 'constraint_violation', /leaves/],
    ['a time-out', 'bash', { command: 'sleep 30', timeout: 1 }, 400, 'tool_failed', /timed out/],
    ['too long a time', 'bash', { command: 'true', timeout: 31 }, 400, 'invalid_request', /timeout/],
    ['a command with a NUL', 'bash', { command: 'echo a\0b' }, 400, 'invalid_request', /NUL/],
    ['no command', 'bash', {}, 400, 'invalid_request', /"command" is missing/],
    ['a folder that is not there', 'bash', { command: 'true', cwd: 'nope' }, 400, 'tool_failed', /nope/],
    ['endless output', 'bash', { command: 'yes' }, 400, 'tool_failed', /MiB of output/],
    ['an own tool without its argument', 'count', {}, 400, 'invalid_request', /path/],
    ['an own tool out of the tree', 'count', { path: '/etc/passwd' }, 403, 'constraint_violation', /absolute/],
    ['another host', 'web_fetch', { url: 'https://example.com/' }, 403, 'constraint_violation', /example\.com/],
    ['this machine', 'web_fetch', { url: 'http://127.0.0.1/' }, 403, 'constraint_violation', /127/],
    [
      'nothing to commit',
      'git_commit',
      { message: 'x', paths: ['src/main.ts'] },
      400,
      'tool_failed',
      /nothing to commit/i,
    ],
  ]
  it.each(failing)('[REQ-TOOLS-1] %s is refused with the reason (%s)', async (_, tool, args, status, code, detail) => {
    writeFileSync(tree('tests/edit.txt'), 'one two\n')
    const answer = await execute(tool, args)
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code })
    expect(answer.body.detail).toMatch(detail)
    // Refusals in a row would park the task; a change is progress.
    await execute('write_files', { path: 'tests/progress', content: String(Math.random()) })
  })

  it('[REQ-TOOLS-1] none of that left anything behind', () => {
    expect(readdirSync(tree('tests')).sort()).toEqual(['edit.txt', 'edited', 'log', 'out', 'progress'])
    expect(readdirSync(tree('src')).sort()).toEqual(['bytes.bin', 'main.ts', 'pipe'])
  })

  it('[REQ-TOOLS-2] files are read, written, appended, edited and found', async () => {
    const result = async (tool: string, args: object) =>
      (await execute(tool, args)).body.result as Record<string, unknown>
    const content = 'alpha\nbeta\nbeta\n'
    expect(await result('write_files', { path: 'tests/deep/a.txt', content })).toEqual({
      status: 'success',
      path: 'tests/deep/a.txt',
      bytes: 16,
      sha256: createHash('sha256').update(content).digest('hex'),
    })
    expect(await result('read_files', { path: 'tests/deep/a.txt', offset: 1, limit: 1 })).toEqual({
      status: 'success',
      content: 'beta\n',
      lines: 3,
      truncated: true,
    })
    await result('write_files', { path: 'tests/deep/a.txt', content: 'gamma\n', mode: 'a' })
    expect(readFileSync(tree('tests/deep/a.txt'), 'utf8')).toBe(`${content}gamma\n`)
    const ambiguous = await execute('edit_files', { path: 'tests/deep/a.txt', edits: [{ old: 'beta', new: 'x' }] })
    expect(ambiguous).toMatchObject({
      status: 400,
      body: { code: 'tool_failed', detail: expect.stringContaining('2') },
    })
    const edited = await result('edit_files', { path: 'tests/deep/a.txt', edits: [{ old: 'alpha', new: 'omega' }] })
    expect(edited.diff).toMatch(/-alpha\n\+omega/)
    expect(await result('grep', { pattern: 'an(s)?wer = \\d+', path: 'src' })).toEqual({
      matches: [{ path: 'src/main.ts', line: 1, text: 'export const answer = 42' }],
      truncated: false,
    })
    expect(await result('glob', { pattern: '**/*.ts' })).toEqual({ paths: ['src/main.ts'], truncated: false })
    const [best] = (await result('search_codebase', { query: 'parse header' })).results as { path: string }[]
    expect(best?.path).toBe('src/main.ts')
    const huge = await result('read_files', { path: 'big/huge.txt' })
    expect(huge).toMatchObject({ status: 'success', truncated: true })
    expect(String(huge.content).length).toBeLessThan(1_100_000)
  })

  it('[REQ-TOOLS-3] bash answers with exit code, output and what it changed', async () => {
    const answer = await execute('bash', {
      command: 'echo out; echo err >&2; echo new > tests/made; rm tests/edit.txt; exit 3',
    })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        result: {
          exit_code: 3,
          stdout: 'out\n',
          stderr: 'err\n',
          truncated: false,
          changes: [
            { path: 'tests/edit.txt', kind: 'deleted' },
            { path: 'tests/made', kind: 'created', bytes: 4 },
          ],
        },
      },
    })
    expect(readFileSync(tree('tests/made'), 'utf8')).toBe('new\n')
    const { uid, gid } = statSync(tree('tests'))
    expect(statSync(tree('tests/made'))).toMatchObject({ uid, gid })
    expect(await execute('bash', { command: 'pwd', cwd: 'src' })).toMatchObject({
      body: { result: { stdout: `${tree('src')}\n` } },
    })
    const loud = await execute('bash', { command: 'head -c 1000000 /dev/zero | tr "\\\\0" x; echo END' })
    expect(loud).toMatchObject({
      body: { result: { truncated: true, stdout: expect.stringMatching(/bytes left out[\s\S]*END\n$/) } },
    })
  })

  it('[REQ-TOOLS-6] a command does not undo what a file tool wrote while it ran', async () => {
    const slow = execute('bash', { command: 'sleep 1; echo old > tests/both; echo mine > tests/alone' })
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(await execute('write_files', { path: 'tests/both', content: 'new' })).toMatchObject({ status: 200 })
    expect(await slow).toMatchObject({ status: 409, body: { code: 'conflict', paths: ['tests/both'] } })
    expect(readFileSync(tree('tests/both'), 'utf8')).toBe('new')
    expect(readdirSync(tree('tests'))).not.toContain('alone')
  })

  it('[REQ-TOOLS-4] git tools look and commit inside the sandbox; an own tool is one command without a shell', async () => {
    await execute('write_files', { path: 'tests/one.test.ts', content: 'test\n' })
    const status = (await execute('git_status', {})).body.result as {
      untracked: string[]
      clean: boolean
      branch: string
    }
    expect(status).toMatchObject({ clean: false })
    expect(status.untracked).toContain('tests/one.test.ts')
    const message = 'add a test; $(touch /tmp/never) `id` --amend'
    const committed = await execute('git_commit', { message, paths: ['tests/one.test.ts'] })
    const { commit } = committed.body.result as { commit: string }
    const log = (await execute('git_log', { limit: 1 })).body.result as {
      commits: { commit: string; subject: string }[]
    }
    expect(log.commits).toMatchObject([{ commit, subject: message }])
    const shown = execFileSync('git', ['show', '--stat', '--format=%s', 'HEAD'], {
      cwd: run.workspace,
      encoding: 'utf8',
    })
    expect(shown).toContain('tests/one.test.ts')
    expect(shown).not.toContain('tests/made')
    await execute('bash', { command: 'echo more >> tests/one.test.ts' })
    expect((await execute('git_diff', {})).body.result).toMatchObject({ diff: expect.stringContaining('+more') })
    expect(await execute('count', { path: 'src/main.ts' })).toMatchObject({
      body: { result: { exit_code: 0, stdout: '2 src/main.ts\n' } },
    })
  })

  it('[REQ-TOOLS-5] with only npm test allowed, every way to run something else is refused', async () => {
    expect(
      (await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: 'LIMITED' })).body,
    ).toMatchObject({ allowed: true })
    token = await run.claim('a', await run.addAgent('a'), 't')
    const check = async (command: string) =>
      (await run.call('POST', '/tools/check', token, { task_id: 't', tool_name: 'bash', args: { command } })).body
        .allowed
    const others = [
      ...[
        'npm test && git push',
        'npm test; curl x',
        'npm test $(git log)',
        'env git push',
        "bash -c 'git push'",
        'npm testx',
      ],
      ...['npm test\ngit push', 'npm test | sh', 'git push | npm test'],
    ]
    for (const command of others.slice(0, 5)) expect(await check(command), command).toBe(false)
    await execute('bash', { command: 'npm test' })
    for (const command of others.slice(5)) expect(await check(command), command).toBe(false)
    expect(await check('npm test -- --watch=false')).toBe(true)
    expect(await check('npm test')).toBe(true)
  })

  it('[REQ-TOOLS-7] nothing that a tool changed reaches the tree after the phase was left', async () => {
    await run.call('POST', '/tasks/t/rewind', run.operator, { to_phase: 'TDD', reason: 'back' })
    token = await run.claim('a', await run.addAgent('a'), 't')
    const slow = execute('bash', { command: 'sleep 3; echo late > tests/late' })
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(await run.call('POST', '/tasks/t/cancel', run.operator, { reason: 'x' }).then(() => slow)).toMatchObject({
      status: expect.any(Number),
    })
    expect((await slow).status).toBeGreaterThanOrEqual(400)
    expect(readdirSync(tree('tests'))).not.toContain('late')
  })
})
