import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Contract } from '../../core/contract/contract.js'
import { requiresCommits } from '../../core/paths/commit-scope.js'
import type { Command } from '../../core/task/command.js'
import type { TaskState } from '../../core/task/state.js'
import { BUILT_IN_TOOLS } from '../../core/tool-calls/built-in-tools.js'
import type { Resources } from '../resources.js'
import { makeIgnored } from '../tool-calls/ignored-paths.js'

const MODULES_BYTES_MAX = 256 * 1024
const GIT = '.git'

/**
 * The inner repositories of a work tree, mostly submodules, that a call changes or changed. `git_commit` only commits
 * to the outer one, so under a contract that demands commits such a change could never be completed. Paths that git
 * ignored when work began are exempt. Agents cannot create or remove a `.git`, and an edit of `.gitmodules` is stopped
 * at the gate.
 */
export function findInnerRepositories(
  app: Pick<Resources, 'trees'>,
  { contract, state }: { readonly contract: Contract; readonly state: TaskState },
  command: Command,
): readonly string[] {
  const paths = listChangedPaths(command)
  const { workspace: tree } = state
  if (paths.length === 0 || !requiresCommits(contract) || !isThere(tree, GIT)) return []
  const isIgnored = makeIgnored(app.trees.getIgnoreRules(tree))
  const submodules = readSubmodules(tree)
  const folders = new Set(paths.flatMap(listFolders))
  return [...folders].filter(
    (folder) => (submodules.has(folder) || isThere(tree, join(folder, GIT))) && !isIgnored(folder, true),
  )
}

function listChangedPaths(command: Command): readonly string[] {
  if (command.type === 'use_tool' && BUILT_IN_TOOLS.get(command.tool)?.paths === 'write')
    return command.call.paths.flatMap(({ path, problem }) => (problem === null ? [path] : []))
  return command.type === 'finish_tool' ? command.changed.map(({ path }) => path) : []
}

function listFolders(path: string): readonly string[] {
  const names = path.split('/').slice(0, -1)
  return names.map((_, at) => names.slice(0, at + 1).join('/'))
}

// Includes submodules that are not checked out, where git sees no files.
function readSubmodules(tree: string): ReadonlySet<string> {
  const file = join(tree, '.gitmodules')
  const stats = lstatSync(file, { throwIfNoEntry: false })
  if (stats?.isFile() !== true || stats.size > MODULES_BYTES_MAX) return new Set()
  const found = readFileSync(file, 'utf8').matchAll(/^\s*path\s*=\s*"?([^"\n]+?)"?\s*$/gm)
  return new Set([...found].map(([, path = '']) => path.replace(/\/$/, '')))
}

function isThere(tree: string, path: string): boolean {
  try {
    return lstatSync(join(tree, path), { throwIfNoEntry: false }) !== undefined
  } catch {
    // A file is in place of a folder.
    return false
  }
}
