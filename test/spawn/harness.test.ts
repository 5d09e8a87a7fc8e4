import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { MARK, scriptedModel } from '../mcp/scripted-model.js'
import { claudeCode } from '../participants/real-agents.js'
import { contractWith, openStage, type Stage } from './stage.js'

const RUN_MS_MAX = 300_000
let stage: Stage | null = null
afterEach(async () => {
  expect(stage?.server.faults ?? []).toEqual([])
  await stage?.stop()
  stage = null
})

const tool = (name: string, input: Record<string, unknown> = {}) => ({ name: `mcp__phaselock__${name}`, input })

describe('Claude Code that is started', () => {
  it(
    '[REQ-SPAWN-25] has the tools of Phaselock and no other, completes its task, and its tokens are counted; the key stays outside',
    async ({ skip }) => {
      const found = claudeCode()
      if (!found.ok) return skip(found.reason)
      const go = (target: string) => tool('request_transition', { target_phase: target })
      const model = await scriptedModel([tool('read_files', { paths: ['a.txt'] }), go('BUILD'), go('DONE')])
      stage = await openStage(contractWith({ crash: '{action: park, max_retries: 1, backoff_seconds: 1}' }), {
        environment: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'sk-the-real-key-of-the-model' },
      })
      writeFileSync(join(stage.server.workspace, 'a.txt'), 'hello')
      const body = { harness: 'claude-code', command: found.program, task: { title: `${MARK} A small task` } }
      const { body: answer } = await stage.server.call('POST', '/agents/spawn', stage.server.operator, body)
      const agentId = String(answer.agent_id)
      const ended = await stage.ended(agentId)
      const log = await stage.log(agentId)
      model.close()
      expect(ended, log).toMatchObject({ outcome: 'completed', restarts: 0, harness: 'claude-code' })
      for (const { tools } of model.turns)
        expect(tools.filter((one) => !one.startsWith('mcp__phaselock__'))).toEqual([])
      expect(model.turns[1]?.results[0]?.text).toContain('hello')
      const events = (await stage.server.call('GET', `/tasks/${answer.task_id}/timeline`, stage.server.operator)).body
      const usage = (events.events as { type: string; data: Record<string, unknown> }[]).filter(
        ({ type }) => type === 'usage_recorded',
      )
      expect(usage.length).toBeGreaterThan(0)
      expect(usage[0]?.data).toMatchObject({ grade: 'observed' })
      expect(log).not.toContain('sk-the-real-key')
    },
    RUN_MS_MAX,
  )
})

describe('an agent without a sandbox', () => {
  it(
    '[REQ-SPAWN-24] runs where the contract does without, works over the port, and everything that does not hold is told',
    async () => {
      const env = '{OPENAI_BASE_URL: "http://127.0.0.1:1/v1", OPENAI_API_KEY: "$' + '{env:MODEL_KEY}"}'
      const more = `agents: {coder: {harness: command, command: node, args: [AGENT], env: ${env}}}\n`
      stage = await openStage(contractWith({ confinement: 'off', more }), {
        environment: { MODEL_KEY: 'the-key-of-the-model', SOME_SECRET: 'of-the-server' },
      })
      const { operator } = stage.server
      const { agentId, taskId } = await stage.spawn([], { agent: 'coder', args: ['env', 'files', 'whole'] })
      const ended = await stage.ended(agentId)
      expect(ended).toMatchObject({ outcome: 'completed' })
      expect(ended.unenforced).toEqual(expect.arrayContaining(['tree_writes', 'network', 'private_files', 'processes']))
      expect(await stage.task(taskId)).toMatchObject({ status: 'completed' })
      const log = readFileSync(join(stage.server.stateDir, 'agents', agentId, 'log'), 'utf8')
      expect(log).toContain('files true true')
      for (const secret of [operator, 'the-key-of-the-model', 'SOME_SECRET', 'of-the-server', stage.server.stateDir])
        expect(log).not.toContain(secret)
    },
    RUN_MS_MAX,
  )
})
