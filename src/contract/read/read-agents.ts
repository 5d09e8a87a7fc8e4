import { findValueProblem, isHeldByShell, isVariableName } from '../../core/contract/variables.js'
import { AGENTS_MAX, findOptionProblem } from '../../core/councils/options.js'
import { REVIEWER_NAME } from '../../core/reviews/review.js'
import { voteOptions } from '../compile/compile-consensus.js'
import { has, when } from '../schema/conditions.js'
import {
  checked,
  choice,
  filled,
  flag,
  list,
  mapOf,
  name,
  names,
  positive,
  type TypeOf,
  text,
  texts,
} from '../schema/kinds.js'
import { maybe, need, object, type ReadOf } from '../schema/object.js'
import type { Fields } from './fields.js'

/** A map of environment variables; values are texts. */
export const env = checked(mapOf(text, { names: '^[A-Za-z_][A-Za-z0-9_]*$' }), (variables, _bad, { reading }) => {
  for (const [name, value] of Object.entries(variables)) {
    const shown = name.slice(0, 80)
    const problem = findValueProblem(name, value)
    if (!isVariableName(name)) {
      const message = `'${shown}' is not a name of an environment variable.`
      const remedy = 'Use A-Z, a-z, 0-9 and _, and do not begin with a digit.'
      reading.reportAt('contract.invalid_value', [variables, name], message, remedy)
    } else if (problem !== null) {
      const message = `The value of ${shown} ${problem}.`
      reading.reportAt('contract.invalid_value', [variables, name], message, 'Put the value into a file.')
    } else if (isHeldByShell(name)) {
      const message = `The shell that starts the command sets ${name} itself; this value has no effect.`
      reading.reportAt('contract.effect_differs', [variables, name], message, `Remove ${name}.`)
    }
  }
})

/** One entry of `agents:`. */
export const AGENT = object(
  'agent',
  'Agents',
  {
    harness: need(
      choice(['claude-code', 'codex', 'gemini', 'opencode', 'command'] as const, 'command'),
      'What kind of agent.',
      'claude-code',
    ),
    command: maybe(filled, 'The program.', 'my-agent', { words: 'program', unset: 'required for `command`' }),
    args: maybe(texts, 'Its arguments.', '["-p"]'),
    env: maybe(env, 'Its environment.', '{LANG: C}'),
    model: maybe(filled, 'The model it uses.', 'small', { unset: 'the default of the agent CLI' }),
    capabilities: maybe(texts, 'What it can do; tasks may require it.', '[python]'),
  },
  {
    json: { allOf: [when(has('harness', { const: 'command' }), { required: ['command'] })] },
    finish: (agent, fields) => {
      if (agent.harness === 'command' && fields.has('harness') && !fields.has('command'))
        fields.missing('command', AGENT.fields.command.example)
      return agent
    },
  },
)
export type AgentDocument = TypeOf<typeof AGENT>

const CONSENSUS_FIELDS = {
  agents: need(
    names,
    'Who votes: entries of `agents`, or names whose tokens an operator hands out.',
    '[reviewer_a, reviewer_b]',
  ),
  question: need(filled, 'What they decide.', '"Is this change ready?"'),
  novelty: maybe(
    choice(['lenient', 'balanced', 'strict'] as const, 'lenient'),
    'How different a new answer must be.',
    'balanced',
    { unset: '`lenient`' },
  ),
  quorum: maybe(positive, 'How many votes the winner needs; default: one.', '2'),
  max_new_answers_per_agent: maybe(positive, 'Answers one agent may give.', '3', { unset: '`3`' }),
  max_new_answers_global: maybe(positive, 'Answers all agents may give together.', '9'),
  max_attempts: maybe(positive, 'Bad responses before an agent is stopped.', '3', { unset: '`3`' }),
  round_timeout_seconds: maybe(positive, 'The longest a round may take.', '600', { unset: '`600`' }),
  timeout_seconds: maybe(positive, 'The longest the whole vote may take.', '1800', { unset: '`1800`' }),
  skip_voting: maybe(flag, 'The latest answer wins without a vote.', 'false'),
  allow_self_vote: maybe(flag, 'Whether an agent may vote for itself.', 'true', { unset: '`true`' }),
  final_presentation: maybe(flag, 'Whether the winner is asked to present its answer.', 'false'),
}
export type ConsensusDocument = ReadOf<typeof CONSENSUS_FIELDS>

/** A phase's `consensus`: reviewer agents that vote as part of leaving it. */
export const CONSENSUS = object('consensus', 'Consensus', CONSENSUS_FIELDS, {
  finish: (consensus, fields) => {
    checkVote(fields, consensus)
    return consensus
  },
})

/** Leaves room for the work that is voted on, which is sent with the question. */
const VOTE_QUESTION_CHARS_MAX = 10_000

