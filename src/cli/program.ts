import { Command } from 'commander'
import { addAdminCommands } from './admin-commands.js'
import { addAgentRunCommands } from './agent-run-commands.js'
import { addAnalyzeCommand } from './analyze-commands.js'
import { addApprovalCommands } from './approval-commands.js'
import { addAuditCommands } from './audit-commands.js'
import { addBackgroundCommands } from './background-commands.js'
import { addCompletionCommand } from './completion.js'
import { addContractCommands } from './contract-commands.js'
import { addCoordinateCommand } from './coordinate-commands.js'
import { addDemoCommand } from './demo-command.js'
import { addDoctorCommand } from './doctor-command.js'
import { addInitCommand } from './init-command.js'
import { addKnowledgeCommand } from './knowledge-command.js'
import { addLookCommands } from './look-commands.js'
import { addMcpCommand } from './mcp-command.js'
import { examples } from './options.js'
import { addQuestionCommands } from './question-commands.js'
import { addReportCommand } from './report-commands.js'
import { addReviewCommand } from './review-commands.js'
import { addRunCommands } from './run-commands.js'
import { addServeCommand } from './serve-command.js'
import { addStashCommands } from './stash-commands.js'
import { addTaskCommands } from './task-commands.js'
import { width } from './terminal.js'
import { addTopCommand } from './top-commands.js'
import { addTreeCommands } from './tree-commands.js'
import { addTrustCommands } from './trust-command.js'
import { programVersion } from './version.js'

const HELP_WIDTH_MAX = 100

const EXIT_CODES = `
Exit codes: 0 done, 1 refused or a check failed, 2 wrong usage, 3 no server
reached, 4 interrupted.`

/** The whole command line. */
export function buildProgram(): Command {
  const program = new Command('phaselock')
    .description('Makes it impossible for coding agents to skip steps.')
    .version(programVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print help for a command')
    .configureHelp({ helpWidth: Math.min(width(), HELP_WIDTH_MAX) })
    .exitOverride()
    .addHelpText(
      'after',
      `${examples([
        ['phaselock init', 'write a contract for this repository'],
        ['phaselock serve', 'start the server'],
        ['phaselock task add "Add a health endpoint"', 'add a task for agents'],
        ['phaselock approve', 'see what needs your approval'],
      ])}\n${EXIT_CODES}`,
    )
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
  addReviewCommand(program)
  program.commandsGroup('Run:')
  addRunCommands(program)
  addAgentRunCommands(program)
  addCoordinateCommand(program)
  addMcpCommand(program)
  addStashCommands(program)
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
  addKnowledgeCommand(program)
  addCompletionCommand(program)
  return program
}
