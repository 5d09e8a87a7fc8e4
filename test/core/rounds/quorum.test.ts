import { describe, expect, it } from 'vitest'
import { judgeConsensus } from '../../../src/core/councils/consensus.js'
import type { CoordinationRun } from '../../../src/core/councils/council.js'
import { evolveRun } from '../../../src/core/councils/evolve-council.js'
import type { RunOptions } from '../../../src/core/councils/options.js'
import { Council, newAnswer } from './council.js'

/** Three agents with an answer each, and the answers that they vote for. */
function voted(options: Partial<RunOptions>, votes: readonly string[]): Council {
  const council = new Council({ agents: ['a', 'b', 'c'], options })
  for (const id of ['a', 'b', 'c']) council.answer(id, `the answer of ${id}`)
  for (const [index, agentId] of votes.entries()) council.vote(['a', 'b', 'c'][index] ?? '', agentId)
  return council
}

describe('the quorum of a council', () => {
  it('[REQ-ROUND-20] with fewer votes than the quorum there is no winner when all have voted', () => {
    const council = voted({ quorum: 2 }, ['agent1', 'agent2', 'agent3'])
    expect(council.status()).toMatchObject({
      finish_reason: 'completed',
      finish_reason_details: 'Quorum not reached: a has 1 vote, and 2 are needed',
      is_complete: true,
      results: { winner: null, votes: { a: 1, b: 1, c: 1 }, final_answer_preview: null },
    })
    expect(council.run.result?.label).toBe(null)
  })

  it('[REQ-ROUND-20] with as many votes as the quorum there is one', () => {
    const council = voted({ quorum: 2 }, ['agent2', 'agent2', 'agent3'])
    expect(council.status()).toMatchObject({
      finish_reason: 'completed',
      results: { winner: 'b', votes: { b: 2, c: 1 } },
    })
  })

  it('[REQ-ROUND-20] nobody is asked for a presentation of an answer that missed the quorum', () => {
    const council = voted({ quorum: 3, finalPresentation: true }, ['agent1', 'agent1', 'agent2'])
    expect(council.status()).toMatchObject({ is_complete: true, results: { winner: null } })
  })

  it('[REQ-ROUND-20] at the time limit too few votes and a mere answer win nothing', () => {
    const few = voted({ quorum: 2, timeoutSeconds: 60 }, ['agent1'])
    few.tick(61)
    expect(few.status()).toMatchObject({
      finish_reason: 'timeout',
      finish_reason_details: 'Time limit: Quorum not reached: a has 1 vote, and 2 are needed',
      results: { winner: null },
    })
    const none = voted({ quorum: 1, timeoutSeconds: 60 }, [])
    none.tick(61)
    expect(none.status()).toMatchObject({ finish_reason: 'timeout', results: { winner: null } })
  })

  it('[REQ-ROUND-20] a quorum of all is refused where nobody votes for itself, and one less starts', () => {
    const options = { quorum: 3, allowSelfVote: false }
    expect(() => new Council({ agents: ['a', 'b', 'c'], options })).toThrow(/quorum cannot be reached.*2 of 3/)
    expect(voted({ ...options, quorum: 2 }, ['agent2', 'agent1', 'agent1']).status().results.winner).toBe('a')
  })

  it('[REQ-ROUND-11] the consensus of a contract that an older version loaded starts, and stays without approval', () => {
    const options = { quorum: 2, allowSelfVote: false }
    const council = new Council({ isConsensus: true, options })
    for (const id of ['a', 'b']) council.respond(id, [newAnswer(`fine, says ${id}`, 'approve')])
    council.vote('a', 'agent2')
    council.vote('b', 'agent1')
    expect(judgeConsensus(council.run)).toEqual({ status: 'fails', message: '1 vote for a, at least 2 needed.' })
  })

  it('[REQ-ROUND-20] a run that was recorded with a winner below the quorum keeps it', () => {
    const council = voted({}, ['agent1', 'agent2', 'agent3'])
    const events = council.events.map((event) =>
      event.type === 'run_started' ? { ...event, options: { ...event.options, quorum: 2 } } : event,
    )
    expect(events.reduce<CoordinationRun | null>(evolveRun, null)?.result).toMatchObject({ winner: 'a', votes: 1 })
  })
})
