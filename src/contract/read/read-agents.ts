import { findValueProblem, isHeldByShell, isVariableName } from '../../core/contract/variables.js'
import { AGENTS_MAX, findOptionProblem } from '../../core/councils/options.js'
import type { Json, JsonObject } from '../../core/json.js'
import { REVIEWER_NAME } from '../../core/reviews/review.js'
import { voteOptions } from '../compile/compile-consensus.js'
import type { ListNode, SourceNode } from '../load/yaml.js'
import { Fields } from './fields.js'
import type { Reading } from './reading.js'

const HARNESSES = ['claude-code', 'codex', 'gemini', 'opencode', 'command'] as const
const NOVELTY = ['lenient', 'balanced', 'strict'] as const
const CONSENSUS_NUMBERS = [
  'quorum',
  'max_new_answers_per_agent',
  'max_new_answers_global',
  'max_attempts',
  'round_timeout_seconds',
  'timeout_seconds',
]
const CONSENSUS_FLAGS = ['skip_voting', 'allow_self_vote', 'final_presentation']

/** A phase's `consensus`: reviewer agents that vote as part of leaving it. */
export function readConsensus(reading: Reading, node: SourceNode): JsonObject {
  const fields = Fields.openFields(reading, node, [
    'agents',
    'question',
    'novelty',
    ...CONSENSUS_NUMBERS,
    ...CONSENSUS_FLAGS,
  ])
  if (fields === null) return {}
  if (!fields.has('agents')) fields.reportMissing('agents', '[reviewer_a, reviewer_b]')
  const agents = fields.getTexts('agents') ?? []
  const consensus: Record<string, Json> = { agents, question: fields.needText('question', '"Is this change ready?"') }
  for (const key of CONSENSUS_NUMBERS) if (fields.has(key)) consensus[key] = fields.getPositive(key, 1)
  for (const key of CONSENSUS_FLAGS) if (fields.has(key)) consensus[key] = fields.getFlag(key, false)
  if (fields.has('novelty')) consensus.novelty = fields.choice('novelty', NOVELTY, 'lenient')
  checkVote(fields, consensus, agents)
  return reading.made(consensus, node)
}

/** Leaves room for what is voted on, which is put to the voters with the question. */
const VOTE_QUESTION_CHARS_MAX = 10_000

function checkVote(fields: Fields, consensus: JsonObject, agents: readonly string[]): void {
  const bad = (key: string, message: string): void => fields.reportBad(key, 'contract.invalid_value', message)
  if (fields.has('agents') && agents.length === 0) bad('agents', 'Nobody votes.')
  if (agents.length > AGENTS_MAX) bad('agents', `At most ${AGENTS_MAX} agents vote.`)
  const taken = new Set<string>()
  for (const name of agents) {
    if (!new RegExp(REVIEWER_NAME).test(name) || name === 'human' || name === 'orchestrator')
      bad('agents', `No reviewer can be called '${name.slice(0, 80)}'.`)
    if (taken.has(name)) bad('agents', `The agent '${name}' votes twice.`)
    taken.add(name)
  }
  if (String(consensus.question).length > VOTE_QUESTION_CHARS_MAX)
    bad('question', `The question has at most ${VOTE_QUESTION_CHARS_MAX} characters.`)
  // Whether the voters can reach the quorum is told with the gates that cannot open.
  const problem = findOptionProblem(voteOptions(consensus), AGENTS_MAX)
  const key = problem?.slice(0, problem.indexOf(' ')) ?? ''
  if (problem !== null) fields.reportBad(fields.has(key) ? key : 'agents', 'contract.invalid_value', problem)
}

/** Places in one phase; more reviewers than this nobody reads. */
const SLOTS_MAX = 50

/** The names of the places that an `auto_spawn` opens: its models, else the type or agent, numbered where there are several. */
export function listSpawnNames(spawn: JsonObject): readonly string[] {
  const kind = spawn.agent ?? spawn.agent_type
  if (typeof kind !== 'string') return []
  const models = Array.isArray(spawn.models) ? spawn.models.map(String) : []
  if (models.length > 0) return models
  const count = Math.min(Number(spawn.count ?? 1), SLOTS_MAX + 1)
  if (count === 1) return [kind]
  return Array.from({ length: count }, (_, index) => `${kind}-${index + 1}`)
}

