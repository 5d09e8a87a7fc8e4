import type { Found } from '../participants/real-agents.js'
import type { Script } from '../real-agents/model.js'
import { hasTmux, type Window } from './terminal.js'

/** An agent CLI with forms in its chat, and how a person uses it. */
export interface TriedCli {
  /** As in `phaselock claude`. */
  readonly name: string
  /** With its model, for the names of tests. */
  readonly title: string
  readonly found: Found
  /** What its model does in the words of its tools. */
  readonly act: (script: Script) => Script
  /** Whether the model is told which results are errors. */
  readonly tellsErrors: boolean
  /** Whether it shows a line of Phaselock at the edge of the terminal. */
  readonly hasStatusLine?: true
  /** Words in the command line of its process. */
  readonly running: string
  /** What ends it. */
  readonly leave: string
  /** Opens a session, and answers what the agent CLI asks at the start. */
  readonly start: (window: Window, words: string) => Promise<void>
  /** Fills in the form of an approval. */
  readonly answer: (window: Window, decision: 'approve' | 'reject', comment?: string) => Promise<void>
  /** Does something with a form whose approval was decided elsewhere. */
  readonly answerLate: (window: Window) => Promise<void>
  /** Empties the conversation. */
  readonly clear: (window: Window) => Promise<void>
}

/** Why a CLI cannot be tried here; null: it can. */
export function findReason(found: Found): string | null {
  if (!found.ok) return found.reason
  return hasTmux ? null : 'tmux is not installed'
}

/** The name of a group of tests, with the reason where they are skipped. */
export function nameGroup(title: string, reason: string | null): string {
  return reason === null ? title : `${title} (skipped: ${reason})`
}
