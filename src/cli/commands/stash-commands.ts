import type { Command } from 'commander'
import type { JsonObject } from '../../core/json.js'
import { thousands } from '../../core/text.js'
import { given, listOf, textOf, timeOf } from '../client/answer-values.js'
import { type Client, segment } from '../client/client.js'
import { type ClientOptions, clientOptions } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { examples } from '../options.js'
import { numberOf } from '../report/analyze-text.js'
import { plainLine } from '../terminal/plain-text.js'
import { table } from '../terminal/table.js'
import { canAsk, confirm, print, printJson, tell } from '../terminal/terminal.js'
import { openSession, steeringClient, taskOf } from '../workflow/run-session.js'
import { bringRunBack, dropRun, isRunFree, putRunAside } from '../workflow/stash-run.js'

/** `phaselock stash …` */
export function addStashCommands(program: Command): void {
  const stash = program
    .command('stash')
    .description('save a task with its changes, and restore it')
    .addHelpText(
      'after',
      examples([
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
  clientOptions(
    stash
      .command('save')
      .argument('[task]', 'default: the active run')
      .description('keep what a task changed, put the work tree back and park the task'),
  )
    .option('--name <name>', 'to find it again')
    .option('--reason <text>', 'why; kept in the ledger', 'put aside')
    .addHelpText('after', examples([['phaselock stash save --reason "something urgent"', '']]))
    .action(async (task: string | undefined, options: SaveOptions) => {
      const session = openSession(options)
      const id = task ?? (await taskOf(session))
      const body = given({ name: options.name, reason: options.reason })
      const saved = await steeringClient(session).post(`/tasks/${segment(id)}/stash`, body)
      if (session.stateDir !== null && session.run?.taskId === id) putRunAside(session.stateDir, textOf(saved.id))
      if (options.json === true) return printJson(saved)
      print(`Stashed ${line(saved.task_id)} as ${line(saved.id)}: ${paths(saved)}. The work tree is put back.`)
      for (const warning of (saved.warnings ?? []) as readonly string[]) tell(`Warning: ${plainLine(warning)}`)
      print(`Bring it back: phaselock stash pop ${line(saved.id)}`)
    })
}

function addList(stash: Command): void {
  clientOptions(stash.command('list').alias('ls').description('list stashes, newest first'))
    .addHelpText('after', examples([['phaselock stash list --json', 'with the paths']]))
    .action(async (options: ClientOptions) => {
      const answer = await steeringClient(openSession(options)).get('/stashes')
      if (options.json === true) return printJson(answer)
      const stashes = listOf(answer.stashes)
      print(stashes.length === 0 ? 'There are no stashes.' : stashTable(stashes))
    })
}

function stashTable(stashes: readonly JsonObject[]): string {
  return table(stashes, [
    { title: 'STASH', text: (one) => textOf(one.id) },
    { title: 'SAVED', text: (one) => timeOf(one.saved_at).slice(0, 16) },
    { title: 'TASK', text: (one) => textOf(one.task_id), isFlexible: true },
    { title: 'PHASE', text: (one) => textOf(one.phase), isFlexible: true },
    { title: 'PATHS', text: (one) => thousands(numberOf(one.path_count)) },
    { title: 'STATUS', text: (one) => textOf(one.status) },
    { title: 'NAME', text: (one) => textOf(one.name) || textOf(one.reason), isFlexible: true },
  ])
}

function addPop(stash: Command): void {
  clientOptions(
    stash
      .command('pop')
      .argument('[id]', 'default: the newest')
      .description('restore a stash to its work tree and resume the task'),
  )
    .option('--reason <text>', 'why; kept in the ledger', 'brought back')
    .addHelpText('after', examples([['phaselock stash pop st-0123456789ab', '']]))
    .action(async (id: string | undefined, options: ClientOptions & { readonly reason: string }) => {
      const session = openSession(options)
      const client = steeringClient(session)
      const chosen = id ?? (await newest(client))
      const { stateDir } = session
      if (stateDir !== null && !isRunFree(stateDir, chosen))
        throw new Stop(
          EXIT.refused,
          `Run ${plainLine(session.run?.taskId ?? '')} is active. Finish it (phaselock done, phaselock abort) or stash it first.`,
        )
      const task = await client.post(`/stashes/${segment(chosen)}/pop`, { reason: options.reason })
      if (stateDir !== null) bringRunBack(stateDir, chosen)
      if (options.json === true) return printJson(task)
      const restored = thousands(numberOf(task.restored_count))
      print(`${line(task.id)} is back, ${line(task.status)} in ${line(task.phase)}: ${restored} paths restored.`)
    })
}

async function newest(client: Client): Promise<string> {
  const [stash] = listOf((await client.get('/stashes')).stashes)
  if (stash === undefined) throw new Stop(EXIT.refused, 'There are no stashes.')
  return textOf(stash.id)
}

function addDrop(stash: Command): void {
  clientOptions(stash.command('drop').argument('<id>').description('delete a stash permanently'))
    .option('--reason <text>', 'why; kept in the ledger', 'given up')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', examples([['phaselock stash drop st-0123456789ab --yes', '']]))
    .action(async (id: string, options: ClientOptions & { readonly reason: string; readonly yes?: boolean }) => {
      const session = openSession(options)
      const client = steeringClient(session)
      if (options.yes !== true) await askToDrop(client, id)
      const dropped = await client.post(`/stashes/${segment(id)}/drop`, { reason: options.reason })
      if (session.stateDir !== null) dropRun(session.stateDir, id)
      if (options.json === true) return printJson(dropped)
      print(`Dropped ${line(dropped.id)}. Its task ${line(dropped.task_id)} is ${line(dropped.task_status)}.`)
    })
}

async function askToDrop(client: Client, id: string): Promise<void> {
  const found = listOf((await client.get('/stashes')).stashes).find((one) => one.id === id)
  if (found === undefined) return
  if (!canAsk()) throw new Stop(EXIT.usage, 'A dropped stash cannot be restored: add --yes.')
  const isSure = await confirm(`Drop ${plainLine(id)} of task ${line(found.task_id)} (${paths(found)}) for good?`)
  if (!isSure) throw new Stop(EXIT.refused, 'Nothing was dropped.')
}

function paths(stash: JsonObject): string {
  const count = numberOf(stash.path_count)
  return `${thousands(count)} path${count === 1 ? '' : 's'}`
}

function line(value: JsonObject[string] | undefined): string {
  return plainLine(textOf(value))
}
