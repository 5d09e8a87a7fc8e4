import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type Running, start } from './harness.js'

// Phaselock runs the command itself: what the agent wrote decides, not what it says.
const CONTRACT = `
name: hands-off
version: "1"
phases:
  - id: WRITE
    allowed_tools: [read_files, write_files, bash]
    gates:
      - id: written
        type: validation
        auto_advance: true
        blockers:
          - {check: file_exists, path: note.md, message: Write the note}
          - {check: command_succeeds, command: proof, message: The proof}
  - id: READ
    prompt: Read {{task.title}}
    allowed_tools: [read_files]
    gates: [{id: read, type: validation, blockers: [{check: file_exists, path: never.md, message: Never}]}]
  - {id: DONE, allowed_tools: []}
commands:
  proof: {run: "grep -q right note.md"}
`

describe('a phase that Phaselock leaves by itself', () => {
  let run: Running
  let count = 0
  beforeAll(async () => {
    run = await start({ contract: CONTRACT })
  })
  afterAll(() => run.stop())

  /** A task in a tree of its own. */
  const lay = async (about: Record<string, unknown> = {}) => {
    count += 1
    const id = `t${count}`
    const workspace = join(run.workspace, '..', `tree-${id}`)
    mkdirSync(workspace)
    expect(await run.call('POST', '/tasks', run.operator, { id, title: id, workspace, ...about })).toMatchObject({
      status: 201,
    })
    const agent = await run.addAgent(`agent-${id}`)
    const token = await run.claim(`agent-${id}`, agent, id)
    const use = (tool_name: string, args: object, headers: Record<string, string> = {}, as = token): Promise<Answer> =>
      run.call('POST', '/tools/execute', as, { task_id: id, tool_name, args }, headers)
    const write = (content: string, path = 'note.md', headers: Record<string, string> = {}) =>
      use('write_files', { path, content }, headers)
    const task = async () => (await run.call('GET', `/tasks/${id}`, run.operator)).body
    const events = async () =>
      (await run.call('GET', `/tasks/${id}/timeline?limit=1000`, run.operator)).body.events as {
        type: string
        actor: string
      }[]
    return { id, workspace, agent, token, use, write, task, events }
  }

  it('[REQ-ADVANCE-2] stays as long as its checks do not hold, and nothing of that counts against the agent', async () => {
    const one = await lay()
    for (let i = 0; i < 12; i += 1) {
      const { status, body } = await one.write(`wrong ${i}`)
      expect([status, body.advanced, body.phase_token]).toEqual([200, undefined, undefined])
    }
    expect(await one.task()).toMatchObject({ phase: 'WRITE', status: 'active', refusals: 0 })
    const types = (await one.events()).map((event) => event.type)
    expect(types.filter((type) => type.startsWith('gate_') || type === 'transition_requested')).toEqual([])
  })

  it.each(['permissive', 'advisory'])(
    '[REQ-ADVANCE-2] a mode that lets agents through closed gates opens none by itself: %s',
    async (mode) => {
      const one = await lay({ mode })
      expect((await one.write('wrong')).body.advanced).toBeUndefined()
      expect(await one.task()).toMatchObject({ phase: 'WRITE' })
    },
  )

  it('[REQ-ADVANCE-1] is left by the call that makes the checks hold, whose answer carries phase, prompt and token', async () => {
    const one = await lay()
    const { status, body } = await one.write('right')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      decision: 'allowed',
      allowed_tools: ['read_files'],
      advanced: { phase: 'READ', status: 'active', prompt: `Read ${one.id}`, warnings: [] },
    })
    expect(body.phase_token).toBe((body.advanced as Record<string, unknown>).phase_token)
    expect(await one.use('read_files', { path: 'note.md' })).toMatchObject({
      status: 403,
      body: { code: 'token_stale' },
    })
    expect(await one.use('read_files', { path: 'note.md' }, {}, String(body.phase_token))).toMatchObject({
      status: 200,
    })
    const own = (await one.events()).filter((event) => event.actor === 'orchestrator').map((event) => event.type)
    expect(own).toEqual(['transition_requested', 'gate_passed', 'phase_entered'])
  })

  it('[REQ-ADVANCE-1] is left by a command that changes the tree, not by one that only looks', async () => {
    const one = await lay()
    writeFileSync(join(one.workspace, 'note.md'), 'right')
    expect((await one.use('read_files', { path: 'note.md' })).body.advanced).toBeUndefined()
    expect(await one.task()).toMatchObject({ phase: 'WRITE' })
    const other = await lay()
    expect((await other.use('bash', { command: 'echo right > note.md' })).body).toMatchObject({
      advanced: { phase: 'READ' },
    })
  })

  it('[REQ-ADVANCE-1] a batch is run to its end before the phase is left', async () => {
    const one = await lay()
    const call = (path: string) => ({ tool_name: 'write_files', args: { path, content: 'right' } })
    const body = { task_id: one.id, calls: [call('note.md'), call('more.md')] }
    const answer = await run.call('POST', '/tools/batch', one.token, body)
    expect(answer.body).toMatchObject({
      results: [{ decision: 'allowed' }, { decision: 'allowed' }],
      phase_token: expect.any(String),
      advanced: { phase: 'READ' },
    })
  })

  it('[REQ-ADVANCE-4] an agent that lost the answer gets it again, with a token, and only while it holds the task', async () => {
    const one = await lay()
    const key = { 'idempotency-key': 'k1' }
    const first = await one.write('right', 'note.md', key)
    const again = await one.write('right', 'note.md', key)
    expect(again).toMatchObject({ status: 200, body: { advanced: { phase: 'READ' }, result: first.body.result } })
    const fresh = String(again.body.phase_token)
    expect(await one.use('read_files', { path: 'note.md' }, {}, fresh)).toMatchObject({ status: 200 })
    await run.claim(`agent-${one.id}`, one.agent, one.id)
    const late = await one.write('right', 'note.md', key)
    expect([late.body.advanced, late.body.phase_token]).toEqual([undefined, undefined])
  })

  it('[REQ-ADVANCE-2] writes at the same time leave the phase once', async () => {
    const one = await lay()
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => one.write('right', index === 0 ? 'note.md' : `more-${index}.md`)),
    )
    const advanced = answers.filter((answer) => answer.body.advanced !== undefined)
    const settled = await one.task()
    const entered = (await one.events()).filter((event) => event.type === 'phase_entered')
    expect([settled.phase, entered.length, advanced.length]).toEqual(['READ', 2, 1])
    expect(run.faults).toEqual([])
  })
})

