import type { CliCommand } from '../cli-command.js'
import { EXIT, Stop } from '../exit.js'

/** Agent CLIs whose hooks the server understands. */
const AGENT_CLIS = ['claude-code']

/** `phaselock hook` */
export function addHookCommand(program: CliCommand): void {
  program
    .command('hook')
    .description('answer one hook of an agent CLI: its JSON on standard input, the decision on standard output')
    .argument('<cli>', AGENT_CLIS.join(', '))
    .examples(['phaselock hook claude-code', 'what `phaselock connect claude --native` writes into its settings'])
    .notes(
      '\nIt belongs to the session whose MCP server `phaselock mcp --session` is, or to the\nagent whose token is in PHASELOCK_TOKEN. Whatever goes wrong is a refusal: exit code 2.',
    )
    .action(async (cli: string) => {
      if (!AGENT_CLIS.includes(cli))
        throw new Stop(EXIT.usage, `'${cli}' has no hooks here. Name one of: ${AGENT_CLIS.join(', ')}.`)
      const { runHook } = await import('./run-hook.js')
      const { stdout, stderr, exit } = await runHook(cli, process.stdin)
      process.stdout.write(stdout)
      process.stderr.write(stderr)
      process.exitCode = exit
    })
}
