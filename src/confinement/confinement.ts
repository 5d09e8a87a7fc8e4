import type { Readable, Writable } from 'node:stream'
import type { Change } from '../tree/change.js'
import type { TreeRefusal } from '../tree/problems.js'
import type { TreeStep } from '../tree/write/tree-steps.js'

export const PROVIDERS = ['overlay+bubblewrap', 'bubblewrap', 'unshare', 'none'] as const
export type ProviderName = (typeof PROVIDERS)[number]

/** The guarantees of the sandbox. Each is proved at the start by an attempt to break it. */
export const GUARANTEES = {
  tree_writes: 'A command can write only in the work tree, and its changes count only if Phaselock accepts them',
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

/** For a path that never reaches the tree: kept for the next command, or discarded with this one. */
export type Aside = (path: string, isDirectory: boolean) => 'kept' | 'dropped' | null

export interface JobSocket {
  /** A short word. */
  readonly name: string
  /** Absolute. */
  readonly path: string
}

/** A file or link that is in the view of a command whatever the tree has there. */
export type ViewEntry =
  | { readonly path: string; readonly type: 'file'; readonly content: Buffer; readonly mode: number }
  | { readonly path: string; readonly type: 'link'; readonly target: string }

/** How the view of a command differs from its tree, and what the command must not change. */
export interface Composition {
  readonly put: readonly ViewEntry[]
  /** Paths that are left out, with everything below them. */
  readonly leftOut: readonly string[]
  /** Paths that must not be written, even if they are restored afterwards. */
  readonly pinned: readonly string[]
  /** Pinned paths whose mode may change: npm makes a program of the project executable before it runs it. */
  readonly programs?: readonly string[]
  /** Whether a file that is not pinned counts as written when the command created or changed it. */
  readonly isGuarded: (path: string) => boolean
}

/** The folder of the sockets inside. */
export const SOCKETS_AT = '/run/phaselock'

/** Where a command finds a socket. The same path for every command, so that it reveals nothing about the outside. */
export function formatSocketPath(name: string): string {
  return `${SOCKETS_AT}/${name}.sock`
}

/** The cache folder in the home directory of a command, which it can write. */
export interface JobCache {
  /** What earlier commands left there. It is not written while the command runs. */
  readonly layer: string | null
  /** Below it: folders that no agent can write. */
  readonly seeds: readonly string[]
  /** Receives what the command left there, before it is removed; null: nothing is kept. */
  readonly keep: ((left: CacheLeft) => Promise<void>) | null
}

export interface CacheLeft {
  readonly list: readonly Change[]
  /** More was written than is ever kept: not all of it is listed. */
  readonly isCut: boolean
  /** Where the files can be read until then. */
  readonly view: string
}

/** One command to run. */
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
  /**
   * `read`: the tree cannot be written. `keep`: changes are read and can be committed. `discard`: they are thrown away.
   */
  readonly writes: 'read' | 'keep' | 'discard'
  /** The git directory is writable only for the git tools. */
  readonly git: 'read' | 'write'
  /** Folders outside the tree that are shown read-only at their own place. */
  readonly shown?: readonly string[]
  /**
   * Listening unix sockets of the machine that the command can connect to, each at `formatSocketPath(name)`. Nothing
   * else of their folder is visible.
   */
  readonly sockets?: readonly JobSocket[]
  /** A folder that is laid over the tree for this command: files that earlier commands wrote to ignored paths. */
  readonly layer?: string | null
  /**
   * Never for a run that decides a gate if agents can write what is in it. Without a sandbox every command has the same
   * cache folder.
   */
  readonly cache?: JobCache
  /** What happens to changes that never reach the tree; null for those that count. */
  readonly aside?: Aside
  /**
   * Files of the tree that the command should write and that are read afterwards. Earlier versions are hidden from it.
   */
  readonly collect?: readonly string[]
  /** Like `collect`, for every file whose path matches. */
  readonly collectWhere?: (path: string) => boolean
  /** How its view is composed. Needs `keep` or `discard`. Without a sandbox, writes are only detected. */
  readonly composition?: Composition
  /** A run that decides a gate: it cannot send SIGUSR1, which starts the debugger of Node.js in other programs. */
  readonly isObserved?: boolean
  /** The command installs packages, so installed packages may change. */
  readonly isInstall?: boolean
  /**
   * The package manager whose packages are fetched to a place outside the tree. They are kept together with its
   * changes.
   */
  readonly fetches?: 'go' | 'cargo'
  /** Relative paths that must not be readable inside. */
  readonly hidden: readonly string[]
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/** A running command. Its output must be read; `done` resolves when all its processes have ended. */
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
  /** The contents of the files to collect; files that it did not write are missing. */
  readonly files: ReadonlyMap<string, Buffer>
  /** More or larger files matched than are read: `files` is incomplete. */
  readonly isFilesCut?: boolean
  /** The pinned or guarded paths of its composition that it wrote. */
  readonly written?: readonly string[]
}

/** Makes all steps in the tree of the command, or none. */
export type WriteSteps = (steps: readonly TreeStep[]) => Promise<{ readonly ok: true } | TreeRefusal>

/** Changes of a command that are not in the tree yet. Exactly one of `commit` and `discard` must be called. */
export interface ChangeSet {
  readonly list: readonly Change[]
  /** True when more was changed than is ever kept: not all of it is listed. */
  readonly isCut?: boolean
  /** Where the changes can be read until then; null when there are none. */
  readonly view: string | null
  /** Applies these changes to the tree with the writer. Returns why none was applied; null: all were. */
  commit(only: readonly Change[], write: WriteSteps): Promise<string | null>
  discard(): Promise<void>
}

export interface Confinement {
  readonly provider: ProviderName
  readonly missing: readonly Missing[]
  /** Notes that are not missing guarantees, such as limits that hold per process only. */
  readonly notes: readonly string[]
  /** False while no command can be started, because a process that the sandbox depends on has ended. */
  isOpen(): boolean
  start(job: Job): Promise<ConfinedCommand>
  close(): Promise<void>
}
