import { Option } from 'commander'
import type { CliCommand } from '../cli-command.js'
import type { DoctorOptions } from '../doctor/doctor.js'
import { parsePortNumber } from '../options.js'

/** `phaselock doctor` */
export function addDoctorCommand(program: CliCommand): void {
  program
    .command('doctor')
    .description('check the environment and say how to fix what is missing')
    .option('--port <number>', 'the port it would listen on (default: of the running server, or 8000)', parsePortNumber)
    .option('--contract <file|name>', 'the contract it would use')
    .option('--workspace <dir>', 'the work tree', '.')
    .option('--state-dir <dir>', 'state directory of the server ($PHASELOCK_STATE_DIR)')
    .option('--no-trial', 'do not run the test command of the contract')
    .option('--fix', 'install what is missing, where possible')
    .option('--agents', 'only agent CLIs: what binds each here, tried with a call that must be refused')
    .addOption(new Option('--harness', 'the same as --agents').hideHelp())
    .option('--json', 'print JSON')
    .examples(['phaselock doctor', 'exits with 1 if something required is missing'])
    .action(async (options: DoctorOptions) => (await import('../doctor/doctor.js')).runDoctor(options))
}