function checkVote(fields: Fields, consensus: ConsensusDocument): void {
  const { agents, question } = consensus
  const bad = (key: string, message: string): void => fields.reportBad(key, 'contract.invalid_value', message)
  if (fields.has('agents') && agents.length === 0) bad('agents', 'Nobody votes.')
  if (agents.length > AGENTS_MAX) bad('agents', `At most ${AGENTS_MAX} agents vote.`)
  const taken = new Set<string>()
  for (const name of agents) {
    if (!isReviewerName(name)) bad('agents', `No reviewer can be called '${name.slice(0, 80)}'.`)
    if (taken.has(name)) bad('agents', `The agent '${name}' votes twice.`)
    taken.add(name)
  }
  if (question.length > VOTE_QUESTION_CHARS_MAX)
    bad('question', `The question has at most ${VOTE_QUESTION_CHARS_MAX} characters.`)
  // `check-openable.ts` reports a quorum that the voters cannot reach.
  const problem = findOptionProblem(voteOptions(consensus), AGENTS_MAX)
  const key = problem?.slice(0, problem.indexOf(' ')) ?? ''
  if (problem !== null) bad(fields.has(key) ? key : 'agents', problem)
}

function isReviewerName(name: string): boolean {
  return new RegExp(REVIEWER_NAME).test(name) && name !== 'human' && name !== 'orchestrator'
}

/** Maximum number of reviewer places in one phase. */
const SLOTS_MAX = 50

const SPAWN_FIELDS = {
  agent: maybe(name, 'An entry of `agents`.', 'reviewer', { unset: 'this or `agent_type`' }),
  count: maybe(positive, 'How many; 50 places in a phase at most.', '1', { unset: '`1`' }),
  agent_type: maybe(name, 'A kind of reviewer. No agent is started, which causes a warning.', 'review', {
    unset: 'this or `agent`',
  }),
  models: maybe(names, 'The names of the places, one reviewer each.', '[security]'),
  parallel: maybe(flag, 'They always may work at the same time; `false` causes a warning.', 'true', {
    unset: '`true`',
  }),
  wait_for_completion: maybe(flag, 'Whether the phase waits for them.', 'true'),
}
type SpawnDocument = ReadOf<typeof SPAWN_FIELDS>

/** An agent started on entering a phase: by an entry of `agents:`, or by a type and models. */
const AUTO_SPAWN = object('auto_spawn', 'Auto-spawn', SPAWN_FIELDS, {
  words: '[spawns](#auto-spawn)',
  json: { oneOf: [has('agent'), has('agent_type')] },
  finish: (spawn, fields): SpawnDocument => {
    if (fields.has('agent') === fields.has('agent_type')) {
      const message = 'Exactly one of agent and agent_type must be given.'
      fields.reportBad('agent', 'contract.missing_field', message, 'Name an entry of agents.')
    }
    const counted = spawn.agent === undefined ? spawn : { ...spawn, count: spawn.count ?? 1 }
    checkSlots(fields, counted)
    return counted
  },
})

/** The names of the places that an `auto_spawn` opens: its models, else the type or agent, numbered where there are several. */
export function listSpawnNames({ agent, agent_type, models = [], count = 1 }: SpawnDocument): readonly string[] {
  const kind = agent ?? agent_type
  if (kind === undefined || kind === '') return []
  if (models.length > 0) return models
  if (count === 1) return [kind]
  return Array.from({ length: Math.min(count, SLOTS_MAX + 1) }, (_, index) => `${kind}-${index + 1}`)
}

/** The field that the names of the places come from. */
function findNameKey({ agent, models = [] }: SpawnDocument): string {
  if (models.length > 0) return 'models'
  return agent === undefined ? 'agent_type' : 'agent'
}

function checkSlots(fields: Fields, spawn: SpawnDocument): void {
  const kind = spawn.agent ?? spawn.agent_type
  if (kind === undefined || kind === '') return
  const slots = listSpawnNames(spawn)
  const key = findNameKey(spawn)
  const bad = (message: string): void => fields.reportBad(key, 'contract.invalid_value', message)
  for (const name of slots) if (!isReviewerName(name)) bad(`No reviewer can be called '${name.slice(0, 80)}'.`)
  if (spawn.agent !== undefined) {
    if (key === 'models') bad('An entry of agents has its own model; count says how many are started.')
    return
  }
  if (key === 'models' && spawn.count !== undefined && spawn.count !== slots.length)
    fields.reportBad('count', 'contract.effect_differs', `There is one place for each model: ${slots.length}.`)
  const message = `No agent is started: entering the phase opens a place for ${slots.slice(0, 10).join(', ')}, and an operator adds each reviewer under that name.`
  fields.reportBad('agent_type', 'contract.effect_differs', message, 'Use phaselock task reviewer, or remove it.')
  if (spawn.parallel === false)
    fields.reportBad('parallel', 'contract.effect_differs', 'Reviewers may always work at the same time.')
}

/** The agents of a phase: no two places have the same name, and there are not too many. */
export const autoSpawns = checked(list(AUTO_SPAWN), (spawns, _bad, { reading }) => {
  const taken = new Set<string>()
  for (const spawn of spawns) {
    const origin = reading.findOrigin(spawn)
    const at =
      (origin?.kind === 'map' ? origin.entries.get(findNameKey(spawn))?.value.at : null) ?? reading.place(spawn)
    const bad = (message: string): void => reading.report({ code: 'contract.invalid_value', at, message })
    for (const name of listSpawnNames(spawn)) {
      if (isReviewerName(name) && taken.has(name)) bad(`There are two places for '${name}'.`)
      taken.add(name)
    }
    if (taken.size > SLOTS_MAX) bad(`A phase opens at most ${SLOTS_MAX} places.`)
  }
})
