import { type RunOptions, runOptions } from '../../core/councils/options.js'
import type { Json, JsonObject } from '../../core/json.js'
import type { ConsensusPlan, Voter } from '../../core/reviews/consensus-plan.js'

/** What a contract may set for a vote, by its name there. */
const OPTIONS: Readonly<Record<string, keyof RunOptions>> = {
  quorum: 'quorum',
  novelty: 'novelty',
  max_new_answers_per_agent: 'maxNewAnswersPerAgent',
  max_new_answers_global: 'maxNewAnswersGlobal',
  max_attempts: 'maxAttempts',
  round_timeout_seconds: 'roundTimeoutSeconds',
  timeout_seconds: 'timeoutSeconds',
  skip_voting: 'skipVoting',
  allow_self_vote: 'allowSelfVote',
  final_presentation: 'finalPresentation',
}

/** How the reviewers vote, with the defaults in place of what the contract does not say. */
export function voteOptions(consensus: JsonObject): RunOptions {
  const said = Object.entries(OPTIONS).flatMap(([name, key]) =>
    consensus[name] === undefined ? [] : [[key, consensus[name]]],
  )
  return runOptions(Object.fromEntries(said))
}

// `read-agents.ts` made both parts, and only in these shapes.
export function compileConsensus(
  consensus: JsonObject | undefined,
  agents: Readonly<Record<string, JsonObject>>,
): { readonly consensus?: ConsensusPlan } {
  if (consensus === undefined) return {}
  const names = consensus.agents as readonly string[]
  return {
    consensus: {
      voters: names.map((id) => ({ id, program: Object.hasOwn(agents, id) ? toProgram(agents[id]) : null })),
      question: String(consensus.question),
      options: voteOptions(consensus),
    },
  }
}

function toProgram(agent: JsonObject | undefined): Voter['program'] {
  if (agent === undefined) return null
  const text = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null)
  return {
    harness: agent.harness as NonNullable<Voter['program']>['harness'],
    command: text(agent.command),
    args: (agent.args ?? []) as readonly string[],
    model: text(agent.model),
  }
}

/** True when a program that votes is to be given variables: those that vote get none. */
export function haveEnvironment(
  agents: Readonly<Record<string, JsonObject>>,
  consensus: readonly JsonObject[],
): boolean {
  const voters = new Set(consensus.flatMap((one) => one.agents as readonly string[]))
  return Object.entries(agents).some(([name, agent]) => voters.has(name) && agent.env !== undefined)
}
