import { join } from 'node:path'
import { makeDirectory, readFileIfPresent, writeFileAtomically } from '../../base/atomic-file.js'
import type { TaskState } from '../../core/task/state.js'
import type { Difference, TreeIndex } from '../../tree/tree-contents.js'
import { formatTreeName } from './tree-journal.js'

/** A change that no call explained, with the entries of the path before and after it; null: no entry. */
export interface OpenChange extends Difference {
  readonly was: string | null
  readonly now: string | null
}

interface ComparedTree {
  readonly index: TreeIndex
  readonly differences: readonly Difference[]
}

type Tasks = ReadonlyMap<string, readonly OpenChange[]>

/**
 * Which tasks began in a work tree, and which changes stay unexplained for each of them although the tree was recorded
 * again for a later task. Without it an agent could release its task, claim another one in the same tree, come back, and
 * find its changes accepted.
 */
export class TreeTasks {
  constructor(private readonly dir: string) {}

  list(tree: string): readonly string[] {
    return [...this.#read(tree).keys()]
  }

  /** Work on the task begins in this tree. */
  note(tree: string, taskId: string): void {
    const tasks = this.#read(tree)
    if (!tasks.has(taskId)) this.#write(tree, new Map([...tasks, [taskId, []]]))
  }

  /** The tree is recorded again: these tasks are unfinished, others are over. */
  keepOpen(tree: string, unfinished: readonly string[], before: TreeIndex, { index, differences }: ComparedTree): void {
    const tasks = this.#read(tree)
    const changes = differences.map((found) => ({
      ...{ ...found, was: readEntry(before, found.path), now: readEntry(index, found.path) },
    }))
    const kept = unfinished.map((id) => {
      const known = tasks.get(id) ?? []
      const paths = new Map(known.map((change) => [change.path, change]))
      // What was open before keeps its first content, which a revert restores.
      const added = changes.map((change) => ({ ...change, ...pickFirst(paths.get(change.path)) }))
      const isAdded = new Set(added.map(({ path }) => path))
      const all = [...known.filter(({ path }) => !isAdded.has(path)), ...added]
      // All that was not undone stays, however much it is: what was left out would count as explained.
      return [id, all.filter(({ path, was }) => readEntry(index, path) !== was)] as const
    })
    if (tasks.size > 0 || kept.length > 0) this.#write(tree, new Map(kept))
  }

  /** Forgets the tasks of a tree that are over. */
  retain(tree: string, unfinished: readonly string[]): void {
    const tasks = this.#read(tree)
    const kept = unfinished.flatMap((id) => (tasks.has(id) ? [[id, tasks.get(id) ?? []] as const] : []))
    if (kept.length < tasks.size) this.#write(tree, new Map(kept))
  }

  /** The changes that stay unexplained for the task, whether they are still there or not. */
  findOpen(tree: string, taskId: string): readonly OpenChange[] {
    return this.#read(tree).get(taskId) ?? []
  }

  /** What differs in a tree for this task: with what stays unexplained and is still there, without what was undone. */
  listUnexplained(
    { id, workspace }: Pick<TaskState, 'id' | 'workspace'>,
    { index, differences }: ComparedTree,
  ): readonly Difference[] {
    const open = this.findOpen(workspace, id)
    if (open.length === 0) return differences
    const undone = new Set(open.filter(({ path, was }) => readEntry(index, path) === was).map(({ path }) => path))
    const left = differences.filter(({ path }) => !undone.has(path))
    const isKnown = new Set(left.map(({ path }) => path))
    const still = open.filter(({ path, now }) => !isKnown.has(path) && readEntry(index, path) === now)
    return [...left, ...still.map(({ path, kind }) => ({ path, kind }))]
  }

  /** A person accepted or reverted these paths. */
  settle(tree: string, taskId: string, paths: readonly string[]): void {
    const tasks = this.#read(tree)
    const open = tasks.get(taskId) ?? []
    const isSettled = new Set(paths)
    const left = open.filter(({ path }) => !isSettled.has(path))
    if (left.length < open.length) this.#write(tree, new Map([...tasks, [taskId, left]]))
  }

  #read(tree: string): Tasks {
    const text = readFileIfPresent(this.#file(tree))
    return new Map(text === null ? [] : (JSON.parse(text.toString('utf8')) as [string, OpenChange[]][]))
  }

  #write(tree: string, tasks: Tasks): void {
    makeDirectory(this.dir)
    writeFileAtomically(this.#file(tree), JSON.stringify([...tasks]))
  }

  #file(tree: string): string {
    return join(this.dir, `${formatTreeName(tree)}.tasks`)
  }
}

function readEntry({ entries, packages }: TreeIndex, path: string): string | null {
  return entries[path] ?? packages[path] ?? null
}

function pickFirst(known: OpenChange | undefined): Partial<OpenChange> {
  return known === undefined ? {} : { kind: known.kind, was: known.was }
}
