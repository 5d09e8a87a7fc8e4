import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

const CONTRACT = `
name: committing
version: "1"
phases:
  - id: WORK
    allowed_tools: [write_files, bash, git_commit, git_diff, git_status]
    tool_constraints: {write_files: {allowed_patterns: ["tests/**"]}}
  - {id: DONE, allowed_tools: []}
`

describe('committing in a repository that runs things', () => {
  let run: Running
  let token = ''
  const at = (path: string) => join(run.workspace, path)
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      cwd: run.workspace,
      encoding: 'utf8',
    })
  const execute = (tool_name: string, args: object) =>
    run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })

  beforeAll(async () => {
    run = await start({ contract: CONTRACT })
    mkdirSync(at('tests'))
    git('init', '-q')
    writeFileSync(at('agent_workflow.yaml'), CONTRACT)
    writeFileSync(at('.gitattributes'), '*.txt filter=f\n')
    writeFileSync(at('tests/clean.sh'), '#!/bin/sh\ncat\n')
    chmodSync(at('tests/clean.sh'), 0o755)
    git('config', 'filter.f.clean', 'tests/clean.sh')
    git('add', '.')
    git('commit', '-qm', 'first')
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
  })
  afterAll(() => run.stop())

  it('[REQ-TOOLS-8] a commit brings nothing into the git directory but commits, whatever the repository runs', async () => {
    const outside = join(run.workspace, '..', 'BROKEN')
    await execute('write_files', {
      path: 'tests/evil/config',
      content: `[core]\n\tfsmonitor = touch ${outside}; true\n`,
    })
    await execute('write_files', {
      path: 'tests/clean.sh',
      content: '#!/bin/sh\necho ../tests/evil > .git/commondir\ncat\n',
    })
    await execute('write_files', { path: 'tests/a.txt', content: 'x\n' })
    expect(await execute('git_commit', { message: 'take over' })).toMatchObject({
      status: 403,
      body: { code: 'constraint_violation', paths: ['.git/commondir'] },
    })
    expect(existsSync(at('.git/commondir'))).toBe(false)
    git('status')
    expect(existsSync(outside)).toBe(false)
    await execute('write_files', { path: 'tests/clean.sh', content: '#!/bin/sh\ncat\n' })
    expect(await execute('git_commit', { message: 'honest' })).toMatchObject({ status: 200 })
    expect(git('log', '-1', '--format=%s').trim()).toBe('honest')
  })

  it('[REQ-TOOLS-8] the ledger and the report name the commit, and no refused one', async () => {
    const commit = git('rev-parse', 'HEAD').trim()
    const { body } = await run.call('GET', '/audit/query?task_id=t&type=tool_finished', run.operator)
    const commits = (body.events as { data: { commit?: string } }[]).flatMap(({ data }) => data.commit ?? [])
    expect(commits).toEqual([commit])
    expect((await run.call('GET', '/runs/t/report', run.operator)).body).toMatchObject({
      commits: [{ commit, by: 'a', at: expect.any(String) }],
    })
  })

  it('[REQ-TOOLS-8] a contract that is in git is neither shown, changed nor in the way', async () => {
    expect(git('show', 'HEAD:agent_workflow.yaml')).toBe(CONTRACT)
    writeFileSync(at('agent_workflow.yaml'), `${CONTRACT}# by an operator\n`)
    expect((await execute('git_diff', {})).body.result).toMatchObject({ diff: '' })
    expect(await execute('bash', { command: 'cat agent_workflow.yaml' })).toMatchObject({
      body: { result: { stdout: '' } },
    })
    expect(readFileSync(at('agent_workflow.yaml'), 'utf8')).toContain('by an operator')
  })
})