describe('a contract in the work tree under another name', () => {
  it('[REQ-ADVANCE-2] a change of its file beside the tools keeps the phase, as it does when the agent asks', async () => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'phaselock-advance-')))
    mkdirSync(join(dir, 'tree'))
    const contractFile = join(dir, 'tree', 'flow.yaml')
    writeFileSync(contractFile, CONTRACT)
    const run = await start({ dir, contractFile })
    await run.addTask({ id: 't' })
    const token = await run.claim('a', await run.addAgent('a'), 't')
    const write = (content: string) =>
      run.call('POST', '/tools/execute', token, {
        ...{ task_id: 't', tool_name: 'write_files', args: { path: 'note.md', content } },
      })
    writeFileSync(contractFile, `${CONTRACT}# weaker`)
    expect((await write('right')).body).toMatchObject({ decision: 'allowed' })
    const asked = await run.call('POST', '/tasks/transition', token, { task_id: 't', target_phase: 'READ' })
    expect(asked.body).toMatchObject({ allowed: false, blockers: [{ code: 'unledgered_change' }] })
    writeFileSync(contractFile, CONTRACT)
    expect((await write('right again')).body).toMatchObject({ advanced: { phase: 'READ' } })
    expect(run.faults).toEqual([])
    await run.stop()
  })
})

const REVIEWED = `
name: reviewed
version: "1"
phases:
  - id: REVIEW
    allowed_tools: []
    auto_spawn: [{agent_type: peer, wait_for_completion: true}]
    gates: [{id: ok, type: validation, auto_advance: true, blockers: []}]
  - {id: DONE, allowed_tools: []}
`

describe('a phase that waits for a reviewer', () => {
  it('[REQ-ADVANCE-1] [REQ-SLOT-2] is left with the report that finishes it, whose sender gets no token', async () => {
    const run = await start({ contract: REVIEWED })
    await run.addTask({ id: 'r' })
    const token = await run.claim('coder', await run.addAgent('coder'), 'r')
    const added = await run.call('POST', '/tasks/r/reviewers', run.operator, { name: 'peer' })
    const report = (status: string) =>
      run.call('POST', '/tasks/r/reviews', String(added.body.review_token), { report: { status } })
    const early = await run.call('POST', '/tasks/transition', token, { task_id: 'r', target_phase: 'DONE' })
    expect(early.body).toMatchObject({ allowed: false, blockers: [{ check: 'all_review_models_completed' }] })
    expect(await report('in_progress')).toMatchObject({ status: 201 })
    expect((await run.call('GET', '/tasks/r', run.operator)).body).toMatchObject({ phase: 'REVIEW' })
    const last = await report('completed')
    expect(Object.keys(last.body)).not.toContain('phase_token')
    expect((await run.call('GET', '/tasks/r', run.operator)).body).toMatchObject({ phase: 'DONE', status: 'completed' })
    expect(run.faults).toEqual([])
    await run.stop()
  })
})
