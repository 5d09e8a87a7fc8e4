import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { ANTHROPIC_EVENTS, CHAT_EVENTS, RESPONSE_EVENTS } from '../doors/answers.js'
import { type FakeModel, fakeModel, meteredAgent, timeline, tokens } from './metered-stage.js'
import { type Body, contractWith, openStage, type Stage, until } from './stage.js'

const RUN_MS_MAX = 300_000
const EVENTS = { 'content-type': 'text/event-stream' }
let stage: Stage
let model: FakeModel
afterEach(async () => {
  expect(stage.server.faults).toEqual([])
  await stage.stop()
  model.close()
})

const RESPONSE = RESPONSE_EVENTS.join('')
const chat = { id: 'chatcmpl-of-its-own-0001', model: 'gpt-z', usage: { prompt_tokens: 100, completion_tokens: 20 } }

async function open(contract: string, answers: Parameters<typeof fakeModel>[0] = {}): Promise<void> {
  model = await fakeModel({
    responses: (response) => response.writeHead(200, EVENTS).end(RESPONSE),
    chat: (response) => response.end(JSON.stringify(chat)),
    untold: (response) => response.writeHead(200, EVENTS).end(CHAT_EVENTS.slice(0, 2).join('')),
    broken: (response) => response.writeHead(529).end(JSON.stringify(chat)),
    half: (response) => response.writeHead(200, EVENTS).write(ANTHROPIC_EVENTS[0]),
    ...answers,
  })
  const env = `{OPENAI_BASE_URL: "${model.url}", OPENAI_API_KEY: "REF(MODEL_KEY)"}`
  const more = `agents: {coder: {harness: command, command: node, env: ${env}}}\n`
  stage = await openStage(`${contract}${more}`, {
    environment: { MODEL_KEY: 'the-key', OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'the-key' },
  })
  writeFileSync(join(stage.server.workspace, 'a.txt'), 'hello')
}

/** The agent as a program, or as a harness whose output says what its model took. */
function start(words: readonly string[], harness = 'command'): ReturnType<Stage['spawn']> {
  const path = meteredAgent(stage)
  if (harness === 'command') return stage.spawn([], { agent: 'coder', args: [path, ...words] })
  return stage.spawn([], { agent: undefined, harness, command: path, args: words })
}

const WHOLE = ['go:BUILD', 'go:DONE']
const BUDGET = (more = ''): string => `phases:
  - {id: PLAN, allowed_tools: [read_files], prompt: "Plan it.", rules: [{type: token_budget, max_tokens: 200${more}}]}
  - {id: DONE, allowed_tools: []}
`

describe('what the model of a started agent took', () => {
  it(
    '[REQ-METER-6] is counted on its way, and what the output of the agent says of it is not',
    async () => {
      await open(contractWith())
      const words = ['ask:responses', 'ask:chat', 'ask:chat', 'ask:broken', 'lie', ...WHOLE]
      const { agentId, taskId } = await start(words, 'codex')
      await stage.ended(agentId)
      const used = (await timeline(stage, taskId)).filter(({ type }) => type === 'usage_recorded')
      expect(used.map(({ data }) => [data.input, data.output, data.cache_read, data.grade, data.model])).toEqual([
        [100, 20, 7, 'observed', 'gpt-x'],
        [100, 20, 0, 'observed', 'gpt-z'],
        [100, 20, 0, 'observed', 'gpt-z'],
      ])
      expect(used.map(({ data }) => data.usage_id)).toEqual([
        'resp_67ccd2bed1ec8190b14f964abc05',
        'chatcmpl-of-its-own-0001',
        expect.stringMatching(/^answer-/),
      ])
      expect(await tokens(stage, taskId)).toMatchObject({ input: 300, output: 60, cache_read: 7, grade: 'observed' })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-METER-6] without a sandbox, what its output says is counted',
    async () => {
      await open(contractWith({ confinement: 'off' }))
      const { agentId, taskId } = await start(['ask:chat', 'lie', ...WHOLE], 'codex')
      await stage.ended(agentId)
      expect(await tokens(stage, taskId)).toMatchObject({ input: 900_000, output: 90_000 })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-METER-8] an answer that does not say it is told once in the log of the agent',
    async () => {
      await open(contractWith())
      const { agentId, taskId } = await start(['ask:untold', 'ask:untold', ...WHOLE])
      await stage.ended(agentId)
      expect((await stage.log(agentId)).match(/did not state its token usage/g)).toHaveLength(1)
      expect(await tokens(stage, taskId)).toMatchObject({ input: 0, output: 0 })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-METER-9] an answer that was under way when the agent was stopped counts with what was told',
    async () => {
      await open(contractWith())
      const { agentId, taskId } = await start(['ask:chat', 'part:half', 'hang'])
      await until(
        () => stage.log(agentId),
        (log) => log.includes('began half'),
      )
      await stage.server.call('POST', `/agents/${agentId}/stop`, stage.server.operator, { reason: 'enough' })
      expect(await tokens(stage, taskId)).toMatchObject({ input: 200, output: 21, cache_read: 7, cache_write: 3 })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-METER-9] an answer that ends after its agent gave the task back counts for the task, and no rule is checked against it',
    async () => {
      await open(contractWith({ phases: BUDGET(', on_violation: park') }))
      const { agentId, taskId } = await start(['part:half', 'release', 'hang'])
      await stage.ended(agentId)
      expect(await tokens(stage, taskId)).toMatchObject({ input: 100, output: 1 })
      expect(await stage.task(taskId)).toMatchObject({ status: 'queued' })
    },
    RUN_MS_MAX,
  )
})

