import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { renderLanes } from '../../src/cli/councils/agent-rows.js'
import { buildResult, endText, toExitCode } from '../../src/cli/councils/council-end.js'
import { parseOption } from '../../src/cli/councils/council-option.js'
import { formatCouncilEventLine } from '../../src/cli/councils/event-lines.js'
import { applyEvent, applyPart, type Live, NOTHING_YET, runEventOf } from '../../src/cli/councils/live-council.js'
import { explainCouncilStop, readCouncil } from '../../src/cli/councils/read-council.js'
import { EXIT, Stop } from '../../src/cli/exit.js'
import { countColumns } from '../../src/cli/terminal/table.js'
import type { RunEvent } from '../../src/core/councils/event.js'
import type { JsonObject } from '../../src/core/json.js'
import { Council, call, newAnswer, T0, vote } from '../core/rounds/council.js'

// What a terminal would obey: a colour, the title of the window, a line drawn over, text from right to left.
const HOSTILE = '\u001b[31mred\u001b]0;title\u0007\rover\u202etxt'
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for.
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/

function snake(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(snake)
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      snake(one),
    ]),
  )
}

/** The event as the server shows it. */
function viewOf({ type, at, ...fact }: RunEvent) {
  return { seq: 1, type, at: new Date(at).toISOString(), actor: 'system', data: snake(fact) as JsonObject }
}

function watched(council: Council): { readonly live: Live; readonly lines: readonly string[] } {
  let live = NOTHING_YET
  const lines: string[] = []
  for (const made of council.events) {
    const event = runEventOf(viewOf(made))!
    expect(event).toEqual(made)
    live = applyEvent(live, event)
    const line = formatCouncilEventLine(live.run!, event)
    if (line !== null) lines.push(line)
  }
  return { live, lines }
}

describe('what is said of a run', () => {
  it('[REQ-COUNCIL-1] each refusal is there with its exact text, votes and answers with their labels', () => {
    const council = new Council()
    council.turn('a')
    council.respond('a', [vote('agent2')])
    council.respond('a', [call('execute_command')], { knownTools: ['execute_command'] })
    council.respond('a', [newAnswer('x'.repeat(120))])
    council.answer('b', 'other')
    council.turn('b')
    council.respond('b', [vote('agent9')])
    council.respond('b', [vote('agent1', 'shorter')])
    council.vote('a', 'agent1')
    const { lines, live } = watched(council)
    expect(lines).toEqual([
      'Council run-1: 2 agents',
      '[agent1 a] round 1 began',
      '[agent1 a] round 1 Retry (1/3): Cannot vote when no answers exist. Required: new_answer',
      '[agent1 a] round 1 Retry (2/3): Called execute_command (not workflow). Required: vote or new_answer',
      '[agent1 a] round 1 answered agent1.1 (120 chars)',
      '[agent2 b] round 1 began, shown agent1.1',
      '[agent2 b] round 1 answered agent2.1 (5 chars)',
      '[agent2 b] round 2 began, shown agent1.1, agent2.1',
      "[agent2 b] round 2 Retry (1/3): Invalid agent_id 'agent9'. Valid agents: agent1, agent2",
      '[agent2 b] round 2 voted for agent1.1: shorter',
      '[agent1 a] round 2 began, shown agent2.1, agent1.1',
      '[agent1 a] round 2 voted for agent1.1: best',
      'decided: a won with 2 of 2 votes',
      'ended: completed (a won with 2 of 2 votes)',
    ])
    expect(toExitCode(live.run!)).toBe(EXIT.ok)
  })

  it('[REQ-COUNCIL-1] a vote that is asked for again, agents that are stopped, fail or take too long are named', () => {
    const council = new Council({ agents: ['a', 'b', 'c'], options: { maxAttempts: 1, roundTimeoutSeconds: 5 } })
    council.answer('a', 'one')
    council.turn('b')
    council.answer('a', 'two')
    council.respond('b', [vote('agent1')])
    council.turn('b')
    council.respond('b', [], { text: 'only words' })
    council.do({ type: 'agent_failed', agent: 'c', message: HOSTILE })
    council.tick(10)
    const { lines } = watched(council)
    expect(lines).toContain(
      '[agent2 b] round 1 asked again: the vote for agent1 was not counted, agent1.2 came in the meantime',
    )
    expect(lines).toContain('[agent2 b] round 1 Retry (1/1): No tool called. Required: vote or new_answer')
    expect(lines).toContain('[agent2 b] stopped: Agent failed to use workflow tools after 1 attempt')
    expect(lines).toContain('[agent3 c] failed: redovertxt')
    expect(lines).toContain('[agent1 a] timed out: Agent did not finish its round within 5 seconds')
  })

  it('[REQ-COUNCIL-2] nothing that an agent wrote moves the terminal', () => {
    const council = new Council()
    council.answer('a', HOSTILE)
    council.turn('b')
    council.respond('b', [call(HOSTILE), vote(HOSTILE)])
    council.respond('b', [vote('agent1', HOSTILE)])
    council.turn('a')
    council.respond('a', [vote('agent1', `${HOSTILE}\nsecond line`)])
    const { lines, live } = watched(council)
    const parts = ['\u001b[2', 'J\u001b]0;', `x\u0007${HOSTILE}\n\n`].reduce(
      (before, text) => applyPart(before, { agent: 'a', type: 'text', text }),
      live,
    )
    const shown = [
      ...lines,
      ...renderLanes(parts, { columns: 80, rows: 24 }, T0),
      ...endText(live.run!, live).split('\n'),
    ]
    for (const line of shown) expect(line).not.toMatch(OBEYED)
    expect(lines.at(-3)).toContain('voted for agent1.1: redovertxt second line')
  })

  it('[REQ-COUNCIL-3] agent blocks fit the terminal and show id, round, activity, refusals and the last streamed line', () => {
    const council = new Council({ agents: ['slow', 'quick'] })
    council.turn('slow')
    council.respond('slow', [vote('agent9')])
    council.answer('quick', 'done')
    let { live } = watched(council)
    live = applyPart(live, { agent: 'slow', type: 'reasoning', text: 'first\nthen 日本語 '.repeat(30) })
    live = applyPart(live, { agent: 'slow', type: 'text', text: '\nthe last line' })
    live = applyPart(live, { agent: 'nobody', type: 'text', text: 'x' })
    const lanes = renderLanes(live, { columns: 80, rows: 24 }, T0 + 65_000)
    expect(lanes).toEqual([
      'run-1  1 answer, 0 votes, 1m 5s  (Ctrl-C cancels)',
      'agent1 quick  round 1  answered  agent1.1',
      '',
      'agent2 slow   round 1  writing  refused 1',
      '    the last line',
    ])
    for (const columns of [20, 40, 200])
      for (const rows of [1, 2, 3, 4, 24]) {
        const frame = renderLanes(live, { columns, rows }, T0)
        expect(frame.length).toBeLessThanOrEqual(rows)
        for (const line of frame) expect(countColumns(line)).toBeLessThanOrEqual(columns)
      }
  })

  it('[REQ-COUNCIL-3] a terminal that is too small says how many agents it leaves out', () => {
    const { live } = watched(new Council({ agents: Array.from({ length: 64 }, (_, at) => `a${at}`) }))
    expect(renderLanes(live, { columns: 80, rows: 10 }, T0).at(-1)).toBe('… and 56 more agents')
    expect(renderLanes(live, { columns: 80, rows: 65 }, T0)).toHaveLength(65)
  })
})

