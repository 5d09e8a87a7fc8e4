import type { Command } from 'commander'
import { addClientOptions } from '../client/connection.js'
import { formatExamples } from '../options.js'
import { type StartOptions, start } from '../workflow/run-start.js'
import { abortRun, checkDone, goToPrevious, restart, type SteerOptions } from '../workflow/run-steer.js'
import { goOn, type NextOptions, next, showPrompt } from '../workflow/run-steps.js'

const EXITS = `
Exit codes: 0 a prompt, 1 refused or something is in the way, 4 interrupted by a
rule. With PHASELOCK_TOKEN set, that agent asks; else the one of the run.`

/** `start`, `next`, `continue`, `prompt`, `prev`, `restart`, `abort` and `done`. */
export function addRunCommands(program: Command): void {
  addStart(program)
  addNext(program)
  addClientOptions(
    program.command('continue').description('acknowledge an interrupt and print the prompt of the phase'),
  )
    .addHelpText(
      'after',
      `${formatExamples([['phaselock continue', 'the third time for one rule parks the task']])}\n${EXITS}`,
    )
    .action(goOn)
  addClientOptions(program.command('prompt').description('print the current prompt, or the interrupt to acknowledge'))
    .addHelpText('after', `${formatExamples([['phaselock prompt --json', 'for programs']])}\n${EXITS}`)
    .action(showPrompt)
  addSteering(program)
  addClientOptions(program.command('done').description('exit with 0 only if the run is finished'))
    .addHelpText('after', formatExamples([['phaselock done && git push', 'push only if the run is finished']]))
    .action(checkDone)
}

function addStart(program: Command): void {
  addClientOptions(
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
      formatExamples([
        ['phaselock start --task "Add a health endpoint"', "under the server's contract"],
        ['phaselock start tdd --task "Add a health endpoint"', ''],
        ['phaselock start ./discovery.yaml', 'with the guides and schemas beside it'],
      ]),
    )
    .action((contract: string | undefined, options: StartOptions) => start(contract, options))
}

function addNext(program: Command): void {
  addClientOptions(
    program
      .command('next')
      .argument('[claim]', 'claim to make, or a JSON object with several (default: PHASE_complete)')
      .description('claim that a step is done and continue if the gates open'),
  )
    .option(
      '--artifact <name=file>',
      'submit an artifact (.json files as JSON, others as text); repeatable',
      collectOption,
    )
    .option('--evidence <file>', 'submit evidence from a JSON file')
    .addHelpText(
      'after',
      `${formatExamples([
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
    work: goToPrevious,
    example: 'phaselock prev --reason "wrong plan"',
  },
  restart: { text: 'return the run to the first phase', work: restart, example: 'phaselock restart --restore-tree' },
  abort: {
    text: 'cancel the task of the run permanently',
    work: abortRun,
    example: 'phaselock abort --reason "not needed"',
  },
} as const

function addSteering(program: Command): void {
  for (const [name, { text, work, example }] of Object.entries(STEERING)) {
    const command = addClientOptions(program.command(name).description(text)).option(
      '--reason <text>',
      'why; kept in the ledger',
      `phaselock ${name}`,
    )
    if (name !== 'abort') command.option('--restore-tree', 'restore the work tree too')
    command
      .addHelpText(
        'after',
        `${formatExamples([[example, '']])}\n\nFor operators: an agent is refused, and the ledger says that it tried.`,
      )
      .action((options: SteerOptions) => work(options))
  }
}

// File names may hold commas: nothing is split.
function collectOption(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}
