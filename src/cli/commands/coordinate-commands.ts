import { type CliCommand, serverCommand } from '../cli-command.js'
import { parseOption } from '../councils/council-option.js'
import type { CoordinateOptions } from '../councils/run-council.js'
import { addTokenCommand } from '../councils/token-command.js'
import { parseSeconds } from '../options.js'

const CONFIG = '-c, --config <file>'
const EXIT_CODES = `
Exit codes: 0 there is a winner, 1 no agent gave an answer, 2 wrong usage or
a council file with problems, 3 no server reached, 4 cancelled, 5 the time ran
out without an answer.`

/** `phaselock coordinate` */
export function addCoordinateCommand(program: CliCommand): void {
  const text = 'let several agents answer a question in rounds and vote for the best answer'
  const coordinate = serverCommand(program, 'coordinate', text)
    .argument('[question]', 'the question for the agents')
    .option(CONFIG, 'council file (YAML) with agents and options')
    .option('--question-file <file>', 'read the question from a file (- for standard input)')
    .option('-o, --option <key=value>', 'override an option of the council file; repeatable', parseOption)
    .option('--timeout <seconds>', 'time limit of the council (timeout_seconds)', parseSeconds)
    .option('--jsonl', 'print every event as one line of JSON')
    .option('--events', 'the same as --jsonl')
    .option('--quiet', 'print only the answer')
    .examples(
      ['phaselock coordinate --config council.yaml "Which cache?"', 'watch the agents, then read the answer'],
      ['phaselock coordinate -c council.yaml --question-file q.md --json', 'one JSON document at the end'],
      ['phaselock coordinate -c council.yaml -o novelty=strict "Why?"', 'change an option for this run'],
      ['phaselock coordinate token coord-3f2a91 guest', 'the token of a remote agent'],
    )
    .notes(EXIT_CODES)
    .action(async (question: string | undefined, options: Partial<CoordinateOptions>, command: CliCommand) => {
      // Not for its subcommands, which commander would require it for too.
      const { config } = options
      if (config === undefined) return command.error(`error: required option '${CONFIG}' not specified`)
      return (await import('../councils/run-council.js')).runCouncil(question, { ...options, config })
    })
  addTokenCommand(coordinate)
}
