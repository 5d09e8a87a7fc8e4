import { describe, expect, it } from 'vitest'
import { parseSource } from '../../src/contract/load/yaml.js'
import { Reading } from '../../src/contract/read/reading.js'
import type { Json } from '../../src/core/json.js'
import { openParticipant } from '../../src/participants/open-participant.js'
import { type ModelAgent, readAgents } from '../../src/participants/read-agents.js'

const COUNCIL = `
agents:
  - {id: a, kind: model, provider: openai-compatible, base_url: "http://127.0.0.1:11434/v1", model: llama3, api_key_env: X}
  - {id: b, kind: model, provider: anthropic, model: m}
  - {id: c, kind: command, harness: claude-code}
  - {id: d, kind: scripted, script: [{delay_ms: 50, text: "Thinking", tool_calls: [{name: new_answer, arguments: {content: "42"}}]}]}
  - {id: e, kind: remote}
options: {novelty: balanced}
`

function agentsIn(yaml: string): Json | undefined {
  const reading = new Reading('council.yaml')
  const node = parseSource(yaml, reading.report)
  if (node === null) throw new Error('no yaml')
  const council = reading.toJson(node) as Record<string, Json>
  return council.agents
}

const MODEL = { id: 'a', kind: 'model', provider: 'openai-compatible', base_url: 'http://h/v1', model: 'm' }
const STEP = { text: 'x' }

interface Wrong {
  readonly name: string
  readonly agents: Json
  readonly path: string
  readonly message: string
}

const WRONG: readonly Wrong[] = [
  { name: 'no list', agents: { a: 1 }, path: 'agents', message: 'Expected a list of agents, found a map.' },
  { name: 'an empty list', agents: [], path: 'agents', message: 'Expected a list of agents, found an empty one.' },
  { name: 'no map', agents: ['a'], path: 'agents[0]', message: 'Expected a map of keys and values, found a text.' },
  { name: 'no id', agents: [{ kind: 'remote' }], path: 'agents[0]', message: "The field 'id' is missing." },
  {
    name: 'a strange id',
    agents: [{ id: '../a', kind: 'remote' }],
    path: 'agents[0].id',
    message: "The id '../a' is not accepted.",
  },
  {
    name: 'an id of a number',
    agents: [{ id: 7, kind: 'remote' }],
    path: 'agents[0].id',
    message: 'Expected a text, found number 7.',
  },
  {
    name: 'an id twice',
    agents: [{ id: 'a', kind: 'remote' }, MODEL],
    path: 'agents[1].id',
    message: "There are two agents 'a'.",
  },
  { name: 'no kind', agents: [{ id: 'a' }], path: 'agents[0]', message: "The field 'kind' is missing." },
  {
    name: 'an unknown kind',
    agents: [{ id: 'a', kind: 'human' }],
    path: 'agents[0].kind',
    message: "'human' is not a known kind.",
  },
  {
    name: 'an unknown key',
    agents: [{ ...MODEL, api_key: 'sk' }],
    path: 'agents[0]',
    message: "The key 'api_key' is not known here.",
  },
  {
    name: 'an unknown provider',
    agents: [{ ...MODEL, provider: 'openai' }],
    path: 'agents[0].provider',
    message: "'openai' is not a known provider.",
  },
  {
    name: 'no model',
    agents: [{ ...MODEL, model: ' ' }],
    path: 'agents[0].model',
    message: "The field 'model' is empty.",
  },
  {
    name: 'a file as address',
    agents: [{ ...MODEL, base_url: 'file:///etc/passwd' }],
    path: 'agents[0].base_url',
    message: "'file:///etc/passwd' is not an http or https address.",
  },
  {
    name: 'a password in an address',
    agents: [{ ...MODEL, base_url: 'http://u:hunter2@h/v1' }],
    path: 'agents[0].base_url',
    message: 'The address holds a user or a password.',
  },
  {
    name: 'a query in an address',
    agents: [{ ...MODEL, base_url: 'http://h/v1?key=1' }],
    path: 'agents[0].base_url',
    message: 'The address has a query or a fragment.',
  },
  {
    name: 'a key instead of its variable',
    agents: [{ ...MODEL, api_key_env: 'sk-live-1234' }],
    path: 'agents[0].api_key_env',
    message: 'This is not a valid name of an environment variable.',
  },
  {
    name: "one of Phaselock's own variables",
    agents: [{ ...MODEL, api_key_env: 'PHASELOCK_OPERATOR_TOKEN' }],
    path: 'agents[0].api_key_env',
    message: 'PHASELOCK_OPERATOR_TOKEN belongs to Phaselock and is never sent.',
  },
  {
    name: 'no tokens at all',
    agents: [{ ...MODEL, max_output_tokens: 0 }],
    path: 'agents[0].max_output_tokens',
    message: 'Expected a whole number from 1 to 1000000, found number 0.',
  },
  {
    name: 'no harness',
    agents: [{ id: 'c', kind: 'command' }],
    path: 'agents[0]',
    message: "The field 'harness' is missing.",
  },
  {
    name: 'no command',
    agents: [{ id: 'c', kind: 'command', harness: 'command' }],
    path: 'agents[0]',
    message: "The field 'command' is missing.",
  },
  {
    name: 'no script',
    agents: [{ id: 'd', kind: 'scripted' }],
    path: 'agents[0]',
    message: "The field 'script' is missing.",
  },
  {
    name: 'an unknown key in a step',
    agents: [{ id: 'd', kind: 'scripted', script: [STEP, { delay: 5 }] }],
    path: 'agents[0].script[1]',
    message: "The key 'delay' is not known here.",
  },
  {
    name: 'a delay below zero',
    agents: [{ id: 'd', kind: 'scripted', script: [{ delay_ms: -1 }] }],
    path: 'agents[0].script[0].delay_ms',
    message: 'Expected a whole number from 0 to 600000, found number -1.',
  },
  {
    name: 'a call without a name',
    agents: [{ id: 'd', kind: 'scripted', script: [{ tool_calls: [{ arguments: {} }] }] }],
    path: 'agents[0].script[0].tool_calls[0]',
    message: "The field 'name' is missing.",
  },
  {
    name: 'arguments in a list',
    agents: [{ id: 'd', kind: 'scripted', script: [{ tool_calls: [{ name: 'vote', arguments: [] }] }] }],
    path: 'agents[0].script[0].tool_calls[0].arguments',
    message: 'Expected a map of keys and values, found a list.',
  },
]

