import type { MergedTask } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { type CliCommand, serverCommand } from '../cli-command.js'
import { compact } from '../client/answer-values.js'
import { openClient } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { mustConfirm, show } from '../terminal/terminal.js'

const COMMIT_CHARS = 12

interface EndOptions extends ClientOptions {
  readonly reason: string
  readonly force?: boolean
  readonly commit?: boolean
  readonly into?: string
  readonly yes?: boolean
}

/** `phaselock task merge`, `handover` and `discard`: end a task that has a separate work tree. */
export function addMergeCommands(task: CliCommand): void {
  addMerge(task)
  addHandover(task)
  addDiscard(task)
}

function addMerge(task: CliCommand): void {
  serverCommand(task, 'merge <id>', "merge the work of a task into the repository's branch and remove its work tree")
    .option('--reason <text>', 'why; kept in the ledger', 'merged')
    .option('--into <branch>', 'target branch (default: the branch that the task started from)')
    .option('--commit', 'include uncommitted changes')
    .option('--force', 'merge even if the task is not completed')
    .examples('phaselock task merge task-1')
    .asks(async (client, options: EndOptions, id: string) => {
      const { reason, into, commit, force } = options
      const merged = await client.mergeTask(id, compact({ reason, into, commit, force }))
      show(options, merged, formatMerged(merged))
    })
}

function formatMerged({ id, status, merge, worktree }: MergedTask): string {
  const how = merge.already ? 'held it already' : merge.fast_forward ? 'went forward' : 'merged it'
  const kept = worktree?.status === 'open' ? `\n${plainLine(id)} is ${plainLine(status)} and keeps its work tree.` : ''
  return `${plainLine(merge.into)} ${how}, and is at ${plainLine(merge.result).slice(0, COMMIT_CHARS)}.${kept}`
}

function addHandover(task: CliCommand): void {
  serverCommand(task, 'handover <id>', 'keep the work of a task as a branch of the repository and remove its work tree')
    .option('--reason <text>', 'why; kept in the ledger', 'handed over')
    .option('--commit', 'include uncommitted changes')
    .examples('phaselock task handover task-1')
    .asks(async (client, options: EndOptions, id: string) => {
      const left = await client.handOver(id, compact({ reason: options.reason, commit: options.commit }))
      const at = plainLine(left.worktree?.commit).slice(0, COMMIT_CHARS)
      show(options, left, `The work is on the branch ${plainLine(left.worktree?.branch)}, at ${at}.`)
    })
}

function addDiscard(task: CliCommand): void {
  serverCommand(task, 'discard <id>', 'delete the work of a cancelled task and its work tree')
    .option('--reason <text>', 'why; kept in the ledger', 'given up')
    .option('--force', 'delete even if the task is completed')
    .option('--yes', 'do not ask for confirmation')
    .examples('phaselock task discard task-1 --yes')
    .action(async (id: string, options: EndOptions) => {
      if (options.yes !== true)
        await mustConfirm(`Discard the work of ${plainLine(id)} for good?`, {
          unasked: 'Discarded work cannot be restored: add --yes.',
          no: 'Nothing was discarded.',
        })
      const client = await openClient(options)
      const done = await client.discardTask(id, compact({ reason: options.reason, force: options.force }))
      show(options, done, `The work of ${plainLine(done.id)} is gone.`)
    })
}
