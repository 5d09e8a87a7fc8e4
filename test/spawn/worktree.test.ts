import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { getWorktreesDir } from '../../src/app/worktrees/worktree-place.js'
import { git, makeRepository } from '../e2e/projects.js'
import { type Body, contractWith, openStage, type Stage, until } from './stage.js'

const RUN_MS_MAX = 300_000
const PHASES = `phases:
  - {id: PLAN, allowed_tools: [read_files, write_files], prompt: "Plan it."}
  - {id: BUILD, allowed_tools: [read_files, write_files], prompt: "Build it."}
  - {id: DONE, allowed_tools: []}
`

let stage: Stage
afterEach(async () => {
  expect(stage.server.faults).toEqual([])
  await stage.stop()
})

/** The server's work tree is a repository with one commit, and a file that no commit holds. */
async function open(): Promise<void> {
  stage = await openStage(contractWith({ phases: PHASES }))
  makeRepository(stage.server.workspace, { 'a.txt': 'a\n', '.gitignore': 'kept/\n' })
  git(stage.server.workspace, 'branch', '-M', 'main')
  mkdirSync(join(stage.server.workspace, 'kept'))
  writeFileSync(join(stage.server.workspace, 'kept/b.txt'), 'b\n')
  writeFileSync(join(stage.server.workspace, 'open.txt'), 'not committed\n')
}

const ask = (task: Body, more: Body = {}) =>
  stage.server.call('POST', '/agents/spawn', stage.server.operator, {
    harness: 'command',
    command: 'node',
    args: [stage.agent, 'list:.', 'read:a.txt', 'write:a.txt', 'claim', 'beat'],
    task: { title: 'A small task', ...task },
    ...more,
  })

const trees = (): readonly string[] => {
  const dir = getWorktreesDir(stage.server.stateDir)
  return existsSync(dir) ? readdirSync(dir) : []
}

const tasks = async (): Promise<readonly Body[]> =>
  (await stage.server.call('GET', '/tasks', stage.server.operator)).body.tasks as Body[]

describe('an agent with its own work tree', () => {
  it(
    '[REQ-SPAWNTREE-1] is refused where there is no repository, no commit or nothing to take, and leaves neither task nor tree',
    async () => {
      stage = await openStage(contractWith({ phases: PHASES }))
      const bare = join(stage.server.workspace, '..', 'bare')
      mkdirSync(bare)
      git(bare, 'init', '-q')
      const refused: readonly (readonly [Body, string])[] = [
        [{ worktree: true }, 'is not the top folder of a git repository'],
        [{ worktree: true, workspace: bare }, 'has no commit yet'],
        [{ take: ['kept'] }, 'take: works only together with `worktree`'],
      ]
      for (const [task, detail] of refused) {
        const answer = await ask(task, { agent_id: 'ada' })
        expect(answer.status, JSON.stringify(task)).toBe(400)
        expect(answer.body).toMatchObject({ code: 'invalid_request', detail: expect.stringContaining(detail) })
        expect(await stage.show('ada')).toMatchObject({ state: 'ended', outcome: 'failed' })
      }
      expect([await tasks(), trees()]).toEqual([[], []])
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWNTREE-1] is refused for a task that there is, whose tree stays as it is',
    async () => {
      await open()
      const task = { id: 'docs', title: 'Docs' }
      expect((await stage.server.call('POST', '/tasks', stage.server.operator, task)).status).toBe(201)
      const before = await stage.task('docs')
      expect((await ask({ id: 'docs', worktree: true }, { agent_id: 'ada' })).body).toMatchObject({
        code: 'conflict',
        detail: 'Task "docs" already exists.',
      })
      expect((await ask({ worktree: true }, { task_id: 'docs' })).body).toMatchObject({ code: 'invalid_request' })
      expect((await ask({}, { task: undefined, task_id: 'docs', worktree: true })).body).toMatchObject({
        code: 'invalid_request',
        detail: expect.stringContaining('worktree'),
      })
      const secret = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123'
      expect((await ask({ id: secret, worktree: true }, { agent_id: 'ada' })).body).toMatchObject({
        code: 'invalid_request',
        detail: expect.stringContaining('looks like a secret'),
      })
      expect(await stage.task('docs')).toMatchObject({ workspace: before.workspace, status: 'queued', agent_id: null })
      expect([trees(), (await stage.show('ada')).code]).toEqual([[], 'not_found'])
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWNTREE-2] is started there, beside one in the common tree, and what is not there is told',
    async () => {
      await open()
      const common = await ask({})
      expect(common.status).toBe(201)
      expect(common.body.uncommitted).toBeUndefined()
      expect((await ask({})).body).toMatchObject({ code: 'conflict' })
      const { status, body } = await ask({ id: 'docs', worktree: true, take: ['kept'] })
      expect(status).toBe(201)
      expect(body).toMatchObject({
        task_id: 'docs',
        worktree: { branch: 'phaselock/docs', repository: stage.server.workspace },
        uncommitted: { paths: ['open.txt'], count: 1 },
      })
      expect(body.workspace).not.toBe(stage.server.workspace)
      const log = await until(
        () => stage.log(String(body.agent_id)),
        (text) => text.includes('claim 200 docs'),
      )
      const listed = /^list (.*)$/m.exec(log)?.[1]?.split(',') ?? []
      expect(listed).toEqual(expect.arrayContaining(['a.txt', 'kept']))
      expect(listed).not.toContain('open.txt')
      expect(log).toContain('read 2\n')
      expect(log).toContain('write EROFS')
      expect(await stage.task('docs')).toMatchObject({ status: 'active', workspace: body.workspace })
    },
    RUN_MS_MAX,
  )
})
