import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from './harness.js'

const contract = (enforcement: string) => `
name: reconciled
version: "1"
phases:
  - id: TDD
    allowed_tools: [write_files, bash]
    tool_constraints: {write_files: {allowed_patterns: ["tests/**"]}}
  - id: IMPL
    allowed_tools: [write_files, bash]
    tool_constraints: {write_files: {allowed_patterns: ["src/**"]}}
  - id: DONE
    allowed_tools: []
enforcement: {${enforcement}}
`

describe('changes that no allowed call explains', () => {
  let run: Running
  let token = ''
  const at = (path: string) => join(run.workspace, path)
  const begin = async (enforcement: string) => {
    run = await start({ contract: contract(enforcement) })
    for (const folder of ['src', 'tests', 'node_modules/dep']) mkdirSync(at(folder), { recursive: true })
    writeFileSync(at('src/a.ts'), 'one\n')
    writeFileSync(at('src/binary'), Buffer.from([0, 255, 1]))
    writeFileSync(at('node_modules/dep/index.js'), 'real\n')
    writeFileSync(at('.gitignore'), 'cache/\nnode_modules/\n*.log\n')
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: run.workspace })
    git('init', '-q')
    git('add', '.')
    git('commit', '-qm', 'first')
    await run.addTask({ id: 't' })
    token = await run.claim('a', await run.addAgent('a'), 't')
  }
  const move = async (target_phase: string): Promise<Answer> => {
    const answer = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase })
    if (typeof answer.body.phase_token === 'string') token = answer.body.phase_token
    return answer
  }
  const execute = (tool_name: string, args: object) =>
    run.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
  const tree = (what: 'accept' | 'revert', body: object, who = run.operator) =>
    run.call('POST', `/tasks/t/tree/${what}`, who, body)

  beforeEach(() => begin('reconcile: block, reconcile_ignore: ["generated/**"]'))
  afterEach(() => run.stop())

  it('[REQ-RECONCILE-1] a write behind the back of Phaselock closes the gate and is named', async () => {
    writeFileSync(at('src/a.ts'), 'two\n')
    writeFileSync(at('src/new.ts'), 'new\n')
    rmSync(at('src/binary'))
    const answer = await move('IMPL')
    expect(answer.body).toMatchObject({ allowed: false, phase: 'TDD' })
    expect(answer.body.blockers).toMatchObject([
      { code: 'unledgered_change', message: 'Changed without an allowed call: src/a.ts, src/binary, src/new.ts' },
    ])
  })

  it('[REQ-RECONCILE-2] what allowed calls changed, what the phase permits and what is ignored closes nothing', async () => {
    await execute('write_files', { path: 'tests/a.test.ts', content: 'test\n' })
    await execute('bash', {
      command: 'echo more >> tests/a.test.ts; ln -s a.test.ts tests/link; mkdir -p tests/deep; echo x > tests/deep/y',
    })
    writeFileSync(at('tests/by-hand.test.ts'), 'permitted\n')
    for (const path of ['cache/x', 'debug.log', 'generated/y']) {
      mkdirSync(join(at(path), '..'), { recursive: true })
      writeFileSync(at(path), 'x')
    }
    expect((await move('IMPL')).body).toMatchObject({ allowed: true, phase: 'IMPL' })
    writeFileSync(at('src/a.ts'), 'permitted now\n')
    expect((await move('DONE')).body).toMatchObject({ allowed: true })
  })

  it('[REQ-RECONCILE-7] caches and ignored files of a command close nothing and never reach the tree', async () => {
    const caches =
      'mkdir -p cache src/__pycache__ node_modules/.cache coverage; for f in cache/x src/__pycache__/a.pyc node_modules/.cache/y coverage/z debug.log; do echo x > $f; done'
    expect(await execute('bash', { command: `${caches}; echo t > tests/t` })).toMatchObject({
      status: 200,
      body: { result: { exit_code: 0, changes: [{ path: 'tests/t' }], scratch: expect.any(Number) } },
    })
    for (const path of ['cache', 'src/__pycache__', 'node_modules/.cache', 'coverage', 'debug.log'])
      expect(existsSync(at(path)), path).toBe(false)
    expect(
      await execute('bash', {
        command: 'echo fake > node_modules/dep/index.js; echo "*" > .gitignore; echo x > src/y',
      }),
    ).toMatchObject({
      status: 403,
      body: { code: 'constraint_violation', paths: ['.gitignore', 'src/y'] },
    })
    expect(readFileSync(at('node_modules/dep/index.js'), 'utf8')).toBe('real\n')
    expect((await move('IMPL')).body).toMatchObject({ allowed: true })
  })

  it('[REQ-RECONCILE-3] an edited .gitignore hides nothing, and doctored packages are seen', async () => {
    writeFileSync(at('.gitignore'), '*\n')
    writeFileSync(at('src/hidden.ts'), 'x')
    writeFileSync(at('node_modules/dep/index.js'), 'fake\n')
    symlinkSync('/etc/passwd', at('src/link'))
    const [blocker] = (await move('IMPL')).body.blockers as { message: string }[]
    for (const path of ['.gitignore', 'src/hidden.ts', 'node_modules', 'src/link'])
      expect(blocker?.message).toContain(path)
  })

  it('[REQ-RECONCILE-4] an operator reverts or accepts with a reason; agents do neither', async () => {
    writeFileSync(at('src/a.ts'), 'two\n')
    rmSync(at('src/binary'))
    writeFileSync(at('src/new.ts'), 'new\n')
    expect(await tree('accept', { reason: 'mine' }, token)).toMatchObject({
      status: 403,
      body: { code: 'not_permitted' },
    })
    expect(await tree('revert', { paths: ['src/a.ts'] })).toMatchObject({ status: 400 })
    expect(await tree('revert', { paths: ['src/none.ts'], reason: 'x' })).toMatchObject({ status: 409 })
    expect(await tree('accept', { paths: ['src/new.ts'], reason: 'a person wrote it' })).toMatchObject({
      status: 200,
      body: { paths: ['src/new.ts'] },
    })
    expect(await tree('revert', { reason: 'not allowed' })).toMatchObject({
      status: 200,
      body: { paths: ['src/a.ts', 'src/binary'] },
    })
    expect(readFileSync(at('src/a.ts'), 'utf8')).toBe('one\n')
    expect(readFileSync(at('src/binary'))).toEqual(Buffer.from([0, 255, 1]))
    expect(existsSync(at('src/new.ts'))).toBe(true)
    expect((await move('IMPL')).body).toMatchObject({ allowed: true })
    const types = ((await run.call('GET', '/tasks/t/timeline', run.operator)).body.events as { type: string }[]).map(
      (one) => one.type,
    )
    expect(types).toContain('tree_accepted')
    expect(types).toContain('tree_reverted')
  })

  describe('when a claim is resumed', () => {
    const BY_HAND = { code: 'unledgered_change', message: 'Changed without an allowed call: src/a.ts' }
    const claim = (agent: string, agentToken: string, headers: Record<string, string> = {}) =>
      run.call('POST', '/tasks/claim', agentToken, { agent_id: agent, task_id: 't' }, headers)
    const found = async () => {
      const { body } = await run.call('GET', '/tasks/t/timeline?limit=500', run.operator)
      return (body.events as { type: string; data: object }[]).filter(({ type }) => type === 'unledgered_change_found')
    }

    it('[REQ-RECONCILE-8] an agent that gets its task back is told, the ledger says so, and the claim holds', async () => {
      writeFileSync(at('src/a.ts'), 'two\n')
      const resumed = await claim('a', await run.addAgent('a'))
      expect(resumed).toMatchObject({ status: 200, body: { warnings: [{ ...BY_HAND, severity: 'blocking' }] } })
      expect(await found()).toMatchObject([
        { data: { agent_id: 'a', code: 'unledgered_change', paths: ['src/a.ts'], path_count: 1 } },
      ])
      token = String(resumed.body.phase_token)
      expect(await execute('write_files', { path: 'tests/a.test.ts', content: 'test\n' })).toMatchObject({
        status: 200,
      })
      expect((await move('IMPL')).body).toMatchObject({ allowed: false, blockers: [BY_HAND] })
    })

    it('[REQ-RECONCILE-8] another agent that takes up a task that was given back or lost is told as well', async () => {
      await run.call('POST', '/tasks/release', token, { task_id: 't' })
      writeFileSync(at('src/a.ts'), 'two\n')
      const second = await run.addAgent('b')
      expect((await claim('b', second)).body).toMatchObject({ warnings: [BY_HAND] })
      run.now = Date.now() + 3_600_000
      expect((await claim('c', await run.addAgent('c'))).body).toMatchObject({ warnings: [BY_HAND] })
      expect(await found()).toMatchObject([{ data: { agent_id: 'b' } }, { data: { agent_id: 'c' } }])
    })

    it('[REQ-RECONCILE-8] changes that allowed calls, the phase or the contract explain are not reported', async () => {
      await execute('write_files', { path: 'tests/a.test.ts', content: 'test\n' })
      await execute('bash', { command: 'echo more >> tests/a.test.ts' })
      writeFileSync(at('tests/by-hand.test.ts'), 'permitted\n')
      mkdirSync(at('generated'))
      writeFileSync(at('generated/x'), 'ignored\n')
      expect((await claim('a', await run.addAgent('a'))).body).toMatchObject({ warnings: [] })
      expect(await found()).toEqual([])
    })

    it('[REQ-RECONCILE-8] a repeated answer reports the change again, and it is recorded once', async () => {
      const agent = await run.addAgent('a')
      writeFileSync(at('src/a.ts'), 'two\n')
      const key = { 'idempotency-key': 'resumed' }
      const first = await claim('a', agent, key)
      expect((await claim('a', agent, key)).body.warnings).toEqual(first.body.warnings)
      expect(await found()).toHaveLength(1)
    })

    it.each([
      ['warn', [{ ...BY_HAND, severity: 'warning' }]],
      ['off', []],
    ])('[REQ-RECONCILE-8] with reconcile: %s', async (reconcile, warnings) => {
      await run.stop()
      await begin(`reconcile: ${reconcile}`)
      writeFileSync(at('src/a.ts'), 'two\n')
      expect((await claim('a', await run.addAgent('a'))).body).toMatchObject({ warnings })
    })
  })

  it('[REQ-RECONCILE-4] what a tool wrote is put back as the tool left it', async () => {
    await execute('write_files', { path: 'tests/a.test.ts', content: 'by the tool\n' })
    await move('IMPL')
    writeFileSync(at('tests/a.test.ts'), 'weakened\n')
    expect((await move('DONE')).body).toMatchObject({ allowed: false })
    expect(await tree('revert', { reason: 'tests stay' })).toMatchObject({ status: 200 })
    expect(readFileSync(at('tests/a.test.ts'), 'utf8')).toBe('by the tool\n')
  })

  it('[REQ-RECONCILE-5] a restart forgets nothing', async () => {
    await execute('bash', { command: 'echo one > tests/one; echo two > tests/two' })
    run = await run.restart()
    token = await run.claim('a', await run.addAgent('a'), 't')
    writeFileSync(at('src/a.ts'), 'while it was down\n')
    expect((await move('IMPL')).body.blockers).toMatchObject([{ message: 'Changed without an allowed call: src/a.ts' }])
  })

  it('[REQ-RECONCILE-6] warn reports the change and lets the task pass', async () => {
    await run.stop()
    await begin('reconcile: warn')
    writeFileSync(at('src/a.ts'), 'two\n')
    expect((await move('IMPL')).body).toMatchObject({ allowed: true, warnings: [{ code: 'unledgered_change' }] })
  })
})
