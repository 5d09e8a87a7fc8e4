import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Answer, built, Place } from '../cli/program.js'
import { git, makeRepository } from '../e2e/projects.js'
import { AGENT } from './agent.js'
import { contractWith } from './stage.js'

const RUN_MS_MAX = 300_000
const place = new Place()
const agent = join(place.home, 'program', 'agent.mjs')

beforeAll(async () => {
  await built()
  mkdirSync(join(place.home, 'program'))
  writeFileSync(agent, AGENT)
  const contract = join(place.home, 'small.yaml')
  const agents = `agents: {coder: {harness: command, command: node, args: ["${agent}"]}}\n`
  writeFileSync(contract, contractWith({ more: agents }))
  await place.serve(['--contract', contract])
}, RUN_MS_MAX)

describe('phaselock run --worktree', () => {
  it(
    '[REQ-SPAWNTREE-3] says in plain words why there can be none',
    async () => {
      const none = await place.run(['run', 'coder', 'Do it', '--worktree'])
      expect([none.code, none.stdout]).toEqual([1, ''])
      expect(none.stderr).toContain('is not the top folder of a git repository')
      for (const more of [['--worktree'], ['--take', 'kept'], ['--id', 'docs']]) {
        const named = await place.run(['run', 'coder', '--task', 'docs', ...more])
        expect([named.code, named.stdout]).toEqual([2, ''])
        expect(named.stderr).toContain('--id, --worktree and --take apply only to a new task')
      }
      expect(((await place.json(['task', 'list'])) as Answer).tasks).toEqual([])
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWNTREE-3] says where the agent works and what is not there, and follows it to its end',
    async () => {
      makeRepository(place.work, { 'a.txt': 'a\n' })
      git(place.work, 'branch', '-M', 'main')
      writeFileSync(join(place.work, 'open.txt'), 'not committed')
      const words = ['--arg', 'list:.', '--arg', 'list:.git', '--arg', 'whole']
      const done = await place.run(['run', 'coder', 'Do it', '--id', 'docs', '--worktree', ...words])
      expect([done.code, done.stderr]).toEqual([0, 'Not included, because it is not committed: open.txt\n'])
      expect(done.stdout).toMatch(
        /^Agent coder-\w+ works on task docs\.\nIt works in \/\S+, on the branch phaselock\/docs\.\n/,
      )
      expect(done.stdout).toMatch(/^list \.git,a\.txt$/m)
      expect(done.stdout).toMatch(/^list $/m)
      expect(done.stdout).toMatch(/Agent coder-\w+: completed\. The task is completed\.\n$/)
      const merged = await place.run(['task', 'merge', 'docs'])
      expect(merged.code, merged.stderr).toBe(0)
      const again = await place.run(['run', 'coder', 'Do it', '--id', 'docs', '--worktree'])
      expect([again.code, again.stderr.includes('Task "docs" already exists.')]).toEqual([1, true])
      const detached = await place.json(['run', 'coder', 'Do it', '--worktree', '--detach'])
      expect(detached).toMatchObject({ worktree: { branch: `phaselock/${detached.task_id}` } })
    },
    RUN_MS_MAX,
  )
})
