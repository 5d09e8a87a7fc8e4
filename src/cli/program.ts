import { Command } from 'commander'
import { PROGRAM_VERSION } from '../app/orchestrator.js'
import { addServeCommand } from './serve-command.js'
import { width } from './terminal.js'

/** The whole command line. */
export function buildProgram(): Command {
  const program = new Command('phaselock')
    .description('Makes it impossible for coding agents to skip steps.')
    .version(PROGRAM_VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .configureHelp({ helpWidth: Math.min(width(), 100), sortSubcommands: false })
    .exitOverride()
  addServeCommand(program)
  return program
}
