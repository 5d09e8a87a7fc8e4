import type { Command } from 'commander'
import type { DoctorOptions } from './doctor.js'
import { examples, portNumber } from './options.js'

/** `phaselock doctor` */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check what a server needs here, and say how to get it')
    .option('--port <number>', 'the port it would listen on', portNumber, 8000)
    .option('--contract <file|name>', 'the contract it would use')
    .option('--workspace <dir>', 'the work tree', '.')
    .option('--state-dir <dir>', 'its state directory ($PHASELOCK_STATE_DIR)')
    .option('--fix', 'install what is missing, where that can be done')
    .option('--json', 'print JSON')
    .addHelpText('after', examples([['phaselock doctor', 'exits 1 when something needed is missing']]))
    .action(async (options: DoctorOptions) => (await import('./doctor.js')).doctor(options))
}
