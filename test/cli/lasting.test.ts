import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { AGENT } from '../spawn/agent.js'
import { contractWith, until } from '../spawn/stage.js'
import { built, Place, SCRIPT } from './program.js'

const RUN_MS_MAX = 300_000
const place = new Place(afterAll)

describe('phaselock run', () => {
  beforeAll(async () => {
    await built()
    const agent = join(place.home, 'program', 'agent.mjs')
    mkdirSync(join(place.home, 'program'))
    writeFileSync(agent, AGENT)
    const more = `agents: {coder: {harness: command, command: node, args: ["${agent}"]}}\n`
    writeFileSync(join(place.work, 'agent_workflow.yaml'), contractWith({ more }))
  }, RUN_MS_MAX)

  it(
    '[REQ-BYHAND-20] follows an agent through a restart of the server, which may listen elsewhere then',
    async () => {
      const first = await place.serve()
      const words = ['--arg', 'first', '--arg', 'claim', '--arg', 'beat']
      const run = place.run(['run', 'coder', 'Do it', '--name', 'ada', ...words])
      await until(
        async () => (await place.run(['logs', 'ada'])).stdout,
        (text) => text.includes('claim 200'),
      )
      first.kill('SIGTERM')
      await first.ended
      await new Promise((resolve) => setTimeout(resolve, 1500))
      await place.serve()
      const ended = await run
      expect(ended.stderr).toBe('The connection is lost; trying again …\nConnected again.\n')
      expect([ended.code, ended.stdout.includes('second\n')]).toEqual([0, true])
      expect(ended.stdout).toMatch(/Agent ada: completed/)
    },
    RUN_MS_MAX,
  )
})

describe('a client that follows one server', () => {
  it(
    '[REQ-BYHAND-22] waits for it when it is away, whatever other server answers meanwhile',
    async () => {
      await built()
      const near = new Place(onTestFinished)
      writeFileSync(join(near.work, 'agent_workflow.yaml'), contractWith())
      const own = await near.serve()
      const sample = join(near.environment.XDG_DATA_HOME ?? '', 'phaselock', 'sample')
      mkdirSync(sample, { recursive: true })
      writeFileSync(join(sample, 'agent_workflow.yaml'), contractWith())
      await near.serve(['--workspace', sample, '--contract', join(sample, 'agent_workflow.yaml')])
      const child = spawn(process.execPath, [SCRIPT, 'events', '--follow'], {
        cwd: near.work,
        env: near.environment,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let said = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
      await until(
        async () => {
          await near.run(['task', 'add', 'Here'])
          return said
        },
        (text) => text.includes('task_created'),
      )
      own.kill('SIGTERM')
      await own.ended
      await until(
        () => said,
        (text) => text.includes('The connection is lost'),
      )
      await new Promise((resolve) => setTimeout(resolve, 3000))
      const ended = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGINT')
      expect(await ended).toBe(4)
      expect(said).not.toContain('Connected again')
    },
    RUN_MS_MAX,
  )
})

describe('a server that somebody names', () => {
  it(
    '[REQ-BYHAND-16] and that does not run is said to be down; no other is asked in its place',
    async () => {
      await built()
      const near = new Place(onTestFinished)
      writeFileSync(join(near.work, 'agent_workflow.yaml'), contractWith())
      await near.serve()
      const gone = join(near.home, 'gone')
      for (const ended of [
        await near.run(['pause', '--state-dir', gone]),
        await near.run(['pause'], { env: { PHASELOCK_STATE_DIR: gone } }),
      ]) {
        expect(ended.code).toBe(3)
        expect(ended.stderr).toContain(`No server runs on the state directory ${gone}.\n`)
      }
      expect((await near.json(['status'])).paused).toBe(null)
    },
    RUN_MS_MAX,
  )
})
