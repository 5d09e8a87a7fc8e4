import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from './harness.js'

const FILE = '.claude/settings.local.json'
const CONTRACT = `
name: own-files
version: "1"
phases:
  - id: CODE
    allowed_tools: [write_files, bash, git_commit]
    tool_constraints: {write_files: {allowed_patterns: ["src/**"]}}
    gates: [{id: asked, type: approval}]
  - id: COMMIT
    allowed_tools: [git_commit]
    gates:
      - id: all
        type: validation
        blockers:
          - {check: committed, severity: blocking, message: Everything is committed}
          - {check: work_tree_clean, severity: blocking, message: The work tree is clean}
  - {id: DONE, allowed_tools: []}
enforcement: {reconcile: block}
`

describe('files that agent CLIs write for themselves', () => {
  let run: Running
  let token = ''
  let agent = ''
  const at = (path: string) => join(run.workspace, path)
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      cwd: run.workspace,
      encoding: 'utf8',
    })
  const settle = (settings: unknown): void => {
    mkdirSync(at('.claude'), { recursive: true })
    writeFileSync(at(FILE), typeof settings === 'string' ? settings : JSON.stringify(settings, null, 2))
  }
  const allowing = (...allow: readonly string[]) => ({ permissions: { allow } })
  const move = async (target_phase: string): Promise<Answer> => {
    const answer = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase })
    if (typeof answer.body.phase_token === 'string') token = answer.body.phase_token
    return answer
  }
  const execute = (tool_name: string, args: object) =>
    run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
  const blockers = async (target: string) =>
    ((await move(target)).body.blockers ?? []) as readonly { code: string; message: string }[]
  const approve = async (): Promise<void> => {
    const { id, digest } = (await move('COMMIT')).body.pending_approval as Record<string, string>
    await run.call('POST', `/approvals/${id}/decision`, run.operator, { decision: 'approve', digest })
  }

  beforeEach(async () => {
    run = await start({ contract: CONTRACT })
    mkdirSync(at('src'))
    writeFileSync(at('src/a.ts'), 'one\n')
    git('init', '-q')
    git('add', '.')
    git('commit', '-qm', 'first')
    await run.addTask({ id: 't' })
    agent = await run.addAgent('a')
    token = await run.claim('a', agent, 't')
  })
  afterEach(async () => {
    expect(run.faults).toEqual([])
    await run.stop()
  })

  it('[REQ-CLIFILES-3] no tool of an agent writes them', async () => {
    const content = JSON.stringify(allowing('Bash'))
    expect(await execute('write_files', { path: FILE, content })).toMatchObject({ status: 403 })
    const command = `mkdir -p .claude && echo '${content}' > ${FILE}`
    expect(await execute('bash', { command })).toMatchObject({ status: 403, body: { code: 'constraint_violation' } })
    const hook = await run.call('POST', '/hooks/claude-code', agent, {
      ...{ hook_event_name: 'PreToolUse', cwd: run.workspace, tool_use_id: 'toolu_1' },
      ...{ tool_name: 'Write', tool_input: { file_path: at(FILE), content } },
    })
    expect(hook.body).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } })
    expect(existsSync(at('.claude'))).toBe(false)
  })

  it('[REQ-CLIFILES-1] a change that could switch Phaselock off closes the gate and is named', async () => {
    const cases: readonly (readonly [unknown, string])[] = [
      [{ ...allowing('Bash'), disableAllHooks: true }, 'changes "disableAllHooks"'],
      [{ hooks: {} }, 'changes "hooks"'],
      [{ enabledMcpjsonServers: ['other'] }, 'changes "enabledMcpjsonServers"'],
      [{ permissions: { deny: ['mcp__phaselock'] } }, 'permissions.deny'],
      ['{', 'is not a JSON object'],
    ]
    for (const [settings, problem] of cases) {
      settle(settings)
      const [found] = await blockers('COMMIT')
      expect(found).toMatchObject({ code: 'unledgered_change', message: expect.stringContaining(`${FILE} (`) })
      expect(found?.message).toContain(problem)
    }
    await run.call('POST', '/tasks/t/tree/accept', run.operator, { reason: 'broken by hand' })
    settle({ ...allowing('Bash'), disableAllHooks: true })
    expect((await blockers('COMMIT'))[0]?.message).toContain('is not a JSON object')
    settle({ ...allowing('Bash'), hooks: {} })
    await run.call('POST', '/tasks/t/tree/accept', run.operator, { reason: 'our own hooks' })
    settle(allowing('Bash', 'Read'))
    expect((await blockers('COMMIT'))[0]?.message).toContain('changes "hooks"')
    rmSync(at(FILE))
    writeFileSync(at('src/real.json'), JSON.stringify(allowing('Bash')))
    symlinkSync('../src/real.json', at(FILE))
    expect((await blockers('COMMIT'))[0]?.message).toContain('cannot be read as a file')
  })

  it('[REQ-CLIFILES-1] what was there before the work began is held on to', async () => {
    await run.call('POST', '/tasks/t/cancel', run.operator, { reason: 'r' })
    settle({ hooks: { PreToolUse: [] }, ...allowing('Read') })
    await run.addTask({ id: 'later' })
    const later = await run.claim('a', agent, 'later')
    const ask = async () =>
      (await run.call('POST', '/tasks/transition', later, { task_id: 'later', target_phase: 'COMMIT' })).body
    settle(allowing('Read', 'Bash(npm test:*)'))
    expect((await ask()).blockers).toMatchObject([{ message: expect.stringContaining('changes "hooks"') }])
    settle({ hooks: { PreToolUse: [] }, ...allowing('Read', 'Bash(npm test:*)') })
    expect(await ask()).toMatchObject({ blockers: [{ code: 'approval_pending' }] })
  })

  it('[REQ-CLIFILES-2] "don’t ask again" is named and closes nothing, again and again, also while an approval waits', async () => {
    settle(allowing('mcp__phaselock__next'))
    const asked = await move('COMMIT')
    expect(asked.body.blockers).toMatchObject([{ code: 'approval_pending' }])
    expect(asked.body.warnings).toMatchObject([
      { code: 'unledgered_change', message: `Claude Code wrote ${FILE} for itself: only permissions.allow has grown` },
    ])
    await approve()
    settle(allowing('mcp__phaselock__next', 'Bash(npm test:*)'))
    const passed = await move('COMMIT')
    expect(passed.body).toMatchObject({ allowed: true, warnings: [{ code: 'unledgered_change' }] })
    settle(allowing('mcp__phaselock__next', 'Bash(npm test:*)', 'WebFetch'))
    expect((await move('DONE')).body).toMatchObject({ allowed: true, status: 'completed' })
    const { body } = await run.call('GET', '/tasks/t/timeline?limit=1000', run.operator)
    const events = body.events as readonly { type: string; data: { warnings?: readonly { message: string }[] } }[]
    const recorded = events.filter(({ type }) => type === 'gate_passed').map(({ data }) => data.warnings?.[0]?.message)
    expect(recorded).toEqual([expect.stringContaining(FILE), expect.stringContaining(FILE)])
  })

  it('[REQ-CLIFILES-3] git_commit leaves them out, named or not, and no check requires them', async () => {
    settle(allowing('Bash'))
    await execute('write_files', { path: 'src/b.ts', content: 'two\n' })
    expect(await execute('git_commit', { message: 'all of it' })).toMatchObject({ status: 200 })
    expect(git('show', '--name-only', '--format=', 'HEAD').trim()).toBe('src/b.ts')
    expect(await execute('git_commit', { message: 'only that', paths: [FILE] })).toMatchObject({
      status: 400,
    })
    git('add', '--force', FILE)
    await execute('write_files', { path: 'src/b.ts', content: 'three\n' })
    expect(await execute('git_commit', { message: 'staged by hand' })).toMatchObject({ status: 200 })
    expect(git('ls-files', '--', '.claude')).toBe(`${FILE}\n`)
    expect(git('ls-tree', '-r', '--name-only', 'HEAD')).not.toContain('.claude')
    git('reset', '-q')
    await approve()
    expect((await move('COMMIT')).body).toMatchObject({ allowed: true })
    expect((await move('DONE')).body).toMatchObject({ allowed: true, status: 'completed' })
  })
})
