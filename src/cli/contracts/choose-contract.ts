import { existsSync, realpathSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { BUNDLED_CONTRACTS, findBundledContract, isBundledContract } from '../../contract/bundled-contracts.js'
import { formatText } from '../../contract/format-diagnostics.js'
import { type LoadedContract, loadContractFile } from '../../contract/load/load-contract.js'
import { findNearest } from '../../contract/nearest.js'
import { EXIT, Stop } from '../exit.js'
import { CONTRACT_FILE, WORKFLOW_FOLDER } from '../places.js'
import { tell } from '../terminal/terminal.js'

const DEFAULT_CONTRACT = 'tdd'

interface ContractChoice {
  readonly path: string
  /** `bundled:tdd` or `file`. */
  readonly origin: string
}

/** The contract that was named: a bundled one, a file or a folder; otherwise the work tree's own, otherwise `tdd`. */
export function chooseContract(named: string | undefined, workspace: string): ContractChoice {
  if (named === undefined) {
    const own = ownContract(workspace)
    return own === null ? makeBundledChoice(DEFAULT_CONTRACT) : { path: shortenPath(own), origin: 'file' }
  }
  // A file that an agent left under this name must not replace it: ./tdd names the file.
  if (isBundledContract(named)) return makeBundledChoice(named)
  if (existsSync(named)) return { path: named, origin: 'file' }
  if (!/^[A-Za-z0-9_-]+$/.test(named)) return { path: named, origin: 'file' }
  const close = findNearest(named, BUNDLED_CONTRACTS)
  const meant = close === null ? '' : ` Did you mean ${close}?`
  throw new Stop(
    EXIT.usage,
    `There is no file and no bundled contract '${named}'.${meant}\nBundled: ${BUNDLED_CONTRACTS.join(', ')}`,
  )
}

/** Loads the contract, or stops with all its errors. Warnings are printed. */
export async function loadChosen(choice: ContractChoice): Promise<LoadedContract> {
  const loaded = await loadContractFile(choice.path)
  if (!loaded.ok) {
    const errors = loaded.diagnostics.filter((diagnostic) => diagnostic.severity === 'error').length
    throw new Stop(
      EXIT.refused,
      `${formatText(loaded.diagnostics)}The contract has ${errors} ${errors === 1 ? 'error' : 'errors'}; nothing was started.`,
      { diagnostics: loaded.diagnostics },
    )
  }
  if (loaded.warnings.length > 0) tell(formatText(loaded.warnings))
  return loaded
}

/** Paths of the files that a contract extends. */
export function listBasePaths({ bases }: Pick<LoadedContract, 'bases'>): readonly string[] {
  return [...new Set(bases.flatMap(({ paths }) => paths))]
}

/** A repository's own contract: its file, or its folder of documents; null when it has none. `first` is preferred. */
export function ownContract(folder: string, first?: string): string | null {
  const usual = [CONTRACT_FILE, WORKFLOW_FOLDER].map((name) => join(folder, name))
  return [...(first === undefined ? [] : [first]), ...usual].find((path) => existsSync(path)) ?? null
}

/** Whether a path is inside the folder after links are resolved. */
export function isBelow(folder: string, path: string): boolean {
  const way = relative(realpathSync(folder), realpathSync(path))
  return way !== '' && way !== '..' && !way.startsWith('../')
}

/** The relative path if that is shorter. */
export function shortenPath(path: string): string {
  const from = relative(process.cwd(), resolve(path))
  return from === '' || from.startsWith('..') ? resolve(path) : from
}

function makeBundledChoice(name: string): ContractChoice {
  return { path: findBundledContract(name), origin: `bundled:${name}` }
}
