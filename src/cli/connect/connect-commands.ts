import type { CliCommand } from '../cli-command.js'
import { EXIT, Stop } from '../exit.js'
import type { ConnectOptions } from './connect-place.js'

/** `connect` and `disconnect`: agent CLIs bound by their own configuration. */
export function addConnectCommands(program: CliCommand): void {
  addCommon(program.command('connect').description('bind every session of an agent CLI in this repository'))
    .argument('[cli]', 'claude, codex, gemini or opencode')
    .option('--tools-only', 'switch its own tools off; those of Phaselock take their place (default)')
    .option('--native', 'keep its own tools; hooks ask Phaselock before each call')
    .option('--managed', 'in the managed configuration of this machine, which the agent cannot change')
    .option('--status', 'show what is connected, and whether somebody changed it')
    .examples(
      ['phaselock connect claude', 'shows the difference and asks'],
      ['phaselock connect claude --native --dry-run', 'writes nothing'],
      ['phaselock connect --status', 'bound how, since when, still as written'],
    )
    .action(async (cli: string | undefined, options: ConnectOptions) => {
      if (options.status === true) return (await import('./connect-status.js')).showConnectStatus(options)
      if (cli === undefined) throw new Stop(EXIT.usage, 'Name an agent CLI: claude, codex, gemini or opencode.')
      await (await import('./connect.js')).runConnect(cli, options)
    })
  addCommon(program.command('disconnect').description('undo `connect`: files as they were, or without our entries'))
    .argument('<cli>', 'claude, codex, gemini or opencode')
    .examples('phaselock disconnect claude')
    .action(async (cli: string, options: ConnectOptions) =>
      (await import('./disconnect.js')).runDisconnect(cli, options),
    )
}

function addCommon(command: CliCommand): CliCommand {
  return command
    .option('--yes', 'do not ask')
    .option('--dry-run', 'show the difference only')
    .option('--workspace <dir>', 'the repository (default: the one of this folder)')
    .option('--state-dir <dir>', 'state directory of the server ($PHASELOCK_STATE_DIR)')
    .option('--json', 'print JSON')
}
