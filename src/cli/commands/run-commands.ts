import { type CliCommand, serverCommand } from '../cli-command.js'
import { gather } from '../options.js'
import { type StartOptions, start } from '../workflow/run-start.js'
import { abortRun, checkDone, goToPrevious, restart, type SteerOptions } from '../workflow/run-steer.js'
import { goOn, type NextOptions, next, showPrompt } from '../workflow/run-steps.js'

const EXITS = `
Exit codes: 0 a prompt, 1 refused or something is in the way, 4 interrupted by a
rule. With PHASELOCK_TOKEN set, that agent asks; else the one of the run.`

/** `start`, `next`, `continue`, `prompt`, `prev`, `restart`, `abort` and `done`. */
export function addRunCommands(program: CliCommand): void {
  serverCommand(program, 'start', 'walk through a workflow by hand: add a task and print what its first phase asks for')
    .argument('[contract]', "contract file, bundled contract or contract of the server (default: the server's)")
    .option('--task <text>', 'title of the new task')
    .option('--force', 'abort the active run first')
    .option(
      '--reason <text>',
      'why the active run is aborted; kept in the ledger',
      'start --force: replaced by a new run',
    )
    .examples(
      ['phaselock start --task "Add a health endpoint"', "under the server's contract"],
      'phaselock start tdd --task "Add a health endpoint"',
      ['phaselock start ./discovery.yaml', 'with the guides and schemas beside it'],
    )
    .action((contract: string | undefined, options: StartOptions) => start(contract, options))
  serverCommand(program, 'next', 'hand in a step of the walk by hand; the next phase opens if its gates do')
    .argument('[claim]', 'claim to make, or a JSON object with several (default: PHASE_complete)')
    .option('--artifact <name=file>', 'submit an artifact (.json files as JSON, others as text); repeatable', gather)
    .option('--evidence <file>', 'submit evidence from a JSON file')
    .examples(
      ['phaselock next', 'this phase is complete'],
      'phaselock next code_complete',
      `phaselock next '{"code_complete": true}'`,
      'phaselock next --artifact plan_document=plan.json',
    )
    .notes(EXITS)
    .action((claim: string | undefined, options: NextOptions) => next(claim, options))
  serverCommand(program, 'continue', 'acknowledge an interrupt and print the prompt of the phase')
    .examples(['phaselock continue', 'the third time for one rule parks the task'])
    .notes(EXITS)
    .action(goOn)
  serverCommand(program, 'prompt', 'print the current prompt, or the interrupt to acknowledge')
    .examples(['phaselock prompt --json', 'for programs'])
    .notes(EXITS)
    .action(showPrompt)
  addSteering(program)
  serverCommand(program, 'done', 'exit with 0 only if the run is finished')
    .examples(['phaselock done && git push', 'push only if the run is finished'])
    .action(checkDone)
}

const STEERING = {
  prev: ['return the run to the previous phase', goToPrevious, 'phaselock prev --reason "wrong plan"'],
  restart: ['return the run to the first phase', restart, 'phaselock restart --restore-tree'],
  abort: ['cancel the task of the run permanently', abortRun, 'phaselock abort --reason "not needed"'],
} as const

function addSteering(program: CliCommand): void {
  for (const [name, [text, work, example]] of Object.entries(STEERING)) {
    const command = serverCommand(program, name, text)
    command.option('--reason <text>', 'why; kept in the ledger', `phaselock ${name}`)
    if (name !== 'abort') command.option('--restore-tree', 'restore the work tree too')
    command
      .examples(example)
      .notes('\nFor operators: agents are refused, and the attempt is recorded.')
      .action((options: SteerOptions) => work(options))
  }
}
