import { describe, expect, it } from 'vitest'
import {
  type CouncilStory,
  countRounds,
  EMPTY_STORY,
  findRound,
  tellEvent,
} from '../../dashboard/src/pages/councils/council-story.js'

const AT = '2026-11-17T06:00:00.000Z'
const START = {
  type: 'run_started',
  data: { id: 'c1', question: 'Which way?', agents: [{ id: 'b' }, { id: 'a' }], options: {} },
}
const turn = (agent: string, shown: readonly string[] = []) => ({ type: 'turn_began', data: { agent, shown } })
const answers = (agent: string, label: string) => ({
  type: 'answer_accepted',
  data: { agent, label, content: `text of ${label}`, verdict: null, voided: [] },
})
const votes = (agent: string, voted_for: string, label: string) => ({
  type: 'vote_cast',
  data: { agent, voted_for, label, reason: 'the best' },
})

function tell(events: readonly { readonly type: string; readonly data: Record<string, unknown> }[]): CouncilStory {
  return events.reduce((story, event) => tellEvent(story, { ...event, at: AT }), EMPTY_STORY)
}

describe('the story of a council', () => {
  it('[REQ-PAGES-21] agents are numbered in the order of their sorted ids, and listed as the file has them', () => {
    const story = tell([START])
    expect([...story.agents.values()].map(({ id, anonymousId }) => [id, anonymousId])).toEqual([
      ['b', 'agent2'],
      ['a', 'agent1'],
    ])
  })

  it('[REQ-PAGES-21] a prompt with a new answer begins the next round; one without stays in it', () => {
    const story = tell([
      START,
      turn('a'),
      turn('b'),
      answers('a', 'agent1.1'),
      turn('b', ['agent1.1']),
      turn('b', ['agent1.1']),
    ])
    expect(countRounds(story)).toBe(2)
    expect(findRound(story, 'a', 1)?.answers.map(({ label }) => label)).toEqual(['agent1.1'])
    expect(findRound(story, 'b', 2)).toMatchObject({ shown: ['agent1.1'], turns: 2 })
  })

  it('[REQ-PAGES-21] a later answer makes the votes before it void', () => {
    const story = tell([
      START,
      turn('a'),
      answers('a', 'agent1.1'),
      votes('a', 'a', 'agent1.1'),
      answers('b', 'agent2.1'),
    ])
    expect(story.votes).toMatchObject([{ voter: 'a', isVoid: true }])
    const again = tellEvent(story, { ...votes('a', 'b', 'agent2.1'), at: AT })
    expect(again.votes.map(({ isVoid }) => isVoid)).toEqual([true, false])
  })

  it('[REQ-PAGES-21] a refused response is kept with its reason, and a restart counts what was lost', () => {
    const refused = {
      ...{
        agent: 'a',
        round: 1,
        attempt: 1,
        max_attempts: 3,
        reason: 'no_tool_calls',
        tool_calls: [],
        unknown_tools: [],
      },
      ...{ message: 'Retry (1/3): …', error_message: null, buffer_preview: 'Hm', buffer_chars: 2, handled: 'restart' },
    }
    const story = tell([START, turn('a'), { type: 'response_rejected', data: refused }])
    expect(findRound(story, 'a', 1)).toMatchObject({
      restarts: 1,
      rejections: [{ reason: 'no_tool_calls', isRestart: true, charsLost: 2, attempt: 1, maxAttempts: 3 }],
    })
  })

  it('[REQ-PAGES-21] the winner and the end are told; unknown events and agents change nothing', () => {
    const decided = { winner: 'a', label: 'agent1.1', is_tie: true, votes: 1, finish_reason: 'completed', details: '' }
    const story = tell([
      START,
      { type: 'run_decided', data: decided },
      { type: 'run_ended', data: { finish_reason: 'completed', details: 'a won' } },
    ])
    expect(story).toMatchObject({
      decided: { winner: 'a', isTie: true },
      ended: { reason: 'completed', details: 'a won' },
    })
    expect(tell([START, { type: 'something_new', data: {} }, turn('nobody')])).toEqual(tell([START]))
  })
})
