import { Command } from 'commander'
import { type Client, openClient } from './client/client.js'
import type { ClientOptions } from './client/connection.js'
import { formatExamples } from './options.js'

/** A command of the program, with the common options. */
export class CliCommand extends Command {
  override createCommand(name?: string): CliCommand {
    return new CliCommand(name)
  }

  /** Examples at the end of the help text: the command, and its effect. */
  examples(...list: readonly (string | readonly [string, string])[]): this {
    return this.addHelpText('after', formatExamples(list.map((one) => (typeof one === 'string' ? [one, ''] : one))))
  }

  /** Text below the examples. */
  notes(text: string): this {
    return this.addHelpText('after', text)
  }

  /** The action of the command on the server that its options select. Its arguments come last. */
  asks<Options extends ClientOptions>(
    work: (client: Client, options: Options, ...args: never[]) => Promise<unknown>,
  ): this {
    return this.action(async (...given: unknown[]) => {
      const options = given.at(-2) as Options
      await work(await openClient(options), options, ...(given.slice(0, -2) as never[]))
    })
  }
}

/** A command that talks to a server, with the options of every such command. */
export function serverCommand(parent: CliCommand, usage: string, description: string, isDefault = false): CliCommand {
  return parent
    .command(usage, { isDefault })
    .description(description)
    .option('--json', 'print JSON')
    .option('--url <address>', 'server address ($PHASELOCK_URL; default: the server of this work tree)')
    .option('--token-file <file>', 'file with the operator token (default: operator.token of the server)')
    .option('--state-dir <dir>', 'state directory of the server ($PHASELOCK_STATE_DIR)')
    .option('--passphrase-file <file>', 'file with your passphrase, for acts that you have to confirm')
}