describe('a token budget', () => {
  it(
    '[REQ-METER-7] is held while the agent runs: it is told with its next call, once, and does not leave the phase',
    async () => {
      await open(contractWith({ phases: BUDGET() }))
      const words = ['ask:chat', 'read', 'ask:chat', 'until', 'read', 'go:DONE', 'hang']
      const { agentId, taskId } = await start(words)
      const log = await until(
        () => stage.log(agentId),
        (text) => text.includes('go DONE'),
      )
      expect(log.match(/interrupted token_budget true/g)).toHaveLength(1)
      expect(log.match(/read null/g)).toHaveLength(2)
      expect(log).toContain('go DONE false rule_interrupt')
      expect(await stage.show(agentId)).toMatchObject({ state: 'running' })
      const types = (await timeline(stage, taskId)).map(({ type }) => type)
      expect(types.filter((type) => ['usage_recorded', 'rule_violated'].includes(type)).slice(0, 3)).toEqual([
        ...['usage_recorded', 'usage_recorded', 'rule_violated'],
      ])
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-METER-7] that is not passed interrupts nobody',
    async () => {
      await open(contractWith({ phases: BUDGET().replace('200', '240') }))
      const { agentId, taskId } = await start(['ask:chat', 'ask:chat', 'sleep:300', 'read', 'go:DONE'])
      expect(await stage.ended(agentId)).toMatchObject({ outcome: 'completed' })
      expect(await stage.log(agentId)).toContain('read null')
      expect(await tokens(stage, taskId)).toMatchObject({ input: 200, output: 40 })
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-METER-7] [REQ-METER-9] that parks ends the agent in the middle of its run, and everything that it took is counted',
    async () => {
      await open(contractWith({ phases: BUDGET(', on_violation: park') }))
      const { agentId, taskId } = await start(['part:half', 'ask:chat', 'ask:chat', 'hang'])
      expect(await stage.ended(agentId)).toMatchObject({ outcome: 'parked' })
      expect(await stage.task(taskId)).toMatchObject({ status: 'parked' })
      // The one that was under way had told its input when it was cut off.
      expect(await tokens(stage, taskId)).toMatchObject({ input: 300, output: 41 } satisfies Body)
    },
    RUN_MS_MAX,
  )

  it(
    '[REQ-METER-7] holds against an agent that hangs up on every answer before it says what it took',
    async () => {
      let sent = 0
      await open(contractWith({ phases: BUDGET(', on_violation: park') }), {
        slow: (response) => {
          sent += 1
          response.writeHead(200, EVENTS).write(RESPONSE_EVENTS.slice(0, 3).join(''))
          setTimeout(() => response.end(RESPONSE_EVENTS[3]), 200)
        },
      })
      const { agentId } = await start(['part:slow', 'part:slow', 'hang'])
      expect(await stage.ended(agentId)).toMatchObject({ outcome: 'parked' })
      expect(sent).toBe(2)
    },
    RUN_MS_MAX,
  )
})
