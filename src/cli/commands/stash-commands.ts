import type { Stash } from 'phaselock/sdk'
import { plainLine } from '../../core/plain-text.js'
import { formatCount, formatThousands } from '../../core/text.js'
import { type CliCommand, serverCommand } from '../cli-command.js'
import { compact, formatTime } from '../client/answer-values.js'
import type { Client } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { formatTable } from '../terminal/table.js'
import { mustConfirm, print, printJson, show, tell } from '../terminal/terminal.js'
import { findTask, makeSteeringClient, openSession } from '../workflow/run-session.js'
import { bringRunBack, dropRun, isRunFree, putRunAside } from '../workflow/stash-run.js'

/** `phaselock stash …` */
export function addStashCommands(program: CliCommand): void {
  const stash = program
    .command('stash')
    .description('save a task with its changes, and restore it')
    .examples(['phaselock stash save --name "the parser"', 'the active run'], ['phaselock stash pop', 'the newest'])
  addSave(stash)
  addList(stash)
  addPop(stash)
  addDrop(stash)
}

interface SaveOptions extends ClientOptions {
  readonly name?: string
  readonly reason: string
}

function addSave(stash: CliCommand): void {
  serverCommand(stash, 'save', 'keep what a task changed, put the work tree back and park the task')
    .argument('[task]', 'default: the active run')
    .option('--name <name>', 'name to find it by')
    .option('--reason <text>', 'why; kept in the ledger', 'put aside')
    .examples('phaselock stash save --reason "something urgent"')
    .action(async (task: string | undefined, options: SaveOptions) => {
      const session = openSession(options)
      const id = task ?? (await findTask(session))
      const client = await makeSteeringClient(session)
      const saved = await client.stashTask(id, compact({ name: options.name, reason: options.reason }))
      if (session.stateDir !== null && session.run?.taskId === id) putRunAside(session.stateDir, saved.id)
      if (options.json === true) return printJson(saved)
      const what = `${plainLine(saved.task_id)} as ${plainLine(saved.id)}: ${formatCount(saved.path_count, 'path')}`
      print(`Stashed ${what}. The work tree is put back.`)
      for (const warning of saved.warnings ?? []) tell(`Warning: ${plainLine(warning)}`)
      print(`Bring it back: phaselock stash pop ${plainLine(saved.id)}`)
    })
}

function addList(stash: CliCommand): void {
  serverCommand(stash, 'list', 'list stashes, newest first')
    .alias('ls')
    .examples(['phaselock stash list --json', 'with the paths'])
    .action(async (options: ClientOptions) => {
      const found = await (await makeSteeringClient(openSession(options))).stashes()
      show(options, found, found.stashes.length === 0 ? 'There are no stashes.' : formatStashTable(found.stashes))
    })
}

function formatStashTable(stashes: readonly Stash[]): string {
  return formatTable(stashes, [
    { title: 'STASH', text: (stash) => stash.id },
    { title: 'SAVED', text: (stash) => formatTime(stash.saved_at).slice(0, 16) },
    { title: 'TASK', text: (stash) => stash.task_id, isFlexible: true },
    { title: 'PHASE', text: (stash) => stash.phase, isFlexible: true },
    { title: 'PATHS', text: (stash) => formatThousands(stash.path_count) },
    { title: 'STATUS', text: (stash) => stash.status },
    { title: 'NAME', text: (stash) => stash.name || stash.reason, isFlexible: true },
  ])
}

function addPop(stash: CliCommand): void {
  serverCommand(stash, 'pop', 'restore a stash to its work tree and resume the task')
    .argument('[id]', 'default: the newest')
    .option('--reason <text>', 'why; kept in the ledger', 'brought back')
    .examples('phaselock stash pop st-0123456789ab')
    .action(async (id: string | undefined, options: ClientOptions & { readonly reason: string }) => {
      const session = openSession(options)
      const client = await makeSteeringClient(session)
      const chosen = id ?? (await findNewest(client))
      const { stateDir } = session
      if (stateDir !== null && !isRunFree(stateDir, chosen))
        throw new Stop(
          EXIT.refused,
          `Run ${plainLine(session.run?.taskId)} is active. Finish it (phaselock done, phaselock abort) or stash it first.`,
        )
      const task = await client.popStash(chosen, { reason: options.reason })
      if (stateDir !== null) bringRunBack(stateDir, chosen)
      const where = `${plainLine(task.id)} is back, ${plainLine(task.status)} in ${plainLine(task.phase)}`
      show(options, task, `${where}: ${formatThousands(task.restored_count)} paths restored.`)
    })
}

async function findNewest(client: Client): Promise<string> {
  const [stash] = (await client.stashes()).stashes
  if (stash === undefined) throw new Stop(EXIT.refused, 'There are no stashes.')
  return stash.id
}

function addDrop(stash: CliCommand): void {
  serverCommand(stash, 'drop <id>', 'delete a stash permanently')
    .option('--reason <text>', 'why; kept in the ledger', 'given up')
    .option('--yes', 'do not ask for confirmation')
    .examples('phaselock stash drop st-0123456789ab --yes')
    .action(async (id: string, options: ClientOptions & { readonly reason: string; readonly yes?: boolean }) => {
      const session = openSession(options)
      const client = await makeSteeringClient(session)
      if (options.yes !== true) await askToDrop(client, id)
      const dropped = await client.dropStash(id, { reason: options.reason })
      if (session.stateDir !== null) dropRun(session.stateDir, id)
      const task = `Its task ${plainLine(dropped.task_id)} is ${plainLine(dropped.task_status)}`
      show(options, dropped, `Dropped ${plainLine(dropped.id)}. ${task}.`)
    })
}

async function askToDrop(client: Client, id: string): Promise<void> {
  const found = (await client.stashes()).stashes.find((one) => one.id === id)
  if (found === undefined) return
  const what = `${plainLine(id)} of task ${plainLine(found.task_id)} (${formatCount(found.path_count, 'path')})`
  await mustConfirm(`Drop ${what} for good?`, {
    unasked: 'A dropped stash cannot be restored: add --yes.',
    no: 'Nothing was dropped.',
  })
}
