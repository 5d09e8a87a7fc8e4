import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LEFTOVER_MS } from '../../src/tree/write/leftovers.js'
import { type Answer, type Running, start } from './harness.js'

const contract = `
name: rewound
version: "1"
phases:
  - id: PLAN
    allowed_tools: [write_files]
    tool_constraints: {write_files: {allowed_patterns: ["docs/**"]}}
  - id: IMPL
    allowed_tools: [write_files, edit_files, bash, git_commit]
    tool_constraints: {write_files: {allowed_patterns: ["src/**", "docs/**"]}}
  - id: CHECK
    allowed_tools: [write_files, bash]
    tool_constraints: {write_files: {allowed_patterns: ["src/**"]}}
  - id: DONE
    allowed_tools: []
enforcement: {reconcile: block, reconcile_ignore: ["generated/**"]}
`

describe('a rewind that restores the work tree', () => {
  let run: Running
  let token = ''
  const at = (path: string) => join(run.workspace, path)
  const text = (path: string) => readFileSync(at(path), 'utf8')
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: run.workspace })
  const move = async (target_phase: string): Promise<Answer> => {
    const answer = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase })
    if (typeof answer.body.phase_token === 'string') token = answer.body.phase_token
    return answer
  }
  const execute = (tool_name: string, args: object) =>
    run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
  const rewind = async (to_phase: string, more: object = {}, who = run.operator) => {
    const body = { to_phase, reason: 'wrong way', restore_tree: true, ...more }
    const answer = await run.call('POST', '/tasks/t/rewind', who, body)
    expect(run.faults).toEqual([])
    return answer
  }

  beforeEach(async () => {
    run = await start({ contract })
    for (const folder of ['src', 'docs']) mkdirSync(at(folder))
    writeFileSync(at('src/committed'), 'committed\n')
    writeFileSync(at('.gitignore'), 'dist/\n')
    git('init', '-q')
    git('add', '.')
    git('commit', '-qm', 'first')
    writeFileSync(at('src/uncommitted'), 'uncommitted\n')
    symlinkSync('committed', at('src/link'))
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
    await execute('write_files', { path: 'docs/plan', content: 'plan\n' })
    await move('IMPL')
  })
  afterEach(() => run.stop())

  it('[REQ-RESTORE-1] what calls changed since the phase was entered is put back, committed or not', async () => {
    await execute('write_files', { path: 'src/committed', content: 'changed\n' })
    await execute('edit_files', { path: 'src/uncommitted', edits: [{ old: 'uncommitted', new: 'edited' }] })
    await execute('bash', {
      command:
        'echo b > src/new; mkdir -p src/deep; echo c > src/deep/new; rm src/link; rm docs/plan; mkdir dist; echo x > dist/x',
    })
    await move('CHECK')
    await execute('bash', { command: 'rm src/uncommitted; mkdir src/uncommitted; echo d > src/uncommitted/file' })
    const old = token
    expect(await rewind('IMPL')).toMatchObject({
      status: 200,
      body: { phase: 'IMPL', restored_count: 7, restored: expect.arrayContaining(['src/committed', 'src/link']) },
    })
    expect([text('src/committed'), text('src/uncommitted'), text('docs/plan')]).toEqual([
      ...['committed\n', 'uncommitted\n', 'plan\n'],
    ])
    expect(readlinkSync(at('src/link'))).toBe('committed')
    expect(existsSync(at('src/new')) || existsSync(at('src/deep/new'))).toBe(false)
    expect(
      (await run.call('POST', '/tools/execute', old, { task_id: 't', tool_name: 'bash', args: { command: 'true' } }))
        .body,
    ).toMatchObject({ code: 'token_stale' })
    token = await run.claim('a', await run.addAgent('a'), 't')
    expect((await execute('bash', { command: 'ls dist' })).body).toMatchObject({ result: { exit_code: 2 } })
    expect((await move('CHECK')).body).toMatchObject({ allowed: true })
    const events = (await run.call('GET', '/tasks/t/timeline', run.operator)).body.events as { type: string }[]
    expect(events.map((one) => one.type)).toEqual(expect.arrayContaining(['task_rewound', 'tree_reverted']))
  })

  it('[REQ-RESTORE-1] the phase before that is found too, after a restart and a commit', async () => {
    await execute('write_files', { path: 'src/committed', content: 'changed\n' })
    await execute('git_commit', { message: 'second' })
    writeFileSync(at('docs/plan'), 'by a person, where IMPL permits it\n')
    await move('CHECK')
    run = await run.restart()
    expect(await rewind('PLAN')).toMatchObject({ status: 200, body: { phase: 'PLAN' } })
    expect(text('src/committed')).toBe('committed\n')
    expect(existsSync(at('docs/plan'))).toBe(false)
  })

  it('[REQ-RESTORE-2] what is not kept is named, and then nothing changes', async () => {
    await execute('write_files', { path: 'src/committed', content: 'changed\n' })
    writeFileSync(at('src/uncommitted'), 'replaced by a person\n')
    expect(await rewind('IMPL')).toMatchObject({
      status: 409,
      body: { code: 'conflict', paths: ['src/uncommitted'], detail: expect.stringContaining('src/uncommitted') },
    })
    expect(text('src/committed')).toBe('changed\n')
    expect((await run.call('GET', '/tasks/t', run.operator)).body).toMatchObject({ phase: 'IMPL' })
    expect(await execute('bash', { command: 'true' })).toMatchObject({ status: 200 })
  })

  it('[REQ-RESTORE-2] a phase that was never entered, an agent and a second task in the tree are refused', async () => {
    expect(await rewind('CHECK')).toMatchObject({ status: 409 })
    expect(await rewind('NOWHERE')).toMatchObject({ status: 400 })
    expect(await rewind('PLAN', {}, token)).toMatchObject({ status: 403 })
    expect(await rewind('PLAN', { restore_tree: 'yes' })).toMatchObject({ status: 400 })
    await move('CHECK')
    await run.addTask({ id: 'u' })
    await run.claim('b', await run.addAgent('b'), 'u')
    expect(await rewind('PLAN')).toMatchObject({ status: 409, body: { detail: expect.stringContaining('Task u') } })
    expect(text('docs/plan')).toBe('plan\n')
  })

  it('[REQ-RESTORE-3] ignored files, what reconciliation leaves out and the git directory stay as they are', async () => {
    for (const path of ['dist/x', 'generated/y', 'coverage/lcov.info']) {
      mkdirSync(join(at(path), '..'), { recursive: true })
      writeFileSync(at(path), 'x')
    }
    await execute('bash', { command: 'echo n > src/new' })
    expect(await rewind('IMPL')).toMatchObject({ status: 200, body: { restored: ['src/new'] } })
    for (const path of ['dist/x', 'generated/y', 'coverage/lcov.info', '.git/HEAD'])
      expect(existsSync(at(path)), path).toBe(true)
  })

  it('[REQ-RESTORE-4] without restore_tree a rewind leaves the tree alone', async () => {
    await execute('bash', { command: 'echo n > src/new' })
    expect(await rewind('PLAN', { restore_tree: false })).toMatchObject({ status: 200, body: { phase: 'PLAN' } })
    expect(existsSync(at('src/new'))).toBe(true)
  })

  it('[REQ-TREE-9] what a killed commit left in the tree goes when it is old, and nothing else does', async () => {
    const ours = `src/.phaselock-${'0a'.repeat(16)}`
    writeFileSync(at(ours), 'half a commit')
    mkdirSync(at(`docs/.phaselock-${'1b'.repeat(16)}`))
    writeFileSync(at(`docs/.phaselock-${'1b'.repeat(16)}/x`), 'deleted')
    for (const name of [
      'src/.phaselock-abc',
      `src/.phaselock-${'0A'.repeat(16)}`,
      `src/x.phaselock-${'0a'.repeat(16)}`,
    ])
      writeFileSync(at(name), 'of somebody')
    const written = `src/.phaselock-${'2c'.repeat(16)}`
    await execute('write_files', { path: written, content: 'by an allowed call' })
    await move('CHECK')
    expect(existsSync(at(ours))).toBe(true)
    run.now = Date.now() + LEFTOVER_MS + 1000
    token = await run.claim('a', await run.addAgent('a'), 't')
    await move('DONE')
    expect(existsSync(at(ours))).toBe(false)
    for (const path of ['src/.phaselock-abc', `src/x.phaselock-${'0a'.repeat(16)}`, written])
      expect(existsSync(at(path)), path).toBe(true)
  })

  it('[REQ-TREE-9] what a commit of a killed server left goes with the next start', async () => {
    const ours = `src/.phaselock-${'0a'.repeat(16)}`
    writeFileSync(at(ours), 'half a commit')
    run = await run.restart()
    token = await run.claim('a', await run.addAgent('a'), 't')
    expect((await move('CHECK')).body).toMatchObject({ allowed: true })
    expect(existsSync(at(ours))).toBe(false)
  })
})
