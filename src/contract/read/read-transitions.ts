import { formatDidYouMean } from '../nearest.js'
import { anyMap, filled, flag, list, listed } from '../schema/kinds.js'
import { alwaysTrue, isEmpty, maybe, need, object, type ReadOf } from '../schema/object.js'

const TRIGGERS = ['spawn_review_agents', 'notify_orchestrator', 'update_prd_state'] as const
const TRIGGER_DIFFERS: Readonly<Record<(typeof TRIGGERS)[number], string>> = {
  spawn_review_agents:
    'No agent is started: entering the phase opens a place for each review that it asks for, to be filled by reviewers.',
  notify_orchestrator: 'Nothing is sent: every transition is an event that webhooks and the event stream carry.',
  update_prd_state: "No document is changed: the task's own state and its events say that it moved.",
}

const TRIGGER = object(
  'trigger',
  'Triggers',
  {
    action: need(
      { ...filled, json: { enum: TRIGGERS }, words: listed(TRIGGERS.map((name) => `\`${name}\``)) },
      '`spawn_review_agents` opens a place for each review that the phase asks for, as [auto-spawn](#auto-spawn) does; it causes a warning, since no agent is started. The others cause a warning too: every transition is an event.',
      'spawn_review_agents',
    ),
    params: maybe(anyMap, 'What the action is given.', '{status: completed}'),
    parallel: maybe(flag, 'Whether agents start at the same time.', 'true', { unset: 'none' }),
  },
  {
    finish: (trigger, fields) => {
      const { action } = trigger
      if (action === '') return null
      const known = TRIGGERS.find((name) => name === action)
      if (known === undefined) {
        const remedy = `${formatDidYouMean(action, TRIGGERS)}Known actions: ${TRIGGERS.join(', ')}.`
        fields.reportBad('action', 'contract.invalid_value', `The action '${action}' is not known.`, remedy)
        return null
      }
      fields.reportBad('action', 'contract.effect_differs', TRIGGER_DIFFERS[known])
      return known === 'spawn_review_agents' ? trigger : null
    },
  },
)

const FROM = {
  from: need(filled, 'The phase that is left.', 'PLAN', { words: 'phase id' }),
}
const REST = {
  to: need(filled, 'The phase that is entered.', 'TDD', { words: 'phase id' }),
  gate: maybe(filled, 'The only gate that must open for it.', 'plan_approval', {
    words: 'gate id',
    unset: 'all gates of the phase being left',
  }),
  when: maybe(filled, 'A claim that the agent must make for it.', 'changes_requested', { words: 'claim' }),
  requires_token: alwaysTrue('A transition always needs the phase token.'),
  triggers: maybe(list(TRIGGER), 'Actions that run with it.', '[{action: spawn_review_agents}]', { isNone: isEmpty }),
}
const FIELDS = { ...FROM, ...REST }

export type TransitionDocument = ReadOf<typeof FIELDS>
export const TRANSITION = object('transition', 'Transitions', FIELDS)

/** Inside a node; `from` is the node. */
export const NODE_TRANSITION = object('node_transition', 'Transitions of a node', REST, {
  finish: (transition, _fields, { owner }): TransitionDocument => ({ from: owner ?? '', ...transition }),
})
