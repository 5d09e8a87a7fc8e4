import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { askGit, QUIET_GIT } from '../../confinement/changes/git-listing.js'
import type { Contract } from '../../core/contract/contract.js'
import type { JsonObject } from '../../core/json.js'
import { requiresCommits, usesCommits } from '../../core/paths/commit-scope.js'
import type { TaskState } from '../../core/task/state.js'
import type { App } from '../app.js'
import { type Problem, type Result, refuse } from '../result.js'
import { openSandbox } from '../tool-calls/contract-sandbox.js'
import { readCommitSettings } from '../trees/committing.js'
import { readText } from '../trees/git-excludes.js'
import { isTrue } from '../trees/git-settings.js'

const LINKED = 'linked_repository'

/** Whether the claim was refused because of the task's repository; another task may use another one. */
export function isOfItsRepository({ extra }: Problem): boolean {
  return LINKED in extra
}

/** Refuses a task if agents cannot commit to its repository: the task could never be completed. */
export async function refuseRepository(
  app: App,
  contract: Contract,
  state: TaskState,
): Promise<Result<JsonObject> | null> {
  const { workspace } = state
  const git = lstatSync(join(workspace, '.git'), { throwIfNoEntry: false })
  if (git === undefined || !usesCommits(contract)) return null
  const found = git.isDirectory() ? await findProblem(app, contract, state) : findLinkProblem(contract, state)
  return found === null ? null : refuse('conflict', found.detail, { remedy: found.remedy, [LINKED]: workspace })
}

interface Found {
  readonly detail: string
  readonly remedy: string
}

// git_commit writes only to a git directory inside the work tree.
function findLinkProblem(contract: Contract, { id, workspace }: TaskState): Found | null {
  if (!requiresCommits(contract)) return null
  return {
    detail: `The contract of task ${id} demands commits, and ${workspace} is a linked git worktree or a submodule: its git directory is elsewhere, where git_commit does not write.`,
    remedy:
      'Add the task with its own work tree (`phaselock task add TITLE --worktree`), or start the server in the repository itself.',
  }
}

async function findProblem(app: App, contract: Contract, state: TaskState): Promise<Found | null> {
  const { settings, hooks } = await readCommitSettings(app, state)
  if (isTrue(settings.get('commit.gpgsign')) && contract.git?.sign !== 'skip')
    return {
      detail: `git is set to sign commits (commit.gpgsign) in ${state.workspace}, and git_commit cannot: no command in the sandbox reaches your keys.`,
      remedy:
        'Write `git: {sign: skip}` into the contract: agents then commit without a signature, and you sign when you merge. Or run `git config commit.gpgsign false` in the repository.',
    }
  if (contract.git?.hooks === 'run' && hooks.names.length > 0) {
    const isOpen = (await openSandbox(app, contract)).provider === 'none'
    if (isOpen || hooks.folder === null)
      return {
        detail: `The contract says git.hooks: run, and the hooks ${hooks.names.join(', ')} cannot be run: ${isOpen ? 'there is no sandbox here' : `they are outside the work tree (core.hooksPath or a link leads to ${hooks.place})`}.`,
        remedy: `Put the hooks into the work tree and name their folder with \`git config core.hooksPath\`, or write \`git.hooks: skip\` into the contract.`,
      }
  }
  return state.visit === 0 ? findLfsProblem(app, contract, state.workspace) : null
}

// The sandbox has no Git LFS: a file would be committed whole, where the repository expects a pointer.
async function findLfsProblem(app: App, contract: Contract, tree: string): Promise<Found | null> {
  const known = Object.keys(app.trees.findExpectedEntries(tree) ?? {})
  const files = ['.gitattributes', '.git/info/attributes', ...known.filter((path) => path.endsWith('/.gitattributes'))]
  const texts = await Promise.all(files.map((file) => readText(tree, file)))
  if (!texts.some((text) => /filter=lfs\b/.test(text))) return null
  const signal = new AbortController().signal
  const place = { confinement: await openSandbox(app, contract), tree, hidden: [], signal }
  const run = await askGit(place, ['git', ...QUIET_GIT, 'ls-files', '-z', '--', ':(attr:filter=lfs)'])
  const [first] = run.stdout.split('\0')
  if (run.exitCode === 0 && (first === undefined || first === '')) return null
  return {
    detail: `${tree} keeps files in Git LFS (${first === undefined || first === '' ? '.gitattributes' : first}), which git_commit does not run: it would commit them whole instead of as pointers.`,
    remedy:
      'Use a contract without git_commit and without the checks committed and work_tree_clean; a person then commits. Or take filter=lfs out of .gitattributes.',
  }
}
