import { Option } from 'commander'
import type { CliCommand } from '../cli-command.js'
import { ENGINES } from '../container/engine.js'
import type { ContainerOptions } from '../container/up-container.js'
import { EXIT, Stop } from '../exit.js'
import type { DownOptions } from '../server/background.js'
import { addServerOptions } from './serve-command.js'

/** `up` and `down`. */
export function addBackgroundCommands(program: CliCommand): void {
  addServerOptions(program.command('up').description('run the server in the background'))
    .option('--container', 'run it in a Linux container with the work tree mounted: for macOS and Windows')
    .addOption(
      new Option('--engine <name>', 'with --container: which engine (default: the first that answers)').choices(
        ENGINES,
      ),
    )
    .option('--image <name>', 'with --container: image to run (default: one that is built for this version)')
    .option('--json', 'print JSON')
    .examples(
      ['phaselock up --port 8001', 'returns when the server answers'],
      ['phaselock up --container', 'server and sandbox in Docker or Podman'],
    )
    .action(async (options: ContainerOptions) => {
      if (options.container === true) return (await import('../container/up-container.js')).runUpInContainer(options)
      if (options.engine !== undefined || options.image !== undefined)
        throw new Stop(EXIT.usage, '--engine and --image are for --container.')
      return (await import('../server/background.js')).runUp(options)
    })
  program
    .command('down')
    .description('stop the server of this work tree')
    .option('--workspace <dir>', 'work tree of the server (default: this folder or a parent)')
    .option('--state-dir <dir>', 'state directory of the server ($PHASELOCK_STATE_DIR)')
    .option('--json', 'print JSON')
    .examples(['phaselock down', 'finishes running requests first'])
    .action(async (options: DownOptions) => (await import('../server/background.js')).runDown(options))
}
