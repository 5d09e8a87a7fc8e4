import { dirname, isAbsolute, join, relative } from 'node:path'
import type { Contract } from '../core/contract.js'
import type { App } from './app.js'

/** What of a work tree belongs to the contract, relative to the tree. */
export interface Reserved {
  /** Agents neither read nor write these. */
  readonly hidden: readonly string[]
  /** Agents do not write these; the hidden ones are among them. */
  readonly kept: readonly string[]
}

const CONTRACT_NAMES = ['agent_workflow.yaml', 'agent_workflow.yml', 'agent_workflow.json']

const known = new WeakMap<Contract, Map<string, Reserved>>()

/** The contract's own file and its schemas, as far as they lie in the work tree, and the state directory. */
export function reservedIn(app: App, contract: Contract, tree: string): Reserved {
  const trees = known.get(contract) ?? new Map<string, Reserved>()
  known.set(contract, trees)
  const before = trees.get(tree)
  if (before !== undefined) return before
  const found = findReserved(app, contract, tree)
  trees.set(tree, found)
  return found
}

function findReserved(app: App, contract: Contract, tree: string): Reserved {
  const file = app.contractFile
  const inside = (path: string): readonly string[] => {
    const way = relative(tree, path)
    return way === '' || way === '..' || way.startsWith('../') || isAbsolute(way) ? [] : [way]
  }
  const hidden = [...CONTRACT_NAMES, ...(file === null ? [] : inside(file)), ...inside(app.stateDir)]
  // Also those that are not there yet: beside the contract they would take the place of the built-in ones.
  const beside = file === null ? tree : dirname(file)
  const schemas = [...contract.schemas.keys()].flatMap((name) => (isAbsolute(name) ? [] : inside(join(beside, name))))
  return { hidden: [...new Set(hidden)], kept: [...new Set([...hidden, ...schemas])] }
}

export function isHiddenBy(reserved: Reserved): (path: string) => boolean {
  return (path) => reserved.hidden.some((one) => path === one || path.startsWith(`${one}/`))
}