/** Agents started on entering a phase: by an entry of `agents:`, or by a type and models. */
export function readAutoSpawn(reading: Reading, list: ListNode): JsonObject[] {
  const taken = new Set<string>()
  return list.items.flatMap((item) => {
    const fields = Fields.openFields(reading, item, [
      'agent',
      'count',
      'agent_type',
      'models',
      'parallel',
      'wait_for_completion',
    ])
    if (fields === null) return []
    if (fields.has('agent') === fields.has('agent_type')) {
      fields.reportBad(
        'agent',
        'contract.missing_field',
        'Exactly one of agent and agent_type must be given.',
        'Name an entry of agents.',
      )
    }
    const spawn: Record<string, Json> = {}
    for (const key of ['agent', 'agent_type']) if (fields.has(key)) spawn[key] = fields.needText(key, 'reviewer')
    if (fields.has('agent')) spawn.count = fields.getPositive('count', 1)
    else if (fields.has('count')) spawn.count = fields.getPositive('count', 1)
    const models = fields.getTexts('models')
    if (models !== null) spawn.models = models
    for (const key of ['parallel', 'wait_for_completion']) if (fields.has(key)) spawn[key] = fields.getFlag(key, false)
    checkSlots(fields, spawn, taken)
    return [reading.made(spawn, item)]
  })
}

function checkSlots(fields: Fields, spawn: JsonObject, taken: Set<string>): void {
  const kind = spawn.agent ?? spawn.agent_type
  if (typeof kind !== 'string' || kind === '') return
  const names = listSpawnNames(spawn)
  const named = spawn.agent === undefined ? 'agent_type' : 'agent'
  const key = Array.isArray(spawn.models) && spawn.models.length > 0 ? 'models' : named
  const bad = (message: string): void => fields.reportBad(key, 'contract.invalid_value', message)
  for (const name of names) {
    if (!new RegExp(REVIEWER_NAME).test(name) || name === 'human' || name === 'orchestrator')
      bad(`No reviewer can be called '${name.slice(0, 80)}'.`)
    else if (taken.has(name)) bad(`There are two places for '${name}'.`)
    taken.add(name)
  }
  if (taken.size > SLOTS_MAX) bad(`A phase opens at most ${SLOTS_MAX} places.`)
  if (spawn.agent !== undefined) {
    if (key === 'models') bad('An entry of agents has its own model; count says how many are started.')
    return
  }
  if (key === 'models' && spawn.count !== undefined && spawn.count !== names.length)
    fields.reportBad('count', 'contract.effect_differs', `There is one place for each model: ${names.length}.`)
  const message = `No agent is started: entering the phase opens a place for ${names.slice(0, 10).join(', ')}, and an operator lets each reviewer in under that name.`
  fields.reportBad('agent_type', 'contract.effect_differs', message, 'Use phaselock task reviewer, or remove it.')
  if (spawn.parallel === false)
    fields.reportBad('parallel', 'contract.effect_differs', 'Reviewers may always work at the same time.')
}

/** One entry of `agents:`. */
export function readAgent(reading: Reading, node: SourceNode): JsonObject | null {
  const fields = Fields.openFields(reading, node, ['harness', 'command', 'args', 'env', 'model', 'capabilities'])
  if (fields === null) return null
  if (!fields.has('harness')) fields.reportMissing('harness', 'claude-code')
  const agent: Record<string, Json> = { harness: fields.choice('harness', HARNESSES, 'command') }
  for (const key of ['command', 'model']) if (fields.has(key)) agent[key] = fields.needText(key, 'my-agent')
  for (const key of ['args', 'capabilities']) {
    const texts = fields.getTexts(key)
    if (texts !== null) agent[key] = texts
  }
  const env = readEnv(fields)
  if (env !== null) agent.env = env
  if (agent.harness === 'command' && fields.has('harness') && !fields.has('command'))
    fields.reportMissing('command', 'my-agent')
  return reading.made(agent, node)
}

/** A map of environment variables; values are texts. */
export function readEnv(fields: Fields): JsonObject | null {
  const map = fields.map('env')
  if (map === null) return null
  const names = Fields.openFields(fields.reading, map, [...map.entries.keys()])
  const env: Record<string, Json> = Object.create(null)
  for (const name of map.entries.keys()) env[name] = names?.getText(name) ?? ''
  const made = fields.reading.made(env, map)
  checkVariables(fields.reading, made)
  return made
}

function checkVariables(reading: Reading, env: JsonObject): void {
  for (const [name, value] of Object.entries(env)) {
    const shown = name.slice(0, 80)
    const at = reading.locateReport(env, name, 'contract.invalid_value')
    const problem = findValueProblem(name, String(value))
    if (!isVariableName(name))
      reading.report({
        ...at,
        message: `'${shown}' is not a name of an environment variable.`,
        remedy: 'Use A-Z, a-z, 0-9 and _, and do not begin with a digit.',
      })
    else if (problem !== null)
      reading.report({ ...at, message: `The value of ${shown} ${problem}.`, remedy: 'Put the value into a file.' })
    else if (isHeldByShell(name))
      reading.report({
        ...reading.locateReport(env, name, 'contract.effect_differs'),
        message: `The shell that starts the command sets ${name} itself; this value has no effect.`,
        remedy: `Remove ${name}.`,
      })
  }
}
