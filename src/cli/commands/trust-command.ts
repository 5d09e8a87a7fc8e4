import type { Command } from 'commander'
import type { TrustOptions } from '../contracts/trust.js'
import { formatExamples } from '../options.js'
import { CONTRACT_FILE } from '../places.js'

const FILE = `${CONTRACT_FILE} or agent_workflow/ of the work tree`
const OF = 'state directory of the server ($PHASELOCK_STATE_DIR; default: the one of the work tree)'

/** `trust` and `untrust` */
export function addTrustCommands(program: Command): void {
  program
    .command('trust')
    .argument('[file]', FILE)
    .description('show what a contract may do on this machine, and accept it')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--list', 'list the accepted contracts')
    .option('--remove', 'withdraw the acceptance, like untrust')
    .option('--state-dir <dir>', OF)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      formatExamples([
        ['phaselock trust', 'read what it asks for, then y or N'],
        ['phaselock trust --yes', 'in scripts'],
        ['phaselock trust --list', ''],
      ]),
    )
    .action(async (file: string | undefined, options: TrustOptions) =>
      (await import('../contracts/trust.js')).trustContract(file, options),
    )
  program
    .command('untrust')
    .argument('[file]', FILE)
    .description('withdraw the acceptance of a contract')
    .option('--state-dir <dir>', OF)
    .option('--json', 'print JSON')
    .addHelpText('after', formatExamples([['phaselock untrust', 'the next start asks again']]))
    .action(async (file: string | undefined, options: TrustOptions) =>
      (await import('../contracts/trust.js')).trustContract(file, { ...options, remove: true }),
    )
}
