import type { Command } from 'commander'
import type { Json } from '../../core/json.js'
import { toText } from '../client/answer-values.js'
import { Client, encodeSegment } from '../client/client.js'
import { addClientOptions, type ClientOptions } from '../client/connection.js'
import { formatExamples } from '../options.js'
import { toPlainLine } from '../terminal/plain-text.js'
import { print, printJson } from '../terminal/terminal.js'

const ACTIONS = {
  revert: {
    text: 'undo changes in a work tree that no allowed call made',
    told: 'Reverted',
    example: 'phaselock revert task-1 --reason "not part of the task"',
    path: 'revert',
  },
  accept: {
    text: 'accept changes in a work tree that no allowed call made',
    told: 'Accepted',
    example: 'phaselock accept task-1 src/a.ts --reason "I wrote that"',
    path: 'accept',
  },
} as const

/** `phaselock revert` and `phaselock accept` */
export function addTreeCommands(program: Command): void {
  for (const [name, { text, told, example, path }] of Object.entries(ACTIONS)) {
    addClientOptions(
      program
        .command(name)
        .argument('<task>')
        .argument('[paths...]', 'only these paths (default: all)')
        .description(text),
    )
      .requiredOption('--reason <text>', 'why; kept in the ledger')
      .addHelpText('after', formatExamples([[example, '']]))
      .action(async (id: string, paths: readonly string[], options: ClientOptions & { reason: string }) => {
        const body = { reason: options.reason, ...(paths.length === 0 ? {} : { paths: [...paths] }) }
        const done = await new Client(options).post(`/tasks/${encodeSegment(id)}/tree/${path}`, body)
        if (options.json === true) return printJson(done)
        const named = ((done.paths ?? []) as readonly Json[]).map((one) => `  ${toPlainLine(toText(one))}`)
        const total = Number(done.path_count ?? named.length)
        const more = total > named.length ? [`  and ${total - named.length} more`] : []
        print([`${told} in the work tree of ${toPlainLine(id)}:`, ...named, ...more].join('\n'))
      })
  }
}
