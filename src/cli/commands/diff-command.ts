import { plainLine } from '../../core/plain-text.js'
import { type CliCommand, serverCommand } from '../cli-command.js'
import type { ClientOptions } from '../client/connection.js'
import { formatDiff, formatDiffStat } from '../terminal/diff-text.js'
import { printPaged } from '../terminal/pager.js'
import { printJson } from '../terminal/terminal.js'

interface DiffOptions extends ClientOptions {
  readonly from?: string
  readonly to?: string
  readonly path?: string
  readonly stat?: boolean
  readonly pager?: boolean
}

/** `phaselock diff` */
export function addDiffCommand(program: CliCommand): void {
  serverCommand(program, 'diff <task>', 'show what a task changed in its work tree')
    .option('--from <when>', 'start (of the task), phase (the current visit) or the number of a visit', 'start')
    .option('--to <when>', 'now, or the number of a visit whose end is meant', 'now')
    .option('--path <file>', 'only this file, up to 4 MiB of it')
    .option('--stat', 'only the files and how many lines changed')
    .option('--no-pager', 'print everything at once')
    .examples(['phaselock diff task-1 --from phase', 'only what changed in the current phase'])
    .asks(async (client, options: DiffOptions, id: string) => {
      const task = await client.task(id)
      const { from = 'start', to = 'now', path } = options
      const diff = await client.diff(task.id, { from, to, path })
      if (options.json === true) return printJson(diff)
      const text = options.stat === true ? formatDiffStat(diff) : formatDiff(diff)
      printPaged(`${plainLine(task.id)}  ${plainLine(task.title)}\n\n${text}`, options)
    })
}
