import { readFileSync } from 'node:fs'
import { parseDocument } from 'yaml'
import { findBundledContract } from '../../contract/bundled-contracts.js'

/** How often the same command may run before the rule of the demo interrupts. */
export const LOOP_THRESHOLD = 3
const LOOP_WINDOW_SECONDS = 600
const WATCHED_PHASE = 'IMPL'

export interface DemoContract {
  readonly name: string
  readonly isWatched: boolean
  /** Whether commands run behind a wall here; where none holds, the contract does without and answers say `unenforced`. */
  readonly isWalled: boolean
}

/** The bundled contract `tdd` under another name, with a rule against loops where that is asked for. */
export function buildContractText({ name, isWatched, isWalled }: DemoContract): string {
  const document = parseDocument(readFileSync(findBundledContract('tdd'), 'utf8'))
  document.set('name', name)
  if (!isWalled) document.setIn(['enforcement', 'confinement'], 'best_effort')
  // Nothing can be judged by an inverted run there, and that has to keep the cheating agent's gate closed.
  if (!isWalled && isWatched) document.setIn(['tests', 'inverted'], 'strict')
  const { phases } = document.toJS() as { readonly phases: readonly { readonly id: string }[] }
  const at = phases.findIndex(({ id }) => id === WATCHED_PHASE)
  const limits = { threshold: LOOP_THRESHOLD, window: LOOP_WINDOW_SECONDS, unless_progress: true }
  const rule = { repeated_command: { ...limits, on_violation: 'deny' } }
  if (isWatched) document.setIn(['phases', at, 'rules'], document.createNode([rule]))
  return document.toString()
}
