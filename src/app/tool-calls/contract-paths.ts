import { statSync } from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { isAtOrBelow } from '../../base/is-at-or-below.js'
import type { Contract } from '../../core/contract/contract.js'
import type { Context } from '../../core/task/command.js'
import type { TaskState } from '../../core/task/state.js'
import { contextOf, type Resources } from '../resources.js'

/** Paths of a work tree that belong to the contract, relative to the tree. */
interface ReservedPaths {
  /** Agents can neither read nor write these. */
  readonly hidden: readonly string[]
  /** Agents cannot write these, which include the hidden ones. */
  readonly kept: readonly string[]
}

/** The files of a workflow made of documents, in its folder. Agents get the documents phase by phase. */
const WORKFLOW_NAMES = ['metadata.json', 'metadata.yaml', 'metadata.yml', 'phases']

const GUIDES_FOLDER = 'guides'
const WORKFLOW_FOLDER = 'agent_workflow'
// Also when the contract lies elsewhere: the next start would find them. (REQ-TRUST-1)
const CONTRACT_NAMES = [
  ...['yaml', 'yml', 'json', 'md', 'markdown'].map((ending) => `${WORKFLOW_FOLDER}.${ending}`),
  ...WORKFLOW_NAMES.map((name) => `${WORKFLOW_FOLDER}/${name}`),
]

/** Paths of the server and its files. */
export type Places = Pick<Resources, 'contractFile' | 'contractBases' | 'contractParts' | 'stateDir' | 'workspace'>

const known = new WeakMap<Contract, Map<string, ReservedPaths>>()

/** The contract's own file or documents, what it extends and its schemas, if they lie in the work tree, and the state directory. */
export function getReserved(app: Places, contract: Contract, tree: string): ReservedPaths {
  const trees = known.get(contract) ?? new Map<string, ReservedPaths>()
  known.set(contract, trees)
  const before = trees.get(tree)
  if (before !== undefined) return before
  const found = findReserved(app, contract, tree)
  trees.set(tree, found)
  return found
}

/** The environment in which a command on a task is decided, with the paths of its contract. */
export function makeTaskContext(
  app: Resources,
  actor: string,
  { contract, state }: { readonly contract: Contract; readonly state: TaskState },
): Context {
  return contextOf(app, actor, getReserved(app, contract, state.workspace).kept)
}

function findReserved(app: Places, contract: Contract, tree: string): ReservedPaths {
  const file = app.contractFile
  // Another work tree may be a copy of the server's own, including copies of the contract's files.
  const inside = (path: string): readonly string[] => [
    ...listPathBelow(tree, path),
    ...listPathBelow(app.workspace, path),
  ]
  const isFolder = file !== null && statSync(file, { throwIfNoEntry: false })?.isDirectory() === true
  const beside = file === null ? tree : isFolder ? file : dirname(file)
  const own = isFolder ? WORKFLOW_NAMES.map((name) => join(file, name)) : file === null ? [] : [file]
  const sources = [...contract.phases.values()].flatMap(({ document }) =>
    document?.number === null ? document.sources.map((source) => join(beside, source.file)) : [],
  )
  const hidden = [...CONTRACT_NAMES, ...[...own, ...app.contractBases, ...sources, app.stateDir].flatMap(inside)]
  // Including missing ones: next to the contract they would replace the built-in ones.
  const schemas = [...contract.schemas.keys()].flatMap((name) => (isAbsolute(name) ? [] : inside(join(beside, name))))
  const guides = [...contract.guides.keys()].map((name) => join(GUIDES_FOLDER, `${name}.md`))
  const parts = [...guides, ...app.contractParts].flatMap((name) => inside(join(beside, name)))
  const folder = isFolder ? inside(file) : []
  return {
    hidden: [...new Set(hidden)],
    kept: [...new Set([...hidden, WORKFLOW_FOLDER, ...schemas, ...parts, ...folder])],
  }
}

function listPathBelow(tree: string, path: string): readonly string[] {
  const way = relative(tree, path)
  return way === '' || way === '..' || way.startsWith('../') || isAbsolute(way) ? [] : [way]
}

export function isHiddenBy(reserved: ReservedPaths): (path: string) => boolean {
  return (path) => reserved.hidden.some((one) => isAtOrBelow(one, path))
}
