import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

const METADATA =
  'workflow_type: demo\nversion: "1"\nallowed_tools: [read_files, write_files, git_status, git_diff, git_log, git_commit]\nwritable: ["**"]\n'

describe('a workflow of documents that is committed to the repository', () => {
  let run: Running
  let token: string
  const git = (...args: string[]) => execFileSync('git', args, { cwd: run.workspace, encoding: 'utf8' })
  const use = (tool_name: string, args: object = {}) =>
    run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })

  beforeAll(async () => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-git-hidden-')))
    const flow = join(dir, 'tree', 'flow')
    for (const number of [1, 2]) {
      mkdirSync(join(flow, 'phases', String(number)), { recursive: true })
      const text = `# Phase ${number}: Step\n\nmarmalade ${number}\n\n## Checkpoint\n\n- \`count\` (integer)\n`
      writeFileSync(join(flow, 'phases', String(number), 'phase.md'), text)
    }
    writeFileSync(join(flow, 'metadata.yaml'), METADATA)
    writeFileSync(join(dir, 'tree', 'a.txt'), 'a\n')
    const tree = { cwd: join(dir, 'tree') }
    execFileSync('git', ['init', '-q', '-b', 'main'], tree)
    execFileSync('git', ['config', 'user.email', 'a@b.c'], tree)
    execFileSync('git', ['config', 'user.name', 'a'], tree)
    execFileSync('git', ['add', '.'], tree)
    execFileSync('git', ['commit', '-qm', 'first'], tree)
    run = await start({ dir, contractFile: flow })
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
  })
  afterAll(() => run.stop())

  it('[REQ-DOC-15] no git tool shows documents of later phases', async () => {
    await use('write_files', { path: 'a.txt', content: 'changed\n' })
    appendFileSync(join(run.workspace, 'flow/phases/2/phase.md'), '\nmore marmalade\n')
    const seen: unknown[] = []
    for (const [tool, args] of [
      ['git_status', {}],
      ['git_diff', {}],
      ['git_diff', { staged: true }],
      ['git_diff', { paths: ['flow/phases/2/phase.md'] }],
      ['git_diff', { paths: ['flow'] }],
      ['git_diff', { paths: [':(icase)FLOW/PHASES'] }],
      ['git_diff', { paths: [':/', ':!a.txt'] }],
      ['git_log', {}],
    ] as const)
      seen.push(await use(tool, args))
    expect(JSON.stringify(seen)).not.toContain('marmalade')
    expect(JSON.stringify(seen)).toContain('+changed')
  })

  it('[REQ-DOC-15] a commit leaves the workflow as it is', async () => {
    await use('write_files', { path: 'a.txt', content: 'b\n' })
    const committed = await use('git_commit', { message: 'second' })
    expect(committed.status, JSON.stringify(committed.body)).toBe(200)
    expect(git('ls-tree', '-r', '--name-only', 'HEAD')).toContain('flow/phases/2/phase.md')
    expect(git('show', 'HEAD:flow/phases/2/phase.md')).toContain('marmalade 2')
  })
})
