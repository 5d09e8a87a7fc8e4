import type { Command } from 'commander'
import { clientOptions } from './connection.js'
import { optionOf } from './coordinate-option.js'
import type { CoordinateOptions } from './coordinate-run.js'
import { examples, seconds } from './options.js'

const EXIT_CODES = `
Exit codes: 0 there is a winner, 1 no agent brought one about, 2 wrong usage or
a council file with problems, 3 no server reached, 4 cancelled, 5 the time ran
out without an answer.`

/** `phaselock coordinate` */
export function addCoordinateCommand(program: Command): void {
  clientOptions(
    program
      .command('coordinate')
      .argument('[question]', 'what the agents are asked')
      .description('let several agents answer one question in rounds and vote for the best answer'),
  )
    .requiredOption('-c, --config <file>', 'the council: its agents and options, YAML')
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
      ])}\n${EXIT_CODES}`,
    )
    .action(async (question: string | undefined, options: CoordinateOptions) =>
      (await import('./coordinate-run.js')).coordinate(question, options),
    )
}
