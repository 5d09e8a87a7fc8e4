import type { Command } from 'commander'
import type { JsonObject } from '../../core/json.js'
import { compact, toObject, toText } from '../client/answer-values.js'
import { Client, encodeSegment } from '../client/client.js'
import { addClientOptions, type ClientOptions } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { formatExamples } from '../options.js'
import { toPlainLine } from '../terminal/plain-text.js'
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
  addClientOptions(task.command('merge').argument('<id>').description(text))
    .option('--reason <text>', 'why; kept in the ledger', 'merged')
    .option('--into <branch>', 'target branch (default: the branch that the task started from)')
    .option('--commit', 'include uncommitted changes')
    .option('--force', 'merge even if the task is not completed')
    .addHelpText('after', formatExamples([['phaselock task merge task-1', '']]))
    .action(async (id: string, options: EndOptions) => {
      const { reason, into, commit, force } = options
      const body = compact({ reason, into, commit, force })
      const merged = await new Client(options).post(`/tasks/${encodeSegment(id)}/merge`, body)
      if (options.json === true) return printJson(merged)
      const { merge, worktree } = { merge: toObject(merged.merge), worktree: toObject(merged.worktree) }
      const how =
        merge.already === true ? 'held it already' : merge.fast_forward === true ? 'went forward' : 'merged it'
      print(`${toLine(merge.into)} ${how}, and is at ${toLine(merge.result).slice(0, COMMIT_CHARS)}.`)
      if (worktree.status === 'open') print(`${toLine(merged.id)} is ${toLine(merged.status)} and keeps its work tree.`)
    })
}

function addHandover(task: Command): void {
  const text = 'keep the work of a task as a branch of the repository and remove its work tree'
  addClientOptions(task.command('handover').argument('<id>').description(text))
    .option('--reason <text>', 'why; kept in the ledger', 'handed over')
    .option('--commit', 'include uncommitted changes')
    .addHelpText('after', formatExamples([['phaselock task handover task-1', '']]))
    .action(async (id: string, options: EndOptions) => {
      const body = compact({ reason: options.reason, commit: options.commit })
      const left = await new Client(options).post(`/tasks/${encodeSegment(id)}/handover`, body)
      if (options.json === true) return printJson(left)
      const { branch, commit } = toObject(left.worktree)
      print(`The work is on the branch ${toLine(branch)}, at ${toLine(commit).slice(0, COMMIT_CHARS)}.`)
    })
}

function addDiscard(task: Command): void {
  const text = 'delete the work of a cancelled task and its work tree'
  addClientOptions(task.command('discard').argument('<id>').description(text))
    .option('--reason <text>', 'why; kept in the ledger', 'given up')
    .option('--force', 'delete even if the task is completed')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', formatExamples([['phaselock task discard task-1 --yes', '']]))
    .action(async (id: string, options: EndOptions) => {
      if (options.yes !== true) await askToDiscard(id)
      const body = compact({ reason: options.reason, force: options.force })
      const done = await new Client(options).post(`/tasks/${encodeSegment(id)}/discard`, body)
      if (options.json === true) return printJson(done)
      print(`The work of ${toLine(done.id)} is gone.`)
    })
}

async function askToDiscard(id: string): Promise<void> {
  if (!canAsk()) throw new Stop(EXIT.usage, 'Discarded work cannot be restored: add --yes.')
  const isSure = await confirm(`Discard the work of ${toPlainLine(id)} for good?`)
  if (!isSure) throw new Stop(EXIT.refused, 'Nothing was discarded.')
}

function toLine(value: JsonObject[string] | undefined): string {
  return toPlainLine(toText(value))
}
