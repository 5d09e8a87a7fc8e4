import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { openSessionServer } from '../../src/cli/launch/session-server.js'
import { formatStatus, type Status } from '../../src/cli/terminal/status-text.js'
import { start } from '../http/harness.js'
import { built, Place } from './program.js'

const RUN_MS_MAX = 120_000
const place = new Place()
beforeAll(built)

const CONTRACT =
  'name: stuck\nversion: "1"\nphases: [{id: A, allowed_tools: [read_files]}, {id: B}]\nenforcement: {reconcile: off}\n'
const EMPTY = {
  ...{ server: {}, contract: {}, paused: null, tasks: { by_status: {} }, run: null, waiting: [] },
  ...{ alerts: [], approvals: [], questions: [], parked: [], missing_trees: [] },
}

it('[REQ-CLI-29] an agent that is refused again and again waits for a person, and one that gets on does not', async () => {
  const server = await start({ dir: join(place.home, 'stuck'), contract: CONTRACT })
  try {
    await server.addTask({ id: 't' })
    const token = await server.claim('a', await server.addAgent('a'), 't')
    const use = (tool_name: string, args: object) =>
      server.call('POST', '/tools/execute', token, { task_id: 't', tool_name, args })
    const text = async (): Promise<string> => {
      const { agents } = (await server.call('GET', '/state/snapshot', server.operator)).body
      return formatStatus({ ...EMPTY, active: agents } as unknown as Status)
    }
    for (const path of ['a', 'b']) await use('write_files', { path, content: '' })
    expect(await text()).toMatch(/Waiting for you\n {2}Nothing\.$/)
    await use('write_files', { path: 'c', content: '' })
    expect(await text()).toMatch(
      /Waiting for you\nt is in A and was refused 3 times in a row, last at .*\n {2}See why: phaselock report t\. .*phaselock task rewind t$/,
    )
  } finally {
    await server.stop()
  }
})

it('[REQ-CLI-29] in a folder without a server the error names the servers that run elsewhere', {
  timeout: RUN_MS_MAX,
}, async () => {
  const nowhere = join(place.home, 'nowhere')
  mkdirSync(nowhere)
  const ask = async () => (await place.run(['approve', '--url', 'http://localhost:9'], { cwd: nowhere })).stderr
  expect(await ask()).not.toContain('A server runs for')
  const server = await place.serve()
  expect(await ask()).toMatch(
    new RegExp(`A server runs for work: ${server.url}\\nIf you mean that one, go to its repository\\.`),
  )
})

it('[REQ-LAUNCH-1] a session is not opened where nothing could be committed', async () => {
  const before = process.cwd()
  process.chdir(place.home)
  try {
    await expect(openSessionServer({})).rejects.toThrow(/is not in a git repository.*git init/s)
  } finally {
    process.chdir(before)
  }
})
