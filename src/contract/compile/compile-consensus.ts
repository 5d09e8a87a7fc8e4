import type { ConsensusPlan } from '../../core/contract/contract-parts.js'
import { type RunOptions, runOptions } from '../../core/councils/options.js'
import { convertToCamelKeys } from '../camel-keys.js'
import type { AgentDocument, ConsensusDocument } from '../document.js'

type Agents = Readonly<Record<string, AgentDocument>>

/** How the reviewers vote, with defaults for missing settings. */
export function voteOptions(consensus: ConsensusDocument): RunOptions {
  return runOptions(convertToCamelKeys(consensus))
}

export function compileConsensus(consensus: ConsensusDocument, agents: Agents): ConsensusPlan {
  return {
    voters: consensus.agents.map((id) => ({
      id,
      program: toProgram(Object.hasOwn(agents, id) ? agents[id] : undefined),
    })),
    question: consensus.question,
    options: voteOptions(consensus),
  }
}

function toProgram(agent: AgentDocument | undefined): ConsensusPlan['voters'][number]['program'] {
  if (agent === undefined) return null
  const { harness, command = null, args = [], model = null } = agent
  return { harness, command, args, model }
}

/** True when a voting program should get variables: voting programs get none. */
export function haveEnvironment(agents: Agents, consensus: readonly ConsensusDocument[]): boolean {
  const voters = new Set(consensus.flatMap((vote) => vote.agents))
  return Object.entries(agents).some(([name, agent]) => voters.has(name) && agent.env !== undefined)
}
