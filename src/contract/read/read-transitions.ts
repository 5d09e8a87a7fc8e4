import type { JsonObject } from '../../core/json.js'
import type { TransitionDocument } from '../document.js'
import type { ListNode, SourceNode } from '../load/yaml.js'
import { formatDidYouMean } from '../nearest.js'
import { Fields } from './fields.js'
import type { Reading } from './reading.js'

const TRIGGERS = ['spawn_review_agents', 'notify_orchestrator', 'update_prd_state'] as const
const TRANSITION_KEYS = ['from', 'to', 'gate', 'when', 'requires_token', 'triggers']
const TRIGGER_DIFFERS: Readonly<Record<string, string>> = {
  spawn_review_agents:
    'No agent is started: entering the phase opens a place for each review that it asks for, to be filled by reviewers.',
  notify_orchestrator: 'Nothing is sent: every transition is an event that webhooks and the event stream carry.',
  update_prd_state: "No document is changed: the task's own state and its events say that it moved.",
}

/** The top-level list; `from` is set when the transitions stand inside a node. */
export function readTransitions(reading: Reading, list: ListNode, from: string | null): TransitionDocument[] {
  const keys = from === null ? TRANSITION_KEYS : TRANSITION_KEYS.slice(1)
  return list.items.flatMap((item) => {
    const fields = Fields.openFields(reading, item, keys)
    if (fields === null) return []
    const transition: TransitionDocument = {
      from: from ?? fields.needText('from', 'PLAN'),
      to: fields.needText('to', 'TDD'),
    }
    for (const key of ['gate', 'when'] as const) {
      if (fields.has(key))
        transition[key] = fields.needText(key, key === 'gate' ? 'plan_approval' : 'changes_requested')
    }
    if (!fields.getFlag('requires_token', true)) {
      fields.reportBad('requires_token', 'contract.effect_differs', 'A transition always needs the phase token.')
    }
    const triggers = fields.list('triggers')
    const kept = triggers === null ? [] : triggers.items.flatMap((trigger) => readTrigger(reading, trigger))
    if (triggers !== null && kept.length > 0) transition.triggers = reading.made(kept, triggers)
    return [reading.made(transition, item)]
  })
}

function readTrigger(reading: Reading, item: SourceNode): JsonObject[] {
  const fields = Fields.openFields(reading, item, ['action', 'params', 'parallel'])
  if (fields === null) return []
  const action = fields.needText('action', 'spawn_review_agents')
  if (action === '') return []
  if (!TRIGGERS.some((trigger) => trigger === action)) {
    const remedy = `${formatDidYouMean(action, TRIGGERS)}Known actions: ${TRIGGERS.join(', ')}.`
    fields.reportBad('action', 'contract.invalid_value', `The action '${action}' is not known.`, remedy)
    return []
  }
  const differs = TRIGGER_DIFFERS[action]
  if (differs !== undefined) fields.reportBad('action', 'contract.effect_differs', differs)
  if (action !== 'spawn_review_agents') return []
  const params = fields.map('params')
  const trigger = {
    action,
    ...(fields.has('parallel') ? { parallel: fields.getFlag('parallel', true) } : {}),
    ...(params === null ? {} : { params: reading.toJsonObject(params) }),
  }
  return [reading.made(trigger, item)]
}
