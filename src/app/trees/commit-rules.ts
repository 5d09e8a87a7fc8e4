import type { Contract } from '../../core/contract/contract.js'
import { AGENT_CLI_FILES } from '../../core/paths/agent-cli-files.js'
import { type CommitRules, makeFolderMatcher } from '../../core/paths/commit-scope.js'
import type { TaskState } from '../../core/task/state.js'
import { NOT_THE_PROJECT } from '../../tree/work-tree.js'
import type { App } from '../app.js'
import { getReserved } from '../tool-calls/contract-paths.js'
import { makeIgnored, makeLeftoverMatcher } from '../tool-calls/ignored-paths.js'
import { readEarlierChanges } from './earlier-changes.js'
import { makeForeignMatcher } from './foreign-changes.js'
import { WORK_BEGAN } from './trees.js'

// At any depth. Agents write there only if the contract names the folder.
const PACKAGES = /^(?:.*?\/)?(?:node_modules|\.venv|venv)(?=\/|$)/
const ENVIRONMENT = /^(.+)\/pyvenv\.cfg$/

/** The changes that a task commits, by the rules of the start of work: nothing an agent writes later widens them. */
export async function commitRulesOf(
  app: Pick<
    App,
    'trees' | 'ledger' | 'views' | 'contractFile' | 'contractBases' | 'contractParts' | 'stateDir' | 'workspace'
  >,
  contract: Contract,
  state: TaskState,
): Promise<CommitRules> {
  const { trees } = app
  const { workspace: tree, id } = state
  // If trees are not compared, git reads the .gitignore files itself.
  const rules = trees.isKnown(tree) ? trees.getIgnoreRules(tree) : [{ base: '', text: await trees.excludesOf(tree) }]
  // Before the first claim, the current tree is the start of work.
  const began =
    state.visit === 0 ? trees.findExpectedEntries(tree) : (trees.readMark(tree, id, WORK_BEGAN)?.entries ?? null)
  const isIgnored = makeIgnored(rules)
  const isLeft = makeLeftoverMatcher((folder) => trees.isSource(tree, folder))
  const isBuilt = makeOutsideProjectMatcher(began)
  const earlier = await readEarlierChanges(app, state)
  const isWritten = (path: string): boolean =>
    began !== null && trees.findExpectedEntry(tree, path) !== (began[path] ?? null)
  const isForeign = began === null ? () => false : await makeForeignMatcher(app, { contract, state }, isWritten)
  return {
    reserved: [...getReserved(app, contract, tree).kept, ...AGENT_CLI_FILES.keys()],
    isIgnored: (path) => isIgnored(path, false),
    packagesAt: (path) => PACKAGES.exec(path)?.[0] ?? null,
    isLeftover: (path) => isBuilt(path) || isLeft(path, false),
    isWritten,
    isEarlier: (path) => earlier.untouched.has(path),
    hadChanges: (path) => earlier.all.has(path),
    isForeign,
  }
}

// A virtual environment may have any name, but a later one is just an agent's folder with a file in it. If the agent's
// writes are unknown, build folders count as part of the project.
function makeOutsideProjectMatcher(began: Readonly<Record<string, string>> | null): (path: string) => boolean {
  const environments = Object.keys(began ?? {}).flatMap((path) => ENVIRONMENT.exec(path)?.[1] ?? [])
  const isInEnvironment = makeFolderMatcher(environments)
  const { anywhere, atRoot } = NOT_THE_PROJECT
  return (path) => {
    const [first = '', ...rest] = path.split('/').slice(0, -1)
    return (
      [first, ...rest].some((name) => anywhere.has(name)) ||
      (began !== null && (atRoot.has(first) || isInEnvironment(path)))
    )
  }
}
