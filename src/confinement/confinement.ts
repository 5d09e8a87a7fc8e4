import type { Readable, Writable } from 'node:stream'
import type { Change } from '../tree/change.js'

export const PROVIDERS = ['overlay+bubblewrap', 'bubblewrap', 'unshare', 'none'] as const
export type ProviderName = (typeof PROVIDERS)[number]

/** What a confinement promises. Each is proved at the start by an attempt to break it. */
export const GUARANTEES = {
  tree_writes: 'Nothing is written outside the work tree, and in it only what is committed afterwards',
  private_files: 'The state directory, credentials and the home directories cannot be read',
  network: 'No network unless the contract grants it',
  processes: 'No other process can be seen or signalled, and everything that was started ends with the command',
  environment: 'A clean environment, and no descriptor beside 0, 1 and 2',
  not_root: 'Never the real uid 0',
  syscalls: 'No namespaces, ptrace, bpf, keyctl, io_uring or terminal injection',
  kernel: 'No kernel setting can be changed',
} as const
export type Guarantee = keyof typeof GUARANTEES

export interface Missing {
  readonly guarantee: Guarantee
  /** What was tried and what happened. */
  readonly found: string
  readonly remedy: string
}

/** Of a path that never reaches the tree: it is kept for the next command, or gone with this one. */
export type Aside = (path: string, isDirectory: boolean) => 'kept' | 'dropped' | null

export interface JobSocket {
  /** A short word. */
  readonly name: string
  /** Absolute. */
  readonly path: string
}

/** A file or link that stands in the view of a command whatever the tree holds there. */
export type ViewEntry =
  | { readonly path: string; readonly type: 'file'; readonly content: Buffer; readonly mode: number }
  | { readonly path: string; readonly type: 'link'; readonly target: string }

/** How the view of a command differs from its tree, and what the command must leave as it is. */
export interface Composition {
  readonly put: readonly ViewEntry[]
  /** Paths that are not there, with everything below them. */
  readonly leftOut: readonly string[]
  /** Paths that must not be written, not even if they are put back afterwards. */
  readonly pinned: readonly string[]
  /** Those of them whose mode may change: npm makes a program of the project executable when it runs it. */
  readonly programs?: readonly string[]
  /** Whether a file that is not pinned counts as written when the command made or changed it. */
  readonly isGuarded: (path: string) => boolean
}

/** The folder of the sockets inside. */
export const SOCKETS_AT = '/run/phaselock'

/** Where a command finds a socket. The same place for every command: what it is called outside tells nobody anything. */
export function formatSocketPath(name: string): string {
  return `${SOCKETS_AT}/${name}.sock`
}

/** One command to be run. */
export interface Job {
  /** Absolute, resolved path of the work tree; it has the same path inside. */
  readonly tree: string
  /** The program and its arguments. */
  readonly argv: readonly string[]
  /** Relative to the tree; '.' is the tree itself. */
  readonly cwd: string
  /** Added to the clean environment. */
  readonly env: Readonly<Record<string, string>>
  readonly network: boolean
  /** `read`: the tree cannot be written. `keep`: changes are read off and can be committed. `discard`: they are thrown away. */
  readonly writes: 'read' | 'keep' | 'discard'
  /** The git directory is writable only for the git tools. */
  readonly git: 'read' | 'write'
  /** Folders outside the tree that are shown read-only at their own place. */
  readonly shown?: readonly string[]
  /** Listening unix sockets of the machine that can be connected to, each at `formatSocketPath(name)`. Nothing else of their folder is there. */
  readonly sockets?: readonly JobSocket[]
  /** A folder that is laid over the tree for this command: files that earlier ones wrote to ignored paths. */
  readonly layer?: string | null
  /** What becomes of changes that never reach the tree; null for those that count. */
  readonly aside?: Aside
  /** Files of the tree that the command is to write and that are read when it ended. What lies there before is not shown to it. */
  readonly collect?: readonly string[]
  /** How its view is composed. Needs `keep` or `discard`; without a sandbox it is only watched what is written. */
  readonly composition?: Composition
  /** A run that a gate is decided by: it cannot send SIGUSR1, which starts the debugger of Node.js in other programs. */
  readonly isObserved?: boolean
  /** Relative paths that must not be readable inside. */
  readonly hidden: readonly string[]
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/** A command that runs. Its output must be read; `done` comes when everything it started is gone. */
export interface ConfinedCommand {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  readonly done: Promise<CommandEnd>
  kill(): void
}

export interface CommandEnd {
  readonly exitCode: number
  /** Why it was stopped; null when it ended by itself. */
  readonly stopped: 'timeout' | 'aborted' | 'output' | null
  /** What it changed. Empty unless `writes` is `keep`. */
  readonly changes: ChangeSet
  /** What it wrote to the files that were to be collected; one that it did not write is not here. */
  readonly files: ReadonlyMap<string, Buffer>
  /** What it wrote of the paths that its composition pins or guards. */
  readonly written?: readonly string[]
}

/** What a command changed, not yet in the tree. Exactly one of `commit` and `discard` must be called. */
export interface ChangeSet {
  readonly list: readonly Change[]
  /** True when more was changed aside than is ever kept: not all of it is listed. */
  readonly isCut?: boolean
  /** Where what was changed can be read until then; null when nothing was. */
  readonly view: string | null
  /** Brings those of the changes into the tree. Null, or why none of them reached it. */
  commit(only?: readonly Change[]): Promise<string | null>
  discard(): Promise<void>
}

export interface Confinement {
  readonly provider: ProviderName
  readonly missing: readonly Missing[]
  /** Things worth knowing that are no missing guarantee, such as limits that hold per process only. */
  readonly notes: readonly string[]
  start(job: Job): Promise<ConfinedCommand>
  close(): Promise<void>
}
