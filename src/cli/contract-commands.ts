import { readFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { parse } from 'yaml'
import { PROGRAM_VERSION } from '../app/orchestrator.js'
import { explainContract, explainJson } from '../contract/explain.js'
import { formatJson, formatSarif, formatText } from '../contract/format.js'
import { toDot, toMermaid, toSvg } from '../contract/graph.js'
import { type LoadedContract, loadContractFile, loadContractText } from '../contract/load.js'
import type { JsonObject } from '../core/contract.js'
import { chooseContract, loadChosen } from './choose-contract.js'
import { Client } from './client.js'
import { type ClientOptions, clientOptions } from './connection.js'
import { EXIT, Stop } from './exit.js'
import { examples } from './options.js'
import { CONTRACT_FILE } from './places.js'
import { plainLine, plainText } from './plain-text.js'
import { table } from './table.js'
import { print, printJson, tell } from './terminal.js'
import { listOf, objectOf, textOf, timeOf } from './values.js'

/** What works on contracts: check, explain, draw, and make known to a server. */
export function addContractCommands(program: Command): void {
  addValidate(program)
  addExplain(program)
  addGraph(program)
  const contract = program
    .command('contract')
    .alias('contracts')
    .description('the contracts a server knows')
    .addHelpText('after', examples([['phaselock contract list', '']]))
  clientOptions(contract.command('add').argument('<file>', 'file or bundled name').description('make one known'))
    .addHelpText('after', examples([['phaselock contract add agent_workflow.yaml', '']]))
    .action(addContract)
  clientOptions(contract.command('list').alias('ls').description('list them'))
    .addHelpText('after', examples([['phaselock contract list', '']]))
    .action(async (options: ClientOptions) => {
      const answer = await new Client(options).get('/contracts')
      if (options.json === true) return printJson(answer)
      print(
        table(listOf(answer.contracts), [
          { title: 'HASH', text: (one) => textOf(one.hash).slice(0, 12) },
          { title: 'NAME', text: (one) => textOf(one.name), isFlexible: true },
          { title: 'VERSION', text: (one) => textOf(one.version), isFlexible: true },
          { title: 'FROM', text: (one) => textOf(one.origin) },
          { title: 'KNOWN SINCE', text: (one) => timeOf(one.registered_at) },
          { title: '', text: (one) => (one.default === true ? 'default' : '') },
        ]),
      )
    })
}

interface ValidateOptions {
  readonly format: 'text' | 'json' | 'sarif'
  readonly json?: boolean
}

function addValidate(program: Command): void {
  program
    .command('validate')
    .aliases(['check', 'lint'])
    .argument('[file...]', `contract files or bundled names (default: ${CONTRACT_FILE})`)
    .description('check contracts; warnings pass, errors do not')
    .addOption(new Option('--format <format>', 'how to print').choices(['text', 'json', 'sarif']).default('text'))
    .option('--json', 'the same as --format json')
    .addHelpText(
      'after',
      examples([
        ['phaselock validate', `checks ./${CONTRACT_FILE}`],
        ['phaselock lint --format sarif a.yaml > a.sarif', 'for code scanning'],
      ]),
    )
    .action(async (files: readonly string[], options: ValidateOptions) => {
      const paths = (files.length === 0 ? [CONTRACT_FILE] : files).map(pathOf)
      const results = await Promise.all(paths.map((path) => loadContractFile(path)))
      const found = results.flatMap((result) => (result.ok ? result.warnings : result.diagnostics))
      const failed = results.filter((result) => !result.ok).length
      const format = options.json === true ? 'json' : options.format
      if (format === 'json') printJson(formatJson(found))
      else if (format === 'sarif') printJson(formatSarif(found, PROGRAM_VERSION))
      else {
        if (found.length > 0) print(formatText(found))
        for (const result of results) if (result.ok) print(`${plainLine(result.file)}: ok, ${summaryOf(result)}`)
      }
      if (failed > 0) throw new Stop(EXIT.refused, '')
    })
}

function addExplain(program: Command): void {
  program
    .command('explain')
    .argument('[file]', `contract file or bundled name (default: ${CONTRACT_FILE})`)
    .description('what was understood of a contract')
    .option('--json', 'print JSON')
    .addHelpText('after', examples([['phaselock explain tdd', 'the bundled contract']]))
    .action(async (file: string | undefined, options: { readonly json?: boolean }) => {
      const loaded = await loadChosen({ path: pathOf(file ?? CONTRACT_FILE), origin: 'file' })
      if (options.json === true) return printJson(explainJson(loaded))
      print(plainText(explainContract(loaded)))
    })
}

const DRAW = { mermaid: toMermaid, dot: toDot, svg: toSvg } as const

function addGraph(program: Command): void {
  program
    .command('graph')
    .argument('[file]', `contract file or bundled name (default: ${CONTRACT_FILE})`)
    .description('draw phases and transitions')
    .addOption(new Option('--format <format>', 'what to draw').choices(Object.keys(DRAW)).default('mermaid'))
    .option('--json', 'print {format, graph}')
    .addHelpText('after', examples([['phaselock graph tdd --format svg > tdd.svg', '']]))
    .action(async (file: string | undefined, options: { format: keyof typeof DRAW; json?: boolean }) => {
      const { contract } = await loadChosen({ path: pathOf(file ?? CONTRACT_FILE), origin: 'file' })
      const graph = DRAW[options.format](contract)
      if (options.json === true) return printJson({ format: options.format, graph })
      print(plainText(graph))
    })
}

function pathOf(named: string): string {
  return named.endsWith('.yaml') || named.endsWith('.yml') || named.endsWith('.json')
    ? named
    : chooseContract(named, '.').path
}

function summaryOf({ contract, warnings }: LoadedContract): string {
  const count = warnings.length === 0 ? '' : `, ${warnings.length} ${warnings.length === 1 ? 'warning' : 'warnings'}`
  return `${plainLine(contract.name)} ${plainLine(contract.version)} with ${contract.phases.size} phases${count}`
}

async function addContract(file: string, options: ClientOptions): Promise<void> {
  const loaded = await loadChosen({ path: pathOf(file), origin: 'file' })
  const answer = await new Client(options).post('/contracts', await portable(loaded))
  if (options.json === true) return printJson(answer)
  print(`Known: ${plainLine(textOf(answer.name))} ${plainLine(textOf(answer.version))} (${textOf(answer.hash)})`)
  if (textOf(answer.hash) !== loaded.contract.hash)
    tell('The server understood it differently: compare `phaselock explain` with GET /contracts/HASH.')
}

/** The contract in a form that needs no files beside it: its schemas, where it names files, are put in. */
async function portable(loaded: LoadedContract): Promise<JsonObject> {
  const source = readFileSync(loaded.file, 'utf8')
  const alone = await loadContractText(source, { file: loaded.file, baseDir: null })
  if (alone.ok && alone.contract.hash === loaded.contract.hash) return { source }
  const contract = objectOf(parse(source))
  return { contract: { ...contract, schemas: { ...objectOf(loaded.document.schemas), ...objectOf(contract.schemas) } } }
}
