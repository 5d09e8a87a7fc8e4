import type { Command } from 'commander'
import { clientOptions } from './connection.js'
import { optionOf } from './coordinate-option.js'
import type { CoordinateOptions } from './coordinate-run.js'
import { addTokenCommand } from './coordinate-token.js'
import { examples, seconds } from './options.js'

const CONFIG = '-c, --config <file>'
const EXIT_CODES = `
Exit codes: 0 there is a winner, 1 no agent brought one about, 2 wrong usage or
a council file with problems, 3 no server reached, 4 cancelled, 5 the time ran
out without an answer.`

/** `phaselock coordinate` */
export function addCoordinateCommand(program: Command): void {
  const coordinate = clientOptions(
    program
      .command('coordinate')
      .argument('[question]', 'what the agents are asked')
      .description('let several agents answer one question in rounds and vote for the best answer'),
  )
    .option(CONFIG, 'the council: its agents and options, YAML')
    .option('--question-file <file>', 'read the question from a file; - is standard input')
    .option(
      '-o, --option <key=value>',
      'an option of the council, in place of what its file says; repeatable',
      optionOf,
    )
    .option('--timeout <seconds>', 'time limit of the whole run (timeout_seconds)', seconds)
    .option('--jsonl', 'print every event as a line of JSON while it goes on')
    .option('--events', 'the same as --jsonl')
    .option('--quiet', 'print the answer only')
    .addHelpText(
      'after',
      `${examples([
        ['phaselock coordinate --config council.yaml "Which cache?"', 'watch the agents, then read the answer'],
        ['phaselock coordinate -c council.yaml --question-file q.md --json', 'one JSON document at the end'],
        ['phaselock coordinate -c council.yaml -o novelty=strict "Why?"', 'change an option for this run'],
        ['phaselock coordinate token coord-3f2a91 guest', 'the token of a remote agent'],
      ])}\n${EXIT_CODES}`,
    )
    .action(async (question: string | undefined, options: Partial<CoordinateOptions>, command: Command) => {
      // Not for its subcommands, which commander would ask for it as well.
      const { config } = options
      if (config === undefined) return command.error(`error: required option '${CONFIG}' not specified`)
      return (await import('./coordinate-run.js')).coordinate(question, { ...options, config })
    })
  addTokenCommand(coordinate)
}
