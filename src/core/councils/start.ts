import type { StartRun } from './command.js'
import type { RunFact } from './event.js'
import { AGENTS_MAX, findOptionProblem, findQuorumProblem, QUESTION_CHARS_MAX } from './options.js'

const PARTICIPANT_ID = '^[A-Za-z0-9_.-]{1,64}$'
/** Councils have folders, so an id must not be a name like `..` */
const RUN_ID = '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$'

/** The first event of a council, or the problem with it. */
export function startFact(command: StartRun): RunFact | string {
  const ids = command.agents.map((agent) => agent.id)
  const form = new RegExp(PARTICIPANT_ID)
  if (!new RegExp(RUN_ID).test(command.id)) return 'The id of the council is not valid.'
  if (ids.length === 0 || ids.length > AGENTS_MAX) return `A council has 1 to ${AGENTS_MAX} agents.`
  if (!ids.every((id) => form.test(id))) return 'The id of an agent is not valid.'
  if (new Set(ids).size !== ids.length) return 'Two agents have the same id.'
  if (command.question.trim() === '') return 'The question is empty.'
  if (command.question.length > QUESTION_CHARS_MAX) return `The question has at most ${QUESTION_CHARS_MAX} characters.`
  // A consensus of a contract loaded by an older version still starts; its gate stays closed, as before.
  const unreachable = command.isConsensus === true ? null : findQuorumProblem(command.options, ids.length)
  const problem = findOptionProblem(command.options, ids.length) ?? unreachable
  if (problem !== null) return problem
  return {
    type: 'run_started',
    id: command.id,
    question: command.question,
    isConsensus: command.isConsensus === true,
    council: command.council ?? null,
    agents: command.agents.map(({ id, workTree }) => ({ id, workTree: workTree ?? null })),
    options: { ...command.options },
  }
}
