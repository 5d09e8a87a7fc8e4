import type { CheckOutcome } from '../../core/task/command.js'
import { formatCount } from '../../core/text.js'
import { type CheckInputs, failCheck, passCheck, postponed } from '../check-inputs.js'
import { formatText } from './compare.js'
import type { ExampleOutcome } from './example.js'
import { readPlanExamples } from './read-examples.js'

const NAMED_MAX = 3

/** Examples are run last: before that, the check only reports that they exist. */
export const checkExamplesHold = ({
  all,
  examples,
  hasHeldOut,
}: Pick<CheckInputs, 'all' | 'examples' | 'hasHeldOut'>): CheckOutcome => {
  const { examples: named, problems } = readPlanExamples(all.get('plan_document'))
  if (problems.length > 0) return failCheck(`the examples of the plan cannot be read: ${problems[0]?.message}`)
  if (named.length === 0 && hasHeldOut !== true) return passCheck('there are no examples', 'observed')
  if (examples === undefined) return postponed('the examples were not run yet')
  const failing = examples.visible.filter((outcome) => outcome.difference !== null)
  if (failing.length > 0) return failCheck(formatVisibleFailures(failing), 'observed', VISIBLE)
  const heldOut = examples.heldOut.filter((outcome) => outcome.difference !== null)
  if (heldOut.length > 0) return failCheck(formatHeldOutFailures(heldOut), 'observed', HELD_OUT)
  const count = examples.visible.length + examples.heldOut.length
  return passCheck(`${formatCount(count, 'example')} ${count === 1 ? 'holds' : 'hold'}`, 'observed')
}

function formatVisibleFailures(failing: readonly ExampleOutcome[]): string {
  const texts = failing
    .slice(0, NAMED_MAX)
    .map(
      ({ example, difference }) =>
        `criterion ${example.criterion}, example ${example.number}, ${formatText(example.run)}: ${difference}`,
    )
  const more = failing.length - NAMED_MAX
  return `${texts.join(' | ')}${more > 0 ? ` | and ${more} more` : ''}`
}

// Never the example itself, only its criterion.
function formatHeldOutFailures(failing: readonly ExampleOutcome[]): string {
  const named = [...new Set(failing.map(({ example }) => example.criterion ?? 'the task'))]
  return named.map((name) => `A held-out example of ${name} does not hold.`).join(' ')
}

const VISIBLE = {
  cause: 'an example of the plan does not hold',
  detail: '',
  mendedBy: 'agent',
  remedy:
    'Run the command yourself, make the code answer what the plan says, and ask for the transition again. If the example is wrong, ask an operator to return the task to the phase of the plan: phaselock task rewind TASK --to PHASE --reason "…". The work stays.',
  lastLines: [],
} as const

const HELD_OUT = {
  cause: 'a held-out example does not hold',
  detail: '',
  mendedBy: 'agent',
  remedy:
    'Make the code do what the criterion says for every input, not only for those of the tests and of the examples that you can see, and ask for the transition again. After 5 such failures an operator looks at the task.',
  lastLines: [],
} as const
