import { type Command, Option } from 'commander'
import { formatTime, listOf, toText } from '../client/answer-values.js'
import { Client } from '../client/client.js'
import { addClientOptions, type ClientOptions } from '../client/connection.js'
import type { GraphOptions, LintOptions, ValidateOptions } from '../contracts/contract-actions.js'
import { formatExamples } from '../options.js'
import { CONTRACT_FILE } from '../places.js'
import { formatTable } from '../terminal/table.js'
import { print, printJson } from '../terminal/terminal.js'

const WHICH = `contract file, folder of documents or bundled name (default: ${CONTRACT_FILE})`

/** What works on contracts: check, explain, draw, and make known to a server. */
export function addContractCommands(program: Command): void {
  addValidate(program)
  addLint(program)
  program
    .command('explain')
    .argument('[file]', WHICH)
    .description('explain a contract as Phaselock reads it')
    .option('--json', 'print JSON')
    .addHelpText('after', formatExamples([['phaselock explain tdd', 'the bundled contract']]))
    .action(async (file: string | undefined, options: { readonly json?: boolean }) =>
      (await import('../contracts/contract-actions.js')).explain(file, options),
    )
  program
    .command('graph')
    .argument('[file]', WHICH)
    .description('draw the phases and transitions of a contract')
    .addOption(new Option('--format <format>', 'what to draw').choices(['mermaid', 'dot', 'svg']).default('mermaid'))
    .option('--json', 'print {format, graph}')
    .addHelpText('after', formatExamples([['phaselock graph tdd --format svg > tdd.svg', '']]))
    .action(async (file: string | undefined, options: GraphOptions) =>
      (await import('../contracts/contract-actions.js')).drawContract(file, options),
    )
  addKnown(program)
}

function addValidate(program: Command): void {
  program
    .command('validate')
    .alias('check')
    .argument('[file...]', `contract files, folders or bundled names (default: ${CONTRACT_FILE})`)
    .description('check contracts; fails on errors, not on warnings')
    .addOption(new Option('--format <format>', 'output format').choices(['text', 'json', 'sarif']).default('text'))
    .option('--json', 'the same as --format json')
    .addHelpText(
      'after',
      formatExamples([
        ['phaselock validate', `checks ./${CONTRACT_FILE}`],
        ['phaselock validate --format sarif a.yaml > a.sarif', 'for code scanning'],
      ]),
    )
    .action(async (files: readonly string[], options: ValidateOptions) =>
      (await import('../contracts/contract-actions.js')).validate(files, options),
    )
}

function addLint(program: Command): void {
  program
    .command('lint')
    .argument('[file...]', `contracts, folders or single documents (default: ${CONTRACT_FILE})`)
    .description('report problems of contracts and documents, one per line')
    .addOption(
      new Option('--format <format>', 'output format').choices(['text', 'json', 'github', 'sarif']).default('text'),
    )
    .option('--json', 'the same as --format json')
    .addHelpText(
      'after',
      formatExamples([
        ['phaselock lint agent_workflow/phases/1/phase.md', 'one document'],
        ['phaselock lint --format github', 'as annotations of a pull request'],
      ]),
    )
    .action(async (files: readonly string[], options: LintOptions) =>
      (await import('../contracts/contract-actions.js')).lintContracts(files, options),
    )
}

function addKnown(program: Command): void {
  const contract = program
    .command('contract')
    .alias('contracts')
    .description('add and list contracts of the server')
    .addHelpText('after', formatExamples([['phaselock contract list', '']]))
  addClientOptions(contract.command('add').argument('<file>', 'file or bundled name').description('make one known'))
    .addHelpText('after', formatExamples([['phaselock contract add agent_workflow.yaml', '']]))
    .action(async (file: string, options: ClientOptions) =>
      (await import('../contracts/contract-actions.js')).addContract(file, options),
    )
  addClientOptions(contract.command('list').alias('ls').description('list them'))
    .addHelpText('after', formatExamples([['phaselock contract list', '']]))
    .action(async (options: ClientOptions) => {
      const answer = await new Client(options).get('/contracts')
      if (options.json === true) return printJson(answer)
      print(
        formatTable(listOf(answer.contracts), [
          { title: 'HASH', text: (one) => toText(one.hash).slice(0, 12) },
          { title: 'NAME', text: (one) => toText(one.name), isFlexible: true },
          { title: 'VERSION', text: (one) => toText(one.version), isFlexible: true },
          { title: 'FROM', text: (one) => toText(one.origin) },
          { title: 'KNOWN SINCE', text: (one) => formatTime(one.registered_at) },
          { title: '', text: (one) => (one.default === true ? 'default' : '') },
        ]),
      )
    })
}
