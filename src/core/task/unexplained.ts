import type { TaskEvent } from './event.js'
import type { TaskState } from './state.js'

/** The unexplained changes of a task after an event, as the newest comparison of its tree found them. */
export function findUnexplained(known: TaskState['unexplained'], event: TaskEvent): TaskState['unexplained'] {
  switch (event.type) {
    case 'unledgered_change_found':
      return { detail: event.detail, since: known?.since ?? event.at }
    case 'gate_blocked': {
      // A rule that holds the agent back is found before the tree is compared.
      if (event.code === 'rule_interrupt') return known
      const found = event.blockers.find(({ code }) => code === 'unledgered_change')
      return found === undefined ? undefined : { detail: found.message, since: known?.since ?? event.at }
    }
    case 'gate_passed':
    case 'tree_accepted':
    case 'tree_reverted':
    case 'task_completed':
    case 'task_cancelled':
      return undefined
    default:
      return known
  }
}
