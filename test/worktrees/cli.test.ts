import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { type Answer, built, Place } from '../cli/program.js'
import { git, makeRepository } from '../e2e/projects.js'

const CONTRACT =
  'name: small\nversion: "1"\nphases: [{id: WORK, allowed_tools: [write_files]}, {id: DONE, allowed_tools: []}]\n'
const MS = 300_000
const place = new Place()

beforeAll(async () => {
  await built()
  makeRepository(place.work, { 'a.txt': 'a\n' })
  git(place.work, 'branch', '-M', 'main')
  const contract = join(place.home, 'small.yaml')
  writeFileSync(contract, CONTRACT)
  await place.serve(['--contract', contract])
}, MS)

async function add(id: string): Promise<string> {
  const task = (await place.json(['task', 'add', `Do ${id}`, '--id', id, '--worktree'])) as Answer
  writeFileSync(join(String(task.workspace), `${id}.txt`), `${id}\n`)
  return String(task.workspace)
}

test(
  '[REQ-TREES-11] the command line says where a task works, and what is not in its tree',
  async () => {
    writeFileSync(join(place.work, 'open.txt'), 'not committed')
    const added = await place.run(['task', 'add', 'Say', '--id', 'said', '--worktree'])
    expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining('open.txt') })
    expect(added.stdout).toContain('on the branch phaselock/said')
  },
  MS,
)

test(
  '[REQ-TREES-11] merge, handover and discard refuse in plain words and do what they say',
  async () => {
    const [one, two, three] = [await add('one'), await add('two'), await add('three')]
    expect(await place.run(['task', 'merge', 'one'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not completed; use force'),
    })
    for (const id of ['one', 'two', 'three']) await place.json(['task', 'cancel', id, '--reason', 'enough'])
    expect(await place.run(['task', 'merge', 'one', '--force'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Not committed: one.txt'),
    })
    expect(await place.run(['task', 'merge', 'one', '--force', '--commit'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^main went forward, and is at [0-9a-f]{12}\.\n$/),
    })
    expect(readFileSync(join(place.work, 'one.txt'), 'utf8')).toBe('one\n')
    expect(await place.run(['task', 'handover', 'two', '--commit'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('phaselock/two'),
    })
    expect(git(place.work, 'show', 'phaselock/two:two.txt')).toBe('two\n')
    expect(await place.run(['task', 'discard', 'three'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--yes'),
    })
    expect(existsSync(three)).toBe(true)
    expect(await place.run(['task', 'discard', 'three', '--yes'])).toMatchObject({ code: 0 })
    expect([one, two, three].map((tree) => existsSync(tree))).toEqual([false, false, false])
  },
  MS,
)
