import type { Command } from 'commander'
import type { JsonObject } from '../../core/json.js'
import { formatThousands } from '../../core/text.js'
import { compact, formatTime, listOf, toText } from '../client/answer-values.js'
import { type Client, encodeSegment } from '../client/client.js'
import { addClientOptions, type ClientOptions } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { formatExamples } from '../options.js'
import { toNumber } from '../report/analyze-text.js'
import { toPlainLine } from '../terminal/plain-text.js'
import { formatTable } from '../terminal/table.js'
import { canAsk, confirm, print, printJson, tell } from '../terminal/terminal.js'
import { findTask, makeSteeringClient, openSession } from '../workflow/run-session.js'
import { bringRunBack, dropRun, isRunFree, putRunAside } from '../workflow/stash-run.js'

/** `phaselock stash …` */
export function addStashCommands(program: Command): void {
  const stash = program
    .command('stash')
    .description('save a task with its changes, and restore it')
    .addHelpText(
      'after',
      formatExamples([
        ['phaselock stash save --name "the parser"', 'the active run'],
        ['phaselock stash pop', 'the newest'],
      ]),
    )
  addSave(stash)
  addList(stash)
  addPop(stash)
  addDrop(stash)
}

interface SaveOptions extends ClientOptions {
  readonly name?: string
  readonly reason: string
}

function addSave(stash: Command): void {
  addClientOptions(
    stash
      .command('save')
      .argument('[task]', 'default: the active run')
      .description('keep what a task changed, put the work tree back and park the task'),
  )
    .option('--name <name>', 'to find it again')
    .option('--reason <text>', 'why; kept in the ledger', 'put aside')
    .addHelpText('after', formatExamples([['phaselock stash save --reason "something urgent"', '']]))
    .action(async (task: string | undefined, options: SaveOptions) => {
      const session = openSession(options)
      const id = task ?? (await findTask(session))
      const body = compact({ name: options.name, reason: options.reason })
      const saved = await makeSteeringClient(session).post(`/tasks/${encodeSegment(id)}/stash`, body)
      if (session.stateDir !== null && session.run?.taskId === id) putRunAside(session.stateDir, toText(saved.id))
      if (options.json === true) return printJson(saved)
      print(
        `Stashed ${toLine(saved.task_id)} as ${toLine(saved.id)}: ${formatPaths(saved)}. The work tree is put back.`,
      )
      for (const warning of (saved.warnings ?? []) as readonly string[]) tell(`Warning: ${toPlainLine(warning)}`)
      print(`Bring it back: phaselock stash pop ${toLine(saved.id)}`)
    })
}

function addList(stash: Command): void {
  addClientOptions(stash.command('list').alias('ls').description('list stashes, newest first'))
    .addHelpText('after', formatExamples([['phaselock stash list --json', 'with the paths']]))
    .action(async (options: ClientOptions) => {
      const answer = await makeSteeringClient(openSession(options)).get('/stashes')
      if (options.json === true) return printJson(answer)
      const stashes = listOf(answer.stashes)
      print(stashes.length === 0 ? 'There are no stashes.' : formatStashTable(stashes))
    })
}

function formatStashTable(stashes: readonly JsonObject[]): string {
  return formatTable(stashes, [
    { title: 'STASH', text: (one) => toText(one.id) },
    { title: 'SAVED', text: (one) => formatTime(one.saved_at).slice(0, 16) },
    { title: 'TASK', text: (one) => toText(one.task_id), isFlexible: true },
    { title: 'PHASE', text: (one) => toText(one.phase), isFlexible: true },
    { title: 'PATHS', text: (one) => formatThousands(toNumber(one.path_count)) },
    { title: 'STATUS', text: (one) => toText(one.status) },
    { title: 'NAME', text: (one) => toText(one.name) || toText(one.reason), isFlexible: true },
  ])
}

function addPop(stash: Command): void {
  addClientOptions(
    stash
      .command('pop')
      .argument('[id]', 'default: the newest')
      .description('restore a stash to its work tree and resume the task'),
  )
    .option('--reason <text>', 'why; kept in the ledger', 'brought back')
    .addHelpText('after', formatExamples([['phaselock stash pop st-0123456789ab', '']]))
    .action(async (id: string | undefined, options: ClientOptions & { readonly reason: string }) => {
      const session = openSession(options)
      const client = makeSteeringClient(session)
      const chosen = id ?? (await findNewest(client))
      const { stateDir } = session
      if (stateDir !== null && !isRunFree(stateDir, chosen))
        throw new Stop(
          EXIT.refused,
          `Run ${toPlainLine(session.run?.taskId ?? '')} is active. Finish it (phaselock done, phaselock abort) or stash it first.`,
        )
      const task = await client.post(`/stashes/${encodeSegment(chosen)}/pop`, { reason: options.reason })
      if (stateDir !== null) bringRunBack(stateDir, chosen)
      if (options.json === true) return printJson(task)
      const restored = formatThousands(toNumber(task.restored_count))
      print(`${toLine(task.id)} is back, ${toLine(task.status)} in ${toLine(task.phase)}: ${restored} paths restored.`)
    })
}

async function findNewest(client: Client): Promise<string> {
  const [stash] = listOf((await client.get('/stashes')).stashes)
  if (stash === undefined) throw new Stop(EXIT.refused, 'There are no stashes.')
  return toText(stash.id)
}

function addDrop(stash: Command): void {
  addClientOptions(stash.command('drop').argument('<id>').description('delete a stash permanently'))
    .option('--reason <text>', 'why; kept in the ledger', 'given up')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', formatExamples([['phaselock stash drop st-0123456789ab --yes', '']]))
    .action(async (id: string, options: ClientOptions & { readonly reason: string; readonly yes?: boolean }) => {
      const session = openSession(options)
      const client = makeSteeringClient(session)
      if (options.yes !== true) await askToDrop(client, id)
      const dropped = await client.post(`/stashes/${encodeSegment(id)}/drop`, { reason: options.reason })
      if (session.stateDir !== null) dropRun(session.stateDir, id)
      if (options.json === true) return printJson(dropped)
      print(`Dropped ${toLine(dropped.id)}. Its task ${toLine(dropped.task_id)} is ${toLine(dropped.task_status)}.`)
    })
}

async function askToDrop(client: Client, id: string): Promise<void> {
  const found = listOf((await client.get('/stashes')).stashes).find((one) => one.id === id)
  if (found === undefined) return
  if (!canAsk()) throw new Stop(EXIT.usage, 'A dropped stash cannot be restored: add --yes.')
  const isSure = await confirm(
    `Drop ${toPlainLine(id)} of task ${toLine(found.task_id)} (${formatPaths(found)}) for good?`,
  )
  if (!isSure) throw new Stop(EXIT.refused, 'Nothing was dropped.')
}

function formatPaths(stash: JsonObject): string {
  const count = toNumber(stash.path_count)
  return `${formatThousands(count)} path${count === 1 ? '' : 's'}`
}

function toLine(value: JsonObject[string] | undefined): string {
  return toPlainLine(toText(value))
}
