import { readFileSync } from 'node:fs'
import { parseDocument } from 'yaml'
import { findBundledContract } from '../../contract/bundled-contracts.js'

/** How often the same command may run before the rule of the demo interrupts. */
export const LOOP_THRESHOLD = 3
const LOOP_WINDOW_SECONDS = 600
const WATCHED_PHASE = 'IMPL'

interface DemoContract {
  readonly name: string
  readonly isWatched: boolean
  /**
   * Whether commands run in a sandbox here; if there is none, the contract does without and answers say `unenforced`.
   */
  readonly isSandboxed: boolean
}

/** The bundled contract `tdd` under another name, with a rule against loops on request. */
export function buildContractText({ name, isWatched, isSandboxed }: DemoContract): string {
  const document = parseDocument(readFileSync(findBundledContract('tdd'), 'utf8'))
  document.set('name', name)
  if (!isSandboxed) document.setIn(['enforcement', 'confinement'], 'best_effort')
  // There an inverted run cannot judge anything, and that has to keep the cheating agent's gate closed.
  if (!isSandboxed && isWatched) document.setIn(['tests', 'inverted'], 'strict')
  const { phases } = document.toJS() as { readonly phases: readonly { readonly id: string }[] }
  const at = phases.findIndex(({ id }) => id === WATCHED_PHASE)
  const limits = { threshold: LOOP_THRESHOLD, window: LOOP_WINDOW_SECONDS, unless_progress: true }
  const rule = { repeated_command: { ...limits, on_violation: 'deny' } }
  if (isWatched) document.setIn(['phases', at, 'rules'], document.createNode([rule]))
  return document.toString()
}
