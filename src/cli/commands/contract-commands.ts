import { Option } from 'commander'
import type { ContractRow } from 'phaselock/sdk'
import { type CliCommand, serverCommand } from '../cli-command.js'
import { formatTime } from '../client/answer-values.js'
import type { ClientOptions } from '../client/connection.js'
import type { GraphOptions, LintOptions, ValidateOptions } from '../contracts/contract-actions.js'
import { CONTRACT_FILE } from '../places.js'
import { formatTable } from '../terminal/table.js'
import { show } from '../terminal/terminal.js'

const WHICH = `contract file, folder of documents or bundled name (default: ${CONTRACT_FILE})`

/** Commands for contracts: check, explain, draw, and register with a server. */
export function addContractCommands(program: CliCommand): void {
  addValidate(program)
  addLint(program)
  program
    .command('explain')
    .argument('[file]', WHICH)
    .description('explain a contract as Phaselock reads it')
    .option('--sources', 'also list where each value of a contract that extends others comes from')
    .option('--json', 'print JSON')
    .examples(['phaselock explain tdd', 'the bundled contract'])
    .action(async (file: string | undefined, options: { readonly json?: boolean; readonly sources?: boolean }) =>
      (await import('../contracts/contract-actions.js')).explain(file, options),
    )
  program
    .command('graph')
    .argument('[file]', WHICH)
    .description('draw the phases and transitions of a contract')
    .addOption(new Option('--format <format>', 'what to draw').choices(['mermaid', 'dot', 'svg']).default('mermaid'))
    .option('--json', 'print {format, graph}')
    .examples('phaselock graph tdd --format svg > tdd.svg')
    .action(async (file: string | undefined, options: GraphOptions) =>
      (await import('../contracts/contract-actions.js')).drawContract(file, options),
    )
  addKnown(program)
}

function addValidate(program: CliCommand): void {
  program
    .command('validate')
    .alias('check')
    .argument('[file...]', `contract files, folders or bundled names (default: ${CONTRACT_FILE})`)
    .description('check contracts; fails on errors, not on warnings')
    .addOption(new Option('--format <format>', 'output format').choices(['text', 'json', 'sarif']).default('text'))
    .option('--json', 'the same as --format json')
    .examples(
      ['phaselock validate', `checks ./${CONTRACT_FILE}`],
      ['phaselock validate --format sarif a.yaml > a.sarif', 'for code scanning'],
    )
    .action(async (files: readonly string[], options: ValidateOptions) =>
      (await import('../contracts/contract-actions.js')).validate(files, options),
    )
}

function addLint(program: CliCommand): void {
  program
    .command('lint')
    .argument('[file...]', `contracts, folders or single documents (default: ${CONTRACT_FILE})`)
    .description('report problems of contracts and documents, one per line')
    .addOption(
      new Option('--format <format>', 'output format').choices(['text', 'json', 'github', 'sarif']).default('text'),
    )
    .option('--json', 'the same as --format json')
    .examples(
      ['phaselock lint agent_workflow/phases/1/phase.md', 'one document'],
      ['phaselock lint --format github', 'as annotations of a pull request'],
    )
    .action(async (files: readonly string[], options: LintOptions) =>
      (await import('../contracts/contract-actions.js')).lintContracts(files, options),
    )
}

function addKnown(program: CliCommand): void {
  const contract = program
    .command('contract')
    .alias('contracts')
    .description('add and list contracts of the server')
    .examples('phaselock contract list')
  serverCommand(contract, 'add', 'make one known')
    .argument('<file>', 'file or bundled name')
    .examples('phaselock contract add agent_workflow.yaml')
    .action(async (file: string, options: ClientOptions) =>
      (await import('../contracts/contract-actions.js')).addContract(file, options),
    )
  serverCommand(contract, 'list', 'list them')
    .alias('ls')
    .examples('phaselock contract list')
    .asks(async (client, options) => {
      const known = await client.contracts()
      show(options, known, formatContractTable(known.contracts))
    })
}

function formatContractTable(contracts: readonly ContractRow[]): string {
  return formatTable(contracts, [
    { title: 'HASH', text: (row) => row.hash.slice(0, 12) },
    { title: 'NAME', text: (row) => row.name, isFlexible: true },
    { title: 'VERSION', text: (row) => row.version, isFlexible: true },
    { title: 'FROM', text: (row) => row.origin },
    { title: 'KNOWN SINCE', text: (row) => formatTime(row.registered_at) },
    { title: '', text: (row) => (row.default ? 'default' : '') },
  ])
}
