import { AGENT_CLIS, type AgentCli } from '../../core/contract/agent-programs.js'
import type { Contract } from '../../core/contract/contract.js'
import { type CommitAuthor, UNNAMED_AUTHOR } from '../../core/contract/git-rules.js'
import type { TaskState } from '../../core/task/state.js'
import type { Committing } from '../../tools/commands/git-commit.js'
import type { RepositoryHooks } from '../../tools/commands/run-hooks.js'
import type { App } from '../app.js'
import { findHooks } from './git-hooks.js'
import type { GitSettings } from './git-settings.js'

/** How commits of the task are made: by whom, and with which hooks. */
export async function readCommitting(
  app: Pick<App, 'gitSettings' | 'ledger'>,
  { contract, state }: { readonly contract: Contract; readonly state: TaskState },
): Promise<Committing> {
  const { settings, hooks } = await readCommitSettings(app, state)
  const author = contract.git?.author ?? readAuthor(settings)
  return {
    author,
    coAuthor: findCoAuthor(app, state.held?.agentId ?? UNNAMED_AUTHOR.name),
    hooks,
    runsHooks: contract.git?.hooks === 'run',
  }
}

/** The agent under the name of its agent CLI where that is known; its address has the id under which the ledger knows it. */
function findCoAuthor({ ledger: { registry } }: Pick<App, 'ledger'>, agentId: string): CommitAuthor {
  const bound = registry.access.bindings.get(agentId)?.agentCli
  const known = bound ?? registry.spawns.get(agentId)?.program.harness ?? ''
  const name = Object.hasOwn(AGENT_CLIS, known) ? AGENT_CLIS[known as AgentCli].title : agentId
  return { name, email: `${agentId}@localhost` }
}

/** The settings and hooks that count for a task: those of the repository that its work tree was made from. */
export async function readCommitSettings(
  app: Pick<App, 'gitSettings'>,
  { workspace, worktree }: Pick<TaskState, 'workspace' | 'worktree'>,
): Promise<{ readonly settings: GitSettings; readonly hooks: RepositoryHooks }> {
  const repository = worktree?.repository ?? workspace
  const settings = await app.gitSettings(repository)
  return { settings, hooks: findHooks(workspace, repository, settings) }
}

/** Whom git names as the author of commits. */
export function readAuthor(settings: GitSettings): CommitAuthor {
  return {
    name: settings.get('user.name') || UNNAMED_AUTHOR.name,
    email: settings.get('user.email') || UNNAMED_AUTHOR.email,
  }
}