describe('how a run ended', () => {
  it('[REQ-COUNCIL-4] the winner, the answer in full, votes, the tie and the reliability of each agent with events', () => {
    const council = new Council()
    council.answer('a', 'first line\nsecond line')
    council.answer('b', 'other')
    council.turn('a')
    council.respond('a', [], { text: 'thinking aloud' })
    council.vote('a', 'agent1')
    council.vote('b', 'agent2')
    const { live } = watched(council)
    expect(endText(live.run!, live)).toBe(
      [
        'Winner: agent1 a with agent1.1',
        'a won with 1 of 2 votes, tied with b (tie-broken by registration order)',
        '',
        'first line\nsecond line',
        '',
        'Votes',
        '  [agent1 a] 1 vote',
        '  [agent2 b] 1 vote',
        '  [agent1 a] for agent1.1: best',
        '  [agent2 b] for agent2.1: best',
        '',
        'Reliability',
        '  [agent1 a] 1 refusal (no_tool_calls), 14 characters lost to restarts, ok',
        '',
        '0s, 2 answers',
        'More: phaselock report run-1',
      ].join('\n'),
    )
    expect(buildResult(live.run!, live)).toMatchObject({
      ...{ id: 'run-1', finish_reason: 'completed', winner: 'a', winner_label: 'agent1.1', is_tie: true },
      ...{ answer: 'first line\nsecond line', votes: { a: 1, b: 1 } },
      agents: { a: { anonymous_id: 'agent1', reliability: { outcome: 'ok' } }, b: { reliability: null } },
    })
  })

  it('[REQ-COUNCIL-5] no answer in time is exit 5, nobody left is 1, cancelled is 4, a winner by the votes in time is 0', () => {
    const late = new Council({ options: { timeoutSeconds: 5 } })
    late.tick(6)
    expect(toExitCode(late.run)).toBe(EXIT.timeout)
    expect(endText(late.run, NOTHING_YET)).toContain('No winner: No answers available from any agents due to timeout')
    const dead = new Council()
    for (const agent of ['a', 'b']) dead.do({ type: 'agent_failed', agent, message: 'gone' })
    expect(toExitCode(dead.run)).toBe(EXIT.refused)
    const cancelled = new Council()
    cancelled.do({ type: 'cancel', reason: 'enough' })
    expect(toExitCode(cancelled.run)).toBe(EXIT.interrupted)
    const decided = new Council({ options: { timeoutSeconds: 5 } })
    decided.answer('a', 'x')
    decided.vote('b', 'agent1')
    decided.tick(6)
    expect(decided.run.finishReason).toBe('timeout')
    expect(toExitCode(decided.run)).toBe(EXIT.ok)
  })
})

