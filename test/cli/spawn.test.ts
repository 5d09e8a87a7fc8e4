import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { AGENT } from '../spawn/agent.js'
import { contractWith, until } from '../spawn/stage.js'
import { type Answer, built, Place, SCRIPT } from './program.js'

const RUN_MS_MAX = 300_000
const place = new Place()
const agent = join(place.home, 'program', 'agent.mjs')
beforeAll(async () => {
  await built()
  mkdirSync(join(place.home, 'program'))
  writeFileSync(agent, AGENT)
  const agents = `agents: {coder: {harness: command, command: node, args: ["${agent}"]}}\n`
  writeFileSync(
    join(place.work, 'agent_workflow.yaml'),
    contractWith({ more: agents, crash: '{action: park, max_retries: 1, backoff_seconds: 1}' }),
  )
  await place.serve()
}, RUN_MS_MAX)

describe('agents from the command line', () => {
  it(
    '[REQ-SPAWN-22] run refuses in one line what is not known, and says what is',
    async () => {
      const unknown = await place.run(['run', 'codr', 'do it'])
      expect([unknown.code, unknown.stdout]).toEqual([1, ''])
      expect(unknown.stderr).toContain('Did you mean "coder"?')
      expect((await place.run(['run', 'coder'])).code).toBe(2)
      expect((await place.run(['run'])).code).toBe(2)
      expect((await place.run(['logs', 'nobody'])).code).toBe(1)
      expect((await place.run(['attach', 'nobody'])).code).toBe(1)
      const missing = await place.run(['run', 'opencode', 'do it'])
      expect([missing.code, missing.stderr.includes('[agent_unavailable]')]).toEqual([1, true])
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWN-22] run follows the agent to its end, and ends with 0 only for a completed task',
    async () => {
      const done = await place.run(['run', 'coder', 'Do it', '--arg', 'say:hello-there', '--arg', 'whole'])
      expect([done.code, done.stderr]).toEqual([0, ''])
      expect(done.stdout).toContain('hello-there\n')
      expect(done.stdout).toMatch(/Agent coder-\w+: completed\. The task is completed\.\n$/)
      const failed = await place.run(['run', '--command', 'node', '--arg', agent, '--arg', 'exit:3', 'Do it'])
      expect(failed.code).toBe(1)
      expect(failed.stdout).toContain(': parked. ')
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-SPAWN-23] agents are listed with what they do, followed, attached to and stopped',
    async () => {
      const words = ['--arg', 'say:hello-window', '--arg', 'claim', '--arg', 'beat']
      const started = await place.json(['run', 'coder', 'Do it', '--detach', '--tmux', '--name', 'ada', ...words])
      expect(started).toMatchObject({ agent_id: 'ada', state: expect.any(String), restarts: 0 })
      await until(
        async () => (await place.run(['logs', 'ada'])).stdout,
        (text) => text.includes('claim 200'),
      )
      const { agents } = (await place.json(['agents'])) as { agents: Answer[] }
      expect(agents.find((one) => one.agent_id === 'ada')).toMatchObject({
        status: 'working',
        phase: 'PLAN',
        spawn: { state: 'running', adapter: 'tmux' },
      })
      const listed = (await place.run(['agents'])).stdout
      expect(listed).toMatch(/^ada +running +0 +task-\w+ +PLAN +confined +\d+ ?s/m)
      for (const line of listed.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
      // A terminal for tmux is made by script(1).
      const attached = spawn('script', ['-qec', `${process.execPath} ${SCRIPT} attach ada`, '/dev/null'], {
        cwd: place.work,
        env: { ...place.environment, TERM: 'xterm', LANG: 'C.UTF-8' },
        stdio: ['pipe', 'pipe', 'ignore'],
      })
      let seen = ''
      attached.stdout.on('data', (chunk) => (seen += chunk))
      await until(
        () => seen,
        (text) => text.includes('hello-window'),
      )
      attached.kill('SIGTERM')
      const following = place.run(['logs', 'ada', '--follow'])
      const stopped = await place.run(['stop', 'ada', '--park', '--reason', 'enough'])
      expect([stopped.code, stopped.stdout]).toEqual([0, 'Agent ada is stopped; its task is parked.\n'])
      expect((await following).code).toBe(0)
      expect((await place.run(['attach', 'ada'])).stderr).toContain('no window')
      expect(await place.json(['task', 'show', String(started.task_id)])).toMatchObject({ task: { status: 'parked' } })
    },
    RUN_MS_MAX,
  )
})
