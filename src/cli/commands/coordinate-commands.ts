import type { Command } from 'commander'
import { addClientOptions } from '../client/connection.js'
import { parseOption } from '../councils/council-option.js'
import type { CoordinateOptions } from '../councils/run-council.js'
import { addTokenCommand } from '../councils/token-command.js'
import { formatExamples, parseSeconds } from '../options.js'

const CONFIG = '-c, --config <file>'
const EXIT_CODES = `
Exit codes: 0 there is a winner, 1 no agent brought one about, 2 wrong usage or
a council file with problems, 3 no server reached, 4 cancelled, 5 the time ran
out without an answer.`

/** `phaselock coordinate` */
export function addCoordinateCommand(program: Command): void {
  const coordinate = addClientOptions(
    program
      .command('coordinate')
      .argument('[question]', 'the question for the agents')
      .description('let several agents answer a question in rounds and vote for the best answer'),
  )
    .option(CONFIG, 'council file (YAML) with agents and options')
    .option('--question-file <file>', 'read the question from a file (- for standard input)')
    .option('-o, --option <key=value>', 'override an option of the council file; repeatable', parseOption)
    .option('--timeout <seconds>', 'time limit of the council (timeout_seconds)', parseSeconds)
    .option('--jsonl', 'print every event as one line of JSON')
    .option('--events', 'the same as --jsonl')
    .option('--quiet', 'print only the answer')
    .addHelpText(
      'after',
      `${formatExamples([
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
      return (await import('../councils/run-council.js')).runCouncil(question, { ...options, config })
    })
  addTokenCommand(coordinate)
}
