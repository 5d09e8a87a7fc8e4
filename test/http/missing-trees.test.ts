import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sweep } from '../../src/app/sweep.js'
import { makeRepository } from '../e2e/projects.js'
import { asked } from './asking.js'
import { type Answer, ownTree, type Running, start } from './harness.js'

const contract = `
name: gone
version: "1"
phases:
  - id: WORK
    allowed_tools: [read_files, write_files, bash, git_status, ask_user_question]
    writable: ["**"]
  - {id: DONE, allowed_tools: []}
transitions: [{from: WORK, to: DONE}]
`

let run: Running
let tree: string
beforeEach(async () => {
  run = await start({ contract })
  writeFileSync(join(run.workspace, 'README.md'), 'Shop\n')
  tree = ownTree(run)
  await run.addTask({ id: 'gone', workspace: tree })
})
afterEach(async () => {
  expect(run.faults).toEqual([])
  await run.stop()
})

const DAMAGES: readonly (readonly [name: string, problem: string, damage: () => void])[] = [
  ['deleted', 'does not exist', () => rmSync(tree, { recursive: true })],
  [
    'replaced by a file',
    'is not a folder',
    () => {
      rmSync(tree, { recursive: true })
      writeFileSync(tree, 'a file')
    },
  ],
  [
    'replaced by a link to itself',
    'is a link that leads to itself',
    () => {
      rmSync(tree, { recursive: true })
      symlinkSync(tree, tree)
    },
  ],
]

const claim = async (agentId: string, taskId?: string): Promise<Answer> => {
  const token = await run.addAgent(agentId)
  return run.call('POST', '/tasks/claim', token, {
    agent_id: agentId,
    ...(taskId === undefined ? {} : { task_id: taskId }),
  })
}
const execute = (token: string, tool_name: string, args: object) =>
  run.call('POST', '/tools/execute', token, { task_id: 'gone', tool_name, args })
const operate = (path: string, body: object) => run.call('POST', path, run.operator, body)

const REMEDY =
  /An operator puts the folder .+ back as it was, or gives the task up: `phaselock task cancel gone --reason "its work tree is gone"`/

function expectMissing(answer: Answer, problem: string): void {
  expect(answer).toMatchObject({
    status: 409,
    body: {
      code: 'tree_missing',
      title: 'The work tree of the task is missing',
      detail: `The work tree of task gone, ${tree}, ${problem}.`,
      remedy: expect.stringMatching(REMEDY),
    },
  })
}

