import type { ObservedCommand } from '../../core/contract/contract.js'
import type { WorkTree } from '../../tree/work-tree.js'

/** A tree whose files can be read. */
export type ReadTree = Pick<WorkTree, 'list' | 'hash' | 'read'>

/** Commands of a contract, and the question about them: how tests are run, or what one other command does. */
export interface Scope {
  readonly of: 'tests' | 'command'
  readonly commands: readonly Pick<ObservedCommand, 'run' | 'env'>[]
}
