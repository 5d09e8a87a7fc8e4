import { type CliCommand, serverCommand } from '../cli-command.js'
import { EXIT, Stop } from '../exit.js'
import type { AgentCliKind } from '../launch/agent-cli-kind.js'
import { CLAUDE_CODE } from '../launch/claude-code.js'
import { CODEX } from '../launch/codex.js'
import { GEMINI } from '../launch/gemini.js'
import type { LaunchOptions } from '../launch/launch-session.js'
import { OPENCODE } from '../launch/opencode.js'
import { collect } from '../options.js'

const KINDS: readonly AgentCliKind[] = [CLAUDE_CODE, CODEX, GEMINI, OPENCODE]

/** `claude` and its like: an agent CLI in this terminal, bound to a task. */
export function addLaunchCommands(program: CliCommand): void {
  for (const kind of KINDS) addLaunch(program, kind)
}

function addLaunch(program: CliCommand, kind: AgentCliKind): void {
  serverCommand(program, kind.name, `open ${kind.title} in this terminal, bound to a task`)
    .argument('[task]', 'what to do: a new task is added for it')
    .argument('[args...]', `after \`--\`: options of ${kind.title} itself`)
    .option('--task <id>', 'go on with this task')
    .option('--worktree', 'create a separate git work tree for the new task')
    .option('--take <path>', 'with --worktree: copy this ignored path, such as node_modules; repeatable', collect)
    .option('--native', `keep the own tools of ${kind.title}, each call decided by Phaselock through its hooks`)
    .option('--contract <file|name>', 'contract for the server, if none runs yet')
    .examples(
      [`phaselock ${kind.name} "Add a health endpoint"`, 'starts the server if none runs'],
      [`phaselock ${kind.name} --task task-1f0c`, 'goes on where a session ended'],
      [`phaselock ${kind.name} "Write the docs" --worktree`, 'beside another task'],
    )
    .notes(
      `\nThe own tools of ${kind.title} are off and those of Phaselock take their place${kind.native.kind === 'held' ? ';\n--native keeps them' : ''}.\n${kind.asksInChat ? 'Approvals are asked in the chat; the dashboard and `phaselock approve` work too.' : 'Approve in the dashboard or with `phaselock approve`; the waiting call then\nreturns by itself.'}\n\nExit codes: that of ${kind.title}; 1 refused, 2 wrong usage, 3 no server reached.`,
    )
    .action(async (first: string | undefined, rest: readonly string[], options: LaunchOptions) => {
      const { title, own } = splitWords(program, [...(first === undefined ? [] : [first]), ...rest])
      const { launchSession } = await import('../launch/launch-session.js')
      await launchSession(kind, { title, options, own })
    })
}

// Commander drops the `--`: what came after it is the end of the list.
function splitWords(
  program: CliCommand,
  words: readonly string[],
): { readonly title: string | undefined; readonly own: readonly string[] } {
  const { rawArgs } = program as CliCommand & { readonly rawArgs: readonly string[] }
  const at = rawArgs.indexOf('--')
  const own = at === -1 ? [] : rawArgs.slice(at + 1)
  const before = words.slice(0, words.length - own.length)
  if (before.length > 1) throw new Stop(EXIT.usage, `Put the task into quotes: "${before.join(' ')}"`)
  return { title: before[0], own }
}
