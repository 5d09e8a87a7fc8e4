import type { Json, JsonObject } from '../../core/json.js'
import { TASK_EVENT_TYPES } from '../../core/task/event-types.js'
import { findNearest } from '../nearest.js'
import { Fields } from './fields.js'
import type { Reading } from './reading.js'

function checkAddress(fields: Fields, url: string): void {
  const address = URL.canParse(url) ? new URL(url) : null
  if (address === null || !['http:', 'https:'].includes(address.protocol))
    fields.reportBad('url', 'contract.invalid_value', `'${url}' is not an http(s) address.`)
  else if (address.username !== '' || address.password !== '')
    // Not quoted: it holds a password.
    fields.reportBad(
      'url',
      'contract.invalid_value',
      'The address holds a user or a password.',
      'Use secret_env_var instead.',
    )
}

/** Where events of tasks are sent. */
export function readWebhooks(reading: Reading, root: Fields): JsonObject[] | null {
  const list = root.list('webhooks')
  if (list === null || list.items.length === 0) return null
  const hooks = list.items.flatMap((item) => {
    const fields = Fields.openFields(reading, item, ['url', 'events', 'secret_env_var'])
    if (fields === null) return []
    const url = fields.needText('url', '"https://example.org/hook"')
    if (url !== '') checkAddress(fields, url)
    if (!fields.has('events')) fields.reportMissing('events', '[approval_requested]')
    const events = fields.getTexts('events') ?? []
    for (const event of events) {
      if (TASK_EVENT_TYPES.includes(event)) continue
      const meant = findNearest(event, TASK_EVENT_TYPES)
      const remedy = meant === null ? 'See docs/webhooks.md for the events there are.' : `Did you mean '${meant}'?`
      fields.reportBad('events', 'contract.invalid_value', `There is no event '${event.slice(0, 80)}'.`, remedy)
    }
    const hook: Record<string, Json> = { url, events }
    if (fields.has('secret_env_var')) hook.secret_env_var = fields.needText('secret_env_var', 'HOOK_SECRET')
    return [reading.made(hook, item)]
  })
  return reading.made(hooks, list)
}
