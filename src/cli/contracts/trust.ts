import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { resolvePlaces } from '../../app/orchestrator.js'
import type { LoadedContract } from '../../contract/load/load-contract.js'
import { listPermissions } from '../../core/contract/contract-permissions.js'
import type { ContractPin } from '../../core/contract/contract-trust.js'
import { plainLine } from '../../core/plain-text.js'
import { findRunningServer } from '../client/lock-holder.js'
import { EXIT, Stop } from '../exit.js'
import { CONTRACT_FILE, findGivenStateDir, getDefaultStateDir, WORKFLOW_FOLDER } from '../places.js'
import { startFailure } from '../server/start-failure.js'
import { formatTable } from '../terminal/table.js'
import { canAsk, confirm, print, printJson } from '../terminal/terminal.js'
import { listBasePaths, loadChosen, ownContract, shortenPath } from './choose-contract.js'
import { ContractPins } from './contract-pins.js'
import { formatPermissionLines, listDocumentChanges } from './permission-text.js'

export interface TrustOptions {
  readonly yes?: boolean
  readonly list?: boolean
  readonly remove?: boolean
  readonly stateDir?: string
  readonly json?: boolean
}

/** Accepts the contract of a work tree, lists accepted ones, or withdraws an acceptance. */
export async function trustContract(file: string | undefined, options: TrustOptions): Promise<void> {
  if (options.list === true) return list(resolvePlace(file, options), options)
  return options.remove === true
    ? remove(resolvePlace(file, options), options)
    : accept(resolvePlace(file, options), options)
}

/** Pins a contract that an operator wrote or accepted for its work tree. */
export function pinTrusted(
  place: { readonly workspace: string; readonly stateDir: string; readonly file: string },
  loaded: Pick<LoadedContract, 'contract' | 'document' | 'parts' | 'bases'>,
  by: string,
): void {
  const { workspace, stateDir, file } = place
  const about = { parts: loaded.parts, bases: listBasePaths(loaded) }
  const pin = { workspace, file, ...about, isTrusted: true, by, at: Date.now() }
  new ContractPins(stateDir).pin(pin, loaded)
}

/** The work tree of a contract file, and its state directory. */
export function resolveTrustPlace(file: string, stateDir?: string): Place {
  const workspace = dirname(resolve(file))
  try {
    const places = resolvePlaces({ workspace, stateDir: findGivenStateDir(stateDir) ?? getDefaultStateDir(workspace) })
    return { ...places, file: join(places.workspace, basename(resolve(file))), pins: new ContractPins(places.stateDir) }
  } catch (error) {
    throw startFailure(error, { host: '', port: 0 })
  }
}

interface Place {
  readonly workspace: string
  readonly stateDir: string
  readonly file: string
  readonly pins: ContractPins
}

function resolvePlace(named: string | undefined, options: TrustOptions): Place {
  const file = named ?? ownContract('.') ?? CONTRACT_FILE
  if (![CONTRACT_FILE, WORKFLOW_FOLDER].includes(basename(resolve(file))))
    throw new Stop(
      EXIT.usage,
      `A server finds ${CONTRACT_FILE} or ${WORKFLOW_FOLDER}/ in its work tree by itself, and no other contract.\nName this one when you start it: phaselock serve --contract ${file}`,
    )
  if (!existsSync(dirname(resolve(file)))) throw new Stop(EXIT.usage, `${dirname(file)} is not a folder.`)
  return resolveTrustPlace(file, options.stateDir)
}

async function accept(place: Place, options: TrustOptions): Promise<void> {
  const { pins, file, workspace } = place
  const loaded = await loadChosen({ path: shortenPath(file), origin: 'file' })
  const { contract, document } = loaded
  const before = pins.findPin(workspace)
  const changes = before === null ? [] : listDocumentChanges(pins.readPinnedText(before).document, document)
  if (options.json !== true) print(formatSummary(place, { loaded, before, changes }))
  if (options.yes !== true) {
    if (!canAsk()) throw new Stop(EXIT.refused, 'Nothing was accepted. Accept it without a question with --yes.')
    if (!(await confirm('Accept it for this work tree?'))) throw new Stop(EXIT.refused, 'Nothing was accepted.')
  }
  pinTrusted(place, loaded, 'trust')
  const isRunning = findRunningServer(place.stateDir) !== null
  if (options.json === true)
    return printJson({
      ...{ file, workspace, state_dir: place.stateDir, hash: contract.hash, name: contract.name },
      ...{ version: contract.version, permissions: listPermissions(contract), changes, server_runs: isRunning },
    })
  print(`Accepted ${shortenPath(file)} (${contract.hash.slice(0, 12)}).`)
  if (isRunning) print('The running server uses it from its next start; tasks that run keep their contract.')
}

interface TrustSummary {
  readonly loaded: LoadedContract
  readonly before: ContractPin | null
  readonly changes: readonly string[]
}

function formatSummary({ file }: Place, { loaded, before, changes }: TrustSummary): string {
  const { name, version, hash } = loaded.contract
  const real = realpathSync(file)
  return [
    `${shortenPath(file)}: ${plainLine(name)} ${plainLine(version)} (${hash.slice(0, 12)})`,
    ...(real === file ? [] : [`The file is a link to ${plainLine(real)}`]),
    'It asks for:',
    ...formatPermissionLines(loaded.contract).map((line) => `  ${line}`),
    ...(before === null ? [] : formatDifferences(before, changes)),
  ].join('\n')
}

function formatDifferences(before: ContractPin, changes: readonly string[]): readonly string[] {
  const when = `${before.hash.slice(0, 12)}, ${new Date(before.at).toISOString()}`
  if (changes.length === 0) return [`It is the accepted text (${when}).`]
  return [`It differs from the accepted text (${when}):`, ...changes.map((line) => `  ${line}`)]
}

function list({ pins }: Place, options: TrustOptions): void {
  const all = pins.list()
  if (options.json === true)
    printJson({ contracts: all.map(({ isTrusted, ...pin }) => ({ ...pin, trusted: isTrusted })) })
  else print(all.length === 0 ? 'No contract was accepted yet.' : pinTable(all))
}

function pinTable(pins: readonly ContractPin[]): string {
  return formatTable(pins, [
    { title: 'HASH', text: (pin) => pin.hash.slice(0, 12) },
    { title: 'NAME', text: (pin) => plainLine(`${pin.name} ${pin.version}`), isFlexible: true },
    { title: 'FILE', text: (pin) => plainLine(pin.file), isFlexible: true },
    { title: 'BY', text: (pin) => (pin.isTrusted ? pin.by : 'first use, sandbox only') },
    { title: 'SINCE', text: (pin) => new Date(pin.at).toISOString() },
  ])
}

function remove({ pins, workspace }: Place, options: TrustOptions): void {
  const pin = pins.findPin(workspace)
  if (pin === null) throw new Stop(EXIT.refused, `No contract of ${workspace} was accepted.`)
  pins.withdraw(pin)
  if (options.json === true) printJson({ file: pin.file, hash: pin.hash, workspace, removed: true })
  else
    print(
      `${shortenPath(pin.file)} (${pin.hash.slice(0, 12)}) is no longer accepted. Tasks that run keep their contract.`,
    )
}