describe('the agents of a council', () => {
  it.each(WRONG)('[REQ-PARTICIPANT-15] $name is refused with its place', ({ agents, path, message }) => {
    const read = readAgents(agents)
    if (read.ok) throw new Error('it was accepted')
    expect(read.problems.map((problem) => `${problem.path}: ${problem.message}`)).toContain(`${path}: ${message}`)
    for (const { remedy } of read.problems) expect(remedy).toMatch(/^[A-Z].*\.$/)
    expect(JSON.stringify(read)).not.toMatch(/hunter2|sk-live-1234/)
  })

  it('[REQ-PARTICIPANT-15] all problems are reported at once, up to a maximum', () => {
    const read = readAgents([{ kind: 'remote' }, { id: 'b' }, { id: 'c', kind: 'remote', model: 'm' }])
    expect(!read.ok && read.problems).toHaveLength(3)
    const many = readAgents(Array.from({ length: 5_000 }, () => 1))
    expect(!many.ok && many.problems.length).toBeLessThanOrEqual(100)
    expect(!many.ok && many.problems[0]?.message).toBe('The list has 5000 entries, more than 64.')
  })

  it('[REQ-PARTICIPANT-16] every kind of agent is read as it is written', () => {
    const script = [
      { delayMs: 50, text: 'Thinking', toolCalls: [{ name: 'new_answer', arguments: { content: '42' } }] },
    ]
    const model = { kind: 'model', maxOutputTokens: null, takesToolErrors: true }
    expect(JSON.parse(JSON.stringify(readAgents(agentsIn(COUNCIL))))).toEqual({
      ok: true,
      agents: [
        {
          ...model,
          id: 'a',
          provider: 'openai-compatible',
          baseUrl: 'http://127.0.0.1:11434/v1',
          model: 'llama3',
          apiKeyEnv: 'X',
        },
        {
          ...model,
          id: 'b',
          provider: 'anthropic',
          baseUrl: 'https://api.anthropic.com/v1',
          model: 'm',
          apiKeyEnv: 'ANTHROPIC_API_KEY',
        },
        { id: 'c', kind: 'command', harness: 'claude-code', command: null, args: [], model: null },
        { id: 'd', kind: 'scripted', script, takesToolErrors: true },
        { id: 'e', kind: 'remote' },
      ],
    })
  })

  it('[REQ-PARTICIPANT-17] the usual key is not sent to an unusual address', () => {
    const read = readAgents([
      { id: 'b', kind: 'model', provider: 'anthropic', base_url: 'http://elsewhere/v1', model: 'm' },
    ])
    expect(read.ok && read.agents[0]).toMatchObject({ apiKeyEnv: null })
  })

  it('[REQ-PARTICIPANT-17] a variable that is not set or holds more than a key is reported without its value', () => {
    const read = readAgents([{ ...MODEL, api_key_env: '__proto__' }])
    const agent = (read.ok ? read.agents[0] : undefined) as ModelAgent
    expect(openParticipant(agent, {})).toMatchObject({ ok: false, message: expect.stringContaining('is not set') })
    const named = { ...agent, apiKeyEnv: 'X' }
    const opened = openParticipant(named, { X: 'sk-live-1\nx-other: 1' })
    expect(opened).toMatchObject({ ok: false, message: expect.stringContaining('contains more than a key') })
    expect(JSON.stringify(opened)).not.toContain('sk-live')
    expect(openParticipant(named, { X: ' sk-live-1\n' })).toMatchObject({
      ok: true,
      participant: { id: 'a', takesToolErrors: true },
    })
  })
})
