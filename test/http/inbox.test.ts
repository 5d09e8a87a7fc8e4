import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Running, start } from './harness.js'

const contract = `
name: waiting
version: "1"
phases:
  - id: WORK
    allowed_tools: [write_files, ask_user_question]
    tool_constraints: {write_files: {allowed_patterns: ["src/**"]}}
    gates:
      - {id: signed, type: approval, approvers: [human]}
  - {id: DONE, allowed_tools: []}
enforcement: {reconcile: block, denial_budget: 3}
`

let run: Running
let token = ''
const call = (path: string, body: object, who = token) => run.call('POST', path, who, body)
const write = (path: string) =>
  call('/tools/execute', { task_id: 't', tool_name: 'write_files', args: { path, content: 'x' } })
const leave = () => call('/tasks/transition', { task_id: 't', target_phase: 'DONE' })
const inbox = async () => {
  const { status, body } = await run.call('GET', '/inbox', run.operator)
  expect(status).toBe(200)
  return body as { items: readonly { kind: string; id: string; since: string; actions: string[] }[]; total: number }
}
const kinds = async () => (await inbox()).items.map(({ kind }) => kind)

beforeEach(async () => {
  run = await start({ contract })
  mkdirSync(join(run.workspace, 'src'))
  await run.addTask({ id: 't', title: 'Add it' })
  token = await run.claim('a', await run.addAgent('a'), 't')
})
afterEach(async () => {
  expect(run.faults).toEqual([])
  await run.stop()
})

describe('the inbox', () => {
  it('[REQ-INBOX-1] is for operators, and empty when nothing waits', async () => {
    expect(await run.call('GET', '/inbox', token)).toMatchObject({ status: 403, body: { code: 'not_permitted' } })
    expect(await inbox()).toEqual({ items: [], total: 0, truncated: false })
  })

  it('[REQ-INBOX-1] lists questions and approvals, oldest first, until they are answered', async () => {
    run.now = Date.now() + 1000
    const asked = await call('/tools/execute', {
      ...{ task_id: 't', tool_name: 'ask_user_question', args: { question: 'Which one?', options: ['red', 'blue'] } },
    })
    expect(asked.status).toBe(200)
    run.now += 1000
    await write('src/x')
    await leave()
    const { items, total } = await inbox()
    expect(total).toBe(2)
    expect(items).toMatchObject([
      {
        kind: 'question',
        title: 'Which one?',
        detail: 'red · blue',
        task_id: 't',
        task_title: 'Add it',
        agent_id: 'a',
      },
      { kind: 'approval', title: 'Approve WORK → DONE', phase: 'WORK', actions: ['approve', 'reject'] },
    ])
    await call(`/questions/${items[0]?.id}/answer`, { answer: 'red' }, run.operator)
    expect(await kinds()).toEqual(['approval'])
    const approval = await run.call('GET', `/approvals/${items[1]?.id}`, run.operator)
    const decision = { decision: 'approve', digest: approval.body.digest }
    await call(`/approvals/${items[1]?.id}/decision`, decision, run.operator)
    expect(await kinds()).toEqual([])
  })

  it('[REQ-INBOX-1] lists unexplained changes until they are reverted or accepted', async () => {
    writeFileSync(join(run.workspace, 'by-hand'), 'by hand\n')
    await leave()
    expect(await inbox()).toMatchObject({
      items: [
        { kind: 'unexplained', id: 't', detail: expect.stringContaining('by-hand'), actions: ['revert', 'accept'] },
      ],
    })
    run = await run.restart()
    expect(await kinds()).toEqual(['unexplained'])
    expect(await call('/tasks/t/tree/revert', { reason: 'not ours' }, run.operator)).toMatchObject({ status: 200 })
    expect(await kinds()).toEqual([])
  })

  it('[REQ-INBOX-1] lists parked tasks with the reason until they are resumed, and contracts until they are trusted', async () => {
    for (const path of ['a', 'b', 'c']) await write(path)
    expect(await inbox()).toMatchObject({
      items: [
        {
          kind: 'parked',
          id: 't',
          detail: expect.stringContaining('denial_budget'),
          actions: ['resume', 'rewind', 'reassign', 'cancel'],
        },
      ],
    })
    await call('/tasks/t/resume', { reason: 'go on' }, run.operator)
    expect(await kinds()).toEqual([])
  })
})
