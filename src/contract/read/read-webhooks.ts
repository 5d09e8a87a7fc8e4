import { TASK_EVENT_TYPES } from '../../core/task/event-types.js'
import { findNearest } from '../nearest.js'
import { checked, filled, name, names } from '../schema/kinds.js'
import { maybe, need, object } from '../schema/object.js'

const address = checked(
  { ...filled, words: 'address' },
  (url, bad) => {
    if (url === '') return
    const { protocol, username, password } = URL.canParse(url)
      ? new URL(url)
      : { protocol: '', username: '', password: '' }
    if (!['http:', 'https:'].includes(protocol)) bad(`'${url}' is not an http(s) address.`)
    // Not quoted: it holds a password.
    else if (username + password !== '') bad('The address holds a user or a password.', 'Use secret_env_var instead.')
  },
  { pattern: '^https?://\\S+$' },
)

const events = checked(names, (given, bad) => {
  for (const event of given) {
    if (TASK_EVENT_TYPES.includes(event)) continue
    const meant = findNearest(event, TASK_EVENT_TYPES)
    const remedy = meant === null ? 'docs/webhooks.md lists the events.' : `Did you mean '${meant}'?`
    bad(`There is no event '${event.slice(0, 80)}'.`, remedy)
  }
})

/** Where events of tasks are sent. */
export const WEBHOOK = object('webhook', 'Webhooks', {
  url: need(address, 'Where events are sent.', '"https://example.org/hook"'),
  events: need(events, 'Which events.', '[approval_requested]'),
  secret_env_var: maybe(name, 'The environment variable with the secret that signs them.', 'HOOK_SECRET'),
})
