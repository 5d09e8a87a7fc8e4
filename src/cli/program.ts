import { type Command, Help } from 'commander'
import { CliCommand } from './cli-command.js'
import { addAdminCommands } from './commands/admin-commands.js'
import { addAgentRunCommands } from './commands/agent-run-commands.js'
import { addAnalyzeCommand } from './commands/analyze-commands.js'
import { addApprovalCommands } from './commands/approval-commands.js'
import { addAuditCommands } from './commands/audit-commands.js'
import { addBackgroundCommands } from './commands/background-commands.js'
import { addCompletionCommand } from './commands/completion-command.js'
import { addContractCommands } from './commands/contract-commands.js'
import { addCoordinateCommand } from './commands/coordinate-commands.js'
import { addDiffCommand } from './commands/diff-command.js'
import { addDoctorCommand } from './commands/doctor-command.js'
import { addInitCommand } from './commands/init-command.js'
import { addKeepingCommands } from './commands/keeping-commands.js'
import { addKnowledgeCommand } from './commands/knowledge-command.js'
import { addLaunchCommands } from './commands/launch-commands.js'
import { addLookCommands } from './commands/look-commands.js'
import { addMcpCommand } from './commands/mcp-command.js'
import { addQuestionCommands } from './commands/question-commands.js'
import { addReportCommand } from './commands/report-commands.js'
import { addReviewCommand } from './commands/review-commands.js'
import { addRunCommands } from './commands/run-commands.js'
import { addServeCommand } from './commands/serve-command.js'
import { addTaskCommands } from './commands/task-commands.js'
import { addTopCommand } from './commands/top-commands.js'
import { addTreeCommands } from './commands/tree-commands.js'
import { addTrustCommands } from './commands/trust-command.js'
import { addConnectCommands } from './connect/connect-commands.js'
import { addDemoCommand } from './demo/demo-command.js'
import { addHookCommand } from './hooks/hook-command.js'
import { addNodeCommands } from './nodes/node-commands.js'
import { getWidth } from './terminal/terminal.js'
import { readProgramVersion } from './version.js'

const HELP_WIDTH_MAX = 100

const EXIT_CODES = `
Exit codes: 0 done, 1 refused or a check failed, 2 wrong usage, 3 no server
reached, 4 interrupted.`

/** What most people need. The first help lists these only. */
const COMMON = new Set([
  ...['init', 'up', 'down', 'doctor', 'demo'],
  ...['task', 'approve', 'reject', 'questions', 'answer', 'diff'],
  ...['claude', 'codex', 'gemini', 'opencode', 'run'],
  ...['status', 'login', 'report', 'audit', 'explain'],
])

function listShown(command: Command): Command[] {
  const all = new Help().visibleCommands(command)
  return command.parent !== null || command.opts().all === true ? all : all.filter((one) => COMMON.has(one.name()))
}

/** The whole command line. */
export function buildProgram(): CliCommand {
  const program = new CliCommand('phaselock')
    .description('Makes it impossible for coding agents to skip steps.')
    .version(readProgramVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print help for a command')
    .option('--all', 'with --help: list all commands')
    // Otherwise it would take the --all of `questions --all`.
    .enablePositionalOptions()
    .configureHelp({ helpWidth: Math.min(getWidth(), HELP_WIDTH_MAX), visibleCommands: listShown })
    .exitOverride()
    .examples(
      ['phaselock', 'say what to do next in this folder'],
      ['phaselock init', 'write a contract for this repository'],
      ['phaselock claude "Add a health endpoint"', 'open Claude Code, bound to a task'],
      ['phaselock approve', 'see what needs your approval'],
      ['phaselock --help --all', 'list all commands'],
    )
    .notes(EXIT_CODES)
  program.commandsGroup('Start:')
  addInitCommand(program)
  addServeCommand(program)
  addBackgroundCommands(program)
  addTrustCommands(program)
  addDoctorCommand(program)
  addDemoCommand(program)
  program.commandsGroup('Work:')
  addTaskCommands(program)
  addApprovalCommands(program)
  addQuestionCommands(program)
  addTreeCommands(program)
  addDiffCommand(program)
  addReviewCommand(program)
  program.commandsGroup('Run:')
  addLaunchCommands(program)
  addConnectCommands(program)
  addRunCommands(program)
  addAgentRunCommands(program)
  addCoordinateCommand(program)
  addMcpCommand(program)
  addHookCommand(program)
  program.commandsGroup('Look:')
  addLookCommands(program)
  addTopCommand(program)
  addAnalyzeCommand(program)
  addReportCommand(program)
  addAuditCommands(program)
  program.commandsGroup('Contracts:')
  addContractCommands(program)
  program.commandsGroup('Administer:')
  addAdminCommands(program)
  addKeepingCommands(program)
  addNodeCommands(program)
  addKnowledgeCommand(program)
  addCompletionCommand(program)
  return program
}
