import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { explainContract, explainJson } from '../../contract/explain.js'
import { formatGithub, formatJson, formatLines, formatSarif, formatText } from '../../contract/format-diagnostics.js'
import { toDot, toMermaid, toSvg } from '../../contract/graph.js'
import { type LoadedContract, loadContractFile, loadContractText } from '../../contract/load/load-contract.js'
import { isObject, type JsonObject } from '../../core/json.js'
import { plainLine, plainText } from '../../core/plain-text.js'
import { openClient } from '../client/client.js'
import type { ClientOptions } from '../client/connection.js'
import { EXIT, Stop } from '../exit.js'
import { CONTRACT_FILE } from '../places.js'
import { printPaged } from '../terminal/pager.js'
import { print, printJson, show, tell } from '../terminal/terminal.js'
import { readProgramVersion } from '../version.js'
import { wrapText } from '../workflow/run-text.js'
import { chooseContract, loadChosen, ownContract, shortenPath } from './choose-contract.js'

export interface ValidateOptions {
  readonly format: 'text' | 'json' | 'sarif'
  readonly json?: boolean
}

/** Checks contract files; stops when one of them has errors. */
export async function validate(files: readonly string[], options: ValidateOptions): Promise<void> {
  const paths = (files.length === 0 ? [ownContract('.') ?? CONTRACT_FILE] : files).map(resolveContractPath)
  const results = await Promise.all(paths.map((path) => loadContractFile(path)))
  const found = results.flatMap((result) => (result.ok ? result.warnings : result.diagnostics))
  const format = options.json === true ? 'json' : options.format
  if (format === 'json') printJson(formatJson(found))
  else if (format === 'sarif') printJson(formatSarif(found, readProgramVersion()))
  else {
    if (found.length > 0) print(formatText(found))
    for (const result of results) if (result.ok) print(`${plainLine(result.file)}: ok, ${formatSummary(result)}`)
  }
  if (results.some((result) => !result.ok)) throw new Stop(EXIT.refused, '')
}

export interface LintOptions {
  readonly format: 'text' | 'json' | 'github' | 'sarif'
  readonly json?: boolean
}

/** Reports every problem of contracts and of documents, each on a line that editors understand. */
export async function lintContracts(files: readonly string[], options: LintOptions): Promise<void> {
  const places = (files.length === 0 ? [ownContract('.') ?? CONTRACT_FILE] : files).map(resolveLintPlace)
  const found = (
    await Promise.all(
      places.map(async ({ path, only }) => {
        const result = await loadContractFile(path)
        const all = result.ok ? result.warnings : result.diagnostics
        return only === null ? all : all.filter((diagnostic) => dirname(resolve(diagnostic.file)) === resolve(only))
      }),
    )
  ).flat()
  const format = options.json === true ? 'json' : options.format
  if (format === 'json') printJson(formatJson(found))
  else if (format === 'sarif') printJson(formatSarif(found, readProgramVersion()))
  else if (found.length > 0) print((format === 'github' ? formatGithub(found) : formatLines(found)).trimEnd())
  if (found.some((diagnostic) => diagnostic.severity === 'error')) throw new Stop(EXIT.refused, '')
}

/**
 * What to load for a file: a phase's document is read with its whole workflow, and only its own problems are reported.
 */
function resolveLintPlace(file: string): { readonly path: string; readonly only: string | null } {
  const phase = /^(.*?)(?:^|[/\\])phases[/\\]\d+[/\\][^/\\]+\.(?:md|ya?ml)$/.exec(resolve(file))
  return phase === null
    ? { path: resolveContractPath(file), only: null }
    : { path: shortenPath(phase[1] || '/'), only: dirname(file) }
}

/** Prints how a contract was understood. */
export async function explain(
  file: string | undefined,
  options: { readonly json?: boolean; readonly sources?: boolean },
): Promise<void> {
  const loaded = await loadChosen({
    path: resolveContractPath(file ?? ownContract('.') ?? CONTRACT_FILE),
    origin: 'file',
  })
  if (options.json === true) printJson(explainJson(loaded))
  else printPaged(wrapLines(plainText(explainContract(loaded, options))), {})
}

// A terminal would break long lines in the middle of words.
function wrapLines(text: string): string {
  if (process.stdout.isTTY !== true) return text
  return text
    .split('\n')
    .flatMap((line) => {
      const indent = /^ */.exec(line)?.[0] ?? ''
      const [first = '', ...rest] = wrapText(line.trimStart(), `${indent}    `)
      return [first.slice(4), ...rest]
    })
    .join('\n')
}

const DRAW = { mermaid: toMermaid, dot: toDot, svg: toSvg } as const

export interface GraphOptions {
  readonly format: keyof typeof DRAW
  readonly json?: boolean
}

/** Draws a contract. */
export async function drawContract(file: string | undefined, options: GraphOptions): Promise<void> {
  const { contract } = await loadChosen({
    path: resolveContractPath(file ?? ownContract('.') ?? CONTRACT_FILE),
    origin: 'file',
  })
  const drawn = DRAW[options.format](contract)
  if (options.json === true) printJson({ format: options.format, graph: drawn })
  else print(plainText(drawn))
}

/** Registers a contract with the server. */
export async function addContract(file: string, options: ClientOptions): Promise<void> {
  const loaded = await loadChosen({ path: resolveContractPath(file), origin: 'file' })
  const known = await (await openClient(options)).addContract(await bundleContract(loaded))
  const { name, version, hash } = known
  show(options, known, `Known: ${plainLine(name)} ${plainLine(version)} (${hash})`)
  if (options.json !== true && hash !== loaded.contract.hash)
    tell('The server understood it differently: compare `phaselock explain` with GET /contracts/HASH.')
}

/** The contract without references to files: schemas and extended contracts are included. */
async function bundleContract(loaded: LoadedContract): Promise<JsonObject> {
  const isDocuments = [...loaded.contract.phases.values()].some((phase) => phase.document !== undefined)
  if (isDocuments || loaded.bases.length > 0) return { contract: loaded.document }
  const source = readFileSync(loaded.file, 'utf8')
  const alone = await loadContractText(source, { file: loaded.file, baseDir: null })
  if (alone.ok && alone.contract.hash === loaded.contract.hash) return { source }
  const contract = objectOf(parse(source))
  return { contract: { ...contract, schemas: { ...objectOf(contract.schemas), ...objectOf(loaded.document.schemas) } } }
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

function resolveContractPath(named: string): string {
  const isPath = named.includes('/') || /\.(ya?ml|json|md|markdown)$/.test(named)
  return isPath ? named : chooseContract(named, '.').path
}

function formatSummary({ contract, warnings }: LoadedContract): string {
  const count = warnings.length === 0 ? '' : `, ${warnings.length} ${warnings.length === 1 ? 'warning' : 'warnings'}`
  return `${plainLine(contract.name)} ${plainLine(contract.version)} with ${contract.phases.size} phases${count}`
}
