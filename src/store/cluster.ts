import type { SharedTreesNote } from './shared-trees/shared-folder.js'
import type { StoredEvent } from './store.js'

/** The stream of operators, agents, contracts and pauses. Every node appends to it. */
export const SYSTEM_STREAM = 'system'

/** A server on a database that several servers may share. */
export interface NodeRow {
  readonly id: string
  /** Counts the starts of the node: only the newest one writes. */
  readonly epoch: number
  /** Where other nodes reach it; null until it listens. */
  readonly url: string | null
  readonly programVersion: string
  /** Unix milliseconds, by the clock of the database. */
  readonly startedAt: number
  readonly seenAt: number
  /** Whether its lease holds. */
  readonly isAlive: boolean
  /** It was stopped in order, a moment ago: calls for its tasks wait for its next start. */
  readonly isReturning: boolean
  /** Where it keeps what it knows about trees that it shares; null: in its state directory. `forged`: no node wrote it. */
  readonly sharedTrees: SharedTreesNote | 'forged' | null
}

/** A living node that listens. */
export type ReachableNode = NodeRow & { readonly url: string }

/** What a node says about itself to the others. */
export interface NodeNote {
  readonly url: string
  readonly programVersion: string
}

/**
 * Several servers on one ledger. Every stream except the system's has a home: the node that began it, because the work
 * tree and the processes of a task are there. Only its home appends to a stream.
 */
export interface Cluster {
  readonly nodeId: string
  /** Unix milliseconds by the clock of the database, which all nodes share; a machine's own clock may jump. */
  now(): number
  /**
   * Resolves when this node knows every event that was committed before the call and still holds its lease. Rejects with
   * StoreUnavailable when it cannot know: then it must answer nothing from memory.
   */
  refresh(): Promise<void>
  /** The node that decides on a stream; null: every node may, or there is no such stream. */
  findHome(stream: string): Promise<string | null>
  /** The same without waiting, for a stream whose event was just followed. */
  isElsewhere(stream: string): boolean
  /** Events of all nodes, each once, in the order of `seq`. */
  follow(listener: (events: readonly StoredEvent[]) => void): void
  /** Events that this process appended: followers get them without reading them again. */
  note(events: readonly StoredEvent[]): void
  /** Rejects with StoreRefused when a living node signs its tokens with a secret that this one does not accept. */
  agreeOnSecrets(secrets: readonly string[]): Promise<void>
  /**
   * Takes over every stream of a node that is away, for good: what it still tries to write is refused. `alive`: its lease
   * holds. Gives the number of streams.
   */
  adopt(nodeId: string): Promise<number | 'alive' | 'unknown'>
  announce(note: NodeNote): Promise<void>
  /** Notes the folder of this node's shared trees for those who adopt it; null: it has none. */
  declareSharedTrees(note: SharedTreesNote | null): Promise<void>
  /** Rejects with StoreUnavailable unless the database says that this start of the node holds its lease. */
  confirmLease(): Promise<void>
  /** The node whose tasks work in a tree that is shared: this one, if it was nobody's. */
  takeTree(folderId: string, tree: string): Promise<string>
  /** Other nodes send nothing more to this one; they hold calls for its tasks for `returnMs` or until its next start. */
  leave(returnMs: number): Promise<void>
  listNodes(): Promise<readonly NodeRow[]>
  /**
   * The node as soon as it listens; waits while it is being restarted. Null: it cannot be reached. `tried`: an epoch in
   * which it did not answer.
   */
  awaitNode(id: string, tried?: number): Promise<ReachableNode | null>
}
