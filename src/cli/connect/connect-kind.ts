import type { CanaryPlan } from '../canary/run-canary.js'
import type { ConfigPlan } from './config-entry.js'

/** What the agent CLI may still do itself: nothing, or everything that its hooks let through. */
export type BindingMode = 'tools-only' | 'native'

export interface ConnectPlace {
  /** Root of the repository. */
  readonly workspace: string
  /** The command that starts Phaselock, as its first words. */
  readonly program: string
  readonly mode: BindingMode
  /** In the managed configuration of the machine instead of the repository. */
  readonly isManaged: boolean
}

/** How an agent CLI is bound by configuration. */
export interface ConnectKind {
  /** As people type it: `phaselock connect claude`. */
  readonly name: string
  readonly title: string
  /** As hooks, the ledger and `phaselock run` call it. */
  readonly agentCli: string
  readonly program: string
  readonly npmPackage: string
  /** The oldest version that holds the binding. */
  readonly least: Readonly<Record<BindingMode, string>>
  /** The bindings that its configuration can hold; the first one is the default. */
  readonly modes: readonly BindingMode[]
  /** Folders for the managed configuration of the machine; null: it has none that holds. */
  readonly managedFolder: string | null
  /** How it is started for a call that must be refused; null: it cannot be tried. */
  readonly canary: Omit<CanaryPlan, 'program' | 'workspace'> | null
  plan(place: ConnectPlace): readonly ConfigPlan[]
  /** What a person has to do once, before the binding holds. */
  notes(place: ConnectPlace): readonly string[]
}

/** The words after the program that start the MCP server of a session. */
export function listSessionWords(cli: string, { mode, isManaged }: Pick<ConnectPlace, 'mode' | 'isManaged'>): string[] {
  return ['mcp', '--session', cli, '--binding', `${isManaged ? 'managed' : 'project'}:${mode}`]
}
