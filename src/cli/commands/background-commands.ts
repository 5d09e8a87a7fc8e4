import type { Command } from 'commander'
import { formatExamples } from '../options.js'
import type { DownOptions } from '../server/background.js'
import type { ServeOptions } from '../server/serve.js'
import { addServerOptions } from './serve-command.js'

/** `up` and `down`. */
export function addBackgroundCommands(program: Command): void {
  addServerOptions(program.command('up').description('run the server in the background'))
    .option('--json', 'print JSON')
    .addHelpText('after', formatExamples([['phaselock up --port 8001', 'returns when the server answers']]))
    .action(async (options: ServeOptions) => (await import('../server/background.js')).runUp(options))
  program
    .command('down')
    .description('stop the server of this work tree')
    .option('--workspace <dir>', 'work tree of the server (default: this folder or a parent)')
    .option('--state-dir <dir>', 'state directory of the server ($PHASELOCK_STATE_DIR)')
    .option('--json', 'print JSON')
    .addHelpText('after', formatExamples([['phaselock down', 'finishes running requests first']]))
    .action(async (options: DownOptions) => (await import('../server/background.js')).runDown(options))
}
