import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Answer, ownTree, type Running, start } from './harness.js'

const CONTRACT = `
name: bytes
version: "1"
phases:
  - {id: WORK, allowed_tools: [write_files, edit_files, bash], writable: ["**"]}
  - {id: DONE}
transitions: [{from: WORK, to: DONE}]
`
const environment = { PHASELOCK_TASK_BYTES: '100000' }
const kilobytes = (count: number): string => 'x'.repeat(count * 1000)

let run: Running
beforeAll(async () => {
  run = await start({ contract: CONTRACT, environment })
})
afterAll(() => run.stop())

interface Worker {
  readonly tree: string
  readonly id: string
  readonly token: string
  write(path: string, content: string, mode?: string): Promise<Answer>
  bash(command: string): Promise<Answer>
}

function workerOn(id: string, tree: string, token: string): Worker {
  const tool = (tool_name: string, args: object) =>
    run.call('POST', '/tools/execute', token, { task_id: id, tool_name, args })
  return {
    ...{ tree, id, token },
    write: (path, content, mode = 'w') => tool('write_files', { path, content, mode }),
    bash: (command) => tool('bash', { command }),
  }
}

async function worker(id: string): Promise<Worker> {
  const tree = ownTree(run)
  await run.addTask({ id, workspace: tree })
  return workerOn(id, tree, await run.claim(`agent-${id}`, await run.addAgent(`agent-${id}`), id))
}

const REFUSED = { status: 403, body: { code: 'constraint_violation' } }

it('[REQ-TASKBYTES-1] a file that would pass the limit is not written, and one that fits is', async () => {
  const one = await worker('files')
  expect((await one.write('a.txt', kilobytes(60))).status).toBe(200)
  const refused = await one.write('b.txt', kilobytes(41))
  expect(refused).toMatchObject(REFUSED)
  expect(refused.body.detail).toContain('added 101000 bytes to its work tree, and the maximum is 100000')
  expect(existsSync(join(one.tree, 'b.txt'))).toBe(false)
  // The same file again adds nothing.
  expect((await one.write('a.txt', 'y'.repeat(60_000))).status).toBe(200)
  expect((await one.write('b.txt', kilobytes(40))).status).toBe(200)
  expect(await one.write('a.txt', 'z', 'a')).toMatchObject(REFUSED)
  expect(readFileSync(join(one.tree, 'a.txt')).length).toBe(60_000)
})

it('[REQ-TASKBYTES-1] changes of a command that would pass the limit are dropped whole', async () => {
  const one = await worker('commands')
  expect((await one.bash('head -c 90000 /dev/zero > a.bin')).status).toBe(200)
  const refused = await one.bash('head -c 5000 /dev/zero > b.bin; head -c 6000 /dev/zero > c.bin')
  expect(refused).toMatchObject(REFUSED)
  expect(refused.body.detail).toContain('the maximum is 100000')
  for (const name of ['b.bin', 'c.bin']) expect(existsSync(join(one.tree, name))).toBe(false)
  expect((await one.bash('head -c 10000 /dev/zero > b.bin')).status).toBe(200)
  // What is deleted is not given back.
  expect((await one.bash('rm a.bin')).status).toBe(200)
  expect(await one.bash('echo x > c.txt')).toMatchObject(REFUSED)
})

it('[REQ-TASKBYTES-1] a restart does not begin to count again, and other tasks have their own limit', async () => {
  const one = await worker('restarted')
  expect((await one.write('a.txt', kilobytes(99))).status).toBe(200)
  run = await run.restart()
  const again = workerOn(one.id, one.tree, one.token)
  expect(await again.write('b.txt', kilobytes(2))).toMatchObject(REFUSED)
  expect((await again.write('b.txt', kilobytes(1))).status).toBe(200)
  const other = await worker('other')
  expect((await other.write('a.txt', kilobytes(99))).status).toBe(200)
})

it('[REQ-TASKBYTES-2] empty files, links and folders count as what they take of a disk', async () => {
  for (const [id, most, one, more] of [
    ['empty-files', 195, 'touch $(seq 1 195)', 'touch more'],
    ['links', 195, 'for i in $(seq 1 195); do ln -s x $i; done', 'ln -s x more'],
    ['folders', 24, 'mkdir $(seq 1 24)', 'mkdir more'],
  ] as const) {
    const here = await worker(id)
    expect(
      (await here.bash(`mkdir -p sub; cd sub; ${one.replaceAll(String(most), String(most * 2))}`)).status,
      id,
    ).toBe(403)
    expect(existsSync(join(here.tree, 'sub'))).toBe(false)
    expect((await here.bash(one)).status, id).toBe(200)
    expect(await here.bash(more), id).toMatchObject(REFUSED)
    expect(await here.write('more.txt', kilobytes(2)), id).toMatchObject(REFUSED)
  }
})

it('[REQ-TASKBYTES-2] a small file that grows counts by what it grew', async () => {
  const one = await worker('grows')
  expect((await one.write('a.txt', '')).status).toBe(200)
  expect((await one.bash('head -c 98900 /dev/zero > b.bin')).status).toBe(200)
  expect((await one.write('a.txt', 'x'.repeat(480))).status).toBe(200)
  expect(await one.write('c.txt', '')).toMatchObject(REFUSED)
})

it('[REQ-TASKBYTES-1] calls that come at the same moment are counted one after the other', async () => {
  const one = await worker('at-once')
  const calls = Array.from({ length: 12 }, (_, index) => one.write(`${index}.txt`, kilobytes(15)))
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(6)
  expect(statuses.filter((status) => status === 403)).toHaveLength(6)
})
