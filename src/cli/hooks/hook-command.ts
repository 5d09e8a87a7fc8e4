import { HOOK_DIALECTS } from '../../hooks/hook-dialects.js'
import type { CliCommand } from '../cli-command.js'
import { EXIT, Stop } from '../exit.js'

interface HookOptions {
  readonly url?: string
  readonly stateDir?: string
  readonly secretFile?: string
  readonly seconds?: string
}

const NAMES = HOOK_DIALECTS.map(({ agentCli }) => agentCli)

/** `phaselock hook` */
export function addHookCommand(program: CliCommand): void {
  program
    .command('hook')
    .description('answer a hook of an agent CLI over standard input and output, for CLIs that only start commands')
    .argument('<cli>', `whose hook it is: ${NAMES.join(', ')}`)
    .option('--url <address>', 'server address ($PHASELOCK_URL; default: the server of this work tree)')
    .option('--state-dir <dir>', 'state directory of the server ($PHASELOCK_STATE_DIR)')
    .option('--secret-file <file>', "file with the agent's token ($PHASELOCK_TOKEN)")
    .option('--seconds <n>', 'time limit; keep it below that of the agent CLI (default 20)')
    .examples(['phaselock hook gemini --secret-file ~/.config/phaselock/coder', 'as the command of a hook'])
    .notes(
      '\nWhat cannot be answered is refused in the words of the agent CLI,\nwith exit code 2 where a tool would run.\nA shell script with curl starts faster: see docs/hooks.md.',
    )
    .action(async (name: string, options: HookOptions) => {
      const dialect = HOOK_DIALECTS.find(({ agentCli }) => agentCli === name)
      if (dialect === undefined)
        throw new Stop(EXIT.usage, `There are no hooks of '${name}'. Known agent CLIs: ${NAMES.join(', ')}`)
      const { answerHookOnce } = await import('./answer-hook-once.js')
      await answerHookOnce(dialect, options)
    })
}