describe('the council file', () => {
  const dir = mkdtempSync(join(tmpdir(), 'phaselock-council-'))
  afterAll(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'council.yaml')
  const read = (text: string | Buffer) => {
    writeFileSync(file, text)
    return readCouncil(file)
  }
  const stopOf = (text: string | Buffer): Stop => {
    try {
      read(text)
    } catch (error) {
      if (error instanceof Stop) return error
      throw error
    }
    throw new Error('it was read')
  }

  it.each([
    ['agents: [', /council\.yaml:1:\d+: /],
    ['', /council\.yaml:1:1: The council file is empty\. Write agents: and a list of them\./],
    ['- a\n', /council\.yaml:1:1: Expected a map with agents and options\./],
    [
      'agents: []\nagnets: []\n',
      /council\.yaml:2:1: agnets: The key 'agnets' is not known here\. Did you mean 'agents'\?/,
    ],
    ['agents: []\nagents: []\n', /council\.yaml:2:1: agents: The key 'agents' is already defined above\./],
    ['agents: !!js/function x\n', /council\.yaml:1:\d+: /],
    ['agents: []\noptions: [1]\n', /options must be a map/],
    [Buffer.from([0x61, 0xff, 0xfe]), /is not UTF-8 text/],
    [`x-big: "${'x'.repeat(1024 * 1024)}"`, /larger than 1048576 bytes/],
  ])('[REQ-COUNCIL-6] a file that cannot be read is refused with its place: %#', (text, message) => {
    const stop = stopOf(text)
    expect(stop.exit).toBe(EXIT.usage)
    expect(stop.message).toMatch(message)
    expect(stop.message).not.toMatch(/contract/i)
  })

  it('[REQ-COUNCIL-6] a file that is not there is a usage error', () => {
    expect(() => readCouncil(join(dir, 'none.yaml'))).toThrow(/none\.yaml cannot be read \(ENOENT\)/)
  })

  it('[REQ-COUNCIL-7] problems found by the server have a line and column, or those of the nearest parent', () => {
    const council = read('agents:\n  - id: a\n    kind: model\n  - {id: b, kind: wizard}\noptions:\n  novelty: odd\n')
    const errors = [
      { path: 'agents[0]', message: "The field 'model' is missing.", remedy: 'Add model.' },
      { path: 'agents[1].kind', message: "'wizard' is not a known kind.", remedy: 'Known: model.' },
      { path: 'agents.1.id.deep', message: 'x', remedy: '' },
      { field: 'options.novelty', message: 'must be one of', remedy: '' },
      { path: 'agents[7].id', message: `evil \u001b[31m`, remedy: '' },
    ]
    const stop = explainCouncilStop(council, new Stop(EXIT.refused, 'refused', { problem: { errors } }))
    expect(stop?.exit).toBe(EXIT.usage)
    expect(stop?.message.replaceAll(file, 'F').split('\n')).toEqual([
      "F:2:5: agents[0]: The field 'model' is missing. Add model.",
      "F:4:13: agents[1].kind: 'wizard' is not a known kind. Known: model.",
      'F:4:6: agents.1.id.deep: x',
      'F:6:3: options.novelty: must be one of',
      'F:1:1: agents[7].id: evil',
    ])
    expect(
      explainCouncilStop(council, new Stop(EXIT.refused, 'x', { problem: { errors: [{ field: 'question' }] } })),
    ).toBe(null)
    expect(explainCouncilStop(council, new Stop(EXIT.refused, 'x'))).toBe(null)
  })

  it('[REQ-COUNCIL-8] an option is a number, a boolean, null, a list or a text, and the last one counts', () => {
    const all = [
      'quorum=2',
      'skip-voting=true',
      'max_new_answers_global=null',
      'tools=[read_files, grep]',
      'novelty=a=b',
    ]
    expect(all.reduce<JsonObject>((before, one) => parseOption(one, before), { quorum: 1 })).toEqual({
      ...{ quorum: 2, skip_voting: true, max_new_answers_global: null, tools: ['read_files', 'grep'], novelty: 'a=b' },
    })
    for (const wrong of ['novelty', '=x', '']) expect(() => parseOption(wrong)).toThrow(Stop)
  })
})
