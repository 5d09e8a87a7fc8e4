import type { Command } from 'commander'
import type { JsonObject } from '../../core/json.js'
import { given, objectOf, textOf } from '../client/answer-values.js'
import { Client, segment } from '../client/client.js'
import { type ClientOptions, clientOptions } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { examples } from '../options.js'
import { plainLine } from '../terminal/plain-text.js'
import { canAsk, confirm, print, printJson } from '../terminal/terminal.js'

const COMMIT_CHARS = 12

interface EndOptions extends ClientOptions {
  readonly reason: string
  readonly force?: boolean
  readonly commit?: boolean
  readonly into?: string
  readonly yes?: boolean
}

/** `phaselock task merge`, `handover` and `discard`: what becomes of the work of a task with a work tree of its own. */
export function addMergeCommands(task: Command): void {
  addMerge(task)
  addHandover(task)
  addDiscard(task)
}

function addMerge(task: Command): void {
  const text = "merge the work of a task into the repository's branch and remove its work tree"
  clientOptions(task.command('merge').argument('<id>').description(text))
    .option('--reason <text>', 'why; kept in the ledger', 'merged')
    .option('--into <branch>', 'target branch (default: the branch that the task started from)')
    .option('--commit', 'include uncommitted changes')
    .option('--force', 'merge even if the task is not completed')
    .addHelpText('after', examples([['phaselock task merge task-1', '']]))
    .action(async (id: string, options: EndOptions) => {
      const { reason, into, commit, force } = options
      const body = given({ reason, into, commit, force })
      const merged = await new Client(options).post(`/tasks/${segment(id)}/merge`, body)
      if (options.json === true) return printJson(merged)
      const { merge, worktree } = { merge: objectOf(merged.merge), worktree: objectOf(merged.worktree) }
      const how =
        merge.already === true ? 'held it already' : merge.fast_forward === true ? 'went forward' : 'merged it'
      print(`${line(merge.into)} ${how}, and is at ${line(merge.result).slice(0, COMMIT_CHARS)}.`)
      if (worktree.status === 'open') print(`${line(merged.id)} is ${line(merged.status)} and keeps its work tree.`)
    })
}

function addHandover(task: Command): void {
  const text = 'keep the work of a task as a branch of the repository and remove its work tree'
  clientOptions(task.command('handover').argument('<id>').description(text))
    .option('--reason <text>', 'why; kept in the ledger', 'handed over')
    .option('--commit', 'include uncommitted changes')
    .addHelpText('after', examples([['phaselock task handover task-1', '']]))
    .action(async (id: string, options: EndOptions) => {
      const body = given({ reason: options.reason, commit: options.commit })
      const left = await new Client(options).post(`/tasks/${segment(id)}/handover`, body)
      if (options.json === true) return printJson(left)
      const { branch, commit } = objectOf(left.worktree)
      print(`The work is on the branch ${line(branch)}, at ${line(commit).slice(0, COMMIT_CHARS)}.`)
    })
}

function addDiscard(task: Command): void {
  const text = 'delete the work of a cancelled task and its work tree'
  clientOptions(task.command('discard').argument('<id>').description(text))
    .option('--reason <text>', 'why; kept in the ledger', 'given up')
    .option('--force', 'delete even if the task is completed')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', examples([['phaselock task discard task-1 --yes', '']]))
    .action(async (id: string, options: EndOptions) => {
      if (options.yes !== true) await askToDiscard(id)
      const body = given({ reason: options.reason, force: options.force })
      const done = await new Client(options).post(`/tasks/${segment(id)}/discard`, body)
      if (options.json === true) return printJson(done)
      print(`The work of ${line(done.id)} is gone.`)
    })
}

async function askToDiscard(id: string): Promise<void> {
  if (!canAsk()) throw new Stop(EXIT.usage, 'Discarded work cannot be restored: add --yes.')
  const isSure = await confirm(`Discard the work of ${plainLine(id)} for good?`)
  if (!isSure) throw new Stop(EXIT.refused, 'Nothing was discarded.')
}

function line(value: JsonObject[string] | undefined): string {
  return plainLine(textOf(value))
}
