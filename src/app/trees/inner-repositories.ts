import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { requiresCommits } from '../../core/paths/commit-scope.js'
import type { Command } from '../../core/task/command.js'
import { BUILT_IN_TOOLS } from '../../core/tool-calls/built-in-tools.js'
import type { App } from '../app.js'
import type { AgentCall } from '../identity/agent-call.js'
import { makeIgnored } from '../tool-calls/ignored-paths.js'

const MODULES_BYTES_MAX = 256 * 1024
const GIT = '.git'

/**
 * The repositories inside a work tree, submodules above all, that a call would change or changed. `git_commit` commits to the
 * outer one only: under a contract that demands commits such a change could never be completed. What git ignored when work
 * began is not demanded. Agents cannot make or remove a `.git`, and one that edits `.gitmodules`, where a phase opens it, stops at the gate.
 */
export function findInnerRepositories(
  app: Pick<App, 'trees'>,
  { contract, state }: Pick<AgentCall, 'contract' | 'state'>,
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

// Also those that are not checked out: there git sees no file at all.
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
    // A file stands where a folder would.
    return false
  }
}
