import type { InstalledTask } from 'phaselock/sdk'
import { plainLine, plainText } from '../../core/plain-text.js'
import { type CliCommand, serverCommand } from '../cli-command.js'
import { compact } from '../client/answer-values.js'
import type { ClientOptions } from '../client/connection.js'
import { show } from '../terminal/terminal.js'

const ACTIONS = {
  revert: ['undo', 'Reverted', 'phaselock revert task-1 --reason "not part of the task"'],
  accept: ['accept', 'Accepted', 'phaselock accept task-1 src/a.ts --reason "I wrote that"'],
} as const

/** `phaselock revert`, `phaselock accept` and `phaselock install` */
export function addTreeCommands(program: CliCommand): void {
  for (const name of ['revert', 'accept'] as const) {
    const [verb, told, example] = ACTIONS[name]
    serverCommand(program, `${name} <task>`, `${verb} changes in a work tree that no allowed call made`)
      .argument('[paths...]', 'only these paths (default: all)')
      .requiredOption('--reason <text>', 'why; kept in the ledger')
      .examples(example)
      .asks(async (client, options: ClientOptions & { reason: string }, id: string, paths: readonly string[]) => {
        const done = await client.settleTree(id, name, compact({ reason: options.reason, paths }))
        const left = done.path_count - done.paths.length
        const lines = [...done.paths.map((path) => `  ${plainLine(path)}`), ...(left > 0 ? [`  and ${left} more`] : [])]
        show(options, done, [`${told} in the work tree of ${plainLine(id)}:`, ...lines].join('\n'))
      })
  }
  serverCommand(program, 'install <task>', 'install dependencies for a task, with network, in the sandbox')
    .argument('<cmd...>', 'the package manager and its arguments, after --')
    .option('--cwd <folder>', 'folder of the work tree to run it in')
    .examples('phaselock install task-1 -- npm install zod', 'phaselock install task-1 --cwd web -- pnpm add -D vitest')
    .asks(async (client, options: ClientOptions & { cwd?: string }, id: string, command: readonly string[]) => {
      const done = await client.install(id, { command, ...(options.cwd === undefined ? {} : { cwd: options.cwd }) })
      show(options, done, formatInstall(id, done))
    })
}

function formatInstall(id: string, { install }: InstalledTask): string {
  const { command, paths, output, duration_ms, notes = [] } = install
  const told = `Ran ${plainLine(command.join(' '))} for ${plainLine(id)} in ${(duration_ms / 1000).toFixed(1)} s.`
  const kept = paths.length === 0 ? [] : ['Kept:', ...paths.map((path) => `  ${plainLine(path)}`)]
  return [plainText(output), told, ...kept, ...notes.map((note) => plainLine(note))].join('\n')
}
