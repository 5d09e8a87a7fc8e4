import type { Command } from 'commander'
import { clientOptions } from '../client/connection.js'
import { examples } from '../options.js'
import { type StartOptions, start } from '../workflow/run-start.js'
import { abort, done, previous, restart, type SteerOptions } from '../workflow/run-steer.js'
import { goOn, type NextOptions, next, showPrompt } from '../workflow/run-steps.js'

const EXITS = `
Exit codes: 0 a prompt, 1 refused or something is in the way, 4 interrupted by a
rule. With PHASELOCK_TOKEN set, that agent asks; else the one of the run.`

/** `start`, `next`, `continue`, `prompt`, `prev`, `restart`, `abort` and `done`. */
export function addRunCommands(program: Command): void {
  addStart(program)
  addNext(program)
  clientOptions(program.command('continue').description('acknowledge an interrupt and print the prompt of the phase'))
    .addHelpText(
      'after',
      `${examples([['phaselock continue', 'the third time for one rule parks the task']])}\n${EXITS}`,
    )
    .action(goOn)
  clientOptions(program.command('prompt').description('print the current prompt, or the interrupt to acknowledge'))
    .addHelpText('after', `${examples([['phaselock prompt --json', 'for programs']])}\n${EXITS}`)
    .action(showPrompt)
  addSteering(program)
  clientOptions(program.command('done').description('exit with 0 only if the run is finished'))
    .addHelpText('after', examples([['phaselock done && git push', 'push only if the run is finished']]))
    .action(done)
}

function addStart(program: Command): void {
  clientOptions(
    program
      .command('start')
      .argument('[contract]', "contract file, bundled contract or contract of the server (default: the server's)")
      .description('start a run: a task, an agent for it, and the first prompt'),
  )
    .option('--task <text>', 'title of the task')
    .option('--force', 'abort the active run first')
    .option(
      '--reason <text>',
      'why the active run is aborted; kept in the ledger',
      'start --force: replaced by a new run',
    )
    .addHelpText(
      'after',
      examples([
        ['phaselock start --task "Add a health endpoint"', "under the server's contract"],
        ['phaselock start tdd --task "Add a health endpoint"', ''],
        ['phaselock start ./discovery.yaml', 'with the guides and schemas beside it'],
      ]),
    )
    .action((contract: string | undefined, options: StartOptions) => start(contract, options))
}

function addNext(program: Command): void {
  clientOptions(
    program
      .command('next')
      .argument('[claim]', 'claim to make, or a JSON object with several (default: PHASE_complete)')
      .description('claim that a step is done and continue if the gates open'),
  )
    .option('--artifact <name=file>', 'submit an artifact (.json files as JSON, others as text); repeatable', gathered)
    .option('--evidence <file>', 'submit evidence from a JSON file')
    .addHelpText(
      'after',
      `${examples([
        ['phaselock next', 'this phase is complete'],
        ['phaselock next code_complete', ''],
        [`phaselock next '{"code_complete": true}'`, ''],
        ['phaselock next --artifact plan_document=plan.json', ''],
      ])}\n${EXITS}`,
    )
    .action((claim: string | undefined, options: NextOptions) => next(claim, options))
}

const STEERING = {
  prev: {
    text: 'return the run to the previous phase',
    work: previous,
    example: 'phaselock prev --reason "wrong plan"',
  },
  restart: { text: 'return the run to the first phase', work: restart, example: 'phaselock restart --restore-tree' },
  abort: {
    text: 'cancel the task of the run permanently',
    work: abort,
    example: 'phaselock abort --reason "not needed"',
  },
} as const

function addSteering(program: Command): void {
  for (const [name, { text, work, example }] of Object.entries(STEERING)) {
    const command = clientOptions(program.command(name).description(text)).option(
      '--reason <text>',
      'why; kept in the ledger',
      `phaselock ${name}`,
    )
    if (name !== 'abort') command.option('--restore-tree', 'restore the work tree too')
    command
      .addHelpText(
        'after',
        `${examples([[example, '']])}\n\nFor operators: an agent is refused, and the ledger says that it tried.`,
      )
      .action((options: SteerOptions) => work(options))
  }
}

// File names may hold commas: nothing is split.
function gathered(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}
