import type { Job } from '../../confinement/confinement.js'
import type { CommandRun, OutputLimits } from '../../confinement/run-command.js'
import type { HookRecord } from '../../core/contract/git-rules.js'
import type { GitAccess } from '../../core/task/fact-parts.js'
import type { ToolOutcome } from '../tool-place.js'

/** A tool that runs a command: its command line, and how the output becomes a result. */
export interface CommandCall {
  readonly job: Pick<Job, 'argv' | 'cwd' | 'network' | 'timeoutMs' | 'writes' | 'git' | 'env'>
  /** How much output is kept, if it is more than an agent is shown. */
  readonly kept?: OutputLimits
  readonly git: GitAccess
  /** The result of the repository's hooks, for a commit. */
  readonly hooks?: HookRecord
  readonly outcome: (run: CommandRun) => ToolOutcome
}
