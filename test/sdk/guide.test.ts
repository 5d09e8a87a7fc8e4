import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocksOf } from '../docs/blocks.js'
import { type DocsServer, startServer } from '../docs/server.js'
import { builtSdk, ROOT } from './built.js'

const blocks = blocksOf('docs/agents.md')
const shown = blocks[blocks.findIndex((block) => block.language === 'python') + 1]?.text ?? ''
let server: DocsServer

beforeAll(async () => {
  builtSdk()
  server = await startServer(['--contract', 'tdd'])
  await operator('/tasks', { id: 'T1', title: 'Say hello' })
})
afterAll(() => server?.stop())

async function operator(path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(`http://localhost:${server.port}/api/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.operatorToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await answer.json()) as Record<string, unknown>
}

describe('the guide for authors of agents', () => {
  it.each([
    ['js', process.execPath, ['--input-type=module', '-e']],
    ['python', 'python3', ['-c']],
  ])('[REQ-SDK-23] its program in %s prints what is shown', async (language, command, args) => {
    const block = blocks.find((one) => one.language === language && one.marks.includes('run'))
    const { agent_token } = await operator('/agents', { agent_id: `reader-${language}` })
    const ran = spawnSync(command, [...args, block?.text ?? ''], {
      // Inside the project, where `phaselock/sdk` is found.
      cwd: ROOT,
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH ?? '',
        PYTHONPATH: join(ROOT, 'python/src'),
        PYTHONDONTWRITEBYTECODE: '1',
        PHASELOCK_URL: `http://localhost:${server.port}/`,
        PHASELOCK_TOKEN: String(agent_token),
        PHASELOCK_AGENT_ID: `reader-${language}`,
      },
      timeout: 60_000,
    })
    expect(ran.stderr).toBe('')
    expect(ran.stdout).toBe(shown)
  })
})
