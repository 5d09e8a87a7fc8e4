import { Option } from 'commander'
import { BUNDLED_CONTRACTS, isDocuments } from '../../contract/bundled-contracts.js'
import type { CliCommand } from '../cli-command.js'
import type { InitOptions } from '../init/init.js'
import { collect, parseSeconds } from '../options.js'
import { CONTRACT_FILE } from '../places.js'

/** `phaselock init` */
export function addInitCommand(program: CliCommand): void {
  program
    .command('init')
    .argument('[dir]', 'the repository', '.')
    .description(`look at a repository, try its tests in the sandbox and write ${CONTRACT_FILE}`)
    .addOption(
      new Option('--template <name>', 'template to start from (documents: a folder of Markdown files)')
        .choices([...BUNDLED_CONTRACTS.filter((name) => !isDocuments(name)), 'documents'])
        .default('tdd'),
    )
    .option('--language <name>', 'which language, if several are found')
    .option('--tests <command>', 'command that runs the tests')
    .option('--coverage <command>', 'command that reports coverage as lcov (template refactor)')
    .option('--timeout <seconds>', 'time limit for the tests (default: 600)', parseSeconds)
    .option('--may-write <glob>', 'tracked data that the tests write', collect)
    .addOption(
      new Option('--sigusr1 <choice>', 'whether the tests may send SIGUSR1 (default: refuse)').choices([
        'allow',
        'refuse',
      ]),
    )
    .option('--no-trial', 'write the contract without running the tests')
    .option('--force', 'overwrite an existing contract')
    .option('-y, --yes', 'write the contract without asking')
    .option('--json', 'print JSON')
    .examples(
      ['phaselock init', 'plan, failing tests, code, review'],
      ['phaselock init --tests "npx vitest run"', 'with this test command'],
      ['phaselock init --template plan-review', 'for work without tests'],
      ['phaselock init --template bugfix', 'a failing test first; see docs/workflows.md for all templates'],
      ['phaselock init --template guardrails', 'one phase within limits'],
      ['phaselock init --template documents', 'eight phases written in Markdown'],
    )
    .action(async (dir: string, options: InitOptions) => (await import('../init/init.js')).init(dir, options))
}
