import type { Command } from 'commander'
import {
  attach,
  type FollowOptions,
  type RunOptions,
  run,
  type StopOptions,
  showLogs,
  stop,
} from '../agents/agent-run.js'
import { addClientOptions, type ClientOptions } from '../client/connection.js'
import { collect, formatExamples } from '../options.js'

/** `run`, `attach`, `stop` and `logs`: agents that the server starts. */
export function addAgentRunCommands(program: Command): void {
  addRun(program)
  addClientOptions(program.command('logs').argument('<agent>').description('print what an agent wrote'))
    .option('-f, --follow', 'keep printing until the agent has ended; with --json, one document per line')
    .addHelpText('after', formatExamples([['phaselock logs coder-3f2a91 --follow', '']]))
    .action((agent: string, options: FollowOptions) => showLogs(agent, options))
  addClientOptions(
    program.command('attach').argument('<agent>').description('attach to the terminal window of an agent'),
  )
    .addHelpText(
      'after',
      formatExamples([['phaselock attach coder-3f2a91', 'started with --tmux; detach with Ctrl-b d']]),
    )
    .action((agent: string, options: ClientOptions) => attach(agent, options))
  addClientOptions(
    program.command('stop').argument('<agent>').description('stop an agent; its task can be claimed again'),
  )
    .option('--park', 'park the task instead of releasing it')
    .option('--reason <text>', 'why; kept in the ledger')
    .addHelpText('after', formatExamples([['phaselock stop coder-3f2a91 --park --reason "wrong plan"', '']]))
    .action((agent: string, options: StopOptions) => stop(agent, options))
}

function addRun(program: Command): void {
  addClientOptions(
    program
      .command('run')
      .argument('[agent]', 'agent of the contract, or an agent CLI such as claude-code')
      .argument('[task]', 'title of the task')
      .description('start an agent on a task and print its output'),
  )
    .option('--command <program>', 'run this program instead of a configured agent')
    .option('--arg <word>', 'argument for the program; repeatable', collectOption)
    .option('--model <name>', 'the model')
    .option('--task <id>', 'use this existing task instead of a new one')
    .option('--id <id>', 'id of the new task (default: generated)')
    .option('--worktree', 'create a separate git work tree for the new task')
    .option('--take <path>', 'with --worktree: copy this ignored path, such as node_modules; repeatable', collect)
    .option('--name <id>', 'name of the agent (default: generated)')
    .option('--tmux', 'with a window to look at')
    .option('--detach', 'return immediately')
    .addHelpText(
      'after',
      `${formatExamples([
        ['phaselock run coder "Add a health endpoint"', ''],
        ['phaselock run claude-code --task task-1f0c --tmux --detach', ''],
        ['phaselock run coder "Write the docs" --id docs --worktree', ''],
        ['phaselock run --command ./my-agent "Add a health endpoint"', ''],
      ])}\n\nExit codes: 0 the task is completed, 1 refused or it ended otherwise,\n4 interrupted: the agent goes on.`,
    )
    .action((agent: string | undefined, task: string | undefined, options: RunOptions) => run(agent, task, options))
}

// Words may hold commas: nothing is split.
function collectOption(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}
