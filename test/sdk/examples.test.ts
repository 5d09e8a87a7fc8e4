import { execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePlace, type Place, type Served, serve } from '../e2e/process.js'
import { makeRepository } from '../e2e/projects.js'
import { builtSdk, ROOT } from './built.js'

const PROJECT = {
  'package.json': `${JSON.stringify({ name: 'sample', version: '1.0.0', private: true, type: 'module', scripts: { test: 'node --test tests/*.test.js' } })}\n`,
  'src/greet.js': "export const greet = (name) => 'Hello, ' + name + '!'\n",
  'tests/greet.test.js': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { greet } from '../src/greet.js'
test('a greeting carries the name', () => assert.equal(greet('Ada'), 'Hello, Ada!'))
`,
}

let place: Place
let server: Served
let workspace: string

beforeAll(async () => {
  builtSdk()
  execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', join(ROOT, 'examples')])
  place = await makePlace()
  server = await serve(place, 'tdd')
  workspace = join(place.dir, 'sample')
  makeRepository(workspace, PROJECT)
})
afterAll(async () => {
  await server?.stop()
  place?.remove()
})

/** Runs an example to its end; whoever reads along approves what it asks for. */
async function run(command: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn(command, args, { cwd: ROOT, env: { PATH: process.env.PATH ?? '', ...env } })
  let output = ''
  let approved = false
  const read = (chunk: Buffer): void => {
    output += chunk.toString()
    const asked = /waiting for approval (\S+)/.exec(output)?.[1]
    if (asked === undefined || approved) return
    approved = true
    void approve(asked)
  }
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  expect(code, output).toBe(0)
  return output
}

async function approve(id: string): Promise<void> {
  const { body } = await server.call('GET', `/approvals/${id}`, server.operator)
  await server.call('POST', `/approvals/${id}/decision`, server.operator, { decision: 'approve', digest: body.digest })
}

describe('the examples', () => {
  it.each([
    ['TypeScript', process.execPath, ['dist/examples/agent.js'], {}, 'Say welcome by name\nStart\n'],
    [
      'Python',
      'python3',
      ['examples/agent.py'],
      { PYTHONPATH: join(ROOT, 'python/src'), PYTHONDONTWRITEBYTECODE: '1' },
      'Say goodbye by name\nSay welcome by name\nStart\n',
    ],
  ])(
    '[REQ-SDK-23] [REQ-FRESH-8] the agent in %s takes a task through all five phases, after another in the same repository',
    async (name, command, args, env, commits) => {
      const id = `task-${name}`
      await server.call('POST', '/tasks', server.operator, { id, title: 'Say goodbye', workspace })
      const { body } = await server.call('POST', '/agents', server.operator, { agent_id: `coder-${name}` })
      const output = await run(command, args, {
        ...env,
        PHASELOCK_URL: `http://127.0.0.1:${place.port}/`,
        PHASELOCK_TOKEN: String(body.agent_token),
        PHASELOCK_AGENT_ID: `coder-${name}`,
      })
      expect(output.split('\n')).toEqual([
        `${id}: Say goodbye`,
        expect.stringMatching(/^waiting for approval/),
        ...['TDD', 'IMPL', 'REVIEW', 'COMPLETE', 'done', ''],
      ])
      const task = await server.call('GET', `/tasks/${id}`, server.operator)
      expect(task.body).toMatchObject({
        status: 'completed',
        completed_phases: ['PLAN', 'TDD', 'IMPL', 'REVIEW', 'COMPLETE'],
      })
      const log = execFileSync('git', ['-C', workspace, 'log', '--format=%s'], { encoding: 'utf8' })
      expect(log).toBe(commits)
    },
  )
})
