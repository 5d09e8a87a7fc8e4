import { isAbsolute, join, posix } from 'node:path'

/** The work tree as it was at the start of a task. */
export interface TreeAtStart {
  readonly tree: string
  /** Whether the tree had this file; null if it exists now and its history is unknown. */
  had(path: string): boolean | null
  /** Writes a copy into an empty folder. Returns why there is none; null: it was written. */
  copyTo(folder: string): Promise<string | null>
}

interface ReviewerCommand {
  readonly name: string
  readonly args: readonly string[]
}

export type ReviewerCommandFound =
  | {
      readonly ok: true
      readonly command: ReviewerCommand
      /** The copy with the files that the command names; null when it names none. */
      readonly copy: string | null
    }
  | { readonly ok: false; readonly detail: string }

/**
 * The command of a reviewer with every work tree file that it names replaced by the file's copy, made in `folder`, from
 * the start of the task. The implementer may have changed the file or its imports since, and would then decide what the
 * reviewer does. (REQ-SPAWN-32)
 */
export async function resolveCommandAtStart(
  { name, args }: ReviewerCommand,
  start: TreeAtStart,
  folder: string,
): Promise<ReviewerCommandFound> {
  const words = [name.includes('/') ? name : null, ...args].map((word) =>
    word === null ? null : findFileInTree(word, start),
  )
  const unknown = words.find((one) => one?.isKnown === false)
  if (unknown !== undefined && unknown !== null) return { ok: false, detail: formatNotKnown(unknown.path) }
  if (words.every((one) => one === null)) return { ok: true, command: { name, args }, copy: null }
  const problem = await start.copyTo(folder)
  if (problem !== null) return { ok: false, detail: problem }
  const [program = null, ...others] = words.map((one) => (one === null ? null : one.option + join(folder, one.path)))
  const command = { name: program ?? name, args: args.map((arg, index) => others[index] ?? arg) }
  return { ok: true, command, copy: folder }
}

interface NamedFile {
  readonly path: string
  /** The text before the path: `--config=`, or nothing. */
  readonly option: string
  readonly isKnown: boolean
}

/** The work tree file that a word names; null when it names no file that existed. */
function findFileInTree(word: string, start: TreeAtStart): NamedFile | null {
  const [, option = '', named = ''] = /^(-{1,2}[\w-]+=)?(.*)$/s.exec(word) ?? []
  const path = toRelativePath(start.tree, named)
  if (path === null) return null
  const had = start.had(path)
  return had === false ? null : { path, option, isKnown: had !== null }
}

function toRelativePath(tree: string, named: string): string | null {
  if (named === '' || named.includes('\0')) return null
  if (isAbsolute(named)) return named.startsWith(`${tree}/`) ? posix.normalize(named.slice(tree.length + 1)) : null
  const path = posix.normalize(named)
  return path === '.' || path === '..' || path.startsWith('../') ? null : path
}

function formatNotKnown(path: string): string {
  return `it names ${JSON.stringify(path)} in the work tree, and the tree as it was at the start of the task was not recorded. Set enforcement.reconcile to block or warn, or name a program outside the work tree by its absolute path`
}
