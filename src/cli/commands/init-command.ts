import { Option } from 'commander'
import { BUNDLED_CONTRACTS, isDocuments } from '../../contract/bundled-contracts.js'
import type { CliCommand } from '../cli-command.js'
import type { InitOptions } from '../init/init.js'
import { CONTRACT_FILE } from '../places.js'

/** `phaselock init` */
export function addInitCommand(program: CliCommand): void {
  program
    .command('init')
    .argument('[dir]', 'the repository', '.')
    .description(`look at a repository and write ${CONTRACT_FILE}`)
    .addOption(
      new Option('--template <name>', 'template to start from (documents: a folder of Markdown files)')
        .choices([...BUNDLED_CONTRACTS.filter((name) => !isDocuments(name)), 'documents'])
        .default('tdd'),
    )
    .option('--force', 'overwrite an existing contract')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--json', 'print JSON')
    .examples(
      ['phaselock init', 'plan, failing tests, code, review'],
      ['phaselock init --template plan-review', 'for work without tests'],
      ['phaselock init --template guardrails', 'one phase within limits'],
      ['phaselock init --template documents', 'eight phases written in Markdown'],
    )
    .action(async (dir: string, options: InitOptions) => (await import('../init/init.js')).init(dir, options))
}
