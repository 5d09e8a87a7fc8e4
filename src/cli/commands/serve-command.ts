import { Option } from 'commander'
import { PROVIDERS } from '../../confinement/confinement.js'
import { CONFIRM_SETTINGS } from '../../core/identity/sensitive-acts.js'
import type { CliCommand } from '../cli-command.js'
import { collect, parseDrainSeconds, parsePortNumber } from '../options.js'
import { LOG_FORMATS } from '../server/log-formats.js'
import type { ServeOptions } from '../server/serve.js'

export function addServeCommand(program: CliCommand): void {
  addServerOptions(program.command('serve').description('run the server in this terminal'))
    .option('--json', 'print one line of JSON when ready')
    .examples(
      ['phaselock serve', 'this folder, its own contract or the bundled tdd'],
      ['phaselock serve --contract plan-review', 'another bundled contract'],
      ['phaselock serve --port 0 --json', 'any free port, announced as JSON'],
      'phaselock serve --host 0.0.0.0 --tls-cert c.pem --tls-key k.pem',
    )
    .action(async (options: ServeOptions) => (await import('../server/serve.js')).serve(options))
}

/** What `serve` and `up` have in common. */
export function addServerOptions(command: CliCommand): CliCommand {
  return command
    .option('--port <number>', 'port to listen on; 0 picks a free one', parsePortNumber, 8000)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--contract <file|name>',
      'contract file or bundled contract (default: agent_workflow.yaml, else agent_workflow/ of the work tree, else tdd)',
    )
    .option('--workspace <dir>', 'work tree of the tasks (default: this folder)')
    .option('--state-dir <dir>', 'directory for ledger, keys and tokens (default: below $XDG_STATE_HOME/phaselock)')
    .option(
      '--store <url>',
      'PostgreSQL database for the ledger, postgres://user@host/db (default: SQLite in the state directory)',
    )
    .option('--advertise <url>', 'with PostgreSQL: where other nodes reach this server ($PHASELOCK_ADVERTISE)')
    .option(
      '--shared-trees <dir>',
      'with PostgreSQL: folder on the disk that holds the work trees, where nodes keep what they know about them ($PHASELOCK_SHARED_TREES)',
    )
    .option(
      '--drain <seconds>',
      'after SIGTERM, go on answering for this long while /ready says stopping (default: 5 beside other nodes, else 0; $PHASELOCK_DRAIN)',
      parseDrainSeconds,
    )
    .addOption(
      new Option('--confinement <provider>', 'sandbox for commands (default: the strongest available)').choices(
        PROVIDERS,
      ),
    )
    .addOption(
      new Option('--min-confinement <level>', 'refuse contracts with a weaker confinement level').choices([
        'required',
        'best_effort',
      ]),
    )
    .option('--tls-cert <file>', 'certificate, PEM')
    .option('--tls-key <file>', 'private key of the certificate, PEM')
    .option('--insecure-http', 'listen on a public address without TLS')
    .option('--allow-host <name>', 'additional Host header to accept; repeatable', collect)
    .addOption(
      new Option(
        '--confirm <when>',
        'ask for a passkey or passphrase before sensitive acts: never, native (tasks of agents bound by hooks), always',
      )
        .choices(CONFIRM_SETTINGS)
        .default('native'),
    )
    .option('--first-code', 'the login link of this start may register a first passkey or passphrase')
    .addOption(
      new Option(
        '--log-format <format>',
        'of standard error: text on a terminal and JSON elsewhere, or always one',
      ).choices(LOG_FORMATS),
    )
    .option('--transcripts <dir>', 'additional folder with Claude Code transcripts; repeatable', collect)
}