describe('a task whose work tree is missing', () => {
  it.each(DAMAGES)(
    '[REQ-GONE-1] is skipped by claims that name no task, and named where there is no other: %s',
    async (_, problem, damage) => {
      damage()
      const none = await claim('first')
      expect(none).toMatchObject({ status: 404, body: { code: 'no_task_available' } })
      expect(none.body.detail).toBe(
        `No task is available to this agent now. The work tree of task gone, ${tree}, ${problem}.`,
      )
      await run.addTask({ id: 'there' })
      expect(await claim('second')).toMatchObject({ status: 200, body: { task: { id: 'there' } } })
    },
  )

  it.each(DAMAGES)('[REQ-GONE-3] refuses a claim by name: %s', async (_, problem, damage) => {
    damage()
    expectMissing(await claim('a', 'gone'), problem)
  })

  it.each(DAMAGES)(
    '[REQ-GONE-3] refuses tools, revert, accept and install, while its agent can ask and release: %s',
    async (_, problem, damage) => {
      const token = await run.claim('a', await run.addAgent('a'), 'gone')
      damage()
      for (const [tool, args] of [
        ['read_files', { path: 'README.md' }],
        ['write_files', { path: 'a', content: 'b' }],
        ['bash', { command: 'ls' }],
        ['git_status', {}],
      ] as const)
        expectMissing(await execute(token, tool, args), problem)
      for (const path of ['tree/revert', 'tree/accept'])
        expectMissing(await operate(`/tasks/gone/${path}`, { reason: 'x' }), problem)
      expectMissing(await operate('/tasks/gone/install', { command: ['npm', 'install'] }), problem)
      await asked(run, token, 'My work tree is gone. What now?', ['wait', 'stop'])
      expect((await run.call('POST', '/tasks/release', token, { task_id: 'gone' })).status).toBe(200)
      expect((await operate('/tasks/gone/cancel', { reason: 'its work tree is gone' })).status).toBe(200)
    },
  )

  it('[REQ-GONE-1] lost by its agent keeps that agent from no other task', async () => {
    const agent = await run.addAgent('a')
    await run.claim('a', agent, 'gone')
    rmSync(tree, { recursive: true })
    run.now = Date.now() + 24 * 3600 * 1000
    await sweep(run.app)
    await run.addTask({ id: 'there' })
    expect(await run.call('POST', '/tasks/claim', agent, { agent_id: 'a' })).toMatchObject({
      ...{ status: 200, body: { task: { id: 'there' } } },
    })
  })

  it('[REQ-GONE-1] keeps no server from starting', async () => {
    await run.claim('a', await run.addAgent('a'), 'gone')
    await run.addTask({ id: 'there' })
    rmSync(tree, { recursive: true })
    run = await run.restart()
    expect(await claim('b')).toMatchObject({ status: 200, body: { task: { id: 'there' } } })
  })

  it('[REQ-GONE-3] goes on when its folder is put back', async () => {
    const token = await run.claim('a', await run.addAgent('a'), 'gone')
    renameSync(tree, `${tree}-aside`)
    expectMissing(await execute(token, 'read_files', { path: 'README.md' }), 'does not exist')
    renameSync(`${tree}-aside`, tree)
    expect((await execute(token, 'read_files', { path: 'README.md' })).status).toBe(200)
  })

  it('[REQ-GONE-2] is in the inbox and among the checks of the server, with the way out, until it is cancelled', async () => {
    const inbox = async () => (await run.call('GET', '/inbox', run.operator)).body.items
    const checks = async () => {
      const { body } = await run.call('GET', '/doctor', run.operator)
      return (body.checks as { name: string }[]).filter(({ name }) => name === 'task gone')
    }
    expect([await inbox(), await checks()]).toEqual([[], []])
    rmSync(tree, { recursive: true })
    expect(await inbox()).toMatchObject([
      {
        ...{
          kind: 'tree_missing',
          id: 'gone',
          task_id: 'gone',
          title: 'The work tree is missing',
          actions: ['cancel'],
        },
        detail: expect.stringMatching(REMEDY),
      },
    ])
    const detail = `The work tree of task gone, ${tree}, does not exist.`
    expect(await checks()).toEqual([
      { name: 'task gone', status: 'warning', detail, remedy: expect.stringMatching(REMEDY) },
    ])
    await operate('/tasks/gone/cancel', { reason: 'its work tree is gone' })
    expect([await inbox(), await checks()]).toEqual([[], []])
  })

  it('[REQ-GONE-2] with a work tree of its own can be discarded after it was cancelled', async () => {
    const repository = join(run.workspace, '..', 'repository')
    mkdirSync(repository)
    makeRepository(repository, { 'a.txt': 'a' })
    const own = await operate('/tasks', { id: 'own', title: 'x', workspace: repository, worktree: true })
    rmSync(String(own.body.workspace), { recursive: true })
    const refused = await claim('b', 'own')
    expect(refused).toMatchObject({ status: 409, body: { code: 'tree_missing' } })
    expect(refused.body.remedy).toContain('then `phaselock task discard own --reason "it is gone"`')
    expect((await operate('/tasks/own/cancel', { reason: 'its work tree is gone' })).status).toBe(200)
    expect((await operate('/tasks/own/discard', { reason: 'it is gone' })).status).toBe(200)
  })
})
