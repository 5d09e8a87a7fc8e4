import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

const contract = `
name: shared
version: "1"
phases:
  - id: TDD
    allowed_tools: [write_files]
    tool_constraints: {write_files: {allowed_patterns: ["tests/**"]}}
  - id: IMPL
    allowed_tools: [write_files]
    tool_constraints: {write_files: {allowed_patterns: ["src/**"]}}
    gates: [{id: work_ok, type: approval, approvers: [human]}]
  - id: DONE
    allowed_tools: []
enforcement: {reconcile: block}
`

describe('unexplained changes while several tasks share a work tree', () => {
  let run: Running
  let agent = ''
  const at = (path: string) => join(run.workspace, path)
  const release = (token: string, task_id: string) =>
    run.call('POST', '/tasks/release', token, { task_id, reason: 'later' })
  const move = (token: string, task_id: string, target_phase: string) =>
    run.call('POST', '/tasks/transition', token, { task_id, target_phase })
  const write = (token: string, task_id: string, path: string) =>
    run.call('POST', '/tools/execute', token, {
      task_id,
      tool_name: 'write_files',
      args: { path, content: `${path}\n` },
    })
  const BLOCKED = { body: { allowed: false, blockers: [{ code: 'unledgered_change' }] } }

  /** Agent a writes early in task t, releases it, claims and releases u, and is back in t. */
  const comeBack = async (): Promise<string> => {
    writeFileSync(at('src/a'), 'early\n')
    writeFileSync(at('src/b'), 'early\n')
    expect(await release(await run.claim('a', agent, 't'), 't')).toMatchObject({ status: 200 })
    expect(await release(await run.claim('a', agent, 'u'), 'u')).toMatchObject({ status: 200 })
    return run.claim('a', agent, 't')
  }

  beforeEach(async () => {
    run = await start({ contract })
    for (const folder of ['src', 'tests']) mkdirSync(at(folder))
    writeFileSync(at('src/a'), 'first\n')
    for (const id of ['t', 'u', 'v']) await run.addTask({ id })
    agent = await run.addAgent('a')
    await release(await run.claim('a', agent, 't'), 't')
  })
  afterEach(async () => {
    expect(run.faults).toEqual([])
    await run.stop()
  })

  it('[REQ-RECONCILE-9] a claim of another task does not accept them for the first one', async () => {
    const token = await comeBack()
    const blocked = await move(token, 't', 'IMPL')
    expect(blocked).toMatchObject(BLOCKED)
    expect(JSON.stringify(blocked.body)).toContain('src/a, src/b')
    expect((await run.call('GET', '/tasks/t/diff', run.operator)).body).toMatchObject({
      files: [
        { path: 'src/a', unexplained: true },
        { path: 'src/b', unexplained: true },
      ],
    })
  })

  it('[REQ-RECONCILE-9] nor do further claims, also while the first task is held by nobody', async () => {
    await release(await comeBack(), 't')
    await release(await run.claim('a', agent, 'v'), 'v')
    expect(await move(await run.claim('a', agent, 't'), 't', 'IMPL')).toMatchObject(BLOCKED)
  })

  it('[REQ-RECONCILE-9] nor a claim while the first one waits for an approval', async () => {
    const token = await run.claim('a', agent, 't')
    const moved = await move(token, 't', 'IMPL')
    expect(moved.body).toMatchObject({ allowed: true })
    const inImpl = String(moved.body.phase_token)
    expect(await move(inImpl, 't', 'DONE')).toMatchObject({ body: { pending_approval: { id: expect.any(String) } } })
    writeFileSync(at('tests/late'), 'late\n')
    await run.claim('b', await run.addAgent('b'), 'u')
    expect(await move(inImpl, 't', 'DONE')).toMatchObject(BLOCKED)
  })

  it('[REQ-RECONCILE-9] the later task begins with the tree as it is', async () => {
    await release(await comeBack(), 't')
    expect(await move(await run.claim('a', agent, 'v'), 'v', 'IMPL')).toMatchObject({ body: { allowed: true } })
  })

  it('[REQ-RECONCILE-9] a person accepts them, or reverts them to what they were at first', async () => {
    const token = await comeBack()
    const settle = (what: 'accept' | 'revert', path: string) =>
      run.call('POST', `/tasks/t/tree/${what}`, run.operator, { paths: [path], reason: 'looked at' })
    expect(await settle('revert', 'src/b')).toMatchObject({ status: 200, body: { paths: ['src/b'] } })
    expect(existsSync(at('src/b'))).toBe(false)
    expect(await move(token, 't', 'IMPL')).toMatchObject(BLOCKED)
    expect(await settle('accept', 'src/a')).toMatchObject({ status: 200, body: { paths: ['src/a'] } })
    expect(readFileSync(at('src/a'), 'utf8')).toBe('early\n')
    expect(await move(token, 't', 'IMPL')).toMatchObject({ body: { allowed: true } })
  })

  it('[REQ-RECONCILE-9] what is undone by hand is no change of the first task any more', async () => {
    const token = await comeBack()
    rmSync(at('src/b'))
    expect(JSON.stringify((await move(token, 't', 'IMPL')).body)).toContain('without an allowed call: src/a"')
    writeFileSync(at('src/a'), 'first\n')
    expect(await move(token, 't', 'IMPL')).toMatchObject({ body: { allowed: true } })
  })

  it('[REQ-RECONCILE-9] what was undone stays undone after a further claim', async () => {
    const token = await comeBack()
    rmSync(at('src/b'))
    writeFileSync(at('src/a'), 'first\n')
    await release(token, 't')
    await release(await run.claim('a', agent, 'v'), 'v')
    expect(await move(await run.claim('a', agent, 't'), 't', 'IMPL')).toMatchObject({ body: { allowed: true } })
  })

  it('[REQ-RECONCILE-9] what the later task then writes by allowed calls is explained', async () => {
    writeFileSync(at('src/a'), 'early\n')
    let token = await run.claim('a', agent, 'u')
    token = String((await move(token, 'u', 'IMPL')).body.phase_token)
    expect(await write(token, 'u', 'src/a')).toMatchObject({ status: 200 })
    await release(token, 'u')
    expect(await move(await run.claim('a', agent, 't'), 't', 'IMPL')).toMatchObject({ body: { allowed: true } })
  })

  it('[REQ-DECIDE-1] a diff names the other task that changed a file, also when that task is over', async () => {
    let other = await run.claim('a', agent, 'u')
    other = String((await move(other, 'u', 'IMPL')).body.phase_token)
    for (const path of ['src/theirs', 'src/both']) await write(other, 'u', path)
    await release(other, 'u')
    let own = await run.claim('a', agent, 't')
    own = String((await move(own, 't', 'IMPL')).body.phase_token)
    for (const path of ['src/own', 'src/both']) await write(own, 't', path)
    await run.call('POST', '/tasks/u/cancel', run.operator, { reason: 'not needed' })
    const asked = await move(own, 't', 'DONE')
    const { id } = asked.body.pending_approval as { id: string }
    for (const path of [`/approvals/${id}`, '/tasks/t/diff']) {
      const { body } = await run.call('GET', path, run.operator)
      expect(body.diff ?? body).toMatchObject({
        files: [
          { path: 'src/both', other_task: null },
          { path: 'src/own', other_task: null },
          { path: 'src/theirs', other_task: 'u' },
        ],
      })
    }
  })
})
