import { Option } from 'commander'
import { PROVIDERS } from '../../confinement/confinement.js'
import type { CliCommand } from '../cli-command.js'
import type { DemoOptions } from './demo.js'

/** `phaselock demo` */
export function addDemoCommand(program: CliCommand): void {
  program
    .command('demo')
    .description('watch an honest agent finish and a cheating one fail')
    .option('--interactive', 'you are asked to approve the plans')
    .option('--fast', 'do not pause between steps')
    .option('--keep', 'keep the folder with the repositories and the ledger, and print its path')
    .option('--json', 'print one JSON document at the end')
    .addOption(
      new Option('--confinement <provider>', 'sandbox for commands (default: the strongest available)').choices(
        PROVIDERS,
      ),
    )
    .examples(
      ['phaselock demo', 'under a minute, no network'],
      ['phaselock demo --interactive', 'be the human who approves'],
      ['phaselock demo --keep --json', 'for programs'],
    )
    .notes(`
Everything is real: its own server, two repositories in a temporary
folder, tests that are run. Exit code 0 only if the honest agent is done,
no trick opened anything and the ledger is intact.`)
    .action(async (options: DemoOptions) => (await import('./demo.js')).runDemo(options))
}
